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
        ({"ch/one.md": PROSE * 3, "ch/two.md": PROSE, "x.md": "x"}, "--set 'ch/**=chapter'"),
        ({"chapters/ch001.md": PROSE, "chapters/ch001b copy.md": "# Chapter 1\n\n" + PROSE}, "nobody is described"),
        ({f"chapters/ch00{n}.md": PROSE for n in (1, 2, 4, 5)}, "chapter 3 is missing"),
        (
            {"chapters/ch001.md": PROSE, "chapters/第一章.md": PROSE},
            "chapter 1 is there more than once (chapters/ch001.md",
        ),
        ({"main.py": "def main():\n    return 1\n"}, "armarius code-index"),
        ({"chapters/ch001.md": PROSE, "chapters/ch002.md": "# Two\n"}, "chapters/ch002.md: no text is in it"),
        (
            {f"chapters/the {name}.md": PROSE * 12 for name in ("weir", "quay", "tower")},
            "the 3 chapters stand in the order of their names",
        ),
        ({"x.md": "- 晴\n- 雨\n"}, "if it is something else: `armarius map"),
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


def test_a_book_with_a_script_is_not_sent_to_an_indexer_of_code(capsys, tmp_path):
    write(tmp_path, {"build.sh": "echo\n", **{f"chapters/ch00{n}.md": PROSE for n in (1, 2)}})
    assert not any("code-index" in step for step in doctor(capsys, tmp_path))


def test_over_a_book_without_chapters_and_over_empty_ones_doctor_says_no_more_than_that_there_are_no_errors(
    capsys, tmp_path
):
    write(tmp_path, {"ch/one.md": PROSE * 3, "ch/two.md": PROSE})
    assert main(["doctor", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "no errors\nnext: no file is taken for a chapter" in out
    write(tmp_path / "other", {"chapters/ch001.md": PROSE, "chapters/ch002.md": ""})
    assert main(["doctor", str(tmp_path / "other")]) == 0
    assert "no errors\nnext: chapters/ch002.md: no text is in it" in capsys.readouterr().out


TWICE = [{"id": "lin", "name": "林小雨"}, {"id": "yu", "name": "林小雨"}]
SHARED = [{"id": "yuan", "name": "周远", "aliases": ["老周"]}, {"id": "ping", "name": "周平", "aliases": ["老周"]}]
LATIN = [{"id": "a", "name": "Finch"}, {"id": "b", "name": "Atticus", "aliases": ["FINCH"]}]


@pytest.mark.parametrize(
    ("entities", "said"),
    [
        (TWICE, "'林小雨' is a name of 'lin' (林小雨), from codex.json and 'yu' (林小雨), from codex.json: "),
        (SHARED, "'老周' is a name of 'yuan' (周远), from codex.json and 'ping' (周平), from codex.json: "),
        (LATIN, "'Finch' is a name of 'a' (Finch), from codex.json and 'b' (Atticus), from codex.json: "),
    ],
)
def test_a_name_that_several_have_is_told_and_is_no_fault(capsys, tmp_path, entities, said):
    write(tmp_path, {"chapters/ch001.md": PROSE, "codex.json": json.dumps({"entities": entities})})
    assert [step for step in doctor(capsys, tmp_path) if "is a name of" in step] == [
        f"{said}call one otherwise, or leave it where both are meant"
    ]
    assert main(["doctor", str(tmp_path), "--json"]) == 0
    (shared,) = json.loads(capsys.readouterr().out)["shared"]
    assert [one["id"] for one in shared["entities"]] == [one["id"] for one in entities]


def test_a_lorebook_s_key_is_no_name_that_several_have(capsys, tmp_path):
    write(
        tmp_path, {"novel/codex.json": json.dumps({"entities": [{"id": "e", "name": "Elara"}]}), "lore.json": LOREBOOK}
    )
    assert main(["import", str(tmp_path / "lore.json"), "--into", str(tmp_path / "novel"), "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"][0]["shared"] == []
    main(["doctor", str(tmp_path / "novel"), "--json"])
    assert json.loads(capsys.readouterr().out)["shared"] == []


@pytest.mark.parametrize("yes", [[], ["--yes"]])
def test_an_import_lists_whom_the_project_knows_under_another_id_and_refuses_nothing(capsys, tmp_path, yes):
    known = [{"id": "mara", "name": "Mara Vance"}, {"id": "tom", "name": "Tom", "aliases": ["the baker"]}]
    write(tmp_path, {
        "novel/codex.json": json.dumps({"entities": known}),
        "vault/Mara Vance.md": "---\ntype: character\naliases: [The Baker]\n---\n\nShe bakes.\n",
        "vault/Tom.md": "---\ntype: character\nid: tom\n---\n\nHe eats.\n",
    })  # fmt: skip
    asked = ["import", str(tmp_path / "vault"), "--into", str(tmp_path / "novel"), *yes]
    assert main([*asked, "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)["files"]
    assert {one["name"]: [who["id"] for who in one["entities"]] for one in report["shared"]} == {
        "Mara Vance": ["mara-vance", "mara"],
        "The Baker": ["mara-vance", "tom"],
    }
    assert main(asked) == 0
    assert "'The Baker' is a name of 'mara-vance' (Mara Vance), from " in capsys.readouterr().out


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


def test_a_record_that_differs_from_its_page_is_told_and_moved_into_it(capsys, tmp_path):
    write(tmp_path, {
        "人物.md": "## 林默\n- 年龄：26\n- 描述：修表的人\n",
        ".armarius/codex.toml": '[[entity]]\nid = "林默"\nname = "林默"\ndescription = "守灯的人"\n\n'
        '[entity.attributes]\n"年龄" = "26"\n',
    })  # fmt: skip
    assert main(["doctor", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "林默: description: .armarius/codex.toml" in said
    assert "人物.md:1 says something else and is heard" in said
    assert "年龄: " not in said
    assert f"doctor {tmp_path} --move" in said
    assert main(["doctor", str(tmp_path), "--move"]) == 0
    assert "is heard" not in capsys.readouterr().out
    assert (tmp_path / "人物.md").read_text("utf-8") == "## 林默\n- 年龄：26\n- 描述：守灯的人\n"
