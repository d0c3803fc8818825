"""Pins and mutes: of a request, of a document, of a project; each effect in the record."""

import json
from dataclasses import replace

import pytest

import armarius
from armarius.errors import ContractError, UnknownId
from armarius.index.project_index import ProjectIndex
from armarius.io import write
from armarius.verbs import methods_of
from armarius.warnings import INDEX_BUILDING

FIRST, SECOND, THIRD = (f"chapters/ch00{n}.md" for n in (1, 2, 3))
NOTE = "notes/lamp.md"


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "novel"
    texts = {
        FIRST: "# 第一章\n\n林渡推开门。\n\n旧怀表停在七点。\n",
        SECOND: "# 第二章\n\n白鹭守着灯塔。\n\n铜钥匙沉在码头下面。\n",
        THIRD: "# 第三章\n\n雨停了。\n",
        NOTE: "---\ntags: [灯]\n---\n\n灯油一年换两次。\n",
    }
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    entities = [
        {"id": "lin", "name": "林渡", "type": "character", "aliases": ["阿渡"], "description": "邮差"},
        {"id": "lu", "name": "白鹭", "type": "character", "attributes": {"tags": "灯"}, "description": "守灯人"},
        {"id": "ye", "name": "叶知秋", "type": "character", "aiContextLevel": "manual_only", "description": "医生"},
    ]
    (folder / "codex.json").write_text(json.dumps({"entities": entities}, ensure_ascii=False), encoding="utf-8")
    with armarius.open(folder, watch=False) as engine:
        yield engine


def ask(engine, query="雨停了没有", **more):
    return engine.assemble(query, document=THIRD, budget=3000, **more)


def why(pack, source):
    (item,) = [item for item in pack.items if item.source == source]
    return [evidence.detail for evidence in item.evidence if evidence.kind == "pin"]


@pytest.mark.parametrize("target", ["ye", "叶知秋"])
def test_an_entity_is_pinned_by_id_or_name_whatever_its_level(engine, target):
    assert "叶知秋" not in ask(engine).prompt
    pack = ask(engine, include=[target])
    assert "## 角色：叶知秋" in pack.prompt
    assert why(pack, "codex:pinned:ye") == ["pinned by the request"]


def test_what_is_found_anyway_keeps_its_reasons(engine):
    pack = ask(engine, "阿渡在哪里", include=["阿渡"])
    assert pack.prompt.count("## 角色：林渡") == 1
    assert why(pack, "codex:detected:lin") == ["pinned by the request"]
    assert any(
        evidence.kind == "mention" for item in pack.items for evidence in item.evidence if item.id == "entity:lin"
    )


def test_a_paragraph_is_pinned_by_path_and_number(engine):
    pack = ask(engine, include=[f"{SECOND}#2"])
    source = f"rag:passage:{SECOND}#2"
    assert why(pack, source) == ["pinned by the request"]
    (item,) = [item for item in pack.items if item.source == source]
    path, start, end = item.shows
    assert engine.document(path).text[start:end] == "铜钥匙沉在码头下面。"
    assert "白鹭守着灯塔" not in pack.prompt


def test_a_pinned_text_is_not_said_again_as_a_passage(engine):
    for pinned in ([f"{SECOND}#2"], [SECOND]):
        pack = ask(engine, "铜钥匙在哪里", include=pinned)
        assert pack.prompt.count("铜钥匙沉在码头下面") == 1


def test_a_document_is_pinned_whole(engine):
    pack = ask(engine, include=[SECOND])
    assert "白鹭守着灯塔。\n\n铜钥匙沉在码头下面。" in pack.prompt
    assert why(pack, f"rag:document:{SECOND}") == ["pinned by the request"]


@pytest.mark.parametrize("tag", ["灯", "#灯"])
def test_a_tag_pins_all_that_bears_it(engine, tag):
    pack = ask(engine, include=[tag])
    assert why(pack, f"rag:document:{NOTE}") == why(pack, "codex:pinned:lu") == ["pinned by the request"]


def test_a_muted_entity_has_no_card_and_the_record_says_so(engine):
    pack = ask(engine, "阿渡在哪里", exclude=["林渡"])
    assert "## 角色：林渡" not in pack.prompt
    assert ("excluded", "muted by the request") in {
        (gone.code, gone.detail) for gone in pack.omitted if gone.id == "entity:lin"
    }


@pytest.mark.parametrize("target", [SECOND, f"{SECOND}#2"])
def test_a_muted_text_is_no_passage_and_the_record_says_so(engine, target):
    assert "铜钥匙沉在码头" in ask(engine, "铜钥匙在哪里").prompt
    pack = ask(engine, "铜钥匙在哪里", exclude=[target])
    assert "铜钥匙沉在码头" not in pack.prompt
    (gone,) = pack.why(f"{SECOND}#2").omitted
    assert (gone.code, gone.detail) == ("excluded", "muted by the request")


def test_what_is_muted_leaves_a_prompt_that_continues_one_with_it(engine):
    before = ask(engine, "阿渡和铜钥匙在哪里")
    after = ask(engine, "阿渡和铜钥匙在哪里", exclude=["lin", SECOND], previous=before)
    assert "## 角色：林渡" not in after.prompt
    assert "铜钥匙沉在码头" not in after.prompt


def test_what_is_no_longer_pinned_leaves_too(engine):
    before = ask(engine, include=["ye", SECOND])
    after = ask(engine, previous=before)
    assert "叶知秋" not in after.prompt
    assert "白鹭守着灯塔" not in after.prompt


def test_lasting_ones_hold_for_every_request_and_stand_in_a_readable_file(engine):
    engine.pins.add("叶知秋")
    engine.pins.add(SECOND, mute=True)
    pack = ask(engine, "铜钥匙在哪里")
    assert why(pack, "codex:pinned:ye") == ["pinned by the project"]
    assert pack.why(f"{SECOND}#2").omitted[0].detail == "muted by the project"
    written = (engine.root / ".armarius" / "pins.toml").read_text(encoding="utf-8")
    assert "[[pin]]" in written
    assert 'target = "叶知秋"' in written
    engine.pins.remove("叶知秋")
    assert [pin.target for pin in engine.pins.list()] == [SECOND]
    assert "叶知秋" not in ask(engine).prompt


def test_the_open_document_wins_over_the_project_and_the_request_over_both(engine):
    engine.pins.add("叶知秋", mute=True)
    engine.pins.add("叶知秋", document=THIRD)
    assert why(ask(engine), "codex:pinned:ye") == ["pinned by the document"]
    assert "叶知秋" not in engine.assemble("雨", document=FIRST, budget=3000).prompt
    pack = engine.assemble("雨", document=FIRST, budget=3000, include=["ye"])
    assert why(pack, "codex:pinned:ye") == ["pinned by the request"]
    assert "叶知秋" not in ask(engine, exclude=["ye"]).prompt


def test_pinning_what_is_muted_changes_the_one_record(engine):
    first = engine.pins.add("林渡")
    assert engine.pins.add("林渡") == first
    assert engine.pins.add("林渡", mute=True).mute
    assert len(engine.pins.list()) == 1


def test_what_nobody_is_called_is_an_error_of_a_request_and_a_warning_of_a_lasting_one(engine):
    with pytest.raises(UnknownId, match=r"include: nothing is called '林度'"):
        ask(engine, include=["林度"])
    with pytest.raises(UnknownId, match="exclude"):
        ask(engine, exclude=[f"{SECOND}#99"])
    gone = engine.root / "chapters" / "gone.md"
    gone.write_text("旧稿。", encoding="utf-8")
    engine.pins.add("chapters/gone.md")
    gone.unlink()
    (warning,) = ask(engine).warnings
    assert warning.startswith("PIN_UNKNOWN: nothing is called 'chapters/gone.md'")
    with pytest.raises(UnknownId, match="neither pinned nor muted"):
        engine.pins.remove("林渡")


def test_a_lasting_pin_of_what_nobody_is_called_is_refused_and_names_near_ones(engine):
    with pytest.raises(UnknownId, match=r"nothing is called 'chapters/ch009\.md'; near it: ") as refused:
        engine.pins.add("chapters/ch009.md")
    assert SECOND in refused.value.near
    with pytest.raises(UnknownId, match=r"params\.target: nothing is called '林度'"):
        methods_of(engine)["pins:add"]({"target": "林度", "mute": True})
    assert engine.pins.list() == ()


def test_a_project_that_is_being_indexed_takes_any_pin(engine, monkeypatch):
    view = engine._parts.project.view()
    building = replace(view, warnings=(INDEX_BUILDING(done=1, total=4),))
    monkeypatch.setattr(engine._parts.project, "view", lambda: building)
    assert engine.pins.add("chapters/ch009.md").target == "chapters/ch009.md"


PROFILES = """# 人物

## 白帆

- 类型：人物
- 描述：修帆的人。

### 过去

他在海上漂了九天。

## 白鸥

- 类型：人物
- 描述：卖鱼的人。
"""


@pytest.mark.parametrize("lasting", [True, False])
def test_a_muted_entity_takes_the_section_that_describes_it_along(engine, lasting):
    (engine.root / "spec").mkdir()
    (engine.root / "spec" / "characters.md").write_text(PROFILES, encoding="utf-8")
    question = "修帆的人是谁，谁卖鱼，谁在海上漂了九天"
    assert "漂了九天" in ask(engine, question).prompt
    if lasting:
        engine.pins.add("白帆", mute=True)
    pack = ask(engine, question, **({} if lasting else {"exclude": ["白帆"]}))
    assert "修帆的人。" not in pack.prompt
    assert "漂了九天。" not in pack.prompt
    assert "卖鱼的人。" in pack.prompt
    by = "project" if lasting else "request"
    assert {gone.source: gone.detail for gone in pack.omitted if "it describes" in gone.detail} == {
        f"rag:passage:spec/characters.md#{n}": f"muted by the {by}: it describes 白帆" for n in (1, 2, 3, 4)
    }
    shown = ask(engine, question, include=["spec/characters.md#2"], exclude=["白帆"])
    assert "修帆的人。" in shown.prompt  # named itself


def test_a_list_that_describes_several_is_muted_when_all_of_them_are(engine):
    (engine.root / "spec").mkdir()
    listed = "# 主要人物\n\n- 白帆：修帆的人，在海上漂了九天。\n- 白鸥：卖鱼的人。\n"
    (engine.root / "spec" / "characters.md").write_text(listed, encoding="utf-8")
    question = "修帆的人是谁，谁在海上漂了九天"
    one, both = (
        {gone.source for gone in ask(engine, question, exclude=muted).omitted if "it describes" in gone.detail}
        for muted in (["白帆"], ["白帆", "白鸥"])
    )
    assert (one, both) == (set(), {"rag:passage:spec/characters.md#1"})


def test_one_thing_is_not_both(engine):
    with pytest.raises(ContractError, match="both hold '阿渡'"):
        ask(engine, include=["林渡"], exclude=["阿渡"])


def test_what_is_later_than_may_be_known_is_not_pinned(engine):
    pack = ask(engine, include=[SECOND], as_of=1)
    assert "铜钥匙" not in pack.prompt
    assert pack.why(f"rag:document:{SECOND}").omitted[0].code == "timeline"


def test_pinned_things_are_demand(engine):
    long = "灯塔的记录写了很久。" * 900
    (engine.root / NOTE).write_text(long, encoding="utf-8")
    pack = ask(engine, include=[NOTE])
    assert pack.token_count <= 3000
    assert [warning.split(":")[0] for warning in pack.warnings if "CAPACITY" in warning]
    (item,) = [item for item in pack.items if item.source == f"rag:document:{NOTE}"]
    assert item.form == "truncated"


def test_the_channel_pins_and_mutes(engine):
    methods = methods_of(engine)
    pin = methods["pins:add"]({"target": "叶知秋", "documentId": THIRD})
    assert (pin["target"], pin["mute"], pin["documentId"]) == ("叶知秋", False, THIRD)
    asked = {"projectId": "", "documentId": THIRD, "cursorPosition": 0, "skillId": "", "query": "雨", "budget": 3000}
    assert "叶知秋" in methods["context:prompt:assemble"](asked)["prompt"]
    assert "叶知秋" not in methods["context:prompt:assemble"]({**asked, "exclude": ["ye"]})["prompt"]
    assert methods["pins:list"]({})["items"] == [pin]
    assert methods["pins:remove"]({"target": "叶知秋", "documentId": THIRD}) == {"target": "叶知秋"}
    assert methods["pins:list"]({})["items"] == []


def records(engine):
    """Documents of the pins and of the summaries that fit their text, and paths that are pinned."""
    engine.documents()
    fresh = {summary.document: summary.text for summary in engine.summaries} if not engine.summaries.stale() else {}
    return {pin.target for pin in engine.pins}, {pin.document for pin in engine.pins}, fresh


def with_records(engine):
    engine.summaries.set(FIRST, "He opens the door.")
    engine.pins.add(FIRST)
    engine.pins.add(f"{FIRST}#2")
    engine.pins.add("lin", document=FIRST)
    return {FIRST, f"{FIRST}#2", "lin"}, {"", FIRST}, {FIRST: "He opens the door."}


def at(path, before):
    """The same records, of another path."""
    targets, documents, summaries = before
    changed = lambda text: text.replace(FIRST, path)  # noqa: E731
    return (
        set(map(changed, targets)),
        set(map(changed, documents)),
        {changed(doc): text for doc, text in summaries.items()},
    )


@pytest.mark.parametrize("is_on_disk", [False, True])
def test_a_document_that_is_moved_keeps_its_summary_and_its_pins(engine, is_on_disk):
    before = with_records(engine)
    assert records(engine) == before
    if is_on_disk:
        (engine.root / FIRST).rename(engine.root / "chapters/ch009.md")
    else:
        engine.move(FIRST, "chapters/ch009.md")
    assert records(engine) == at("chapters/ch009.md", before)
    engine.write({FIRST: "# 第一章\n\n新的一章。\n"})
    engine.summaries.set(FIRST, "A new one.")
    engine.pins.add(FIRST)
    assert engine.summaries.get("chapters/ch009.md").text == "He opens the door."
    assert {FIRST, "chapters/ch009.md"} < {pin.target for pin in engine.pins}


def test_a_document_whose_move_ends_between_text_and_index_keeps_its_records(engine, monkeypatch):
    before = with_records(engine)

    def killed(_, *moves):
        if moves:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("armarius.index.project_index.ProjectIndex.follow_moves", killed)
        with pytest.raises(KeyboardInterrupt):
            engine.move(FIRST, "chapters/ch009.md")
    with armarius.open(engine.root, watch=False) as again:
        assert records(again) == at("chapters/ch009.md", before)


def test_a_path_whose_documents_were_moved_away_again_and_again_can_have_a_summary(engine):
    engine.summaries.set(SECOND, "Of another.")
    for to in ("a.md", "b.md"):
        engine.write({FIRST: f"# 新\n\n要去{to}的一章。\n"})
        engine.summaries.set(FIRST, f"Of {to}.")
        engine.move(FIRST, to)
    engine.summaries.delete(SECOND)
    engine.write({FIRST: "# 新\n\n最后的一章。\n"})
    engine.summaries.set(FIRST, "The last.")
    assert {summary.text for summary in engine.summaries} == {"Of a.md.", "Of b.md.", "The last."}


def test_two_documents_of_equal_text_that_are_moved_keep_each_its_own_records(engine):
    engine.write({"a/1.md": "# 空\n", "a/2.md": "# 空\n"})
    for path in ("a/1.md", "a/2.md"):
        engine.summaries.set(path, f"Once {path}.")
        engine.pins.add(path)
    engine.write({"b/1.md": "# 空\n", "b/2.md": "# 空\n"}, remove=["a/1.md", "a/2.md"])
    targets, _, summaries = records(engine)
    assert (targets, summaries) == ({"b/1.md", "b/2.md"}, {"b/1.md": "Once a/1.md.", "b/2.md": "Once a/2.md."})


def test_records_follow_a_move_that_somebody_saw_when_it_was_half_done(engine, monkeypatch):
    before = with_records(engine)
    remove = write.remove_file

    def looked_at(*arguments, **options):
        engine.index.refresh()  # another thread, or a watcher: the new file is there, and the former one still
        remove(*arguments, **options)

    monkeypatch.setattr(write, "remove_file", looked_at)
    engine.move(FIRST, "chapters/ch009.md")
    assert records(engine) == at("chapters/ch009.md", before)


def test_a_document_that_is_moved_while_nobody_looks_keeps_its_records(engine):
    before = with_records(engine)
    root = engine.root
    engine.close()
    (root / "part1").mkdir()
    (root / FIRST).rename(root / "part1/ch001.md")
    with armarius.open(root, watch=False) as again:
        assert records(again) == at("part1/ch001.md", before)


def test_records_follow_a_document_that_a_command_without_an_engine_sees_moved(engine):
    before = with_records(engine)
    root = engine.root
    engine.close()
    (root / FIRST).rename(root / "chapters/ch009.md")
    ProjectIndex.open(root).close()  # as `armarius index` does
    with armarius.open(root, watch=False) as again:
        assert records(again) == at("chapters/ch009.md", before)


def test_a_chapter_that_is_put_before_others_moves_their_records(engine):
    before = with_records(engine)
    engine.summaries.set(SECOND, "The key sinks.")
    one, two, three = ((engine.root / path).read_bytes() for path in (FIRST, SECOND, THIRD))
    engine.write({FIRST: "# 序\n\n新的一章。\n", SECOND: one, THIRD: two, "chapters/ch004.md": three})
    targets, documents, summaries = at(SECOND, before)
    assert records(engine) == (targets, documents, {**summaries, THIRD: "The key sinks."})


def test_records_stay_with_a_document_that_is_copied_and_then_changed(engine):
    with_records(engine)
    text = (engine.root / FIRST).read_text("utf-8")
    (engine.root / "chapters/copy.md").write_text(text, "utf-8")
    (engine.root / FIRST).write_text(text + "\n门开了。\n", "utf-8")
    engine.documents()
    assert {pin.target for pin in engine.pins} == {FIRST, f"{FIRST}#2", "lin"}
    assert engine.summaries.stale() == (FIRST,)


def test_records_that_may_not_be_written_stay_with_the_former_path(engine, monkeypatch):
    with_records(engine)
    monkeypatch.setattr(type(engine.pins), "follow", None)

    def fail(*_):
        raise armarius.StoreError("read-only")

    monkeypatch.setattr("armarius.codex.collection.Summaries.follow", fail)
    (engine.root / FIRST).rename(engine.root / "chapters/ch009.md")
    assert "chapters/ch009.md" in {document.path for document in engine.documents()}
    assert engine.summaries.stale() == (FIRST,)
