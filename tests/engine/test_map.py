"""The map of a project: shown as a tree, mended in one line of armarius.toml."""

import time
import tomllib

import pytest

import armarius
from armarius.cli import main
from armarius.documents.classify import is_hidden
from armarius.documents.document import refusal_of
from armarius.documents.project_map import MappedFile, ProjectMap, ShownMap, doubts_of
from armarius.errors import ConfigError, ContractError
from armarius.io.toml import with_value
from armarius.trust.settings import parse_config
from armarius.verbs import methods_of

PROSE = "林默推开门，走进钟楼。风从窗口吹进来，他没有说话。\n\n他等了很久。\n"


@pytest.fixture
def folder(tmp_path):
    for name, text in {
        "正文/第1章.md": f"# 第1章 钟楼\n\n{PROSE}",
        "正文/第2章.md": f"# 第2章 来客\n\n{PROSE}",
        "杂/一.md": "随手记的话。\n",
        "style.md": "句子要短。\n",
    }.items():
        (tmp_path / "novel" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "novel" / name).write_text(text, "utf-8")
    return tmp_path / "novel"


@pytest.fixture
def engine(folder, tmp_path):
    with armarius.open(folder, watch=False, index_dir=tmp_path / "index") as engine:
        yield engine


def mapped(*rows):
    """A map of rows: path, kind, confidence, and other fields by name."""
    evidence = ("a word of its name",)
    return ProjectMap(
        MappedFile(path, kind, confidence=sure, evidence=evidence, **dict(*more)) for path, kind, sure, *more in rows
    )


def test_a_folder_of_one_kind_is_one_line_with_count_and_numbers():
    found = ShownMap.of(mapped(*[(f"正文/第{n}章.md", "chapter", 0.9, {"number": n}) for n in range(1, 301)]))
    assert str(found) == "正文/   .90  300 chapters, 1–300"


def test_texts_without_numbers_are_counted_as_their_main_file_names_them(tmp_path):
    names = ("zeta", "alpha", "mid", "beta")
    parts = "".join(f"\\include{{chapters/{name}}}\n" for name in names)
    (tmp_path / "chapters").mkdir()
    (tmp_path / "main.tex").write_text(
        f"\\documentclass{{book}}\n\\begin{{document}}\n{parts}\\end{{document}}\n", "utf-8"
    )
    for name in names:
        text = f"\\chapter{{The {name}}}\n\nThe {name} of the weir holds the water back, and nobody asks it why.\n"
        (tmp_path / "chapters" / f"{name}.tex").write_text(text, "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        assert engine.assemble("summarise chapter 2", budget=2000).documents == ("chapters/alpha.tex",)
        assert engine.assemble("chapter 7?", budget=2000).warnings[0].endswith("the chapters are 1 to 4")


def test_copies_and_drafts_are_said():
    rows = [
        (f"{place}/0{n}.md", "chapter", 0.9, more)
        for n in (1, 2)
        for place, more in (
            ("en", {"number": n}),
            ("ja", {"number": n, "edition": "translation"}),
            ("old", {"state": "draft"}),
        )
    ]
    assert str(ShownMap.of(mapped(*rows))).split("\n") == [
        "en/    .90  2 chapters, 1–2",
        "ja/    .90  2 chapters, 1–2, a translation, in no prompt",
        "old/   .90  2 chapters, draft",
    ]


def test_a_mixed_folder_is_told_file_by_file_and_what_is_alike_in_one_line():
    rows = [(f"a/b/n{n}.md", "note", 0.9) for n in range(4)] + [("a/b/x.md", "outline", 0.9), ("c.md", "note", 0.8)]
    assert str(ShownMap.of(mapped(*rows))).split("\n") == [
        "a/b/",
        "  n0.md … n3.md   .90  4 notes",
        "  x.md            .90  outline",
        "c.md              .80  note",
    ]


def test_every_file_has_its_line_with_the_evidence_when_asked():
    rows = [("a/1.md", "chapter", 0.9, {"number": 1}), ("a/2.md", "chapter", 0.85, {"number": 2})]
    assert ShownMap.of(mapped(*rows)).tree(every=True).split("\n") == [
        "a/",
        "  1.md   .90  chapter 1: a word of its name",
        "  2.md   .85  chapter 2: a word of its name",
    ]


def test_doubts_come_first_as_lines_to_paste_into_armarius_toml():
    found = ShownMap.of(mapped(("a.md", "note", 0.4), ("b.md", "chapter", 0.9), ("c.md", "review", 0.3)))
    lines = str(found).split("\n")
    assert lines[:4] == [
        "[documents]  # 2 doubts: write what is right into armarius.toml",
        '"c.md" = "review"  # .30: a word of its name',
        '"a.md" = "note"  # .40: a word of its name',
        "",
    ]
    assert tomllib.loads("\n".join(lines[:3])) == {"documents": {"c.md": "review", "a.md": "note"}}


def test_doubts_of_one_folder_and_kind_share_a_line_until_every_one_is_asked_for():
    found = ShownMap.of(mapped(("n/a.md", "note", 0.4), ("n/b.md", "note", 0.5), ("n/c.md", "review", 0.9)))
    assert str(found).split("\n")[1:3] == ['"n/a.md" = "note"  # .40: a word of its name; and 1 more of its folder', ""]
    assert found.tree(every=True).split("\n")[2].startswith('"n/b.md" = "note"')


@pytest.mark.parametrize(
    ("numbers", "line"),
    [
        ([1, 2, 3, 5, 6, 9], "6 chapters, 1–9 without 4, 7–8"),
        ([1, 2, 3], "3 chapters, 1–3"),
        ([1, 2, 40], "3 chapters, 1–40"),
    ],
)
def test_the_line_of_a_series_tells_which_chapters_are_missing(numbers, line):
    rows = [(f"c/{number:02}.md", "chapter", 0.9, {"number": number}) for number in numbers]
    assert str(ShownMap.of(mapped(*rows))).endswith(line)


@pytest.mark.parametrize(
    ("doubtful", "sure", "pattern"),
    [
        (["a/b/1.md", "a/b/2.md", "a/b/c/3.md"], ["a/x.md"], "a/b/**"),
        (["a/01_notes.md", "a/02_notes.md", "a/03_notes.md"], ["a/01.md", "a/02.md"], "a/*_notes.md"),
        (["a/审查1.md", "a/审查2.md", "a/审查3.md"], ["a/1.md"], "a/审查*"),
        (["a/1.md", "a/2.md"], ["x.md"], None),
        (["a/1.md", "a/2.md", "a/3.md"], ["a/4.md"], None),
    ],
)
def test_files_that_one_pattern_tells_from_the_others_are_one_doubt(doubtful, sure, pattern):
    rows = [(path, "note", 0.4) for path in doubtful] + [(path, "chapter", 0.9) for path in sure]
    found = doubts_of(mapped(*rows))
    assert [one.pattern for one in found] == ([pattern] if pattern else doubtful)
    assert sum(one.files for one in found) == len(doubtful)


def test_what_is_not_read_is_counted_once():
    found = ShownMap.of(ProjectMap(), {".story/": 13, "*.xlsx": 1})
    assert str(found).split("\n") == [".story/        13 files, not read", "*.xlsx         1 file, not read"]
    assert repr(found) == "<0 files; 14 not read>"


def test_a_notebook_shows_the_tree_with_everything_escaped():
    page = ShownMap.of(mapped(("<b>.md", "note", 0.2), ("a/1.md", "chapter", 0.9)))._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;.md" in page
    assert "chapter" in page


def test_names_of_files_are_no_commands_to_a_terminal():
    assert "\x1b" not in str(ShownMap.of(mapped(("a\x1b[2J.md", "note", 0.2))))


def test_the_engine_gives_the_map_of_its_folder(engine):
    found = engine.map()
    assert [(one.path, one.kind) for one in found if one.kind == "chapter"] == [
        ("正文/第1章.md", "chapter"),
        ("正文/第2章.md", "chapter"),
    ]
    assert "2 chapters, 1–2" in str(found)
    assert {one["path"] for one in found.to_wire()["files"]} == {one.path for one in engine.documents()}


def test_set_kind_writes_one_line_and_keeps_every_other(engine, folder):
    before = '# mine\n[style]\ntext = "短"  # why\n\n[documents]\n# old\nexclude = [\n  "x/**", # no\n]\n'
    (folder / "armarius.toml").write_text(before, "utf-8")
    found = engine.set_kind("杂/**", "setting")
    lines = (folder / "armarius.toml").read_text("utf-8").splitlines()
    assert [one for one in lines if one != '"杂/**" = "setting"'] == before.splitlines()
    assert next(one for one in found if one.path == "杂/一.md").kind == "setting"
    assert engine.document("杂/一.md").kind == "setting"
    engine.set_kind("杂/**", "note")
    assert (folder / "armarius.toml").read_text("utf-8").count("杂/**") == 1


@pytest.mark.parametrize("kind", ["note", "tool", "template", "outline", "chapter", "manuscript"])
def test_a_style_guide_that_is_declared_something_else_stands_in_no_prompt_as_style(engine, kind):
    def styles():
        return [one.source for one in engine.assemble("续写", document="正文/第2章.md").items if "style" in one.source]

    assert styles() == ["style:style.md"]
    engine.set_kind("style.md", kind)
    assert styles() == []
    engine.set_kind("style.md", "setting")
    assert styles() == ["style:style.md"]


def test_a_configuration_with_a_byte_order_mark_is_read_and_keeps_it(engine, folder):
    put(folder, "armarius.toml", '\ufeff[documents]\n"style.md" = "outline"\n')
    engine.set_kind("杂/**", "setting")
    assert (engine.document("style.md").kind, engine.document("杂/一.md").kind) == ("outline", "setting")
    assert (folder / "armarius.toml").read_text("utf-8").startswith("\ufeff[documents]\n")


def test_what_is_said_of_one_file_still_counts_when_its_folder_is_set(engine, folder):
    put(folder, "杂/二.md")
    engine.set_kind("杂/一.md", "outline")
    found = engine.set_kind("杂/**", "setting")
    assert {one.path: one.kind for one in found if one.path.startswith("杂/")} == {
        "杂/一.md": "outline",
        "杂/二.md": "setting",
    }


def test_a_line_that_another_hides_is_not_written(engine, folder):
    text = '[documents]\n"杂/**" = "setting"\n"杂/一.md" = "note"\n'
    put(folder, "armarius.toml", text)
    with pytest.raises(ConfigError, match=r'"杂/\*\*" stands before "杂/一.md" and decides'):
        engine.set_kind("杂/一.md", "outline")
    assert (folder / "armarius.toml").read_text("utf-8") == text


def test_a_file_that_no_line_can_be_put_into_is_left_and_the_line_is_said(engine, folder):
    (folder / "armarius.toml").write_text('documents = { exclude = ["x/**"] }\n', "utf-8")
    with pytest.raises(ConfigError, match=r'write into \[documents\]: "杂/\*\*" = "note"'):
        engine.set_kind("杂/**", "note")
    assert (folder / "armarius.toml").read_text("utf-8") == 'documents = { exclude = ["x/**"] }\n'


def test_a_configuration_that_is_a_link_is_not_written(engine, folder, tmp_path):
    (tmp_path / "other.toml").write_text("# another's\n", "utf-8")
    (folder / "armarius.toml").symlink_to(tmp_path / "other.toml")
    with pytest.raises(armarius.ArmariusError, match="symbolic link"):
        engine.set_kind("杂/**", "note")
    assert (tmp_path / "other.toml").read_text("utf-8") == "# another's\n"


@pytest.mark.parametrize(("pattern", "kind"), [("杂/**", "essay"), (" ", "note"), ("a\ud800", "note"), (3, "note")])
def test_what_is_no_kind_or_no_pattern_is_refused(engine, folder, pattern, kind):
    with pytest.raises(ContractError):
        engine.set_kind(pattern, kind)
    assert not (folder / "armarius.toml").exists()


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("不存在/**", "no file matches it"),
        ("[", "no file matches it"),
        ("a\nb", "no file matches it"),
        ("/etc/**", "no file matches it"),
        (".story/**", "no file matches it"),
        ("../x", "leaves the project"),
        ("杂/../../**", "leaves the project"),
        (".git/**", "stay closed"),
        (".armarius/x.md", "stay closed"),
    ],
)
def test_a_pattern_that_sets_nothing_is_refused_in_python_on_the_channel_and_on_the_command_line(
    engine, folder, capsys, pattern, why
):
    put(folder, ".git/x.md")
    put(folder, ".armarius/x.md")
    for call in (
        lambda: engine.set_kind(pattern, "note"),
        lambda: methods_of(engine)["project:setKind"]({"pattern": pattern, "kind": "note"}),
    ):
        with pytest.raises(ContractError, match=why):
            call()
    assert main(["map", str(folder), "--set", f"{pattern}=note"]) == 2
    assert why in capsys.readouterr().err
    assert not (folder / "armarius.toml").exists()


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("\ufeff[documents]\n", '\ufeff[documents]\n"a" = "b"\n'),
        ("\ufeff", '\ufeff[documents]\n"a" = "b"\n'),
        ("", '[documents]\n"a" = "b"\n'),
        ("[documents]", '[documents]\n"a" = "b"\n'),
        ("[style]\r\nx = 1\r\n", '[style]\r\nx = 1\r\n\r\n[documents]\r\n"a" = "b"\r\n'),
        ('[documents]\nx = 1\na = "c"  # keep\n', '[documents]\nx = 1\n"a" = "b"  # keep\n'),
        ("x = '''\n[documents]\n'''\n", "x = '''\n[documents]\n'''\n\n[documents]\n\"a\" = \"b\"\n"),
        ('[other]\na = "c"\n', '[other]\na = "c"\n\n[documents]\n"a" = "b"\n'),
        ("documents.x = 1\n", None),
        ("documents = 3\n", None),
        ("no toml", None),
    ],
)
def test_a_value_is_put_into_a_table_and_the_rest_stays(text, after):
    assert with_value(text, "documents", "a", "b") == (after and after.replace('"a" =', "a ="))


def test_the_channel_tells_the_map_and_mends_it(engine, folder):
    methods = methods_of(engine)
    assert methods["project:map"]({}) == engine.map().to_wire()
    found = methods["project:setKind"]({"pattern": "杂/**", "kind": "setting"})
    assert {one["kind"] for one in found["files"] if one["path"].startswith("杂/")} == {"setting"}
    assert (folder / "armarius.toml").read_text("utf-8") == '[documents]\n"杂/**" = "setting"\n'


def put(folder, path, text="x\n"):
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text, "utf-8")


def test_hidden_folders_and_other_endings_are_counted_and_one_line_opens_a_folder(engine, folder):
    for path in (
        ".story/state.md",
        ".story/a/b.md",
        ".story/c.png",
        ".git/x.md",
        ".armarius/y.md",
        "表.xlsx",
        "LICENSE",
    ):
        put(folder, path)
    put(folder, ".gitignore", ".venv/\n")
    put(folder, ".venv/z.md")
    assert engine.map().unread == {".story/": 3, "*.xlsx": 1}
    found = engine.set_kind(".story/**", "state")
    assert [one.path for one in found if one.path.startswith(".story")] == [".story/a/b.md", ".story/state.md"]
    assert found.unread == {"*.xlsx": 1, "*.png": 1}
    put(folder, ".story/state.md", "陆沉在第3章死了。\n")
    assert "陆沉在第3章死了" in engine.document(".story/state.md").text
    assert "陆沉在第3章死了" in engine.assemble("陆沉在哪一章死了？", budget=2000).prompt
    with pytest.raises(ContractError, match="stay closed"):
        engine.set_kind(".git/**", "note")
    assert not [one for one in engine.map() if one.path.startswith(".git")]


def test_a_change_in_an_opened_folder_is_followed(folder, tmp_path):
    put(folder, ".story/state.md", "陆沉活着。\n")
    put(folder, "armarius.toml", '[documents]\n".story/**" = "state"\n')
    with armarius.open(folder, watch=True, index_dir=tmp_path / "index") as engine:
        while engine.index.freshen() or not engine.index._following.is_current():
            time.sleep(0.02)
        put(folder, ".story/state.md", "陆沉死了，青鸾说的。\n")
        while not engine.search("青鸾"):
            time.sleep(0.02)


@pytest.mark.parametrize(
    ("path", "hidden"),
    [
        (".story/a.md", False),
        (".story/.deep/a.md", True),
        ("books/.notes/a.md", False),
        (".other/a.md", True),
        (".a.md", True),
        ("a.md", False),
        (".armarius/a.md", True),
    ],
)
def test_a_pattern_opens_the_hidden_folders_that_it_names_and_no_others(path, hidden):
    text = '[documents]\n".story/**" = "state"\n"**/.notes/*.md" = "note"\n".armarius/**" = "note"\n'
    config = parse_config(text)
    assert is_hidden(path, config) is hidden
    assert refusal_of(path, 10, config) == (None if hidden else "")  # of a text on a server


def test_a_skipped_file_is_no_warning_of_every_prompt_but_of_one_that_names_it(engine, folder):
    (folder / "设定").mkdir()
    (folder / "设定/Map.PDF").write_bytes(b"%PDF-1.4")
    engine.refresh()
    assert engine.assemble("林默在哪里？", budget=2000).warnings == ()
    assert [one.path for one in engine.status().skipped] == ["设定/Map.PDF"]
    assert engine.map().unread == {"*.pdf": 1}
    said = engine.assemble("按 map.pdf 写钟楼", budget=2000).warnings
    assert [one.partition(":")[0] for one in map(str, said)] == ["DOCUMENT_SKIPPED"]
