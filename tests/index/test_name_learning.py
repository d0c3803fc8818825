"""The index learns the habits of its names, keeps them, and answers alike however it came to be."""

import json
import random
import time
import zlib

import pytest
from tests.index.conftest import mentions_of, put

import armarius
from armarius.documents.kinds import PROSE_KINDS
from armarius.index.project_index import ProjectIndex
from armarius.names import Counts, NameCounts
from armarius.store.rows import DerivedRow, Note
from armarius.store.sqlite.store import SqliteStore
from armarius.text.matcher import EntityMatcher, names_of

PEOPLE = (
    "# 人物\n\n## 苏雁\n\n- 类型：人物\n- 别名：玉簪\n- 描述：绣坊的绣娘\n\n"
    "## 陈嫂\n\n- 类型：人物\n- 别名：大奶奶\n\n## 陈大\n\n- 类型：人物\n\n## 陈皎\n\n- 类型：人物\n"
)
USUAL = "苏雁笑了。" * 50
BOUGHT = "她买了玉簪，苏雁看见了。"
COUNTED = "桌上一颗玉簪，匣里三颗玉簪。"


@pytest.fixture
def village(tmp_path, cache):
    root = tmp_path / "village"
    put(root, "spec/people.md", PEOPLE)
    put(root, "chapters/ch001.md", f"# 第一章 绣坊\n\n{USUAL}\n\n{BOUGHT}\n")
    put(root, "chapters/ch002.md", f"# 第二章 集市\n\n{COUNTED}\n")
    return root


def found(index, path):
    text = index.store.document(path).text
    return [text[one.start : one.end] for one in mentions_of(index, path)]


def test_names_that_are_words_are_no_mentions_in_the_index(village):
    with ProjectIndex.open(village) as index:
        assert [one.alias for one in index.snapshot.name_model.doubtful] == ["玉簪"]
        assert set(found(index, "chapters/ch001.md")) == {"苏雁"}
        assert found(index, "chapters/ch002.md") == []


def test_a_saved_chapter_that_changes_a_habit_changes_the_mentions_of_the_others(village):
    with ProjectIndex.open(village) as index:
        put(village, "chapters/ch002.md", "# 第二章 集市\n\n集市散了。\n")
        index.refresh()
        assert [one.rule for one in index.snapshot.name_model.doubtful] == ["beside"]
        put(village, "chapters/ch001.md", f"# 第一章 绣坊\n\n{USUAL}\n\n她买了玉簪。\n")
        index.refresh()
        assert "玉簪" in found(index, "chapters/ch001.md")
        put(village, "chapters/ch003.md", f"# 第三章 当铺\n\n{COUNTED}\n")
        index.refresh()
        assert "玉簪" not in found(index, "chapters/ch001.md")


def test_an_index_that_grew_save_by_save_equals_one_built_in_one_go(village, tmp_path, monkeypatch):
    chooser = random.Random(4)
    pieces = [USUAL, BOUGHT, COUNTED, "陈皎的皎大奶奶来了。", "那皎大奶奶道。"]
    pieces += ["见了大奶奶。", "一把苏雁剑。", "苏雁剑亮了。"]
    index = ProjectIndex.open(village)
    for step in range(25):
        name = f"chapters/ch{chooser.randint(1, 6):03}.md"
        if chooser.random() < 0.2 and (village / name).exists():
            (village / name).unlink()
        else:
            put(village, name, "# 章\n\n" + "\n\n".join(chooser.choices(pieces, k=3)) + f"\n\n{step}\n")
        if chooser.random() < 0.2:
            index.close()
            index = ProjectIndex.open(village)
        index.refresh()
        if step % 5 == 4:
            monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / f"fresh{step}"))
            with ProjectIndex.open(village) as fresh:
                assert fresh.snapshot.name_model == index.snapshot.name_model
                assert fresh.snapshot.match_digest == index.snapshot.match_digest
                for path in fresh.store.files():
                    assert mentions_of(fresh, path) == mentions_of(index, path)
                assert fresh.store.learnt("names") == index.store.learnt("names")
            monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    index.close()


def test_reopening_reads_the_habits_and_counts_nothing(village, monkeypatch):
    with ProjectIndex.open(village) as index:
        learnt = index.snapshot.name_model
    time.sleep(0.06)  # until the stamps are trusted
    monkeypatch.setattr(NameCounts, "count", lambda *_: pytest.fail("counted again"))
    with ProjectIndex.open(village) as index:
        assert index.snapshot.name_model == learnt != armarius.text.NameModel()


def test_a_save_after_reopening_counts_only_what_was_saved(village, monkeypatch):
    ProjectIndex.open(village).close()
    counted = []
    count = NameCounts.count
    monkeypatch.setattr(NameCounts, "count", lambda tally, texts: (counted.extend(texts), count(tally, texts))[1])
    with ProjectIndex.open(village) as index:
        put(village, "chapters/ch003.md", "# 第三章\n\n苏雁走了。\n")
        index.refresh(["chapters/ch003.md"])
    assert counted == ["# 第三章\n\n苏雁走了。\n"]


def test_habits_are_learnt_anew_when_a_profile_names_others(village):
    with ProjectIndex.open(village) as index:
        put(village, "spec/people.md", PEOPLE.replace("玉簪", "阿雁"))
        index.refresh()
        assert index.snapshot.name_model.doubtful == ()
        put(village, "spec/people.md", PEOPLE)
        index.refresh()
        assert [one.alias for one in index.snapshot.name_model.doubtful] == ["玉簪"]


def test_habits_survive_another_process_that_learnt_others(village):
    with ProjectIndex.open(village) as one, ProjectIndex.open(village) as other:
        put(village, "chapters/ch002.md", "# 第二章 集市\n\n集市散了。\n")
        other.refresh()
        one.freshen()
        assert one.snapshot.name_model == other.snapshot.name_model
        put(village, "chapters/ch003.md", f"# 第三章\n\n{COUNTED}\n")
        one.refresh()
        other.freshen()
        assert one.snapshot.name_model == other.snapshot.name_model
        assert [habit.rule for habit in one.snapshot.name_model.doubtful] == ["word"]
        assert one.store.note("names") == one.snapshot.match_digest


def test_a_damaged_note_is_learnt_again(village):
    with ProjectIndex.open(village) as index:
        learnt = index.snapshot.name_model
        index.store.apply([Note("habits", '{"cast": 1')])
    with ProjectIndex.open(village) as index:
        assert index.snapshot.name_model == learnt


NOTHING = {"longer": [], "doubtful": [], "short": [], "refused": []}
NO_HABITS = [
    [],
    5,
    None,
    "x",
    {},
    {**NOTHING, "longer": 5},
    {**NOTHING, "longer": [5]},
    {**NOTHING, "longer": [{"text": 5, "alias": "玉簪", "because": ""}]},
    {**NOTHING, "longer": [{"text": "玉簪"}]},
    {**NOTHING, "doubtful": {"玉簪": 1}},
    {**NOTHING, "doubtful": [{"alias": "a", "entity_id": "b", "rule": "no", "usual": "c", "because": "d"}]},
    {**NOTHING, "refused": [[]]},
    {**NOTHING, "refused": [{"text": "a", "entities": 5, "because": ""}]},
    {**NOTHING, "refused": [{"text": "a", "entities": [[]], "because": ""}]},
]


@pytest.mark.parametrize("name_model", NO_HABITS)
def test_valid_json_of_another_shape_is_learnt_again(name_model, village):
    with ProjectIndex.open(village) as index:
        learnt = index.snapshot.name_model
    with ProjectIndex.open(village) as index:
        head = json.loads(index.store.note("habits"))
        index.store.apply([Note("habits", json.dumps({**head, "habits": name_model}))])
    with ProjectIndex.open(village) as index:
        assert index.snapshot.name_model == learnt


def packed(rows, places=(), times=()):
    """Counts as the index keeps them, with these rows and characters."""
    body = len(places).to_bytes(4, "little") + b"".join(n.to_bytes(4, "little") for n in (*places, *times))
    return zlib.compress(body + json.dumps(rows).encode())


SOUND = {name: [] for name in ("given", "counted", "titled", "heads", "followed", "times", "uses", "neighbors")}
NO_COUNTS = [
    b"",
    b"x",
    zlib.compress(b""),
    zlib.compress(b"\xff\xff\xff\xff"),
    packed([]),
    packed(None),
    packed({}),
    packed({**SOUND, "uses": None}),
    packed({**SOUND, "given": ["雁"]}),
    packed({**SOUND, "given": [["雁", "1"]]}),
    packed({**SOUND, "given": [["雁", 0]]}),
    packed({**SOUND, "given": [[["雁"], 1]]}),
    packed({**SOUND, "titled": [["雁", 1]]}),
    packed(SOUND, [5, 5], [1, 1]),
    packed(SOUND, [7, 5], [1, 1]),
    packed(SOUND, [1 << 20], [1]),
]


@pytest.mark.parametrize("data", NO_COUNTS)
def test_counts_of_another_form_are_counted_again(data, village):
    with ProjectIndex.open(village) as index:
        sound, learnt = index.store.learnt("names"), index.snapshot.name_model
        index.store.apply([DerivedRow(path, row.kind, row.about, data) for path, row in sound.items()])
        index.store.apply([Note("habits", "")])
    with ProjectIndex.open(village) as index:
        assert index.snapshot.name_model == learnt
        assert index.store.learnt("names") == sound


def test_two_processes_that_save_in_turn_count_what_each_saved_and_read_no_other_document(village, monkeypatch):
    for number in range(3, 60):
        put(village, f"chapters/ch{number:03}.md", f"# 第{number}章\n\n苏雁走了{number}步。\n")
    counted, read = [], []
    count, documents_of = NameCounts.count, SqliteStore.documents_of
    with ProjectIndex.open(village) as one, ProjectIndex.open(village) as other:
        for index in (one, other):
            put(village, "chapters/ch001.md", f"# 第一章\n\n{id(index)}\n")
            index.refresh()
        monkeypatch.setattr(NameCounts, "count", lambda tally, texts: (counted.extend(texts), count(tally, texts))[1])
        monkeypatch.setattr(
            SqliteStore, "documents_of", lambda store, paths: (read.extend(paths), documents_of(store, paths))[1]
        )
        for turn in range(6):
            text = f"# 第二章\n\n苏雁笑了{turn}次。\n"
            put(village, f"chapters/ch{turn + 2:03}.md", text)
            (one, other)[turn % 2].refresh()
            assert counted == [text]
            assert len(read) <= 2
            counted.clear()
            read.clear()
        assert other.snapshot.name_model == one.snapshot.name_model
    monkeypatch.undo()
    with ProjectIndex.open(village, index_dir=village.parent / "fresh") as fresh:
        assert fresh.snapshot.name_model == other.snapshot.name_model
        with ProjectIndex.open(village) as again:
            assert fresh.store.learnt("names") == again.store.learnt("names")


def broken(*_):
    raise ZeroDivisionError("broken")


@pytest.mark.parametrize("part", ["names.NameCounts.count", "index.name_learning.model_of", "names.NameModel.to_dict"])
def test_a_failure_to_learn_fails_no_answer_and_is_told(part, village, monkeypatch, caplog):
    with monkeypatch.context() as patched:
        patched.setattr(f"armarius.{part}", broken)
        with armarius.open(village, watch=False) as engine:
            assert engine.detect("苏雁来了")
            pack = engine.assemble(query="苏雁在哪里", budget=8000)
            assert "codex:detected:苏雁" in pack.layers.retrieved.source
            assert [one.split(":")[0] for one in pack.warnings if "broken" in one] == ["ENTITY_MATCH_FAILED"]
            assert "ZeroDivisionError" in caplog.text
            put(village, "chapters/ch003.md", f"# 第三章\n\n{COUNTED}\n")
            engine.refresh()
            if part != "names.NameModel.to_dict":
                assert [one.term for one in engine.mentions("她买了玉簪。")] == ["玉簪"]
    with ProjectIndex.open(village) as index:
        assert index.freshen() == ()
        assert [one.alias for one in index.snapshot.name_model.doubtful] == ["玉簪"]
        assert found(index, "chapters/ch003.md") == []


@pytest.mark.parametrize("documents", [1, 100])
def test_a_whole_count_holds_few_documents_at_once(documents, village, monkeypatch):
    for number in range(documents):
        put(village, f"notes/n{number:03}.md", f"# 札记\n\n苏雁{number}。\n")
    ProjectIndex.open(village).close()
    put(village, "spec/people.md", PEOPLE.replace("玉簪", "阿雁"))
    sizes = []
    count = NameCounts.count
    monkeypatch.setattr(NameCounts, "count", lambda tally, texts: (sizes.append(len(texts)), count(tally, texts))[1])
    with ProjectIndex.open(village):
        assert sum(sizes) == documents + 2
        assert max(sizes) <= 32


def test_a_person_who_is_only_ever_counted_as_a_thing_has_no_usual_name(village):
    put(village, "spec/pearl.md", "# 人物\n\n## 明珠\n\n- 类型：人物\n")
    put(village, "chapters/ch004.md", "# 第四章 珠市\n\n" + "他买了一颗明珠。" * 60 + "\n")
    with armarius.open(village, watch=False) as engine:
        assert engine.mentions("他买了一颗明珠。") == []


def test_ids_and_names_of_any_characters_are_counted_on_after_reopening(village):
    people = [{"id": 'a\tb"c', "name": "林\t雨桐", "aliases": ["雨桐"], "type": "character"}]
    put(village, "codex.json", json.dumps({"entities": people}))
    put(village, "chapters/ch002.md", "# 第二章\n\n雨桐笑了。林\t雨桐笑了。\n")
    with ProjectIndex.open(village) as index:
        assert {one.entity for one in mentions_of(index, "chapters/ch002.md")} >= {'a\tb"c'}
    with ProjectIndex.open(village) as index:
        put(village, "chapters/ch003.md", "# 第三章\n\n雨桐走了。\n")
        index.refresh()
        assert "雨桐" in found(index, "chapters/ch003.md")
        for row in index.store.learnt("names").values():
            assert Counts.from_bytes(row.data).to_bytes() == row.data


def test_detection_retrieval_and_assembly_read_names_alike(village):
    put(village, "chapters/ch004.md", "# 第四章 灯会\n\n桥头的灯下，她买了玉簪。\n")
    with armarius.open(village, watch=False) as engine:
        said = "她买了玉簪，大奶奶来了"
        assert [one.matched_term for one in engine.detect(said)] == ["大奶奶"]
        assert [one.term for one in engine.mentions(said)] == ["大奶奶"]
        assert [(one.term, one.reason) for one in engine.matcher.explain(said)] == [("玉簪", "also a word here")]
        assert "玉簪" not in engine.retrieve(said).understanding.aliases
        pack = engine.assemble(query="灯会", document="chapters/ch004.md", cursor=20, budget=8000)
        assert not [source for source in pack.layers.retrieved.source if source == "codex:detected:苏雁"]


def test_a_question_by_a_doubted_name_alone_means_the_person(village):
    with armarius.open(village, watch=False) as engine:
        assert engine.retrieve("玉簪是谁").understanding.entities == ("苏雁",)
        pack = engine.assemble(query="玉簪是谁", budget=8000)
        assert "codex:detected:苏雁" in pack.layers.retrieved.source


def test_evidence_says_that_a_name_is_derived(village):
    put(village, "spec/more.md", "# 人物\n\n## 顾昭宁\n\n- 类型：人物\n- 描述：医馆的学徒\n")
    put(village, "chapters/ch004.md", "# 第四章 医馆\n\n顾昭宁进来了。昭宁说：“水开了。”\n")
    with armarius.open(village, watch=False) as engine:
        assert str(engine.matcher.derived("顾昭宁", "昭宁")) == "derived: given name of 顾昭宁"
        hit = next(hit for hit in engine.retrieve("昭宁在哪里") if hit.section == "顾昭宁")
        assert hit.evidence[0].detail == "the question names 顾昭宁: 昭宁 (derived: given name of 顾昭宁)"
        pack = engine.assemble(query="昭宁在哪里", budget=8000)
        assert "昭宁 (derived: given name of 顾昭宁)" in str(pack.explain("codex:detected:顾昭宁"))


def test_an_open_builds_one_automaton_of_the_names_and_an_assemble_none(tmp_path, cache, monkeypatch):
    root, built = tmp_path / "novel", []
    named = [{"id": f"e{n}", "name": f"人物{n}", "type": "character"} for n in range(200)]
    put(root, "codex.json", json.dumps({"entities": named}, ensure_ascii=False))
    put(root, "chapters/ch001.md", "# 第一章\n\n人物7来了，人物9走了。\n")
    made = EntityMatcher.__init__

    def counted(self, entities=(), **options):
        entities = list(entities)
        built.append(sum(names_of(one)[1][0].startswith("人物") for one in entities) >= len(named))
        made(self, entities, **options)

    monkeypatch.setattr(EntityMatcher, "__init__", counted)
    with armarius.open(root, watch=False) as engine:
        assert sum(built) == 1
        assert "codex:detected:e7" in engine.assemble("人物7在哪", budget=4000).layers["retrieved"].source
        assert sum(built) == 1
        named[7]["description"] = "灯塔的看守"
        put(root, "codex.json", json.dumps({"entities": named}, ensure_ascii=False))
        assert "灯塔的看守" in engine.assemble("人物7在哪", budget=4000).prompt
        built.clear()
    with armarius.open(root, watch=False) as engine:
        engine.assemble("人物7在哪", budget=4000)
    assert sum(built) == 1


def test_what_is_said_of_a_thing_changes_and_the_names_stay(tmp_path, cache):
    root, said = tmp_path / "novel", '{{"entities": [{{"id": "lamp", "name": "灯塔", "description": "{}"}}]}}'
    put(root, "codex.json", said.format("旧"))
    with ProjectIndex.open(root) as index:
        before = index.snapshot
        put(root, "codex.json", said.format("新"))
        index.refresh()
        assert index.snapshot.matcher is before.matcher
        assert index.snapshot.codex.entities[0].description == "新"
        assert index.snapshot.codex_digest != before.codex_digest


def test_counts_with_a_changed_byte_are_counted_again_and_the_others_are_not(village, monkeypatch):
    with ProjectIndex.open(village) as index:
        sound, learnt = index.store.learnt("names"), index.snapshot.name_model
        row = sound["chapters/ch001.md"]
        damaged = row.data[:-1] + bytes([row.data[-1] ^ 1])
        index.store.apply([DerivedRow(row.path, row.kind, row.about, damaged), Note("habits", "")])
    counted = []
    count = NameCounts.count
    monkeypatch.setattr(NameCounts, "count", lambda tally, texts: (counted.extend(texts), count(tally, texts))[1])
    with ProjectIndex.open(village) as index:
        put(village, "chapters/ch003.md", "# 第三章\n\n天黑了。\n")
        index.refresh()
        assert len(counted) == 2
        assert index.snapshot.name_model == learnt
        assert index.store.learnt("names")["chapters/ch001.md"] == row


def test_what_is_learnt_from_is_asked_of_the_store_once_while_nobody_else_writes(village, monkeypatch):
    asked = []
    documents = SqliteStore.documents

    def noted(store, **asks):
        asked.append(asks.get("kinds"))
        return documents(store, **asks)

    with ProjectIndex.open(village) as index:
        put(village, "chapters/ch003.md", "# 第三章\n\n天黑了。\n")
        index.refresh()
        monkeypatch.setattr(SqliteStore, "documents", noted)
        for turn in range(3):
            put(village, "chapters/ch003.md", f"# 第三章\n\n天黑了{turn}次。\n")
            index.refresh()
        assert PROSE_KINDS not in asked
        with ProjectIndex.open(village) as other:
            put(village, "chapters/ch004.md", f"# 第四章\n\n{COUNTED}\n")
            other.refresh()
            learnt = other.snapshot.name_model
        asked.clear()
        put(village, "chapters/ch003.md", "# 第三章\n\n天亮了。\n")
        index.refresh()
        assert PROSE_KINDS in asked
        assert index.snapshot.name_model == learnt
        assert json.loads(index.store.note("habits"))["habits"] == learnt.to_dict()
