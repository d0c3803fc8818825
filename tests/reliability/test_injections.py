"""Whatever a project, a conversation or an editor says, on every surface: the prompt's structure is ours alone."""

import json
from collections import Counter

import pytest
from tests.reliability.structure import QUERY, SURFACES, Judge, injections

import armarius
from armarius.errors import ArmariusError

BUDGET = 60_000
PLACES = ("constraint:", "memory:", "kg:always:", "codex:detected:", "kg:relation:", "lore:constant:", "lore:active:",
          "style:", "rag:passage:", "editor:cursor-window", "request:message:", "request:query")  # fmt: skip


def planted(root, text):
    """A project with `text` in every place that prompts are made of; the places that refused it are left out."""
    chapters = root / "chapters"
    chapters.mkdir(parents=True)
    line = " ".join(text.split())
    data = text.encode("utf8", "surrogatepass")
    chapters.joinpath("ch001.md").write_bytes("# 第1章\n\n林小雨在灯塔看见了船。\n\n".encode() + data)
    chapters.joinpath("ch002.md").write_text("# 第2章\n\n林小雨走了。", "utf8")
    root.joinpath("灯塔.md").write_bytes(f"# 林小雨的灯塔 {line}\n\n林小雨在灯塔看见了：\n\n".encode() + data)
    root.joinpath("style.md").write_bytes("# 风格\n\n".encode() + data)
    entities = [
        {"id": "yu", "name": "林小雨", "type": line, "aliases": ["小雨", line], "description": text,
         "attributes": {line: text}, "aiContextLevel": "when_detected"},
        {"id": "ta", "name": "灯塔", "description": text, "aiContextLevel": "always"},
    ]  # fmt: skip
    relations = [{"source": "yu", "target": "ta", "type": "师徒"}, {"source": "yu", "target": "ta", "type": line}]
    root.joinpath("codex.json").write_text(json.dumps({"entities": entities, "relations": relations}), "utf8")
    entry = {"content": text, "comment": line, "order": 1}
    book = {
        "entries": {
            "0": {**entry, "uid": 0, "key": [], "constant": True},
            "1": {**entry, "uid": 1, "key": ["灯塔"], "content": f"灯塔：{text}"},
        }
    }
    with armarius.open(root, watch=False) as engine:
        for plant in (
            lambda: engine.constraints.create(text),
            lambda: engine.memories.create(text),
            lambda: engine.memories.create(f"灯塔 {text}"),
            lambda: engine.importing.add(json.dumps(book).encode(), name=f"{line[:20]}.json"),
        ):
            try:
                plant()
            except ArmariusError:  # refused is as good
                continue


def request(text):
    """A question with the same text in the open document, in what is selected and in the conversation."""
    clean = text.encode("utf8", "replace").decode()
    buffer = f"林小雨走了。\n{clean}\n她回来了。\n{clean}"
    said = [{"role": "user", "content": clean}, {"role": "assistant", "content": clean},
            {"role": "tool", "content": clean}, {"role": "user", "content": f"灯塔 {clean}"}]  # fmt: skip
    return {"query": f"{QUERY}\n{clean}", "document": "chapters/ch002.md", "text": buffer, "cursor": 3,
            "selection": (7, 7 + len(clean)), "messages": said, "budget": BUDGET}  # fmt: skip


@pytest.mark.parametrize("step", [26, pytest.param(1, marks=pytest.mark.slow)])
async def test_no_text_from_anywhere_changes_the_structure_of_a_prompt(tmp_path, record_property, step):
    for module in ("mcp.server", "langgraph", "langchain", "llama_index.core"):
        pytest.importorskip(module)
    wrong, sources, texts = [], Counter(), injections()[::step]
    for number, text in enumerate(texts):
        planted(tmp_path / str(number), text)
        asked = request(text)
        with armarius.open(tmp_path / str(number), watch=False) as engine:
            include = {**asked, "include_messages": 4}
            judge, told = Judge(engine, asked), Judge(engine, include)
            found = told.wrong("conversation", [told.pack.prompt])
            for surface in SURFACES.values():
                found += await surface(engine, asked, judge)
            items = [*judge.pack.items, *told.pack.items]
            sources.update({place for place in PLACES for item in items if item.source.startswith(place)})
        wrong += [(text, one) for one in found]
    record_property("count", len(texts) * len(SURFACES))
    record_property("failures", len(wrong))
    assert wrong == []
    assert all(sources[place] > len(texts) // 3 for place in PLACES), sources
