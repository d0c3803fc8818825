"""The map of a project: kinds by the evidence of all files, the order of the story, editions."""

import re
import zlib
from functools import partial
from itertools import groupby
from pathlib import Path

import pytest
from tests.rows import rows

from armarius.documents import classify, document, kinds
from armarius.documents.document import make_document
from armarius.documents.features import pack, unpack
from armarius.documents.kinds import HIDDEN_KINDS, USES
from armarius.documents.project_map import ShownMap
from armarius.index import derived, source
from armarius.index.project_index import ProjectIndex
from armarius.store.protocol import DerivedCache, Note

SAID = {
    "zh": (
        "{0}把灯提到门口，看着{1}下的第{2}级石阶。",
        "“你来晚了。”{0}说，“船在{1}边等了{2}天。”",
        "河面起了雾，{1}的钟敲了{2}下，没有人应声。",
    ),
    "en": (
        "{0} carried the lamp to the door and counted {2} steps down to the {1}.",
        '"You are late," said {0}. "The boat lay {2} days by the {1} with nobody in her."',
        "Fog came up from the {1}, and the bell struck {2} and stopped.",
    ),
    "ja": (
        "{0}は灯りを持って戸口に立ち、{1}の石段を{2}段まで数えた。",
        "「遅かったね」と{0}は言った。「船は{1}で{2}日も待っていたよ」",
        "霧が{1}から上がり、鐘が{2}回鳴って止んだ。",
    ),
}
WHO = {
    "zh": ["阿满", "老周", "沈渡", "小禾"],
    "en": ["Ida", "Marsh", "Tobias", "Wren"],
    "ja": ["みつ", "周三", "渡", "小夏"],
}
WHERE = {
    "zh": ["码头", "祠堂", "河湾", "塔楼"],
    "en": ["quay", "chapel", "weir", "tower"],
    "ja": ["波止場", "祠", "川岸", "塔"],
}


def story(language, seed, paragraphs=12):
    """Prose that differs from that of every other seed."""
    number = zlib.crc32(seed.encode())
    told = []
    for at in range(paragraphs):
        which = number // (at + 1)
        words = (WHO[language][which % 4], WHERE[language][which // 4 % 4], 2 + which // 16 % 9_000)
        told.append(SAID[language][at % 3].format(*words))
    return "\n\n".join(told) + "\n"


def project(root, files):
    """Write files: a text, `zh`, `en`, `ja` for prose of that language, `=path` for the text of another file.

    `# A heading / en` is a heading above prose.
    """
    for path, text in files.items():
        whole = files[text[1:]] if text.startswith("=") else text
        source = text[1:] if text.startswith("=") else path
        head, _, language = whole.rpartition(" / ")
        if language in SAID:
            whole = "\n\n".join(filter(None, (head, story(language, source))))
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(whole, "utf-8")
    return ProjectIndex.open(root, index_dir=root / ".index")


@rows("map")
def test_every_file_has_the_kind_that_all_evidence_together_gives(tmp_path, files, kinds):
    with project(tmp_path, files) as index:
        assert {path: index.map.files[path].kind for path in kinds} == kinds
        assert {row.path: row.kind for row in index.store.documents()} == {
            path: one.kind for path, one in index.map.files.items()
        }


@rows("map")
def test_the_story_has_one_order_and_one_edition(tmp_path, files, order, others):
    with project(tmp_path, files) as index:
        assert list(index.map.story()) == order
        for path, before in zip(order[1:], order, strict=False):
            assert (index.map.before(path), index.map.after(before)) == (before, path)
        assert {path: index.map.files[path].edition for path in others} == others
        assert index.map.hidden >= others.keys()


def test_a_book_in_another_language_with_some_of_the_numbers_is_no_translation(tmp_path):
    said = "“Nobody came,” she said to the boatman. The river was high, and the lamp went out. "
    book = "".join(f"# Chapter {number}\n\n{said * 12}\n\n" for number in range(1, 5))
    story = {f"正文/第{number}章.md": "zh" for number in range(1, 25)}
    with project(tmp_path, {**story, "笔记/Weir by Marsh.md": book}) as index:
        assert index.map.files["笔记/Weir by Marsh.md"].edition == "main"
        assert not index.map.hidden


def test_before_and_after_stay_in_the_edition_of_the_open_file(tmp_path):
    files = {
        f"{folder}/0{n}.md": language
        for folder, language in (("chapters", "en"), ("manuscript-ja", "ja"))
        for n in (1, 2, 3)
    }
    with project(tmp_path, files) as index:
        assert index.map.before("manuscript-ja/03.md") == "manuscript-ja/02.md"
        assert index.map.story("manuscript-ja/01.md") == tuple(f"manuscript-ja/0{n}.md" for n in (1, 2, 3))
        assert index.map.before("chapters/01.md") is None


def test_the_configuration_has_the_last_word(tmp_path):
    files = {
        "notes/a.md": "Some words.",
        "armarius.toml": '[documents]\n"notes/**" = "state"\n\n[kinds]\nreview = ["**"]\n',
    }
    with project(tmp_path, files) as index:
        one = index.map.files["notes/a.md"]
        assert (one.kind, one.declared, one.evidence[0]) == ("state", True, "armarius.toml says state")
        (tmp_path / "armarius.toml").write_text('[documents]\n"notes/**" = "outline"\n', "utf-8")
        index.refresh()
        assert index.map.files["notes/a.md"].kind == "outline"


BOOK = {f"chapters/ch0{n}.md": "en" for n in (1, 2, 4)}
CHAPTERS = list(BOOK)


@pytest.mark.parametrize(
    ("stated", "files", "order", "others"),
    [
        (["backup/ch03.md"], {"backup/ch03.md": "en", "backup/ch01.md": "=chapters/ch01.md"},
         [*CHAPTERS[:2], "backup/ch03.md", CHAPTERS[2]], {"backup/ch01.md": "archive"}),
        (["archive/old.md"], {"archive/old.md": "en"}, [*CHAPTERS, "archive/old.md"], {}),
        (["spare/3 cut.md"], {"spare/3 cut.md": "en"}, [*CHAPTERS[:2], "spare/3 cut.md", CHAPTERS[2]], {}),
        (["drafts/ch02.md"], {"drafts/ch02.md": "=chapters/ch02.md", "drafts/ch01.md": "=chapters/ch01.md"},
         [CHAPTERS[0], "drafts/ch02.md", CHAPTERS[2]], {"chapters/ch02.md": "copy", "drafts/ch01.md": "copy"}),
        (["**/ch*.md"], {f"copy/ch0{n}.md": f"=chapters/ch0{n}.md" for n in (1, 2)},
         CHAPTERS, {"copy/ch01.md": "copy", "copy/ch02.md": "copy"}),
        (["chapters/i1-letter.md"], {"chapters/i1-letter.md": "en"}, [*CHAPTERS, "chapters/i1-letter.md"], {}),
    ],
)  # fmt: skip
def test_a_file_that_is_declared_a_chapter_is_in_the_main_edition_at_its_place(tmp_path, stated, files, order, others):
    lines = "".join(f'"{pattern}" = "chapter"\n' for pattern in stated)
    with project(tmp_path, {**BOOK, **files, "armarius.toml": f"[documents]\n{lines}"}) as index:
        assert list(index.map.story()) == order
        assert {path: one.edition for path, one in index.map.files.items() if one.edition != "main"} == others
        assert index.map.hidden.isdisjoint(order)


def test_a_copy_that_is_written_anew_is_a_story_of_its_own(tmp_path):
    files = {f"chapters/{n:02}.md": "en" for n in (1, 2, 3)}
    files |= {path.replace("chapters", "other"): f"={path}" for path in files}
    with project(tmp_path, files) as index:
        copies = [path for path, one in index.map.files.items() if one.edition == "copy"]
        assert len(copies) == 3
        for path in copies:
            text = (tmp_path / path).read_text("utf-8")
            (tmp_path / path).write_text(text.translate(str.maketrans("aeo", "eoa")), "utf-8")  # only the words differ
        index.refresh()
        assert {one.edition for one in index.map.files.values()} == {"main"}


@pytest.fixture
def looked_at(monkeypatch):
    """Paths of the files whose evidence is looked for, and of the documents that are made again from their text."""
    paths = []

    def counted(module, name, of_all=True):
        function = getattr(module, name)

        def count(path, *args, **named):
            if of_all or "decided" in named:
                paths.append(path)
            return function(path, *args, **named)

        monkeypatch.setattr(module, name, count)

    monkeypatch.setattr(source, "_racy_window", lambda _: -1)  # the stamps of files just written are believed
    counted(classify, "features_of")
    counted(derived, "document_of")
    counted(document, "document_of", of_all=False)
    return paths


def test_a_saved_file_is_the_only_one_that_is_looked_at(tmp_path, looked_at):
    files = {f"chapters/{n:02}.md": "en" for n in range(1, 13)} | {f"S0{n} - Gate.md": "en" for n in (1, 2)}
    with project(tmp_path, files) as index:
        for path in ("chapters/05.md", "S01 - Gate.md"):
            looked_at.clear()
            (tmp_path / path).write_text(story("en", f"another {path}", 13), "utf-8")
            index.refresh()
            assert looked_at == [path]


def test_a_new_file_changes_those_that_it_bears_on_and_no_others(tmp_path):
    files = {f"chapters/{n:02}.md": "en" for n in range(1, 13)} | {"a/S01 - Gate.md": "en", "b.md": "Some words."}
    with project(tmp_path, files) as index:
        before = dict(index.map.files)
        for n in (2, 3):
            (tmp_path / f"a/S0{n} - Weir.md").write_text(story("en", str(n)), "utf-8")
        index.refresh()
        changed = {path for path, one in index.map.files.items() if before.get(path) != one}
        assert changed == {"a/S01 - Gate.md", "a/S02 - Weir.md", "a/S03 - Weir.md"}


def test_a_project_that_is_opened_again_is_not_looked_at(tmp_path, looked_at):
    files = {f"chapters/{n:02}.md": "en" for n in range(1, 5)} | {"a/S01 - Gate.md": "en", "a/S02 - Weir.md": "en"}
    with project(tmp_path, files):
        looked_at.clear()
    with ProjectIndex.open(tmp_path, index_dir=tmp_path / ".index"):
        assert looked_at == []


@pytest.fixture
def work(monkeypatch):
    """What was done since it was cleared: decisions of the map, and rows of evidence read."""
    done = []

    def counted(name, function):
        return lambda *args: (done.append(name), function(*args))[1]

    monkeypatch.setattr(source, "_racy_window", lambda _: -1)
    monkeypatch.setattr(derived, "decide", counted("decided", derived.decide))
    rows = DerivedCache("features", derived._FEATURES.version, pack, counted("read", unpack))
    monkeypatch.setattr(derived, "_FEATURES", rows)
    return done


def test_a_save_that_leaves_the_evidence_as_it_was_decides_nothing(tmp_path, work):
    with project(tmp_path, {f"chapters/{n:02}.md": "en" for n in range(1, 13)}) as index:
        work.clear()
        for text in (story("en", "chapters/05.md") + "\nFog.", story("en", "another")):
            (tmp_path / "chapters/05.md").write_text(text, "utf-8")
            index.refresh()
        assert work == ["decided"]  # for the other text only


def test_the_map_of_a_project_that_is_opened_again_is_read_as_it_was_decided(tmp_path, work):
    with project(tmp_path, {f"chapters/{n:02}.md": "en" for n in range(1, 13)}) as index:
        known = index.map
    work.clear()
    with ProjectIndex.open(tmp_path, index_dir=tmp_path / ".index") as again:
        (tmp_path / "chapters/05.md").write_text(story("en", "chapters/05.md") + "\nFog.", "utf-8")
        again.refresh()
        assert again.map == known
        assert work == ["read"]  # the evidence of the saved file, to compare
        (tmp_path / "armarius.toml").write_text('[documents]\n"chapters/03.md" = "note"\n', "utf-8")
        again.refresh()
        assert again.map.files["chapters/03.md"].kind == "note"


@pytest.mark.parametrize("note", ["map", "mapped"])
def test_a_damaged_map_is_decided_again(tmp_path, work, note):
    with project(tmp_path, {f"chapters/{n:02}.md": "en" for n in (1, 2, 3)}) as index:
        known = index.map
        index.store.apply([Note(note, "x")])
    with ProjectIndex.open(tmp_path, index_dir=tmp_path / ".index") as again:
        assert again.map == known
    work.clear()
    with ProjectIndex.open(tmp_path, index_dir=tmp_path / ".index") as again:
        assert again.map == known
        assert work == []


def test_a_file_that_others_make_something_else_is_read_again_from_its_text(tmp_path):
    with project(tmp_path, {"a/S01 - Gate.md": "en", "b.md": "Some words."}) as index:
        (tmp_path / "a/S02 - Weir.md").write_text(story("en", "2"), "utf-8")
        (tmp_path / "a/S03 - Tower.md").write_text(story("en", "3"), "utf-8")
        index.refresh()
        known = {row.path: (row.kind, row.chapter) for row in index.store.documents()}
        assert known["a/S01 - Gate.md"] == ("chapter", 1)


def test_another_process_reads_the_map_from_the_index(tmp_path):
    files = {f"chapters/{n:02}.md": "en" for n in range(1, 5)} | {
        "reviews/01.md": "# Review\n\n- Score: 7\n- Verdict: pass\n"
    }
    with project(tmp_path, files) as index:
        known = index.map
    with ProjectIndex.open(tmp_path, index_dir=tmp_path / ".index") as again:
        assert again.map == known
        assert known.hidden == {"reviews/01.md"}


def test_an_answer_has_the_map_that_another_process_wrote(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "_racy_window", lambda _: -1)  # the stamps of files just written are believed
    with (
        project(tmp_path, {f"chapters/{n:02}.md": "en" for n in (1, 2, 3)}) as index,
        ProjectIndex.open(tmp_path, index_dir=tmp_path / ".index") as other,
    ):
        (tmp_path / "chapters/04.md").write_text(story("en", "4"), "utf-8")
        other.refresh()
        index.freshen()
        assert index.map == other.map
        assert "chapters/04.md" in index.map.files
        index.freshen()
        assert index.equal == (index.store, index.store.generation())


def test_a_series_has_the_same_map_without_the_rows_of_its_index(tmp_path, monkeypatch):
    folders = [tmp_path / name for name in ("book2", "reviews")]
    for folder in folders:
        folder.mkdir()
        for n in (1, 2, 3):
            (folder / f"{n:02}.md").write_text(story("en", f"{folder} {n}"), "utf-8")
    opened = partial(ProjectIndex.open, folders[0], with_=folders[1:], index_dir=tmp_path / "index")
    with opened() as index:
        known = index.map
    monkeypatch.setattr(derived, "_FEATURES", DerivedCache("features", "another", pack, unpack))
    with opened() as index:
        assert index.map == known
        assert {one.kind for one in known.files.values()} == {"chapter"}


def test_features_come_back_from_their_row(tmp_path):
    with project(tmp_path, {"chapters/S06 - Weir.md": "# 第六章 / zh", "2024-03-05.md": "en"}) as index:
        known = [one for _, one in index._refresher._evidence._known.values()]
        assert [unpack(pack(one)) for one in known] == known
    with pytest.raises(ValueError, match="no features"):
        unpack(b"[1]")


def test_evidence_stands_in_one_order_in_every_process():
    text = "# 角色卡\n\n- 背景：a\n- 性格与职业：b\n- 种族背景：c\n- 职业性格：d\n"
    votes = make_document("x.md", text.encode()).features.votes
    assert ("setting", 1.6, "words of its headings and fields: 背景, 性格, 职业, 种族") in votes


def test_every_clue_has_its_rows_in_the_table_of_weights():
    folder = Path(kinds.__file__).parent
    source = "".join((folder / name).read_text("utf-8") for name in ("features.py", "decide.py"))
    features = [row.feature for row in kinds.WEIGHTS]
    assert all(f'"{feature}"' in source for feature in features)
    assert {*re.findall(r'Clue\("([^"]+)"', source)} <= {*features}
    assert [feature for feature, _ in groupby(features)] == [*dict.fromkeys(features)]  # rows of one stand together


def test_one_table_says_what_every_kind_means():
    from armarius.arguments import KINDS

    assert tuple(sorted(USES)) == tuple(sorted(KINDS))
    assert set(HIDDEN_KINDS) == {"review", "template", "tool"}


@pytest.mark.parametrize(
    "text", [" " * 20_000, "{{" * 9_000, "${" * 9_000, "*" * 20_000, "[A" * 9_000, "a.md " + " " * 20_000]
)
def test_the_evidence_of_a_file_without_words_is_found_in_linear_time(text):
    shape = "\n\n- x\n- y\n- z\n"
    assert make_document("h.md", (shape * 4 + text).encode()).kind == "note"
    assert make_document("h.md", ("# " + text + shape).encode()).features is not None


def test_a_file_of_a_series_without_text_is_shown_as_not_written(tmp_path):
    files = {**{f"chapters/chapter{number}.md": "en" for number in range(1, 6)}, "chapters/chapter6.md": ""}
    with project(tmp_path, files) as index:
        assert index.map.files["chapters/chapter6.md"].state == "empty"
        text = str(ShownMap.of(index.map))
        assert "5 chapters, 1–5\n" in text
        assert "chapter 6, not written" in text
