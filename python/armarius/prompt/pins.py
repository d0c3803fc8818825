"""Pins and mutes over what fetchers answered: what is pinned enters first, what is muted is listed and not in."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from armarius.prompt.fetch import FetchOutcome
from armarius.types import Candidate, Evidence, Fetched, Offer, Omission, OmitReason, Row, Shares, Wish

__all__ = ["let_go", "settled"]

_PASSAGE = "rag:passage:"
_QUERY = "request:query"
_WINDOW = "editor:"


def settled(answers: Sequence[FetchOutcome], wishes: Sequence[Wish]) -> list[FetchOutcome]:
    """The answers as the wishes of a request have them. Cost: one look at each candidate for each wish."""
    if not wishes:
        return list(answers)
    found = {one.id for answer in answers if answer.name != "pins" for one in answer.fetched.candidates}
    return [_settled(answer, wishes, found) for answer in answers]


def let_go(wishes: Sequence[Wish], previous: Iterable[Candidate]) -> Iterator[str]:
    """Ids of what no longer stays from a previous prompt: what is muted, and what was there only as it was pinned."""
    for one in previous:
        if _mutes(wishes, one) is not None or any(evidence.kind == "pin" for evidence in one.evidence):
            yield one.id


def _mutes(wishes: Sequence[Wish], candidate: Candidate) -> Wish | None:
    return next((wish for wish in wishes if wish.mute and _means(wish, candidate)), None)


def _settled(answer: FetchOutcome, wishes: Sequence[Wish], found: set[str]) -> FetchOutcome:
    fetched = answer.fetched
    candidates: list[Candidate] = []
    omitted = list(fetched.omitted)
    for one in fetched.candidates:
        muted = _mutes(wishes, one)
        if muted is not None:
            omitted.append(Omission(one.id, one.layer, one.source, "excluded", muted.why))
        elif answer.name == "pins" and one.id in found:
            continue  # another fetcher has it, with its own reasons
        else:
            pin = None if answer.name == "pins" else _pins(wishes, one)
            kept = one if pin is None else replace(one, pinned=True, evidence=(*one.evidence, Evidence("pin", pin.why)))
            candidates.append(kept)
    pinned = {one.id for one in candidates if one.pinned}
    omitted = [gone for gone in omitted if gone.id not in pinned]
    offer = None if fetched.offer is None else _Wished(fetched.offer, tuple(wishes))
    if offer is not None:
        muted_texts = (wish for wish in wishes if wish.mute and wish.kind in ("document", "paragraph"))
        omitted += [Omission(_source(wish), "retrieved", _source(wish), "excluded", wish.why) for wish in muted_texts]
    return replace(answer, fetched=Fetched(candidates, omitted, fetched.warnings, offer))


def _source(wish: Wish) -> str:
    return f"rag:document:{wish.key}" if wish.kind == "document" else _PASSAGE + wish.key


def _pins(wishes: Sequence[Wish], candidate: Candidate) -> Wish | None:
    return next((wish for wish in wishes if not wish.mute and _means(wish, candidate)), None)


def _means(wish: Wish, one: Candidate) -> bool:
    if one.source == _QUERY or one.source.startswith(_WINDOW):
        return False
    if wish.kind == "entity":
        return one.id == f"entity:{wish.key}"
    if wish.kind == "paragraph":
        return one.source == _PASSAGE + wish.key
    if wish.kind == "document":
        whole = one.source in (f"rag:document:{wish.key}", f"style:{wish.key}")
        return whole or one.source.startswith(f"{_PASSAGE}{wish.key}#")
    return wish.key in (one.id, one.source)


@dataclass(frozen=True)
class _Wished:
    """An offer without what is muted, nor what is pinned and so in the prompt already; see `records.Offer`."""

    offer: Offer
    wishes: tuple[Wish, ...]

    @property
    def rows(self) -> Sequence[Row]:
        return _Rows(self)

    @property
    def shares(self) -> Shares | None:
        return self.offer.shares

    @property
    def group(self) -> str:
        return self.offer.group

    def row(self, path: str, paragraph: int, /) -> Row | None:
        found = self.offer.row(path, paragraph)
        return found if found is None or self.wish(found) is None else replace(found, text="")

    @property
    def lines(self) -> bool:
        return self.offer.lines

    def beside(self, rows: Sequence[Row], /) -> Sequence[Row]:
        return [row for row in self.offer.beside(rows) if self.wish(row) is None]

    def withheld(self, row: Row, /) -> tuple[OmitReason, str] | None:
        wish = self.wish(row)
        return self.offer.withheld(row) if wish is None else ("excluded" if wish.mute else "duplicate", wish.why)

    def evidence(self, row: Row, /) -> Evidence:
        return self.offer.evidence(row)

    def explain(self, row: Row, /) -> tuple[Evidence, ...]:
        return self.offer.explain(row)

    def wish(self, row: Row) -> Wish | None:
        own = f"{row.path}#{row.paragraph}"
        keys = {("document", row.path), ("paragraph", own), ("source", row.source)}
        return next((wish for wish in self.wishes if (wish.kind, wish.key) in keys), None)


class _Rows(Sequence[Row]):
    """The rows that no wish takes out, made as they are looked at."""

    def __init__(self, wished: _Wished) -> None:
        self._wished = wished

    def __iter__(self) -> Iterator[Row]:
        return (row for row in self._wished.offer.rows if self._wished.wish(row) is None)

    def __bool__(self) -> bool:
        return next(iter(self), None) is not None

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, index: int | slice) -> Row | list[Row]:  # type: ignore[override]
        return list(self)[index]
