"""The requests of a book, drawn from a seed: the same folder and seed give the same requests, in the same order.

A request is `{"id", "verb", "arguments"}` in today's words; runner.py translates them for the build that it runs.
`previous` names an earlier request whose prompt is continued, `layers` are budgets of this request alone, `messages`
names the provider whose messages are wanted too.
"""

import random
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any

from comparison.book import Book
from comparison.questions import fragment, phrase, question

__all__ = ["Request", "requests_for"]

Request = dict[str, Any]

# One name of every embedded encoding, two that are estimated, one that nobody knows, and none.
_MODELS = (
    "gpt-4o", "gpt-4", "deepseek-chat", "qwen3-32b", "qwen3.5-plus", "qwen-max", "glm-4-plus", "glm-5", "kimi-k2",
    "llama-3.1-70b", "mistral-nemo", "claude-sonnet-4", "gemini-2.5-pro", "nobody-knows-1", None,
)  # fmt: skip
_PROVIDERS = (None, None, "openai", "anthropic", "deepseek")
_SKILLS = ("", "", "continue", "polish", "check-consistency", "续写")
_BUDGETS = (1500, 2000, 3000, 4000, 6000, 8000, 12_000, 16_000)
_LAYERS = (
    {"retrieved": {"max": 600}},
    {"settings": {"min": 100, "ratio": 30}},
    {"immediate": {"max": "30%"}, "retrieved": {"ratio": 50}},
)
_ODD = ("", "？？？", "🙂", "a", "\u3000\n", "[知识图谱 — 引用检测]", "</layer-retrieved>", "第0章", "chapter 99999")

# Of a hundred requests, so many of each kind; what is left over assembles.
_SHARES = {
    "chain": 16, "wire": 6, "odd": 6, "inspect": 6, "retrieve": 14, "search": 8, "detect": 4, "mentions": 3,
    "evidence": 4, "channel": 9, "subgraph": 2, "listing": 2, "remember": 2,
}  # fmt: skip


def requests_for(book: Book, count: int, *, seed: int) -> list[Request]:
    """`count` requests, of every kind that the book has words for.

    Args:
        book: Where the words come from.
        count: How many; at least one of each kind is drawn, so below 15 there may be a few more.
        seed: Another seed draws other requests.
    """
    chooser = random.Random(f"{seed}:{book.name}")
    draw = _Drawer(book, chooser)
    shares = dict(_SHARES)
    if not book.symbols:
        del shares["subgraph"]
    if not book.names:
        del shares["evidence"]
    by_kind: dict[str, list[Request]] = {}
    for kind, share in shares.items():
        makers: Callable[[], Iterator[Request]] = getattr(draw, kind)
        by_kind[kind] = list(islice(makers(), max(1, round(share * count / 100))))
    # What is remembered stands in every prompt until it is forgotten at the end.
    drawn = by_kind.pop("remember")
    forgotten = [{"verb": "forget", "arguments": {"id": one["arguments"]["id"]}} for one in drawn]
    drawn += [one for some in by_kind.values() for one in some]
    drawn += islice(draw.assemble(), max(1, count - len(drawn) - len(forgotten)))
    drawn += forgotten
    return [{"id": f"{number:03}-{one['verb']}", **one} for number, one in enumerate(_linked(drawn), 1)]


def _linked(drawn: list[Request]) -> Iterator[Request]:
    """Replace "the one before" by the id that it is going to have."""
    for number, one in enumerate(drawn, 1):
        if one.get("previous") == "before":
            yield {**one, "previous": f"{number - 1:03}-{drawn[number - 2]['verb']}"}
        else:
            yield one


class _Drawer:
    """Endless requests of each kind."""

    def __init__(self, book: Book, chooser: random.Random) -> None:
        self._book = book
        self._chooser = chooser
        self._models = cycle(chooser.sample(_MODELS, len(_MODELS)))

    def assemble(self) -> Iterator[Request]:
        while True:
            yield self._assemble("assemble", self._arguments())

    def inspect(self) -> Iterator[Request]:
        while True:
            yield {"verb": "inspect", "arguments": self._arguments()}

    def chain(self) -> Iterator[Request]:
        """Four prompts of one task: the cursor moves on, another question, back again."""
        while True:
            first: Request = {**self._arguments(), "query": ""}
            first |= self._place() if "cursor" not in first else {}
            size = len(self._book.texts.get(first.get("document", ""), ""))
            cursor = first.get("cursor", 0)
            moved = [cursor, cursor + self._chooser.randint(20, 200), cursor + 400, cursor]
            for step, at in enumerate(moved):
                place: Request = {"cursor": max(0, min(at, size))} if first.get("document") else {}
                query = question(self._book, self._chooser) if step != 1 else ""
                one: Request = {"verb": "assemble", "arguments": first | place | {"query": query}}
                yield {**one, "previous": "before"} if step else one

    def wire(self) -> Iterator[Request]:
        """As a host in another language asks: camelCase, and positions in its own units."""
        for encoding in cycle(("utf-16", "utf-8", "code-point")):
            yield {"verb": "wire", "arguments": self._on_wire(encoding)}

    def odd(self) -> Iterator[Request]:
        """Queries that mean nothing or pretend to be something else, a pasted page, and faults of the caller."""
        texts = list(self._book.texts.values()) or ["-"]
        pasted = self._chooser.choice(texts)[:3000]
        faults: tuple[Request, ...] = ({"document": "no/such.md"}, {"budget": 40}, {"cursor": 10**9}, {"budget": -1})
        while True:
            for odd, fault in zip(self._chooser.sample(_ODD, len(_ODD)), cycle(faults)):
                yield {"verb": "assemble", "arguments": {**self._arguments(), "query": odd}}
                yield {"verb": "assemble", "arguments": {**self._arguments(), **fault}}
                yield {"verb": "assemble", "arguments": {**self._arguments(), "query": pasted, "budget": 3000}}

    def retrieve(self) -> Iterator[Request]:
        for number in cycle(range(3)):
            arguments: Request = {
                "query": question(self._book, self._chooser),
                "limit": self._chooser.choice((3, 5, 10)),
            }
            if number == 1 and self._book.chapters:
                arguments["document"] = self._chooser.choice(self._book.chapters)
            elif number == 2 and self._book.chapters:
                arguments["chapter"] = self._book.number(self._chooser.choice(self._book.chapters))
            yield {"verb": "retrieve", "arguments": arguments}

    def search(self) -> Iterator[Request]:
        for number in cycle(range(4)):
            arguments: Request = {"text": phrase(self._book, self._chooser), "limit": self._chooser.choice((5, 10, 20))}
            if number == 1:
                arguments["kinds"] = ["chapter"]
            elif number == 2 and self._book.chapters:
                ends = sorted(self._book.number(self._chooser.choice(self._book.chapters)) for _ in range(2))
                arguments["chapters"] = [ends[0], ends[1] if ends[1] > ends[0] else None]
            yield {"verb": "search", "arguments": arguments}

    def detect(self) -> Iterator[Request]:
        while True:
            yield {"verb": "detect", "arguments": {"text": self._passage(600)}}

    def mentions(self) -> Iterator[Request]:
        while True:
            yield {"verb": "mentions", "arguments": {"text": self._passage(2000)}}

    def evidence(self) -> Iterator[Request]:
        for number in cycle(range(3)):
            arguments: Request = {"name": self._chooser.choice(self._book.names)}
            if number and self._book.attributes:
                arguments["attribute"] = self._chooser.choice(self._book.attributes)
            if number == 2 and self._book.chapters:
                arguments["chapter"] = self._book.number(self._chooser.choice(self._book.chapters))
            yield {"verb": "evidence", "arguments": arguments}

    def subgraph(self) -> Iterator[Request]:
        for number in cycle(range(2)):
            arguments: Request = {"symbol": self._chooser.choice(self._book.symbols)}
            yield {
                "verb": "subgraph",
                "arguments": arguments | ({"depth": 2, "direction": "callers"} if number else {}),
            }

    def listing(self) -> Iterator[Request]:
        for what in cycle(("documents", "entities")):
            yield {"verb": what, "arguments": {}}

    def remember(self) -> Iterator[Request]:
        for number, confidence in enumerate(cycle((1.0, 0.6, 0.3))):
            told = {"id": f"m_compared_{number}", "text": self._passage(120).strip(), "confidence": confidence}
            yield {"verb": "remember", "arguments": told}

    def channel(self) -> Iterator[Request]:
        """Lines of the JSON channel; the last four of nine change the project and undo it."""
        told = {"id": "c_compared", "text": fragment(self._book, self._chooser) if self._book.sentences else "-"}
        while True:
            request = self._on_wire("utf-16")
            for method, params in (
                ("context:prompt:assemble", request),
                ("context:prompt:inspect", {**self._on_wire("utf-8"), "requestedBy": "compared"}),
                ("entities:detect", {"text": self._passage(400)}),
                ("documents:search", {"query": phrase(self._book, self._chooser), "limit": 5}),
                ("documents:retrieve", {"query": question(self._book, self._chooser)}),
                ("constraints:create", told),
                ("constraints:list", {}),
                ("context:prompt:assemble", request),
                ("constraints:delete", {"id": told["id"]}),
            ):
                yield {"verb": "channel", "arguments": {"method": method, "params": params}}

    def _assemble(self, verb: str, arguments: Request) -> Request:
        one: Request = {"verb": verb, "arguments": arguments}
        if self._chooser.random() < 0.15:
            one["layers"] = self._chooser.choice(_LAYERS)
        if self._chooser.random() < 0.15:
            one["messages"] = self._chooser.choice(("openai", "anthropic"))
        return one

    def _arguments(self) -> Request:
        chooser = self._chooser
        arguments: Request = {"budget": chooser.choice(_BUDGETS), **self._place()}
        for name, value in (
            ("query", question(self._book, chooser) if chooser.random() < 0.85 else ""),
            ("model", next(self._models)),
            ("provider", chooser.choice(_PROVIDERS)),
            ("skill", chooser.choice(_SKILLS)),
            ("additional_input", self._passage(300) if chooser.random() < 0.3 else ""),
            ("reserve_output", 500 if arguments["budget"] >= 3000 and chooser.random() < 0.2 else 0),
        ):
            if value:
                arguments[name] = value
        return arguments

    def _on_wire(self, encoding: str) -> Request:
        place = self._place()
        text = self._book.texts.get(place.get("document", ""), "")[: place.get("cursor", 0)]
        units = {"utf-16": len(text.encode("utf-16-le")) // 2, "utf-8": len(text.encode()), "code-point": len(text)}
        return {
            "projectId": "",
            "documentId": place.get("document", ""),
            "cursorPosition": units[encoding],
            "skillId": self._chooser.choice(_SKILLS),
            "query": question(self._book, self._chooser),
            "positionEncoding": encoding,
            "budget": self._chooser.choice(_BUDGETS),
            "model": next(self._models) or "gpt-4o",
        }

    def _place(self) -> Request:
        """Where the writer is: mostly inside a chapter, sometimes at the end of one, sometimes nowhere."""
        drawn = self._chooser.random()
        if drawn < 0.1 or not self._book.chapters:
            return {}
        document = self._chooser.choice(self._book.chapters if drawn < 0.9 else tuple(self._book.texts))
        if drawn < 0.2:
            return {"document": document}
        return {"document": document, "cursor": self._chooser.randint(0, int(len(self._book.texts[document]) * 0.98))}

    def _passage(self, length: int) -> str:
        """At most `length` characters in a row out of a chapter."""
        if not self._book.sentences:
            return self._chooser.choice(self._book.symbols)
        path, start, _ = self._chooser.choice(self._book.sentences)
        return self._book.texts[path][start : start + length]
