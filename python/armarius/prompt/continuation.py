"""Continuing the previous prompt: which of its retrieved items stay, and where they stand.

A provider's cache pays for an unchanged beginning, so what is dropped should stand late. The items of the
previous retrieved layer are held from its first one on, as many as fit together with everything
that a prompt without history would hold; what gives way gives way at the end. An item that nothing names any
more is held as well while it is true. Where the prompt changes anyway, all that stands behind the change is free:
items that nothing names go if the room is wanted, and the window around the cursor starts where it is best.

`Continuation` is what of a prompt the next one continues; its bytes are all that a host need keep between two calls.

    pack = engine.assemble(query="…", previous=kept)      # kept: the bytes of the last call, or its pack
    kept = pack.continuation()

The bytes hold the prompt and what stood where in it, compressed: about half of the prompt's own UTF-8. They are for
this version of the package, checked against damage and not against malice: who can write them can put text into the
next prompt, as who can write the conversation can. Keep them where you keep that.
"""

import hashlib
import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter

from armarius.errors import BudgetError, ContractError
from armarius.headings import Reason
from armarius.prompt.admit import Admitted, canonical, escape
from armarius.prompt.allocate import FULL, OMITTED, Allocation, Demand, FittedPrompt, Terms
from armarius.prompt.counter import CachedCounter, common_prefix
from armarius.prompt.profile import BudgetProfile
from armarius.prompt.render import PromptItem
from armarius.types import Candidate, Evidence

PREVIOUS = Evidence("previous", Reason("previous"))
# Of the prompt's limit: the least share of the window around the cursor while items are held.
_WINDOW_PERCENT = 35
# A held form counts as the item when it has at least this share of what a prompt without history would show.
_FORM_PERCENT = 60


@dataclass(frozen=True, slots=True)
class Previous:
    """What of the previous prompt decides about the next one.

    Attributes:
        prompt: Its text.
        retrieved: The items of its retrieved layer, in their order.
        rows: The paragraphs that filled its room, in their order; not among `retrieved`.
        demand: Its text before they did.
        ends: Where each of `retrieved` ends in `demand`, code points.
        windows: By item: where its piece started in its content, and how that piece began.
    """

    prompt: str = ""
    retrieved: tuple[PromptItem, ...] = ()
    rows: tuple[PromptItem, ...] = ()
    demand: str = ""
    ends: tuple[int, ...] = ()
    windows: Mapping[str, tuple[int, str]] = field(default_factory=dict)


def still_valid(
    candidates: Sequence[Candidate], then: Mapping[str, str], now: Mapping[str, str], confirmed: Collection[str] = ()
) -> set[str]:
    """The ids of those `candidates` that read today as they did.

    That is: every file it came from has the stamp it had, or its fetcher says so (`confirmed`); what names no file
    is never sure.
    """
    return {
        candidate.id
        for candidate in candidates
        if candidate.id in confirmed
        or (candidate.documents and all(path in now and then.get(path) == now[path] for path in candidate.documents))
    }


def fit_demand(
    admitted: Admitted,
    counter: CachedCounter,
    profile: BudgetProfile,
    available: int,
    previous: Previous,
    valid: Collection[str],
    window_most: int | None = None,
) -> FittedPrompt:
    """The prompt that shares most with the previous one and lacks nothing that one without history would have.

    Args:
        admitted: The candidates of this request.
        counter: Counts tokens.
        profile: The rules for dividing.
        available: The budget less the reserve.
        previous: The previous prompt, empty if there is none.
        valid: Ids of its items that still hold although this request may not offer them.
        window_most: Tokens that the window around the cursor may take.

    Raises:
        BudgetError: Rules, query or cursor window do not fit.

    Cost: without a previous prompt one fit; else a logarithm of its items in allocations, and a second fit where
    the prompt changes.
    """
    if not previous.prompt:
        return Demand(admitted, counter, profile, available).fit(Terms(window_most=window_most))
    line = _line(admitted, previous, valid)
    trial = _Trial(admitted, Demand(_include(admitted, line), counter, profile, available), previous, line, window_most)
    kept = line[: trial.most()]
    try:
        fitted = trial.fit(trial.terms(kept), kept)
        rest = trial.staying_items(fitted, kept)
        if rest is not None:
            fitted = trial.fit(replace(trial.terms(rest), windows={}), rest)
    except BudgetError:
        # A counter that does not add up: what was chosen together with the held items may take more in the end.
        kept, rest = [], None
        fitted = trial.fit(replace(trial.fresh, windows=previous.windows, previous=previous.prompt), kept)
    return replace(fitted, anchor_moved=fitted.anchor_moved or rest is not None or len(kept) < len(line))


def _line(admitted: Admitted, previous: Previous, valid: Collection[str]) -> list[PromptItem]:
    """The previous items that may stay as they stand, in their order."""
    offered = {c.id: c for c in admitted.candidates if c.layer == "retrieved"}
    contents = {c.content for c in admitted.candidates}
    line = []
    for item in previous.retrieved:
        was = item.candidate
        now = offered.get(was.id)
        # A heading that is new to this prompt may be one that an item of the previous prompt was free to spell.
        if now is None and was.id in valid and was.content not in contents and _is_harmless(item, admitted.groups):
            evidence = (*(e for e in was.evidence if e != PREVIOUS), PREVIOUS)
            line.append(replace(item, candidate=replace(was, pinned=False, evidence=evidence)))
        elif now is not None and (now.content, now.group) == (was.content, was.group):
            line.append(replace(item, candidate=now))
    return line


def _is_harmless(item: PromptItem, groups: tuple[str, ...]) -> bool:
    return all(escape(text, groups) == text for text in (item.text, item.candidate.content))


def _include(admitted: Admitted, items: Sequence[PromptItem]) -> Admitted:
    """`admitted` with the items that it does not offer itself."""
    offered = {(c.layer, c.id) for c in admitted.candidates}
    staying = {(i.candidate.layer, i.candidate.id): i.candidate for i in items}
    staying = {key: candidate for key, candidate in staying.items() if key not in offered}
    if not staying:
        return admitted
    gone = ("no match", "excluded")  # what stays is neither
    omitted = tuple(o for o in admitted.omitted if (o.layer, o.id) not in staying or o.reason not in gone)
    candidates = tuple(sorted([*admitted.candidates, *staying.values()], key=canonical))
    return replace(admitted, candidates=candidates, omitted=omitted)


class _Trial:
    """Tries how much of the previous layer a prompt can hold.

    Args:
        admitted: The candidates of this request.
        demand: Those, and the items of `line` that are none of them.
        previous: The previous prompt.
        line: What of its retrieved layer may stay, in order.
        window_most: Tokens that the window around the cursor may take.

    Attributes:
        fresh: The terms of a prompt without history.
    """

    def __init__(
        self,
        admitted: Admitted,
        demand: Demand,
        previous: Previous,
        line: Sequence[PromptItem],
        window_most: int | None,
    ) -> None:
        self._admitted, self._demand, self._previous, self._line = admitted, demand, previous, line
        self._retrieved = {entry.id: at for at, entry in enumerate(demand.candidates) if entry.layer == "retrieved"}
        offered = {entry.id for entry in admitted.candidates if entry.layer == "retrieved"}
        self.fresh = Terms(barred=self._barred_rows(offered), window_most=window_most)
        self._allocation = demand.allocate(self.fresh)
        entering, _ = demand.place(self.fresh, self._allocation.decisions, demand.limit)
        mine = [item for item in entering if item.candidate.layer == "retrieved"]
        # What is cut differs from prompt to prompt: it may enter again, but is not promised.
        self._cut = {item.candidate.id for item in mine if item.form == "truncated"}
        wanted = [item for item in mine if item.form != "truncated"]
        self._wanted = sorted(wanted, key=lambda i: (-i.candidate.score, i.candidate.source, i.candidate.id))
        least = max(demand.limit * _WINDOW_PERCENT // 100, demand.profile.insisted_min(demand.available))
        self._window = min(self._window_tokens(demand.allocate(self.terms([]))), least)
        self._most = max(demand.profile.most("retrieved", demand.available), self._allocation.used["retrieved"])
        self._others = [  # which decide as without history
            at for at, entry in enumerate(demand.candidates) if entry.layer != "retrieved" and at not in demand.windows
        ]

    def fit(self, terms: Terms, kept: Sequence[PromptItem]) -> FittedPrompt:
        """The prompt with `kept`."""
        return self._demand.fit(terms, _include(self._admitted, kept))

    def terms(self, kept: Sequence[PromptItem]) -> Terms:
        """The terms on which `kept` and what is wanted are held."""
        wanted = {item.candidate.id: item for item in self._wanted}
        by_id: dict[str, PromptItem] = {}
        for item in kept:
            better = wanted.get(item.candidate.id)
            if better is None or len(item.text) * 100 >= _FORM_PERCENT * len(better.text):
                by_id[item.candidate.id] = item
        by_id = {**by_id, **{id_: item for id_, item in wanted.items() if id_ not in by_id}}
        candidates, places = self._demand.candidates, self._retrieved
        return Terms(
            {places[id_]: replace(item, candidate=candidates[places[id_]]) for id_, item in by_id.items()},
            self._barred_rows(by_id.keys() | self._cut),
            self._previous.windows,
            self._previous.prompt,
            self.fresh.window_most,
        )

    def _barred_rows(self, entering: Collection[str]) -> frozenset[int]:
        return frozenset([at for id_, at in self._retrieved.items() if id_ not in entering])

    def most(self) -> int:
        """How many items of the line fit, from its first on, together with all that is wanted."""
        low, high = 0, len(self._line)
        if self._fits_budget(high):
            return high
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (middle, high) if self._fits_budget(middle) else (low, middle)
        if low == 0 and not self._fits_budget(0):
            # The layers would not divide as they do without history: let them divide anew, nothing promised.
            self._wanted, self._cut = [], {entry.id for entry in self._admitted.candidates}
        return low

    def _fits_budget(self, count: int) -> bool:
        terms = self.terms(self._line[:count])
        allocation = self._demand.allocate(terms)
        decisions, alone = allocation.decisions, self._allocation.decisions
        return (
            self._window_tokens(allocation) >= self._window
            and allocation.used["retrieved"] <= self._most
            and all(decisions[at] != OMITTED for at in terms.held)
            and all(decisions[at] == alone[at] for at in self._others)
        )

    def _window_tokens(self, allocation: Allocation) -> int:
        """Tokens of the window around the cursor."""
        whole, decisions = self._demand.tokens, allocation.decisions
        return sum([whole[at] if decisions[at] == FULL else max(decisions[at], 0) for at in self._demand.windows])

    def staying_items(self, fitted: FittedPrompt, kept: Sequence[PromptItem]) -> list[PromptItem] | None:
        """What stays of `kept` when what stands behind the first change gives way; None when nothing need change."""
        placed, rendered = fitted.items, fitted.rendered
        shared = common_prefix(self._previous.demand, rendered.prompt)
        if fitted.window is None or shared > rendered.spans[placed.index(fitted.window)][0]:
            return None
        is_cramped = any(item.form == "truncated" and item.candidate.layer == "immediate" for item in placed)
        if not is_cramped and all(entry.layer != "retrieved" for entry, _ in fitted.omitted):
            return None
        ends = dict(zip([item.candidate.id for item in self._previous.retrieved], self._previous.ends, strict=True))
        front = 0
        while front < len(kept) and ends[kept[front].candidate.id] <= shared:
            front += 1
        while front and PREVIOUS in kept[front - 1].candidate.evidence:
            front -= 1
        return [*kept[:front], *(item for item in kept[front:] if PREVIOUS not in item.candidate.evidence)]


MAX_BYTES: Final = 4 * 1024 * 1024
"""Of a continuation; what it holds may be four times that."""

OF_REQUEST: Final = (
    *("project_id", "document", "skill", "provider", "model", "tokenizer_version", "chapters", "kinds", "as_of"),
)
"""Fields of a continuation that are its request's."""

_MAGIC: Final = b"ARMc"
_DIGEST: Final = 16
_LEVEL: Final = 6
_SLICED: Final = 24  # code points from which a text that stands in the prompt is kept as its place there
_PLACE: Final = "@"
_REASON: Final = "!"


@dataclass(frozen=True, slots=True)
class Continuation:
    """One prompt, as the next one sees it.

    Attributes:
        project_id: Of its request, as are the next nine.
        counter: That its tokens were counted by.
        stable_prefix_hash: Of its rules and settings.
        stamps: Of the files that its items were read from.
        previous: What stood where.
    """

    project_id: str
    document: str
    skill: str
    provider: str | None
    model: str | None
    tokenizer_version: str | None
    chapters: tuple[int | None, int | None]
    kinds: tuple[str, ...]
    as_of: int | None
    language: str
    counter: str
    stable_prefix_hash: str
    stamps: Mapping[str, str]
    previous: Previous

    @property
    def retrieved(self) -> tuple[Candidate, ...]:
        """The candidates behind the items of its retrieved layer."""
        return tuple(item.candidate for item in self.previous.retrieved)

    def to_bytes(self) -> bytes:
        """For the next call, in whichever process.

        Raises:
            ContractError: The prompt is too long to be carried in 4 MiB.
        """
        prompt = self.previous.prompt
        plain = [prompt, _slice_texts(_adapter().dump_python(self, warnings=False), prompt)]
        body = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        packed = zlib.compress(body.encode("utf-8", "surrogatepass"), _LEVEL)
        data = _MAGIC + _schema() + hashlib.blake2b(packed, digest_size=_DIGEST).digest() + packed
        if len(data) > MAX_BYTES:
            raise ContractError(f"the continuation has {len(data):,} bytes, at most {MAX_BYTES:,} are carried")
        return data

    @classmethod
    def from_bytes(cls, data: bytes) -> "Continuation":
        """What `to_bytes` wrote.

        Raises:
            ContractError: Something else, damaged, or written by another version of the package.
        """
        head = len(_MAGIC) + _DIGEST
        if len(data) > MAX_BYTES or not data.startswith(_MAGIC) or len(data) < head + _DIGEST:
            raise ContractError("previous: these bytes are no continuation, as pack.continuation() gives it")
        if data[len(_MAGIC) : head] != _schema():
            raise ContractError("previous: a continuation of another version of armarius; leave it out this once")
        packed = data[head + _DIGEST :]
        if hashlib.blake2b(packed, digest_size=_DIGEST).digest() != data[head : head + _DIGEST]:
            raise ContractError("previous: the continuation is damaged")
        try:
            unpacked = zlib.decompressobj().decompress(packed, 4 * MAX_BYTES)
            prompt, plain = json.loads(unpacked.decode("utf-8", "surrogatepass"))
            return _adapter().validate_python(_restore_texts(plain, prompt))
        except (zlib.error, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
            raise ContractError(f"previous: the continuation cannot be read: {type(error).__name__}") from error


def _slice_texts(plain: Any, prompt: str) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """`plain` with each longer text that stands in the prompt as its place there, and reasons by their codes."""
    if isinstance(plain, Reason):
        return {_REASON: [plain.code, _slice_texts(dict(plain.parts), prompt)]}
    if isinstance(plain, str):
        at = prompt.find(plain) if len(plain) >= _SLICED else -1
        return plain if at < 0 else {_PLACE: [at, at + len(plain)]}
    if isinstance(plain, dict):
        return {key: _slice_texts(value, prompt) for key, value in plain.items()}
    return [_slice_texts(value, prompt) for value in plain] if isinstance(plain, list | tuple) else plain


def _restore_texts(plain: Any, prompt: str) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """What `_slice_texts` was given."""
    if isinstance(plain, dict):
        if plain.keys() == {_PLACE}:
            start, end = plain[_PLACE]
            if not 0 <= start <= end <= len(prompt):
                raise ValueError("no place in the prompt")
            return prompt[start:end]
        if plain.keys() == {_REASON}:
            code, parts = plain[_REASON]
            return Reason(code, **_restore_texts(parts, prompt))
        return {key: _restore_texts(value, prompt) for key, value in plain.items()}
    return [_restore_texts(value, prompt) for value in plain] if isinstance(plain, list) else plain


@cache
def _adapter() -> TypeAdapter[Continuation]:
    return TypeAdapter(Continuation)


@cache
def _schema() -> bytes:
    """Differs between versions with other fields of the records."""
    schema = json.dumps(_adapter().json_schema(), sort_keys=True)
    return hashlib.blake2b(schema.encode(), digest_size=_DIGEST).digest()
