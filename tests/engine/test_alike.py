"""Every collection of an engine answers the same calls in the same way. Rows are a collection's name, what creates one
in it, what that is called, and a change of it."""

import json

import pytest

import armarius
from armarius.codex import Deleted
from armarius.errors import CodexError, ContractError, StoreError, UnknownId

BOOK = json.dumps({"name": "B", "entries": {"0": {"uid": 0, "key": ["k"], "content": "t"}}}).encode()
PAGE = "## 林默\n\n修表的人。\n\n## 林小雨\n\n- 别名：小雨\n\n林默的妹妹。\n"
ROWS = {
    "codex": (lambda one: one.codex.create("周远"), "周远", {"description": "船工"}, "2 entities", 3),
    "memories": (lambda one: one.memories.create("怕水", id="m"), "m", {"text": "不怕水"}, "0 memories", 1),
    "constraints": (lambda one: one.constraints.create("第三人称", id="c"), "c", {"priority": 2}, "0 constraints", 1),
    "pins": (lambda one: one.pins.create("林默"), "林默", {"mute": True}, "0 pins", 1),
    "summaries": (lambda one: one.summaries.create("ch1.md", "开门"), "ch1.md", {"text": "关门"}, "0 summaries", 1),
    "books": (lambda one: one.importing.add(BOOK, name="b.json"), "b", {}, "0 books", 1),
}
EACH = pytest.mark.parametrize("name", ROWS)


@pytest.fixture
def engine(tmp_path):
    (tmp_path / "人物.md").write_text(PAGE, "utf-8")
    (tmp_path / "ch1.md").write_text("# 第一章\n\n林默推开门，小雨在看雨。\n", "utf-8")
    with armarius.open(tmp_path, watch=False) as opened:
        yield opened


@EACH
def test_a_collection_lists_counts_and_shows_what_it_has_in_one_line(engine, name):
    create, _, _, shown, many = ROWS[name]
    part = getattr(engine, name)
    assert shown in repr(part)
    create(engine)
    found = [part[one] for one in part] if name == "books" else list(part)  # lorebooks are a mapping by id
    assert (len(part), found) == (many, list(part.list()))


@EACH
def test_one_is_had_changed_and_deleted_by_the_same_calls(engine, name):
    create, called, changes, _, many = ROWS[name]
    create(engine)
    part = getattr(engine, name)
    if changes:
        assert part.get(called) != part.update(called, **changes) == part.get(called)
    done = part.delete(called)
    assert isinstance(done, Deleted)
    assert str(done).startswith(f"{done.what} {done.id!r} removed from .armarius/")
    assert len(part) == many - 1
    for verb in (part.get, part.delete):
        with pytest.raises(UnknownId):
            verb(called)


@EACH
def test_what_get_knows_is_in_a_collection(engine, name):
    create, called, *_ = ROWS[name]
    part = getattr(engine, name)
    assert called not in part
    create(engine)
    assert called in part
    assert part.get(called) in part.list()


@EACH
def test_a_closed_engine_says_so(engine, name):
    engine.close()
    with pytest.raises(StoreError, match=r"^this engine is closed; open the project again$"):
        getattr(engine, name)


@pytest.mark.parametrize(
    "verb", ["assemble", "search", "retrieve", "detect", "entities", "documents", "status", "refresh", "wait", "map"]
)
def test_every_call_of_a_closed_engine_says_so(engine, verb):
    engine.close()
    with pytest.raises(StoreError, match="this engine is closed"):
        getattr(engine, verb)(*["林默"] * (verb in ("assemble", "search", "retrieve", "detect")))


@pytest.mark.parametrize(
    ("said", "type_"), [("人物", "character"), ("Characters", "character"), ("地点", "location"), ("灵宠", "灵宠")]
)
def test_a_type_may_be_said_in_any_word_that_a_page_may_use(engine, said, type_):
    assert engine.codex.create("周远", type=said).type == type_
    assert engine.codex.update("周远", type="item").type == "item"
    assert engine.codex.update("周远", type=said).type == type_


@pytest.mark.parametrize("said", ["总是", "always"])
def test_a_level_may_be_said_in_any_word_that_a_page_may_use(engine, tmp_path, said):
    assert engine.codex.create("周远", level=said).level == "always"
    assert engine.codex.update("周远", level="从不").level == "never"
    for name in ("林小雨", "周远"):
        assert engine.codex.update(name, level=said).level == "always"
    assert "注入：总是" in (tmp_path / "人物.md").read_text("utf-8")


def test_a_kind_that_is_none_is_answered_with_the_near_one(engine):
    with pytest.raises(ContractError, match="got 'chapters'; near it: chapter"):
        engine.set_kind("ch1.md", "chapters")


@pytest.mark.parametrize(
    "values",
    [{"level": "sometimes"}, {"colour": "red"}, {"aliases": "小雨"}, {"attributes": 3}],
    ids=lambda one: next(iter(one)),
)
def test_what_is_wrong_with_a_new_entity_is_said_of_its_name(engine, values):
    with pytest.raises(CodexError, match=r"^entity '周远': "):
        engine.codex.create("周远", **values)


def test_a_type_that_is_a_slip_is_refused_with_the_near_one_unless_it_is_meant(engine):
    with pytest.raises(CodexError, match=r"type: 'charactr' is none of .*; near it: character; with `force`"):
        engine.codex.create("周远", type="charactr")
    assert engine.codex.create("周远", type="charactr", force=True).type == "charactr"


@pytest.mark.parametrize(
    ("part", "given", "said"),
    [
        ("codex", {"name": "甲", "level": "alway"}, "level: expected one of .*, got 'alway'; near it: always"),
        ("codex", {"name": "甲", "descripton": "x"}, "descripton: no such field; near it: description"),
        ("memories", {"text": "x", "kind": "semantik"}, "kind: expected one of .*; near it: semantic"),
        ("constraints", {"text": "x", "source": "usr"}, "source: expected one of .*; near it: user"),
    ],
)
def test_a_wrong_value_is_answered_with_the_near_one(engine, part, given, said):
    with pytest.raises(CodexError, match=said):
        getattr(engine, part).create(**given)


@pytest.mark.parametrize("path", ["人物.md", "codex.json", ".armarius/codex.toml"])
def test_aliases_are_replaced_and_removed_wherever_they_stand(tmp_path, path):
    if path == "codex.json":
        entity = {"id": "x", "name": "林小雨", "aliases": ["小雨", "雨丫头"]}
        (tmp_path / path).write_text(json.dumps({"entities": [entity]}), "utf-8")
    elif path == "人物.md":
        (tmp_path / path).write_text("## 林小雨\n\n- 别名：小雨、雨丫头\n\n妹妹。\n", "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        if not engine.codex:
            engine.codex.create("林小雨", aliases=["小雨", "雨丫头"])
        assert engine.codex.update("林小雨", aliases=["阿雨", "小雨"]).aliases == ("阿雨", "小雨")
        assert [one.term for one in engine.mentions("雨丫头和阿雨")] == ["阿雨"]
        assert engine.codex.update("林小雨", aliases=[]).aliases == ()
        assert engine.codex.update("林小雨", aliases=["雨丫头"]).aliases == ("雨丫头",)


@pytest.mark.parametrize("aliases", [["雨姑娘"], ["雨姑娘", "雨丫头"]])
def test_an_alias_that_a_record_takes_away_is_no_short_name_either(tmp_path, aliases):
    entity = {"id": "lin-xiaoyu", "name": "林小雨", "type": "character", "aliases": ["小雨", "雨丫头"]}
    (tmp_path / "codex.json").write_text(json.dumps({"entities": [entity]}), "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        assert engine.detect("小雨来了")
        engine.codex.update("林小雨", aliases=aliases)
        assert not engine.detect("小雨来了")
        assert [one.entity_id for one in engine.detect("雨姑娘来了")] == ["lin-xiaoyu"]
        engine.codex.update("林小雨", aliases=[*aliases, "小雨"])
        assert engine.detect("小雨来了")


@pytest.mark.parametrize("page", [True, False])
@pytest.mark.parametrize("by_alias", [True, False])
def test_a_relation_stays_when_the_alias_that_it_was_made_by_goes(tmp_path, page, by_alias):
    (tmp_path / "人物.md").write_text(
        PAGE + ("\n## 沈砚秋\n\n- 别名：沈老师、砚秋\n\n先生。\n" if page else ""), "utf-8"
    )
    with armarius.open(tmp_path, watch=False) as engine:
        if not page:
            engine.codex.create("沈砚秋", aliases=["沈老师", "砚秋"])
        if by_alias:
            text = '[[relation]]\nid = "r"\nsource = "林小雨"\ntarget = "沈老师"\ntype = "师生"\nsince = 2\n'
            (tmp_path / ".armarius").mkdir(exist_ok=True)
            with (tmp_path / ".armarius/codex.toml").open("a", encoding="utf-8") as file:
                file.write(text)
        else:
            engine.codex.relate("林小雨", "沈老师", "师生", since=2)
        engine.codex.update("沈砚秋", aliases=["砚秋"])
        assert [(one.source, one.target, one.since) for one in engine.codex.relations()] == [("林小雨", "沈砚秋", 2)]
        assert not engine.assemble("沈砚秋").warnings


def test_delete_says_what_went_and_where_the_entity_is_described_still(engine):
    engine.codex.update("林小雨", facts=["怕水"])
    done = engine.codex.delete("小雨")
    assert (done.what, done.path, done.left) == ("record", ".armarius/codex.toml", ("人物.md:5",))
    assert str(engine.codex.delete("小雨")) == "section '林小雨' removed from 人物.md"
