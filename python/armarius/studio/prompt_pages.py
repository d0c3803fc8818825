"""Pages about a prompt: form, result, other budgets, comparison."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from armarius.engine.engine import ContextEngine
from armarius.errors import ContractError, UnknownId
from armarius.prompt.report.items import PackItem, PackOmission
from armarius.prompt.report.pack import Pack
from armarius.studio.drawing import Mark, bar, pieces

__all__ = ["Asking", "Packs", "StoredPrompt"]

_MOST = 20


@dataclass(frozen=True, slots=True)
class StoredPrompt:
    """A prompt that was assembled: its number, the fields of the form, the pack."""

    number: int
    asked: Mapping[str, str]
    pack: Pack

    @property
    def query(self) -> str:
        """The query."""
        return self.asked.get("query", "")

    @property
    def document(self) -> str:
        """Path of the open document."""
        return self.asked.get("document", "")


class Packs:
    """The last twenty prompts. Thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, StoredPrompt] = OrderedDict()
        self._next = 1
        self._lock = threading.Lock()

    def keep(self, asked: Mapping[str, str], pack: Pack) -> StoredPrompt:
        """Store a prompt under a new number."""
        with self._lock:
            one = StoredPrompt(self._next, dict(asked), pack)
            self._kept[one.number] = one
            self._next += 1
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
            return one

    def get(self, number: int) -> StoredPrompt | None:
        """The prompt of that number; None if it is unknown or was dropped."""
        with self._lock:
            return self._kept.get(number)

    def last(self) -> list[StoredPrompt]:
        """All stored prompts, newest first."""
        with self._lock:
            return list(reversed(self._kept.values()))


Shown = tuple[str, dict[str, Any]]
_BUDGET = 8_000
_MODELS = ("gpt-4o", "deepseek-chat", "qwen3-max", "glm-4.6", "kimi-k2", "claude-sonnet-4", "gemini-2.5-pro")
_MOST_ROWS = 300


class Asking:
    """Builds the pages; assembles and stores prompts.

    Args:
        engine: The project's engine.
        packs: Storage of the last prompts.
    """

    def __init__(self, engine: ContextEngine, packs: Packs) -> None:
        self._engine = engine
        self._packs = packs

    def form(self, asked: dict[str, Any]) -> Shown:
        """The form, filled with the given fields."""
        return "ask.html", {**self._form(_fields(asked)), "kept": None}

    def ask(self, asked: dict[str, Any]) -> Shown:
        """Assemble a prompt for the form, without `previous`, so that the same form gives the same prompt."""
        fields = _fields(asked)
        pack = self._engine.assemble(
            fields["query"],
            document=fields["document"],
            cursor=_number(fields, "cursor") if fields["document"] else None,
            model=fields["model"] or None,
            budget=_number(fields, "budget"),
        )
        return self._page(self._packs.keep(fields, pack))

    def again(self, asked: dict[str, Any]) -> Shown:
        """Assemble a prompt for the fields of an earlier one, to see the effect of a change."""
        return self.ask(dict(self._known(asked["number"]).asked))

    def pack(self, asked: dict[str, Any]) -> Shown:
        """A stored prompt."""
        return self._page(self._known(asked["number"]))

    def what_if(self, asked: dict[str, Any]) -> Shown:
        """The part of a prompt's page that depends on the budget, for another budget."""
        kept = self._known(asked["number"])
        pack = kept.pack.what_if(budget=_number(asked, "budget") or kept.pack.budget)
        return "prompt.html", self._prompt(pack, kept.number)

    def diff(self, asked: dict[str, Any]) -> Shown:
        """Comparison of two stored prompts."""
        first, second = self._known(_number(asked, "a") or 0), self._known(_number(asked, "b") or 0)
        return "diff.html", {
            "first": first,
            "second": second,
            "difference": second.pack.diff(first.pack),
            "left": self._prompt(first.pack, first.number),
            "right": self._prompt(second.pack, second.number),
        }

    def _known(self, number: int) -> StoredPrompt:
        kept = self._packs.get(number)
        if kept is None:
            raise UnknownId(f"prompt {number} is not kept any more; ask again")
        return kept

    def _form(self, fields: dict[str, str]) -> dict[str, Any]:
        documents = [one.path for one in self._engine.documents()]
        values = {**fields, "budget": fields["budget"] or str(_BUDGET)}
        return {"documents": documents, "models": _MODELS, "asked": values, "earlier": self._packs.last()}

    def _page(self, kept: StoredPrompt) -> Shown:
        return "ask.html", {**self._form(_fields(kept.asked)), "kept": kept, **self._prompt(kept.pack, kept.number)}

    def _prompt(self, pack: Pack, number: int) -> dict[str, Any]:
        names = {one.id: one.name for one in self._engine.entities()}
        known = {*names, *names.values(), *(one.path for one in self._engine.documents())}
        prompt = pack.prompt
        marks = [Mark(one.start, one.end, one.entity_id) for one in self._engine.mentions(_encodable(prompt))]
        return {
            "pack": pack,
            "number": number,
            "bar": bar(pack),
            "items": [(one, pack.name_of(one.source), _target(one, known)) for one in pack.items],
            "omitted": [(one, pack.name_of(one.source), _target(one, known)) for one in pack.omitted[:_MOST_ROWS]],
            "pieces": pieces(prompt, marks, kept=len(pack.stable_prefix)),
            "names": names,
        }


def _target(one: PackItem | PackOmission, known: set[str]) -> str:
    """The target for a pin or mute of an item: an entity, a paragraph or a document; "" if there is none."""
    _, _, rest = one.source.rpartition(":")
    return rest if rest in known or rest.partition("#")[0] in known else ""


def _fields(asked: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(asked.get(name) or "") for name in ("query", "document", "cursor", "model", "budget")}


def _number(asked: dict[str, Any], name: str) -> int | None:
    text = str(asked.get(name) or "").strip()
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise ContractError(f"{name} must be a number, got {text[:40]!r}")
    return int(text)


def _encodable(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
