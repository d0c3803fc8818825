"""The open document as an editor holds it, ahead of the disk or not there yet."""

import json

import pytest

import armarius
from armarius.errors import UnknownDocument

SAVED = "# 第一章 雨夜\n\n林小雨推开门，走了进来。\n\n她把旧怀表放在桌上。\n"
LIVE = SAVED + "\n白鹭在灯塔下等她，手里攥着铜钥匙。\n"
PATH = "chapters/ch001.md"


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "novel"
    (folder / "chapters").mkdir(parents=True)
    (folder / PATH).write_text(SAVED, encoding="utf-8")
    (folder / "chapters" / "ch002.md").write_text("# 第二章 码头\n\n铜钥匙沉在码头下面。\n", encoding="utf-8")
    names = [("e1", "林小雨", ["小雨"]), ("e2", "白鹭", []), ("e3", "江城", [])]
    entities = [
        {"id": id_, "name": name, "type": "character", "aliases": also, "description": "书里的"}
        for id_, name, also in names
    ]
    (folder / "codex.json").write_text(json.dumps({"entities": entities}, ensure_ascii=False), encoding="utf-8")
    with armarius.open(folder, watch=False) as engine:
        yield engine


def passages(pack):
    return {item.source: item for item in pack.items if item.source.startswith("rag:passage:")}


def test_window_and_mentions_come_from_the_buffer(engine):
    pack = engine.assemble("续写", document=PATH, text=LIVE, budget=3000)
    assert "手里攥着铜钥匙" in pack.prompt
    assert "codex:detected:e2" in pack.layers.retrieved.source
    assert "codex:detected:e2" not in engine.assemble("续写", document=PATH, budget=3000).layers.retrieved.source


def test_the_index_and_other_requests_see_nothing_of_it(engine):
    texts, files = {one.path: one.text for one in engine.documents()}, sorted(engine.root.rglob("*"))
    engine.assemble("铜钥匙在哪里", document=PATH, text=LIVE, budget=3000)
    assert engine.document(PATH).text == SAVED
    assert not engine.search("攥着铜钥匙")
    assert {one.path: one.text for one in engine.documents()} == texts
    assert sorted(engine.root.rglob("*")) == files
    assert not [hit for hit in engine.retrieve("谁攥着铜钥匙") if hit.path == PATH and "攥" in engine.excerpt(hit)]


def test_passages_of_the_open_document_are_those_of_the_buffer_with_its_spans(engine):
    filler = "\n\n".join(f"第{n}阵雨打在窗上，谁也没有说话，屋里只听见座钟在走。" for n in range(400))
    text = f"# 第一章 雨夜\n\n灯塔守人名叫皮特曼，左手少了一根指头。\n\n{filler}\n"
    pack = engine.assemble("皮特曼的左手怎么了", document=PATH, text=text, cursor=len(text), budget=2500)
    found = [item for item in passages(pack).values() if item.documents == (PATH,)]
    assert found
    assert "灯塔守人名叫皮特曼" in pack.prompt
    for item in found:
        path, start, end = item.shows
        assert (path, text[start:end]) == (PATH, text[start:end].strip())
        assert text[start:end] in pack.prompt[slice(*item.span)]


def test_what_the_buffer_no_longer_says_is_not_said(engine):
    pack = engine.assemble("旧怀表在哪里", document=PATH, text="# 第一章 雨夜\n\n一切都变了。\n", budget=3000)
    assert "旧怀表放在桌上" not in pack.prompt
    assert "旧怀表放在桌上" in engine.assemble("旧怀表在哪里", budget=3000).prompt


def test_nothing_is_said_twice(engine):
    pack = engine.assemble("铜钥匙和旧怀表在哪里", document=PATH, text=LIVE, cursor=len(LIVE) - 9, budget=4000)
    for said in ("她把旧怀表放在桌上", "铜钥匙沉在码头下面", "白鹭在灯塔下等她"):
        assert pack.prompt.count(said) <= 1
    assert "她把旧怀表放在桌上" in pack.prompt


def test_the_chapter_is_the_one_that_the_buffer_says(engine):
    text = "---\nchapter: 1\n---\n\n小雨走了。\n"
    later = text.replace("chapter: 1", "chapter: 2")
    first = engine.assemble("铜钥匙沉在哪里", document="chapters/x.md", text=text, budget=3000)
    second = engine.assemble("铜钥匙沉在哪里", document="chapters/x.md", text=later, budget=3000)
    assert "沉在码头下面" not in first.prompt
    assert "沉在码头下面" in second.prompt


def test_an_unknown_path_is_a_new_document(engine):
    text = "# 第三章 灯塔\n\n江城的雨停了。\n"
    pack = engine.assemble("续写", document="chapters/ch003.md", text=text, budget=3000)
    assert "江城的雨停了" in pack.prompt
    assert "codex:detected:e3" in pack.layers.retrieved.source
    with pytest.raises(UnknownDocument):
        engine.assemble("续写", document="chapters/ch003.md")


def test_a_buffer_without_a_name_has_its_window(engine):
    pack = engine.assemble("续写", text="小雨还没有写完。", cursor=3, budget=3000)
    assert "小雨还<cursor/>没有写完。" in pack.prompt
    assert "codex:detected:e1" in pack.layers.retrieved.source


def test_a_cursor_past_the_saved_end_is_its_end_with_a_warning(engine):
    pack = engine.assemble("续写", document=PATH, cursor=10**6, selection=(3, 10**6), budget=3000)
    assert [warning.split(":")[0] for warning in pack.warnings] == ["CONTEXT_CURSOR_CLAMPED"] * 2
    assert pack.request.cursor == len(SAVED)
    assert "</selection><cursor/>" in pack.prompt


@pytest.mark.parametrize("text", ["", "  \n\t\n", "\ufeff", "\r\n"])
@pytest.mark.parametrize("selection", [None, (0, 0), (0, 1)])
def test_an_empty_buffer_is_a_prompt_without_a_window(engine, text, selection):
    if selection == (0, 1) and not text:
        return
    pack = engine.assemble("续写", document=PATH, text=text, cursor=0, selection=selection, budget=3000)
    assert "林小雨推开门" not in pack.prompt
    assert "[用户请求]\n续写" in pack.prompt


@pytest.mark.parametrize("cursor", [0, 5, None])
def test_a_byte_order_mark_and_crlf_keep_every_offset(engine, cursor):
    text = "\ufeff---\r\nchapter: 1\r\n---\r\n\r\n第一行。\r\n\r\n林小雨写的第二行。\r\n"
    pack = engine.assemble("续写", document=PATH, text=text, cursor=cursor, budget=3000)
    assert pack.request.cursor == (len(text) if cursor is None else cursor)
    (place,) = pack.locate("林小雨写的第二行")
    assert text[slice(*place.span)] == "林小雨写的第二行"
    window = next(item for item in pack.items if item.source == "editor:cursor-window")
    shown = text[slice(*window.shows[1:])]
    assert shown == text.strip("\ufeff \r\n") or shown == text[: len(shown)]


def test_half_a_character_is_a_replacement_character_in_its_place(engine):
    text = "小雨\ud83d说，白鹭"
    pack = engine.assemble("续写", document=PATH, text=text, cursor=4, position_encoding="utf-16", budget=3000)
    assert "小雨\ufffd说<cursor/>，白鹭" in pack.prompt
    assert "codex:detected:e2" in pack.layers.retrieved.source


def test_keystrokes_share_what_stands_before_the_cursor(engine):
    text, previous = LIVE, None
    for typed in "她没有回头。":
        text += typed
        pack = engine.assemble("续写", document=PATH, text=text, cursor=len(text), previous=previous, budget=3000)
        if previous is not None:
            assert pack.stable_prefix_unchanged
            assert pack.prefix.first_difference[0] == "immediate"
        previous = pack


def test_a_buffer_is_parsed_and_ranked_once_for_each_text(engine, monkeypatch):
    from armarius.index import source as editor_texts
    from armarius.search.corpus import Corpus

    read, made = [], []
    document_of, with_live = editor_texts.document_of, Corpus._overlay_live
    monkeypatch.setattr(editor_texts, "document_of", lambda *a, **k: read.append(a[0]) or document_of(*a, **k))
    monkeypatch.setattr(Corpus, "_overlay_live", lambda *a: made.append(a[1].path) or with_live(*a))
    for cursor in range(5):
        engine.assemble("旧怀表在哪里", document=PATH, text=LIVE, cursor=cursor, budget=3000)
    assert (read, made) == ([PATH], [PATH])


def test_what_is_saved_costs_nothing_more(engine, monkeypatch):
    from armarius.index import source as editor_texts

    monkeypatch.setattr(editor_texts, "document_of", None)
    saved = engine.assemble("旧怀表在哪里", document=PATH, cursor=20, budget=3000)
    assert engine.assemble("旧怀表在哪里", document=PATH, text=SAVED, cursor=20, budget=3000).prompt == saved.prompt


def test_saving_the_buffer_changes_no_byte_of_the_prompt(engine):
    asked = {"document": PATH, "cursor": 30, "budget": 3000}
    live = engine.assemble("铜钥匙在哪里", text=LIVE, **asked)
    (engine.root / PATH).write_text(LIVE, encoding="utf-8")
    assert engine.assemble("铜钥匙在哪里", **asked).prompt == live.prompt
