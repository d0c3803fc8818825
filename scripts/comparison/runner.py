"""Answers requests with whichever `armarius` Python finds, one canonical JSON line each. Run in a process of its own.

    python -P runner.py PROJECT REQUESTS.json ANSWERS.jsonl

Prompts and wire forms are kept byte for byte; only the time in `requestedAt` is taken out. Hits are reduced to what
they say: where, how high, why. Where two builds call the same thing by different names, the names stand in the tables
below, today's first; what a build has by none of them is a gap of this file, told apart from an answer (`broken`).

This file imports nothing from its neighbours, and from the package only what every caller may use.
"""

import hashlib
import inspect
import io
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

Names = tuple[str, ...]

# A verb -> where it is found from the engine.
VERBS: Mapping[str, Names] = {
    "assemble": ("assemble",),
    "inspect": ("inspect",),
    "retrieve": ("retrieve",),
    "search": ("search", "index.search"),
    "detect": ("detect",),
    "mentions": ("mentions", "matcher.find_all"),
    "rejections": ("matcher.explain",),
    "evidence": ("evidence", "statements"),
    "subgraph": ("subgraph", "code.subgraph"),
    "documents": ("documents", "index.documents"),
    "entities": ("entities", "codex.list"),
    "remember": ("memories.create",),
    "forget": ("memories.delete",),
    "memories": ("memories.list",),
}

# A keyword -> what it may be called.
KEYWORDS: Mapping[str, Names] = {
    "document": ("document", "document_id"),
    "cursor": ("cursor", "cursor_position"),
    "skill": ("skill", "skill_id"),
    "chapter": ("chapter", "as_of"),
    "text": ("text", "query"),
}

# An attribute of an answer -> what it may be called; a dot goes on inside, a plus makes a pair.
ATTRIBUTES: Mapping[str, Names] = {
    "path": ("path", "document", "passage.path"),
    "span": ("start+end", "span"),
    "section": ("section", "heading"),
    "matched_term": ("matched_term", "term"),
    "position": ("position", "start"),
    "outcome": ("outcome",),
    "omitted": ("omitted",),
}

# What is imported -> modules that may have it.
MODULES: Mapping[str, Names] = {
    "Channel": ("armarius.channel.server", "armarius"),
    "methods_of": ("armarius.verbs", "armarius.channel.server"),
    "ArmariusError": ("armarius.errors", "armarius"),
    "AssembleRequest": ("armarius.requests", "armarius"),
}


class Gap(Exception):
    """A build has something under a name that the tables above do not list."""


def imported(name: str) -> Any:  # noqa: ANN401 - a class or function of the build
    """`name` from the first module that has it."""
    for module in MODULES[name]:
        try:
            return getattr(import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise Gap(f"{name} is in none of {', '.join(MODULES[name])}")


def attribute(one: object, name: str) -> Any:  # noqa: ANN401 - whatever the build answers with
    """An attribute by any of its names."""
    names = ATTRIBUTES.get(name, (name,))
    for spelling in names:
        try:
            if "+" in spelling:
                return [_at(one, part) for part in spelling.split("+")]
            return _at(one, spelling)
        except AttributeError:
            continue
    raise Gap(f"{type(one).__name__} has none of {', '.join(names)}")


def _at(one: object, path: str) -> Any:  # noqa: ANN401 - see `attribute`
    for part in path.split("."):
        one = getattr(one, part)
    return one


def called(engine: object, verb: str, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401 - see `attribute`
    """Call a verb wherever it lives, with its keywords as it calls them."""
    function = method(engine, verb)
    return function(**_renamed(function, arguments))


def method(engine: object, verb: str) -> Callable[..., Any]:
    """A verb wherever it lives."""
    for path in VERBS[verb]:
        try:
            function: Callable[..., Any] = _at(engine, path)
        except AttributeError:
            continue
        return function
    raise Gap(f"{type(engine).__name__} has none of {', '.join(VERBS[verb])}")


def _renamed(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters
    # `**keywords` says nothing of the names: today's are meant.
    known = None if any(one.kind is one.VAR_KEYWORD for one in parameters.values()) else set(parameters)
    renamed = {}
    for name, value in arguments.items():
        names = KEYWORDS.get(name, (name,))
        spelling = names[0] if known is None else next((one for one in names if one in known), None)
        if spelling is None:
            raise Gap(f"{getattr(function, '__qualname__', function)} takes none of {', '.join(names)}")
        renamed[spelling] = value
    return renamed


class Answers:
    """Answers the requests of one engine, in order; earlier prompts are kept for those that continue them."""

    def __init__(self, engine: Any) -> None:  # noqa: ANN401 - the engine of either build
        self._engine = engine
        self._packs: dict[str, Any] = {}

    def answer(self, request: Mapping[str, Any]) -> Any:  # noqa: ANN401 - plain JSON
        """The answer as plain JSON types; an error of the package is `{"error": its class}`.

        Messages are words for people and may be improved; the class and what a host reads over the channel may not.
        """
        try:
            return getattr(self, f"_{request['verb']}")(request, dict(request["arguments"]))
        except imported("ArmariusError") as error:
            return {"error": type(error).__name__}

    def _assemble(self, request: Mapping[str, Any], arguments: dict[str, Any]) -> Any:  # noqa: ANN401
        previous = self._packs.get(request.get("previous", ""))
        extra = {"previous": previous, "layers": request.get("layers")}
        pack = called(self._engine, "assemble", arguments | {name: it for name, it in extra.items() if it is not None})
        self._packs[request["id"]] = pack
        answer = _pack(pack)
        if "messages" in request:
            answer["messages"] = _json(pack.to_messages(request["messages"]))
        return answer

    def _wire(self, _: Mapping[str, Any], arguments: dict[str, Any]) -> Any:  # noqa: ANN401
        return _pack(self._engine.assemble(imported("AssembleRequest").from_wire(arguments)))

    def _inspect(self, _: Mapping[str, Any], arguments: dict[str, Any]) -> Any:  # noqa: ANN401
        return {"wire": _timeless(_json(called(self._engine, "inspect", arguments).to_wire()))}

    def _retrieve(self, _: Mapping[str, Any], arguments: dict[str, Any]) -> Any:  # noqa: ANN401
        found = called(self._engine, "retrieve", arguments)
        return {
            "hits": [
                [attribute(hit, "path"), attribute(hit, "section"), _score(hit.score), _evidence(hit)] for hit in found
            ],
            "outcome": attribute(found, "outcome"),
            "omitted": [[one.source, one.reason] for one in attribute(found, "omitted")],
            "warnings": [str(one) for one in found.warnings],
        }

    def _search(self, _: Mapping[str, Any], arguments: dict[str, Any]) -> Any:  # noqa: ANN401
        if "chapters" in arguments:
            arguments["chapters"] = tuple(arguments["chapters"])
        found = called(self._engine, "search", arguments)
        return [[attribute(hit, "path"), attribute(hit, "span"), _score(hit.score)] for hit in found]

    def _detect(self, _: Mapping[str, Any], arguments: dict[str, Any]) -> Any:  # noqa: ANN401
        found = called(self._engine, "detect", arguments)
        return [[one.entity_id, attribute(one, "matched_term"), attribute(one, "position")] for one in found]

    def _mentions(self, _: Mapping[str, Any], arguments: dict[str, Any]) -> Any:  # noqa: ANN401
        found = called(self._engine, "mentions", arguments)
        refused = called(self._engine, "rejections", arguments)
        return {
            "mentions": [[one.entity_id, one.term, one.start, one.end] for one in found],
            "rejections": [[one.entity_id, one.term, one.start, one.end, one.reason, one.by] for one in refused],
        }

    def _evidence(self, _: Mapping[str, Any], arguments: dict[str, Any]) -> Any:  # noqa: ANN401
        return [
            [
                one.text, attribute(one, "path"), list(one.span), one.chapter, sorted(one.values),
                list(one.competes_with), list(one.attributes),
            ]
            for one in called(self._engine, "evidence", arguments)
        ]  # fmt: skip

    def _subgraph(self, _: Mapping[str, Any], arguments: dict[str, Any]) -> Any:  # noqa: ANN401
        found = called(self._engine, "subgraph", arguments)
        return {"wire": _json(found.to_wire()), "warnings": [str(one) for one in found.warnings]}

    def _documents(self, *_: object) -> Any:  # noqa: ANN401
        found = called(self._engine, "documents", {})
        return [[one.path, one.kind, one.chapter, len(one.text), len(one.paragraphs)] for one in found]

    def _entities(self, *_: object) -> Any:  # noqa: ANN401
        return [[one.id, one.name, one.type, list(one.aliases)] for one in called(self._engine, "entities", {})]

    def _remember(self, _: Mapping[str, Any], arguments: dict[str, Any]) -> Any:  # noqa: ANN401
        called(self._engine, "remember", arguments)
        return self._memories()

    def _forget(self, _: Mapping[str, Any], arguments: dict[str, Any]) -> Any:  # noqa: ANN401
        method(self._engine, "forget")(arguments["id"])
        return self._memories()

    def _memories(self) -> list[Any]:
        return [[one.id, one.text, one.kind, one.confidence] for one in called(self._engine, "memories", {})]

    def _channel(self, request: Mapping[str, Any], arguments: dict[str, Any]) -> Any:  # noqa: ANN401
        output = io.BytesIO()
        channel = imported("Channel")(imported("methods_of")(self._engine), workers=1)
        channel.serve(io.BytesIO(_json({"id": request["id"], **arguments}).encode() + b"\n"), output)
        return {"wire": _timeless(output.getvalue().decode())}


def _pack(pack: Any) -> dict[str, Any]:  # noqa: ANN401 - a pack of either build
    return {
        "wire": _json(pack.to_wire()),
        "items": [
            [one.layer, one.source, one.form, one.tokens, _score(one.score), _evidence(one)] for one in pack.items
        ],
        "omitted": [[one.layer, one.source, one.reason, one.tokens] for one in pack.omitted],
    }


def _evidence(one: Any) -> list[Any]:  # noqa: ANN401 - a hit or an item of either build
    return [[why.kind, why.detail, why.path, why.span and list(why.span)] for why in one.evidence]


def _score(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _json(value: object) -> str:
    """In the order in which the build has it: that is part of a wire form."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _timeless(wire: str) -> str:
    return re.sub(r'"requestedAt":"[^"]*"', '"requestedAt":""', wire)


def lines(engine: object, requests: Iterable[Mapping[str, Any]], places: Mapping[str, str]) -> Iterable[str]:
    """One line a request: id, verb, sha256 of the value, value; `broken` where this file or the build is at fault.

    `places` are paths of this run and what is written in their stead: they differ between the sides.
    """
    answers = Answers(engine)
    for request in requests:
        line = {"id": request["id"], "verb": request["verb"]}
        try:
            line["value"] = answers.answer(request)
        except Exception as error:  # noqa: BLE001 - no request may end the others
            line["value"] = line["broken"] = f"{type(error).__name__}: {error}"
        canonical = json.dumps(line["value"], ensure_ascii=False, sort_keys=True)
        for place, shown in places.items():
            # On Windows a path has backslashes, escaped once here and again inside a wire form.
            for spelling in (place.replace("\\", "\\\\\\\\"), place.replace("\\", "\\\\"), place):
                canonical = canonical.replace(spelling, shown)
        line["value"] = json.loads(canonical)
        line["sha256"] = hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
        yield json.dumps(line, ensure_ascii=False, sort_keys=True)


def main(project: str, requests: str, answers: str) -> None:
    """Answer the requests of a file into another; the first line says which package did."""
    warnings.simplefilter("ignore", RuntimeWarning)
    import armarius

    who = {"package": str(Path(armarius.__file__).parent), "version": armarius.__version__}
    with Path(answers).open("w", encoding="utf-8") as output, armarius.open(project, watch=False) as engine:
        output.write(json.dumps(who) + "\n")
        places = {str(Path(project).resolve()): "PROJECT", project: "PROJECT", os.environ["ARMARIUS_CACHE"]: "CACHE"}
        asked = json.loads(Path(requests).read_bytes())
        output.writelines(line + "\n" for line in lines(engine, asked, places))


if __name__ == "__main__":
    main(*sys.argv[1:])
