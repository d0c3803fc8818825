import json

import pytest

from armarius.cli import main


def doctor(capsys, folder):
    main(["doctor", str(folder), "--json"])
    return json.loads(capsys.readouterr().out)["next"]


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


LOREBOOK = json.dumps({"entries": {"0": {"uid": 0, "key": ["Elara"], "content": "The captain.", "order": 100}}})
PROSE = "The old man went home. Marlowe followed him to the gate and said nothing.\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "armarius new"),
        ({"ch/one.md": PROSE * 3, "ch/two.md": PROSE, "x.md": "x"}, 'chapter = ["ch/**"]'),
        ({"chapters/ch001.md": PROSE, "chapters/ch001b copy.md": "# Chapter 1\n\n" + PROSE}, "nobody is described"),
        ({f"chapters/ch00{n}.md": PROSE for n in (1, 2, 4, 5)}, "chapter 3 is missing"),
        (
            {"chapters/ch001.md": PROSE, "chapters/第一章.md": PROSE},
            "chapter 1 is there more than once (chapters/ch001.md",
        ),
        ({"main.py": "def main():\n    return 1\n"}, "armarius code-index"),
        ({"chapters/ch001.md": PROSE, "lore/world.json": LOREBOOK}, "/lore/world.json --into "),
        ({"book.pdf": "%PDF-1.4"}, "save what was skipped as .docx, .epub, .md or .txt"),
        ({"big.md": PROSE * 9, "armarius.toml": "[documents]\nmax_bytes = 200\n", "a.md": "x"}, "raise armarius.toml"),
    ],
)
def test_a_messy_folder_is_told_what_to_do_next(capsys, tmp_path, files, said):
    write(tmp_path, files)
    assert any(said in step for step in doctor(capsys, tmp_path))


@pytest.mark.parametrize(
    "files",
    [
        {"package.json": '{"name": "x"}', "data.json": "[1, 2", "picture.png": "no picture"},
        {".hidden/world.json": LOREBOOK},
        {"world.json": LOREBOOK, ".gitignore": "world.json\n"},
    ],
)
def test_what_is_no_book_or_is_ignored_is_not_proposed_for_import(capsys, tmp_path, files):
    write(tmp_path, {"chapters/ch001.md": PROSE, **files})
    assert not any("armarius import" in step for step in doctor(capsys, tmp_path))


def test_a_code_repository_is_not_asked_for_its_chapters(capsys, tmp_path):
    write(tmp_path, {"src/main.py": "def main():\n    return 1\n", "README.md": PROSE})
    assert not any("chapter" in step for step in doctor(capsys, tmp_path))


def test_a_sound_project_is_told_no_fault(capsys):
    assert doctor(capsys, "examples/novel") == []


@pytest.mark.parametrize("command", ["doctor", "index", "propose"])
def test_without_a_folder_the_one_that_one_stands_in_is_meant(capsys, tmp_path, monkeypatch, command):
    write(tmp_path, {"chapters/ch001.md": PROSE * 12})
    monkeypatch.chdir(tmp_path)
    assert main([command, "--json"]) == 0
    assert capsys.readouterr().out.startswith(("{", "["))


def test_the_line_that_is_proposed_works(capsys, tmp_path):
    write(tmp_path, {"ch/one.md": PROSE, "armarius.toml": '[kinds]\nchapter = ["ch/**"]\n'})
    assert not any("no file is taken for a chapter" in step for step in doctor(capsys, tmp_path))


def test_what_was_found_is_listed_by_kind_with_nothing_a_terminal_obeys(capsys, tmp_path):
    write(tmp_path, {"chapters/ch001.md": PROSE, "chapters/ch002.md": PROSE, "note\x1b[31m.md": PROSE})
    main(["doctor", str(tmp_path)])
    out = capsys.readouterr().out
    assert "chapter 1 to 2: chapters/ch001.md, chapters/ch002.md" in out
    assert "\x1b" not in out
