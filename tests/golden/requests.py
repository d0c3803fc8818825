"""The requests of the golden outputs: forty for any project, derived from its own documents and entities."""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Request", "requests_of"]

Request = tuple[str, str, dict[str, Any]]
"""A name, a method of the channel, and its params."""

LOREBOOK = {
    "entries": {
        "0": {"uid": 0, "key": ["{name}"], "content": "An entry that a name activates.", "order": 10},
        "1": {"uid": 1, "key": [], "constant": True, "content": "An entry that is always active.", "order": 5},
    }
}
"""A small lorebook; `{name}` is replaced by the first entity of the project."""


def requests_of(
    documents: Sequence[Mapping[str, Any]], entities: Sequence[Mapping[str, Any]], code: str
) -> list[Request]:
    """The requests of one project, in order.

    Args:
        documents: What `documents:list` answers, by path.
        entities: What `entities:list` answers, by id.
        code: A symbol of the project, or "".
    """
    chapters = [one for one in documents if one["kind"] == "chapter"] or list(documents)
    known = sorted(entities, key=lambda one: (one["type"] != "character", one["id"]))
    names = [one["name"] for one in known] or [code, *(one.get("title") or one["path"] for one in documents)]

    def name(at: int) -> str:
        return str(names[at % len(names)])

    def chapter(at: int) -> Mapping[str, Any]:
        return chapters[at % len(chapters)]

    def path(at: int) -> str:
        return str(chapter(at)["path"])

    last = len(chapters) - 1
    number = chapter(min(2, last)).get("chapter") or 1
    found: list[Request] = []

    def prompt(
        label: str, query: str = "", *, document: str = "", cursor: int = 0, skill: str = "", **more: Any
    ) -> None:
        params = {"projectId": "", "documentId": document, "cursorPosition": cursor, "skillId": skill, "query": query}
        params |= {"model": "gpt-4o", "budget": 4000, "includeContent": False}
        found.append((label, "context:prompt:assemble", params | more))

    def ask(label: str, method: str, **params: Any) -> None:
        found.append((label, method, params))

    middle = path(len(chapters) // 2)
    prompt("question about a name, 2,000 tokens", f"{name(0)}是谁？住在哪里？", budget=2000)
    prompt("question about two names, 8,000 tokens", f"{name(0)}和{name(1)}是什么关系？", budget=8000)
    prompt("question in English, 16,000 tokens", f"What does {name(2)} know about {name(3)}?", budget=16000)
    prompt("a title as question", str(chapter(1).get("title") or path(1)))
    prompt("question with a document open", f"{name(1)}做了什么？", document=middle, cursor=100)
    prompt("question that nothing answers", "量子计算机的价格是多少？")
    prompt("check of a chapter by its number", f"检查第{number}章的角色一致性", budget=8000)
    prompt("check in English", f"Check chapter {number} for consistency", budget=4000)
    prompt("continue at the end of a chapter", document=path(last), cursor=10**9, skill="continue")
    prompt("continue in the middle, asked in words", "续写", document=middle, cursor=200)
    prompt("a bare cursor", document=path(0), cursor=40, budget=3000)
    prompt("marks off, UTF-16", f"{name(0)}", document=path(0), cursor=60, marks=False, positionEncoding="utf-16")
    live = f"# {chapter(0).get('title') or 'One'}\n\n{name(0)}推开门，看见了{name(1)}。\n\n“你来了。”\n"
    prompt("live text of a saved chapter", document=path(0), cursor=len(live), text=live)
    prompt("live text of a new document", f"{name(0)}", document="new/draft.md", cursor=5, text=live, selection=[2, 9])
    prompt("a selection of a saved chapter", "改写这一段", document=path(0), cursor=80, selection=[40, 80])
    prompt("additional input", "这里提到了谁？", additionalInput=f"{name(2)}说：{name(0)}不在。")
    prompt("bounds of chapters", f"{name(0)}在哪里？", chapters=[1, 2])
    prompt("as of a chapter", f"{name(0)}发生了什么？", asOf=2)
    prompt("one kind of documents", f"{name(0)}", kinds=["chapter"])
    prompt("variants of the question", f"{name(0)}最后怎么样了？", also=[f"{name(0)}的结局", f"how {name(0)} ends"])
    talk = [
        {"role": "user", "content": f"{name(0)}是谁？"},
        {"role": "assistant", "content": f"{name(0)}是书里的人。"},
    ]
    prompt("a follow-up with two turns shown", "后来呢？", messages=talk, includeMessages=2)
    prompt("a pin and a mute", f"{name(1)}", include=[path(1)], exclude=[path(0)])
    prompt("headings in English", f"{name(0)}", language="en", reserveOutput=500)
    prompt("first of a task", f"{name(0)}在哪里？", document=middle, cursor=100, taskId="golden")
    prompt("second of the task", f"{name(1)}在哪里？", document=middle, cursor=140, taskId="golden")
    prompt(
        "third of the task, another model",
        f"{name(1)}在哪里？",
        document=middle,
        model="deepseek-chat",
        taskId="golden",
    )
    inspected = dict(found[4][2])
    ask("inspect", "context:prompt:inspect", **{k: v for k, v in inspected.items() if k != "includeContent"})
    ask("retrieve", "documents:retrieve", query=f"{name(0)}是谁", limit=8, excerpts=True)
    ask(
        "retrieve in English within chapters",
        "documents:retrieve",
        query=f"Where is {name(1)}?",
        limit=5,
        chapters=[1, 3],
    )
    ask("search a name", "documents:search", query=name(0), limit=5)
    ask(
        "search in UTF-16 as of a chapter",
        "documents:search",
        query=name(1),
        limit=5,
        asOf=2,
        positionEncoding="utf-16",
    )
    ask("detect", "entities:detect", text=live)
    ask("mentions", "entities:mentions", text=live * 2, positionEncoding="utf-8")
    ask("evidence", "entities:evidence", name=name(0))
    ask("locate", "documents:locate", quote=name(0), documentId=path(0))
    ask("proposals", "entities:propose", least=3)
    ask("relations", "entities:relations")
    ask("a card", "entities:card", id=str(known[0]["id"]) if known else "nobody")
    ask("a code graph", "code:subgraph", symbol=code or "main", includeTree=True)
    ask("a document", "documents:get", documentId=path(0), paragraphs=True)
    return found
