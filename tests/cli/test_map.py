"""`armarius map` and what `doctor` says of doubts."""

import json
import types

import pytest

from armarius.cli import main
from armarius.cli.doctor import next_steps
from armarius.documents.project_map import MappedFile, ProjectMap
from armarius.index.project_index import ProjectIndex
from armarius.store.protocol import DocumentRow

PROSE = "The old man went home. Marlowe followed him to the gate and said nothing.\n"


@pytest.fixture
def folder(tmp_path):
    for name, text in {
        "chapters/ch001.md": PROSE,
        "chapters/ch002.md": PROSE,
        "misc/one.md": "Odds and ends.\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def test_the_map_is_a_tree(capsys, folder):
    assert main(["map", str(folder)]) == 0
    assert "2 chapters, 1–2" in capsys.readouterr().out


def test_a_kind_is_set_in_one_line_and_the_map_after_it_is_shown(capsys, folder):
    (folder / "armarius.toml").write_text("# mine\n", "utf-8")
    assert main(["map", str(folder), "--set", "misc/**=setting", "--set", "chapters/ch002.md=outline"]) == 0
    out = capsys.readouterr().out
    assert "setting, declared" in out
    assert (folder / "armarius.toml").read_text("utf-8") == (
        '# mine\n\n[documents]\n"chapters/ch002.md" = "outline"\n"misc/**" = "setting"\n'
    )


@pytest.mark.parametrize("given", ["misc/**", "=note", "misc/**=", "misc/**=essay"])
def test_what_sets_nothing_is_bad_input(capsys, folder, given):
    assert main(["map", str(folder), "--set", given]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert not (folder / "armarius.toml").exists()


def test_the_map_as_json_is_that_of_the_channel(capsys, folder):
    assert main(["map", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.keys() == {"files", "doubts", "unread"}
    assert [one["path"] for one in found["files"]] == ["chapters/ch001.md", "chapters/ch002.md", "misc/one.md"]


def test_doctor_names_what_is_doubtful_with_the_command_that_settles_it_and_what_is_unread(capsys, folder, monkeypatch):
    doubt = MappedFile("misc/one.md", "note", confidence=0.3, evidence=("nothing",))
    monkeypatch.setattr(ProjectIndex, "map", ProjectMap([doubt]))
    (folder / ".story").mkdir()
    (folder / ".story/state.md").write_text("x\n", "utf-8")
    (folder / "table.xlsx").write_bytes(b"PK")
    main(["doctor", str(folder)])
    out = capsys.readouterr().out
    assert "next: misc/one.md is taken for note (.30: nothing)" in out
    assert "--set misc/one.md=KIND`" in out  # its own guess is no advice
    assert "not read: .story/ 1, *.xlsx 1" in out


def test_a_file_that_was_cut_is_named_with_its_reason(capsys, folder):
    (folder / "chapters/ch003.md").write_text("---\nstatus: cut\n---\n" + PROSE, "utf-8")
    assert main(["map", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "chapters/ch003.md (status: cut)" in out
    assert "*.md" not in out


def test_doctor_lists_what_is_in_no_prompt_after_the_main_edition(capsys, folder):
    for n in (1, 2):
        (folder / f"archive/ch00{n}.md").parent.mkdir(exist_ok=True)
        (folder / f"archive/ch00{n}.md").write_text(PROSE, "utf-8")
    main(["doctor", str(folder)])
    out = capsys.readouterr().out
    assert "chapter 1 to 2: chapters/ch001.md, chapters/ch002.md\n" in out
    assert "chapter 1 to 2, in no prompt: archive/ch001.md, archive/ch002.md\n" in out


def test_the_map_and_doctor_count_the_chapters_of_a_book_in_one_file(capsys, tmp_path):
    (tmp_path / "book.txt").write_text(
        "".join(f"第{n}章 夜\n\n" + "雾散了。" * 200 + "\n\n" for n in (1, 2, 3)), "utf-8"
    )
    main(["map", str(tmp_path)])
    assert "manuscript, 3 chapters\n" in capsys.readouterr().out
    main(["doctor", str(tmp_path)])
    assert "manuscript, 3 chapters: book.txt\n" in capsys.readouterr().out


def test_a_translation_is_no_second_chapter_of_a_number(capsys, folder):
    there = [
        MappedFile(f"{at}/1.md", "chapter", number=1, order=0, edition=edition, story=at)
        for at, edition in (
            ("en", "main"),
            ("ja", "translation"),
        )
    ]
    rows = [DocumentRow(one.path, "chapter", "", 1, 1, 1, "utf-8", "") for one in there]
    status = types.SimpleNamespace(skipped=(), entities=1)
    assert not any("more than once" in one for one in next_steps(rows, status, ".", mapped=ProjectMap(there)))
    assert any("more than once" in one for one in next_steps(rows, status, "."))
