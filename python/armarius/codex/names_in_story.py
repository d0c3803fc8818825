"""Which drafts of profiles are entities: those whose names the story uses as names.

A field, a name column or a file about one thing declares an entity. A heading alone is evidence of little: below
`# 人物` stand names and 写作备忘, and a sheet has as many headings as aspects. The story decides: it writes names as
names. Counts are per document and add up, so an index that grew save by save judges as one that was built in one go.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from armarius.codex.draft import Draft, Profiles
from armarius.codex.model import Origin, RejectedName
from armarius.codex.profile_entity import add_lead_names, is_han_name, is_name_shaped
from armarius.codex.profile_fields import NAME_PARTS
from armarius.documents.segments import parts_of
from armarius.documents.titles import group_of, is_generic
from armarius.text.matcher import EntityMatcher, ShortName
from armarius.text.unicode import HAN_EVERY, KANA, fold
from armarius.trust.settings import CONFIG_NAME, People

_BEGINS = re.compile(r"(?:^|[.!?:;\"“”‘’()\[\]\n—–…#>*_-])\s*$")
_POINTED = re.compile(rf"[{HAN_EVERY}]+·[{HAN_EVERY}·]+$")
_BETWEEN = re.compile(r"[\s·・]+")
_CHAR = f"[{KANA}{HAN_EVERY}々]"
_IN_PARTS = re.compile(rf"{_CHAR}{{1,5}} {_CHAR}{{1,5}}|[ァ-ヺー]+(?:[ ・][ァ-ヺー]+)+")  # 桜咲 さくら, アンナ・ベル
_BEHIND = tuple(NAME_PARTS["japanese"]["behind"].split())
_LOOK_BACK = 4
_SMALL = 4  # a word with more uses in lower case than a fourth of those with a capital is no name
_NOUN = 10  # the same for Chinese
_MEASURED = frozenset("个名位些这那各众其两几该")
_ACTS = frozenset(NAME_PARTS["han"]["acts"])
_NO_END = frozenset(NAME_PARTS["han"]["no_end"])
_TWICE = 2
_OFTEN = 8
_ENOUGH = 20_000  # characters of story from which the absence of a listed name says something
_LONGEST = 5  # words of a name that is shortened
_MOST_WORDS = 12  # of a name that others may be a part of
_FULL = 3  # characters of a Chinese name with a given name of two
_WORD = 4  # letters of the shortest word that stands for a longer name

Uses = tuple[int, int, int]
"""Uses of a name with a capital inside a sentence, with one at its beginning, and without one, as a plain word.

In Chinese: other uses, uses before a verb of speech or of the body, and uses as a noun: behind a measure word
(一个队友) or a pronoun, or with 们.
"""


@dataclass(slots=True)
class Story:
    """How the documents of the story write the names that are sought.

    Attributes:
        length: Code points of all of them; 0 without a story.
        uses: Sum over the documents, by name as sought.
        documents: Number of documents that write a name as a name.
    """

    length: int = 0
    uses: dict[str, Uses] = field(default_factory=dict)
    documents: dict[str, int] = field(default_factory=dict)

    def add(self, length: int, uses: Mapping[str, Uses], sign: int = 1) -> None:
        """Add one document, or with -1 take it away."""
        self.length += sign * length
        for name, (inside, initial, small) in uses.items():
            before = self.uses.get(name, (0, 0, 0))
            self.uses[name] = before[0] + sign * inside, before[1] + sign * initial, before[2] + sign * small
            self.documents[name] = self.documents.get(name, 0) + sign * (inside + initial > 0)

    def names(self, name: str) -> bool:
        """Whether the story uses the words as a name."""
        inside, initial, small = self.uses.get(name, (0, 0, 0))
        if is_han_name(name):
            written = inside + initial
            return written > 0 and ((written > 1 and small * _NOUN <= written) or is_name_shaped(name))
        if " " in name or not name.isascii():
            return inside + initial > 0 and small * _SMALL <= inside + initial
        return inside > 0 and small * _SMALL <= inside

    def knows(self, name: str, *, typed: bool = False) -> bool:
        """`names`, or a distinctive word of it: `Councilor Thane Blackwater` of whom the story speaks as Blackwater.

        Of a person in Japanese any part of two characters: さくら of 桜咲 さくら.
        """
        parted = typed and _IN_PARTS.fullmatch(name)
        words = [word for word in _BETWEEN.split(name) if len(word) > 1] if parted else _words(name)
        return self.names(name) or any(map(self.names, words))

    def appears(self, name: str, *, typed: bool = True) -> bool:
        """Whether a name in a list of who appears is one in the story: in two or three documents, and acting if any."""
        documents = self.documents.get(name, 0)
        if documents < _TWICE or not self.names(name):
            return False
        is_han, is_shaped = is_han_name(name), is_name_shaped(name)
        if is_han == is_shaped:
            return is_han
        inside, acting, _ = self.uses[name]
        return documents > _TWICE and (typed or not is_han or acting * _NOUN >= inside + acting)

    def acts(self, name: str) -> bool:
        """Whether a Chinese word that only looks like a name is somebody: often used, in two documents, and acting."""
        inside, acting, noun = self.uses.get(name, (0, 0, 0))
        written = inside + acting
        often = written >= _OFTEN and self.documents.get(name, 0) >= _TWICE
        return often and acting * 2 * _NOUN >= written >= noun * _NOUN and name[-1] not in _NO_END

    def names_by(self, part: str, name: str) -> bool:
        """Whether a part of a longer name names alone: the story uses it so more than once, or it is the first words.

        `Fat Pig` of `The Fat Pig Tavern` is asked for, used or not, unless the story has such words as plain ones.
        """
        inside, initial, small = self.uses.get(part, (0, 0, 0))
        if " " in part and not inside + initial + small:
            return part in name.removesuffix(name.split()[-1])
        return self.names(part) and inside > (1 if " " in part else 2)

    def counts(self) -> tuple[object, ...]:
        """All that `verdict` depends on. Cost: a copy of it."""
        return {**self.uses}, {**self.documents}, self.length > 0, self.length < _ENOUGH

    def verdict(self, names: Iterable[str]) -> tuple[object, ...]:
        """Everything of a story that `judge_profiles` looks at; two stories with one verdict judge alike."""
        verdict: list[object] = [self.length > 0, self.length < _ENOUGH]
        for name in names:
            verdict += self.names(name), self.names_by(name, f"{name} x"), self.names_by(name, name)
            verdict += self.appears(name), self.appears(name, typed=False), self.is_common(name), self.acts(name)
        return tuple(verdict)

    def is_common(self, name: str) -> bool:
        """Whether each word of a name is a plain word in the story."""
        written = [self.uses.get(word, (0, 0, 0)) for word in name.split()]
        return all(small * _SMALL > inside for inside, _, small in written)


def names_sought(pages: Iterable[Profiles]) -> tuple[str, ...]:
    """The names whose use in the story decides about a draft, sorted."""
    sought: set[str] = set()
    pages = list(pages)
    for form, spellings in _forms(pages).items():
        sought |= {*spellings, form.of}
    for draft in (draft for profiles in pages for draft in profiles.drafts):
        if parts := _parts(draft):
            sought |= {draft.name, *parts}
        if draft.standing != "declared":
            for name in filter(None, (draft.name, draft.other)):
                sought |= {name, *_BETWEEN.split(name)} if draft.standing not in ("cast", "label") else {name}
    return tuple(sorted(name for name in sought if any(char.isalnum() for char in name)))


def uses_in(texts: Sequence[str], names: Sequence[str]) -> Iterator[dict[str, Uses]]:
    """How each text writes these names, titles aside.

    Cost: one pass of the matcher over the texts, and one step per occurrence.
    """
    if not names:
        yield from ({} for _ in texts)
        return
    matcher = EntityMatcher.of_texts(names)
    for text, mentions in zip(texts, matcher.find_batch(texts), strict=True):
        counts: dict[str, list[int]] = {}
        for mention in mentions:
            if text.startswith("#", text.rfind("\n", 0, mention.start) + 1):
                continue  # a title is no use of a name
            counts.setdefault(mention.entity_id, [0, 0, 0])[_place(text, mention.term, mention.start)] += 1
        yield {name: (inside, initial, small) for name, (inside, initial, small) in sorted(counts.items())}


def _place(text: str, term: str, start: int) -> int:
    cased = [word for word in term.split() if word[0].lower() != word[0].upper()]
    if not cased:
        before, behind = text[start - 1 : start], text[start + len(term) : start + len(term) + 1]
        if term.endswith(_BEHIND):  # 一郎は of 誠一郎は
            return 2 * (is_han_name(before) and is_han_name(term[0]))
        return 2 if before in _MEASURED or behind == "们" else int(behind in _ACTS)
    if not cased[-1][0].isupper():
        return 2
    return int(_BEGINS.search(text[max(0, start - _LOOK_BACK) : start]) is not None)


def _words(name: str) -> list[str]:
    spelt = name.split()
    return [word for word in spelt if len(word) >= _WORD and is_name_shaped(word)] if len(spelt) > 1 else []


def judge_profiles(pages: Iterable[Profiles], story: Story) -> tuple[list[Profiles], tuple[RejectedName, ...]]:
    """The profiles with the drafts that are entities, and what the others were.

    Args:
        pages: Profiles of each file, in path order; they are not changed.
        story: Its uses of `names_sought(pages)`.
    """
    kept: list[Profiles] = []
    rejected: list[RejectedName] = []
    everybody = _named_by_files(pages)
    described = {
        fold(draft.name)
        for profiles in everybody
        for draft in profiles.drafts
        if draft.standing not in ("cast", "label")
    }
    for profiles in everybody:
        inside = Counter(
            draft.other for draft in profiles.drafts if draft.standing == "inside" and story.names(draft.name)
        )
        drafts: list[Draft] = []
        for draft in profiles.drafts:
            if draft.standing == "inside":
                if inside[draft.other] > 1 and story.names(draft.name):
                    drafts.append(replace(draft, other=""))
                continue
            if draft.standing in ("cast", "label"):
                typed = draft.type is not None
                is_somebody = (
                    story.acts(draft.name) if draft.standing == "label" else story.appears(draft.name, typed=typed)
                )
                if is_somebody and fold(draft.name) not in described:
                    drafts.append(replace(draft, type=draft.type or "character"))
                continue
            decided, why = _decide_draft(draft, story)
            if inside[draft.origin.section] > 1 and not (is_name_shaped(draft.name) and story.names(draft.name)):
                decided, why = None, "a heading above several others that the story names"
            if decided is not None:
                drafts.append(decided)
            else:
                rejected.append(RejectedName(draft.name, draft.origin.path, draft.origin.line, why))
        kept.append(Profiles([_drop_place_names(draft, described) for draft in drafts], profiles.lines))
        rejected += profiles.rejected
    _name_mentions(kept)
    _name_leads(kept)
    _name_by_parts(kept, story)
    _name_by_forms(kept, story)
    return kept, tuple(sorted(rejected, key=lambda item: (item.path, item.line, item.name)))


def apply_people(pages: Iterable[Profiles], people: Sequence[People]) -> list[Profiles]:
    """The profiles as the configuration says of people; the first that says something of a name is heard.

    The cards of one person are joined, somebody whom nobody describes has a card, and what is no name has none. What a
    model proposed, the last of two, takes no card from what a field or a file declares.
    """
    every = [replace(page, drafts=[*page.drafts], rejected=[*page.rejected]) for page in pages]
    first = dict[str, Draft]()
    drafts = [draft for page in every for draft in page.drafts]
    pairs = [*((page.name, page) for page in drafts), *((name, page) for page in drafts for name in page.aliases)]
    for name, draft in pairs:
        first.setdefault(fold(name), draft)
    whose, new = dict[str, str](), list[Draft]()
    for name, aliases in (row for group in people for row in group.names):
        names = [alias for alias in (name, *aliases) if fold(alias) not in whose]
        if fold(name) in whose or not names:
            continue
        main = next((alias for alias in names if fold(alias) in first), name)
        whose |= dict.fromkeys(map(fold, names), main)
        others = [alias for alias in names if alias != main]
        if fold(main) in first:
            whose.setdefault(fold(first[fold(main)].name), main)
        else:
            new.append(Draft(main, Origin(CONFIG_NAME, "people"), type="character", aliases=others))
    called = {main: [key for key, owner in whose.items() if owner == main] for main in whose.values()}
    spelt = {fold(alias): alias for group in people for name, aliases in group.names for alias in (name, *aliases)}
    no_names = {fold(word): at for at, group in reversed([*enumerate(people)]) for word in group.no_names}
    for page in every:
        kept = list[Draft]()
        for draft in page.drafts:
            key = fold(draft.name)
            if (at := no_names.get(key)) is not None and (at == 0 or draft.standing != "declared"):
                where = draft.origin
                page.rejected.append(
                    RejectedName(draft.name, where.path, where.line, "armarius.toml says it is no name")
                )
                continue
            if (owner := whose.get(key)) is not None:
                name = first[fold(owner)].name if fold(owner) in first else owner
                others = [spelt[other] for other in called[owner] if other in spelt and other != fold(name)]
                type_ = draft.type or "character"
                named = replace(draft, name=name, type=type_, aliases=[*draft.aliases], standing="declared")
                named.add_aliases([draft.name, *others])
                draft = named
            kept.append(draft)
        page.drafts = kept
    return [*every, Profiles(new)]


def _named_by_files(pages: Iterable[Profiles]) -> list[Profiles]:
    """The profiles; where files of other names have one title (`#god`), each is about what its own name says."""
    pages = list(pages)
    titled = Counter(fold(draft.name) for profiles in pages for draft in profiles.drafts if _is_titled(draft))
    return [
        replace(profiles, drafts=[_named_by_file(draft, titled[fold(draft.name)]) for draft in profiles.drafts])
        for profiles in pages
    ]


def _named_by_file(draft: Draft, titled: int) -> Draft:
    return replace(draft, name=parts_of(draft.origin.path).stem) if titled > 1 and _is_titled(draft) else draft


def _is_titled(draft: Draft) -> bool:
    """Whether a draft is what a file is about, under a name that the file's own has nothing of."""
    stem, name = (re.sub(r"[\W_]+", " ", fold(text)) for text in (parts_of(draft.origin.path).stem, draft.name))
    return draft.whole and draft.name == draft.origin.section and stem not in name and name not in stem


def _decide_draft(draft: Draft, story: Story) -> tuple[Draft | None, str]:
    """The draft if it is an entity, under the half of its heading that is a name; else the reason."""
    if draft.standing == "declared":
        return draft, ""
    if is_generic(draft.name) or group_of(draft.name) is not None:
        return None, "an aspect, or a word for a group"
    if story.names(draft.name):
        return draft, ""
    if draft.other and story.names(draft.other):
        return replace(draft, name=draft.other, other=draft.name), ""
    if draft.standing == "headed":
        if story.knows(draft.name):
            return draft, ""
        return None, "a heading, and the story does not use it as a name" if story.length else "a heading, and no story"
    if story.length < _ENOUGH or story.knows(draft.name, typed=draft.type == "character"):
        return draft, ""
    if is_name_shaped(draft.name) and (is_han_name(draft.name) or not story.is_common(draft.name)):
        return draft, ""
    return None, "the story does not use it as a name, and it does not look like one"


def _drop_place_names(draft: Draft, described: Collection[str]) -> Draft:
    """Without aliases in the brackets of the heading that are the name of another: `Council (Winterholme)`."""
    notes = [
        alias
        for alias in draft.aliases
        if fold(alias) in described and re.search(f"[(（]{re.escape(alias)}[)）]", draft.origin.section)
    ]
    return replace(draft, aliases=[alias for alias in draft.aliases if alias not in notes]) if notes else draft


def _name_mentions(kept: Sequence[Profiles]) -> None:
    """Let a row, a line or a label that has one word of a described person's name be about that person.

    Of a name with a point and a title behind it (伊利亚·彼得连科总指挥) that is whose name it begins with.
    """
    pointed = {draft.name for profiles in kept for draft in profiles.drafts if _POINTED.match(draft.name)}
    for profiles in kept if pointed else ():
        for at, draft in enumerate(profiles.drafts):
            shorter = range(len(draft.name) - 1, draft.name.find("·") + 1, -1) if draft.name in pointed else ()
            whose = next((draft.name[:cut] for cut in shorter if draft.name[:cut] in pointed), None)
            if whose is not None and not _is_sheet(draft):
                profiles.drafts[at] = replace(draft, name=whose)
    index: dict[str, dict[int, set[str]]] = {}  # by word: at which place, whose
    for draft in (
        draft for profiles in kept for draft in profiles.drafts if draft.type == "character" and _is_sheet(draft)
    ):
        for name in (draft.name, *draft.aliases):
            parts = _BETWEEN.split(fold(name))
            parts += [parts[0][1:]] if is_han_name(parts[0]) and len(parts[0]) == _FULL and is_name_shaped(name) else []
            for at, part in enumerate(parts if len(parts) > 1 else ()):
                index.setdefault(part, {}).setdefault(min(at, 1), set()).add(draft.name)
    for profiles in kept if index else ():
        for at, draft in enumerate(profiles.drafts):
            if draft.type in (None, "character") and not _is_sheet(draft) and (places := index.get(fold(draft.name))):
                first, every = places.get(0, set()), set().union(*places.values())
                if len(owner := every if len(every) == 1 else first) == 1:
                    profiles.drafts[at] = replace(draft, name=next(iter(owner)), aliases=[draft.name, *draft.aliases])


def _is_sheet(draft: Draft) -> bool:
    """Whether a draft is a page or a section about somebody, and no row, line or label."""
    return draft.whole or fold(draft.name) in fold(draft.origin.section)


def _name_leads(kept: Sequence[Profiles]) -> None:
    """Give the leading people the names 主角, 男主, "the heroine", each if one person is it; 男主 may be 主角 too."""
    rows = {draft.lead for profiles in kept for draft in profiles.drafts}
    for row in ("lead", "male", "female"):
        lead = "male" if row == "lead" and row not in rows else row
        leads = {fold(draft.name) for profiles in kept for draft in profiles.drafts if draft.lead == lead}
        if len(leads) == 1:
            for profiles in kept:
                profiles.drafts = [_add_leads(draft, row) if draft.lead == lead else draft for draft in profiles.drafts]


def _add_leads(draft: Draft, row: str) -> Draft:
    draft = replace(draft, aliases=[*draft.aliases])
    add_lead_names(draft, row)
    return draft


def _parts(draft: Draft) -> list[str]:
    """What the name of a place or a thing may be shortened to: `Fat Pig` of `The Fat Pig Tavern`."""
    spelt = [] if draft.type == "character" else draft.name.split()
    spelt = spelt[1:] if spelt and spelt[0].lower() == "the" else spelt
    if not 2 <= len(spelt) <= _LONGEST or not all(word[0].isascii() and word[0].isupper() for word in spelt):
        return []
    runs = [spelt[:end] for end in range(1, len(spelt))] + [spelt[at:] for at in range(1, len(spelt))]
    runs = [run for run in runs if {run[0].lower(), run[-1].lower()}.isdisjoint(("of", "and", "the"))]
    parts = [" ".join(run) for run in runs if len(run) > 1 or len(run[0]) >= _WORD]
    return [part for part in parts if is_name_shaped(part)]


def _name_by_parts(kept: Sequence[Profiles], story: Story) -> None:
    """Add the parts of names of places and things that the story uses alone, where nothing else is called so."""
    short = [
        (profiles, at, part)
        for profiles in kept
        for at, draft in enumerate(profiles.drafts)
        for part in _parts(draft)
        if story.names_by(part, draft.name)
    ]
    bearers: dict[str, set[str]] = {fold(part): set() for _, _, part in short}
    for draft in (draft for profiles in kept for draft in profiles.drafts if bearers):
        for name in (draft.name, *draft.aliases):
            spelt = fold(name).split()
            runs = (" ".join(spelt[at:end]) for at in range(len(spelt)) for end in range(at + 1, len(spelt) + 1))
            for run in runs if len(spelt) <= _MOST_WORDS else ():
                if run in bearers:
                    bearers[run].add(fold(draft.name))
    for profiles, at, part in short:
        if len(bearers[fold(part)]) == 1:
            draft = profiles.drafts[at]
            profiles.drafts[at] = replace(draft, aliases=[*draft.aliases])
            profiles.drafts[at].add_aliases([part])


def _forms(pages: Iterable[Profiles]) -> dict[ShortName, list[str]]:
    """The short forms of the people of profiles, whose ids are their folded names, and what shows that it is a name."""
    rows: dict[str, dict[str, Any]] = {}
    for draft in (draft for profiles in pages for draft in profiles.drafts):
        row = rows.setdefault(
            fold(draft.name), {"id": fold(draft.name), "name": draft.name, "type": draft.type, "aliases": []}
        )
        row["type"] = row["type"] or draft.type
        row["aliases"] += [name for name in (draft.name, *draft.aliases) if name != row["name"]]
    if not rows:
        return {}
    from armarius.codex.people import short_names

    cut = {form: [form.text + word for word in _BEHIND] for form in short_names(rows.values(), cut=True)}
    return cut | {form: [form.text] for form in short_names(rows.values())}


def _name_by_forms(kept: Sequence[Profiles], story: Story) -> None:
    """Note the short forms of people's names that the story uses alone: `Bob` of `Bob Finch`."""
    called: dict[str, list[str]] = {}
    for form, spellings in _forms(kept).items():
        if any(story.names_by(text, text) for text in spellings):
            called.setdefault(form.entity_id, []).append(form.text)
    for profiles in kept if called else ():
        profiles.drafts = [replace(draft, called=called.pop(fold(draft.name), [])) for draft in profiles.drafts]
