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
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter

from armarius.errors import BudgetError, ContractError
from armarius.headings import Reason
from armarius.prompt.admit import Admitted, canonical
from armarius.prompt.allocate import FULL, OMITTED, Allocation, Previous
from armarius.prompt.counter import CachedCounter
from armarius.prompt.escape import escape
from armarius.prompt.plan import FittedPrompt, Plan, is_window
from armarius.prompt.prefix import common_prefix
from armarius.prompt.profile import BudgetProfile
from armarius.prompt.render import PromptItem
from armarius.types import Candidate, Evidence

PREVIOUS = Evidence("previous", Reason("previous"))
# Of the prompt's limit: the least share of the window around the cursor while items are held.
_WINDOW_PERCENT = 35
# A held form counts as the item when it has at least this share of what a prompt without history would show.
_FORM_PERCENT = 60


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


def fit(
    admitted: Admitted,
    measured: CachedCounter,
    profile: BudgetProfile,
    available: int,
    previous: Previous,
    valid: Collection[str],
    window_most: int | None = None,
) -> FittedPrompt:
    """The prompt that shares most with the previous one and lacks nothing that one without history would have.

    Args:
        admitted: The candidates of this request.
        measured: The counter.
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
    plain = Plan(admitted, measured, profile, available, window_most=window_most)
    if not previous.prompt:
        return plain.fit()
    line = _line(plain, previous, valid)
    trial = _Trial(plain, previous, line, window_most)
    kept = line[: trial.most()]
    try:
        fitted = trial.plan(kept).fit()
        rest = trial.behind(fitted, kept)
        if rest is not None:
            fitted = trial.plan(rest, free=True).fit()
    except BudgetError:
        # A counter that does not add up: what was chosen together with the held items may take more in the end.
        kept, rest = [], None
        fitted = Plan(admitted, measured, profile, available, previous, window_most=window_most).fit()
    return replace(fitted, anchor_moved=fitted.anchor_moved or rest is not None or len(kept) < len(line))


def _line(plain: Plan, previous: Previous, valid: Collection[str]) -> list[PromptItem]:
    """The previous items that may stay as they stand, in their order."""
    offered = {c.id: c for c in plain.candidates if c.layer == "retrieved"}
    contents = {c.content for c in plain.candidates}
    line = []
    for item in previous.retrieved:
        was = item.candidate
        now = offered.get(was.id)
        # A heading that is new to this prompt may be one that an item of the previous prompt was free to spell.
        if now is None and was.id in valid and was.content not in contents and _harmless(item, plain.admitted.groups):
            evidence = (*(e for e in was.evidence if e != PREVIOUS), PREVIOUS)
            line.append(replace(item, candidate=replace(was, pinned=False, evidence=evidence)))
        elif now is not None and (now.content, now.group) == (was.content, was.group):
            line.append(replace(item, candidate=now))
    return line


def _harmless(item: PromptItem, groups: tuple[str, ...]) -> bool:
    return all(escape(text, groups) == text for text in (item.text, item.candidate.content))


def carry(admitted: Admitted, items: Sequence[PromptItem]) -> Admitted:
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


@dataclass
class _Trial:
    """Tries how much of the previous layer a prompt can hold."""

    plain: Plan
    previous: Previous
    line: list[PromptItem]
    window_most: int | None = None

    def __post_init__(self) -> None:
        self._allocation = self.plain.allocate()
        entering = self.plain.entering(self._allocation)
        mine = [item for item in entering if item.candidate.layer == "retrieved"]
        wanted = [item for item in mine if item.form != "truncated"]
        # What is cut differs from prompt to prompt: it may enter again, but is not promised.
        self._cut = {item.candidate.id for item in mine if item.form == "truncated"}
        self._wanted = sorted(wanted, key=lambda i: (-i.candidate.score, i.candidate.source, i.candidate.id))
        profile = self.plain.profile
        least = max(self.plain.limit * _WINDOW_PERCENT // 100, profile.insisted_min(self.plain.available))
        alone = self.plan([])
        self._window = min(_window(alone, alone.allocate()), least)
        self._most = max(profile.most("retrieved", self.plain.available), self._allocation.used["retrieved"])

    def plan(self, kept: Sequence[PromptItem], *, free: bool = False) -> Plan:
        """The plan that holds `kept` and what is wanted; `free` lets the window start where it is best."""
        wanted = {item.candidate.id: item for item in self._wanted}
        held = []
        for item in kept:
            better = wanted.get(item.candidate.id)
            if better is None or len(item.text) * 100 >= _FORM_PERCENT * len(better.text):
                held.append(item)
        ids = {item.candidate.id for item in held}
        held += [item for item in self._wanted if item.candidate.id not in ids]
        previous = replace(self.previous, windows={}) if free else self.previous
        entering = {item.candidate.id for item in held} | self._cut
        barred = [c.id for c in self.plain.candidates if c.layer == "retrieved" and c.id not in entering]
        plain, admitted = self.plain, carry(self.plain.admitted, kept)
        return Plan(admitted, plain.measured, plain.profile, plain.available, previous, held, barred, self.window_most)

    def most(self) -> int:
        """How many items of the line fit, from its first on, together with all that is wanted."""
        low, high = 0, len(self.line)
        if self._fits(high):
            return high
        while low + 1 < high:
            middle = (low + high) // 2
            if self._fits(middle):
                low = middle
            else:
                high = middle
        if low == 0 and not self._fits(0):
            # The layers would not divide as they do without history: let them divide anew, nothing promised.
            self._wanted, self._cut = [], {c.id for c in self.plain.candidates}
        return low

    def _fits(self, count: int) -> bool:
        plan = self.plan(self.line[:count])
        allocation = plan.allocate()
        if _window(plan, allocation) < self._window or allocation.used["retrieved"] > self._most:
            return False
        theirs = {(c.layer, c.id): d for c, d in zip(self.plain.candidates, self._allocation.decisions, strict=True)}
        for candidate, decision in zip(plan.candidates, allocation.decisions, strict=True):
            key = (candidate.layer, candidate.id)
            if candidate.layer == "retrieved":
                if decision == OMITTED and key in plan.places:
                    return False
            elif not is_window(candidate) and decision != theirs[key]:
                return False
        return True

    def behind(self, fitted: FittedPrompt, kept: Sequence[PromptItem]) -> list[PromptItem] | None:
        """What stays of `kept` when what stands behind the first change gives way; None when nothing need change."""
        rendered = fitted.rendered
        spans = zip(rendered.placed, rendered.spans, strict=True)
        window = next((span for item, span in spans if is_window(item.candidate)), None)
        shared = common_prefix(self.previous.demand, rendered.prompt)
        if window is None or shared > window[0]:
            return None
        ends = {item.candidate.id: end for item, end in zip(self.previous.retrieved, self.previous.ends, strict=True)}
        front = 0
        while front < len(kept) and ends[kept[front].candidate.id] <= shared:
            front += 1
        cramped = any(i.form == "truncated" for i in rendered.placed if i.candidate.layer == "immediate") or any(
            one.layer == "retrieved" for one, _ in fitted.omitted
        )
        if not cramped:
            return None
        while front and PREVIOUS in kept[front - 1].candidate.evidence:
            front -= 1
        rest = [item for item in kept[front:] if PREVIOUS not in item.candidate.evidence]
        return [*kept[:front], *rest]


def _window(plan: Plan, allocation: Allocation) -> int:
    """Tokens of the window around the cursor."""
    total = 0
    for candidate, tokens, decision in zip(plan.candidates, plan.sizes.tokens, allocation.decisions, strict=True):
        if is_window(candidate):
            total += tokens if decision == FULL else max(decision, 0)
    return total


MAX_BYTES: Final = 4 * 1024 * 1024
"""Of a continuation; what it holds may be four times that."""

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
        ids: Of everything in it.
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
    ids: tuple[str, ...]
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
        plain = [prompt, _sliced(_adapter().dump_python(self, warnings=False), prompt)]
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
            return _adapter().validate_python(_whole(plain, prompt))
        except (zlib.error, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
            raise ContractError(f"previous: the continuation cannot be read: {type(error).__name__}") from error


def _sliced(plain: Any, prompt: str) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """`plain` with each longer text that stands in the prompt as its place there, and reasons by their codes."""
    if isinstance(plain, Reason):
        return {_REASON: [plain.code, _sliced(dict(plain.parts), prompt)]}
    if isinstance(plain, str):
        at = prompt.find(plain) if len(plain) >= _SLICED else -1
        return plain if at < 0 else {_PLACE: [at, at + len(plain)]}
    if isinstance(plain, dict):
        return {key: _sliced(value, prompt) for key, value in plain.items()}
    return [_sliced(value, prompt) for value in plain] if isinstance(plain, list | tuple) else plain


def _whole(plain: Any, prompt: str) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """What `_sliced` was given."""
    if isinstance(plain, dict):
        if plain.keys() == {_PLACE}:
            start, end = plain[_PLACE]
            if not 0 <= start <= end <= len(prompt):
                raise ValueError("no place in the prompt")
            return prompt[start:end]
        if plain.keys() == {_REASON}:
            code, parts = plain[_REASON]
            return Reason(code, **_whole(parts, prompt))
        return {key: _whole(value, prompt) for key, value in plain.items()}
    return [_whole(value, prompt) for value in plain] if isinstance(plain, list) else plain


@cache
def _adapter() -> TypeAdapter[Continuation]:
    return TypeAdapter(Continuation)


@cache
def _schema() -> bytes:
    """Differs between versions with other fields of the records."""
    said = json.dumps(_adapter().json_schema(), sort_keys=True)
    return hashlib.blake2b(said.encode(), digest_size=_DIGEST).digest()
