"""Names of a story that nobody has described: found in the text alone, in both languages.

A proposal is for the writer to look at. What is looked for is how names behave: capital letters where no sentence
begins, titles, who speaks; in Chinese, characters that hold together, stand where a subject stands, act and are
spoken to. Constants were set on Great Expectations, 红楼梦 and 二十年目睹之怪现状 (docs/decisions/0112).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from armarius.names.lexicon import words
from armarius.names.proposed_han import han_names
from armarius.names.proposed_latin import latin_names
from armarius.names.raw_name import RawName
from armarius.text.scripts import is_han

__all__ = ["ProposedName", "propose_names"]

_MOST = 2_000
NameKind = Literal["person", "place", "thing"]


@dataclass(frozen=True, slots=True)
class ProposedName:
    """A name that the text uses and no profile describes.

    Attributes:
        name: Its fullest common form.
        aliases: Other forms that are likely it, by count.
        kind: What it probably is.
        count: How often name and aliases are written.
        document: Where it is written first.
        position: There, code points.
        reason: What speaks for it.
        known: Whether it is described already.
    """

    name: str
    aliases: tuple[str, ...]
    kind: NameKind
    count: int
    document: str
    position: int
    reason: str
    known: bool = False


def propose_names(
    texts: Iterable[tuple[str, str]], *, known: Iterable[str] = (), least: int = 10, keep_known: bool = False
) -> tuple[ProposedName, ...]:
    """The names of a story, most written first.

    Args:
        texts: Path and text of each document of the story, in its order.
        known: Names that are described already; they and their forms are left out. A title and a surname ("Mr Crane")
            makes the bare surname known, and no longer name that holds it.
        least: How often a name must be written.
        keep_known: Mark those that are described instead.

    Returns:
        Proposals by count, ties by name.

    Cost: linear in the text; about 4 s for a novel of 800,000 Chinese characters, 1 s for one of 180,000 English words.
    """
    documents = list(texts)
    found = [*latin_names([text for _, text in documents], least), *han_names([text for _, text in documents], least)]
    described = set(known)
    surnames = {bare for name in described if (bare := _untitled(name)) != name}
    alike = surnames | {name.replace(".", "") for name in described}
    made = []
    for one in grouped(found):
        is_known = not described.isdisjoint((one.name, *one.aliases)) or one.name.replace(".", "") in alike
        if is_known and not keep_known:
            continue
        document, position = _first(documents, (one.name, *one.aliases))
        made.append(
            ProposedName(one.name, one.aliases, one.kind, one.count, document, position, one.reason, is_known)  # type: ignore[arg-type]
        )
    return tuple(sorted(made, key=lambda one: (-one.count, one.name)))


def grouped(found: Sequence[RawName]) -> list[RawName]:
    """Forms of one name together: a short one under the one long name that holds it."""
    found = sorted(found, key=lambda one: (-one.count, one.name))[:_MOST]
    by_name = {one.name: one for one in found}
    under: dict[str, str] = {}
    for one in found:
        alike = (other for other in found if other is not one and other.kind == one.kind)
        longer = [other for other in alike if _holds(other.name, one.name)]
        longer.sort(key=lambda other: -other.count)
        if longer and (len(longer) == 1 or longer[0].count >= 4 * longer[1].count):
            under[one.name] = longer[0].name
    groups: dict[str, list[RawName]] = {}
    for one in found:
        head = one.name
        seen = {head}
        while head in under and under[head] not in seen:
            head = under[head]
            seen.add(head)
        groups.setdefault(head, []).append(one)
    made = []
    for head, members in groups.items():
        lead = by_name[head]
        others = sorted((one for one in members if one.name != head), key=lambda one: (-one.count, one.name))
        # Within Chinese text a short form is counted inside the long one too.
        total = max(one.count for one in members) if is_han(head[0]) else sum(one.count for one in members)
        made.append(replace(lead, aliases=tuple(one.name for one in others), count=total))
    return made


def _holds(long: str, short: str) -> bool:
    if long == short:
        return False
    if is_han(long[0]) and is_han(short[0]):
        return len(short) >= 2 and long.endswith(short) and len(long) <= len(short) + 2
    return short in long.split() or f" {short} " in f" {long} "


def _untitled(name: str) -> str:
    """The one word behind a title ("Crane" of "Mr. Crane"); any other name as it is."""
    title, _, rest = name.partition(" ")
    titles = words("latin", "titles") | words("latin", "male") | words("latin", "female")
    return rest if rest and " " not in rest and title.rstrip(".").lower() in titles else name


def _first(documents: Sequence[tuple[str, str]], names: Sequence[str]) -> tuple[str, int]:
    for path, text in documents:
        places = [at for name in names if (at := text.find(name)) >= 0]
        if places:
            return path, min(places)
    return "", 0
