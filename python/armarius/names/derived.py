"""Rules for short forms of names: unambiguous, used of a person, no plain word (docs/decisions/0044)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from armarius.names.people import NameForm, Person, bare, title_gender
from armarius.names.usage import Usage
from armarius.names.words import groups, words
from armarius.text.name_model import (
    DoubtfulAlias,
    LongerName,
    RefusedName,
    ShortName,
)
from armarius.text.tokens import TokenCounter
from armarius.text.unicode import is_han

# Titles accepted in questions even if the prose does not use them.
_ADDRESSES = {("before", title) for title in ("Mr.", "Mr", "Miss", "Ms.", "Ms")}
_COUNTED = 0.1


def western_titles(
    forms: Sequence[NameForm], neighbors: Iterable[tuple[str, str]], complete: AbstractSet[str] = frozenset()
) -> Iterator[ShortName | RefusedName]:
    """For a family name of several persons: titles before it that identify one of them.

    Args:
        forms: The readings of the name.
        neighbors: The words next to it, as in `Usage.neighbors`.
        complete: Ids of persons with a complete list of names.
    """
    bearers = [form for form in forms if form.kind == "family name"]
    seen = set(neighbors)
    for side, word in sorted(seen | _ADDRESSES):
        gender = title_gender(word)
        if side != "before" or gender is None or not bearers:
            continue
        text = f"{word} {bearers[0].text}"
        fit = [one for one in bearers if _fits(one.person, bare(word), gender)]
        if len(fit) == 1 and fit[0].person.id in complete:
            continue
        if len(fit) == 1:
            because = f"the only {word} of that family name"
            yield ShortName(text, fit[0].person.id, "family name with title", fit[0].of, because)
        elif (side, word) in seen:
            yield RefusedName(text, tuple(sorted(one.person.id for one in bearers)), "several persons")


def _fits(person: Person, title: str, gender: str) -> bool:
    if gender:
        return person.gender in ("", gender)
    called = groups("latin", "same").get(title, frozenset({title}))
    said = " ".join([*person.names, person.profile]).lower()
    return any(word in said.replace(".", " ").split() for word in called)


def chinese_titles(usage: Usage) -> Iterator[ShortName | RefusedName]:
    """Every family name with a title that the prose uses."""
    used: defaultdict[str, list[str]] = defaultdict(list)
    seen = {form for form, use in usage.uses if use == "bare"}  # few of all combinations of family name and title
    for text in sorted(seen & usage.forms.titled.keys()):
        family, title = usage.forms.titled[text]
        # A title of one character may begin a word (马总会): require use as a person.
        if usage.of(text, "bare") and (len(title) > 1 or usage.acts(text)) and not counted_as_things(usage, text):
            used[family].append(title)
    for family, titles in sorted(used.items()):
        bearers = usage.forms.families[family]
        for title in titles:
            text = family + title
            who, because = _bearer(title, titles, bearers)
            if who is not None and len(who.names) > 1:
                who, because = None, "the profile lists what they are called"
            elif who is not None and not is_near(usage, text):
                who, because = None, "seldom near a mention of them"
            if who is None:
                yield RefusedName(text, tuple(sorted(one.id for one in bearers)), because)
            else:
                yield ShortName(text, who.id, "family name with title", who.names[0], because)


def is_near(usage: Usage, form: str) -> bool:
    """Whether most uses of a form are near a mention of a candidate."""
    return 2 * usage.of(form, "near") >= usage.of(form, "bare") > 0


def counted_as_things(usage: Usage, form: str) -> bool:
    """Whether a form is counted as a thing more than once."""
    counted = usage.of(form, "counted")
    return counted >= 2 and counted > _COUNTED * usage.of(form, "bare")


def _bearer(title: str, titles: Sequence[str], bearers: Sequence[Person]) -> tuple[Person | None, str]:
    """The person meant by a title behind a family name that `bearers` share, given all titles behind it."""
    gender = "m" if title in words("han", "male") else "f" if title in words("han", "female") else ""
    if gender:
        fit = [one for one in bearers if one.gender in ("", gender)]
        other = words("han", "female" if gender == "m" else "male")
        if len(fit) == 1 and not fit[0].gender and other.intersection(titles):
            return None, "titles of both genders, and the profile does not say which"
        return (fit[0], "the only one of that family name") if len(fit) == 1 else (None, "several persons")
    called = groups("han", "same").get(title, frozenset({title}))
    so_called = [one for one in bearers if any(word in one.profile or word in "".join(one.names) for word in called)]
    if len(so_called) == 1:
        return so_called[0], "the profile names the calling"
    callings = [one for one in titles if one in words("han", "professions") and one not in called]
    if len(bearers) > 1 or so_called:
        return None, "several persons"
    if title in words("han", "professions") and callings:
        return None, f"another calling of the same family name: {callings[0]}"
    return bearers[0], "the only one of that family name"


# A form with this many uses and no use as an acting person is a word.
_OFTEN: Final = 20
_NEVER: Final = 0.02
# If lower case is this many times as frequent, a capital at the beginning of a sentence is read as the word.
_COMMONER: Final = 4
_STRANGER: Final = 2  # uses of a Chinese given name behind another family name


@dataclass(slots=True)
class DerivedNames:
    """Accepted and refused short forms."""

    short: list[ShortName] = field(default_factory=list)
    refused: list[RefusedName] = field(default_factory=list)
    longer: list[LongerName] = field(default_factory=list)
    doubtful: list[DoubtfulAlias] = field(default_factory=list)

    def accept(self, form: NameForm, because: str) -> None:
        """Accept `form` as a name of its person."""
        self.short.append(ShortName(form.text, form.person.id, form.kind, form.of, because))

    def take(self, decided: Iterable[ShortName | RefusedName]) -> None:
        """Add results of another rule."""
        for one in decided:
            if isinstance(one, ShortName):
                self.short.append(one)
            else:
                self.refused.append(one)

    def refuse(self, text: str, ids: Iterable[str], because: str) -> None:
        """Refuse `text` as a name."""
        self.refused.append(RefusedName(text, tuple(sorted(ids)), because))


def short_names(usage: Usage, text: str, neighbors: dict[tuple[str, str], int]) -> DerivedNames:
    """Decide about a form of a cast (`Forms.by_text`) from its uses and neighbouring words."""
    found = DerivedNames()
    forms = usage.forms.by_text[text]
    if len(forms) > 1:
        if _seen(usage, text):
            found.refuse(text, [form.person.id for form in forms], "several persons")
        found.take(western_titles(forms, neighbors, usage.forms.complete))
    elif usage.forms.is_listed(forms[0]):
        pass
    elif is_han(text[0]):
        _han(found, usage, forms[0], neighbors)
    else:
        _spaced(found, usage, forms[0], neighbors)
    return found


def titled_names(usage: Usage) -> DerivedNames:
    """Decide about all Chinese family names with titles; the decisions of one family depend on each other."""
    found = DerivedNames()
    found.take(chinese_titles(usage))
    return found


def _seen(usage: Usage, text: str) -> int:
    return sum(usage.of(text, use) for use in ("bare", "inside", "initial", "small"))


def _han(found: DerivedNames, usage: Usage, form: NameForm, neighbors: dict[tuple[str, str], int]) -> None:
    because = _as_person(usage, form)
    if because is None:
        if _seen(usage, form.text):
            found.refuse(form.text, [form.person.id], "not used of a person in the text, or as a word")
        return
    found.accept(form, because)
    if form.kind == "given name":
        own = form.of[: -len(form.text)]
        for (_, family), count in sorted(neighbors.items()):
            if count >= _STRANGER and not own.endswith(family):
                why = f"{family}{form.text} occurs {count} times: another family name"
                found.longer.append(LongerName(family + form.text, form.text, why))


def _as_person(usage: Usage, form: NameForm) -> str | None:
    """The reason to read a Chinese form as a person's name, or None."""
    text, bare, acting = form.text, usage.of(form.text, "bare"), usage.of(form.text, "acting")
    if form.kind == "byname":
        return "the profile says so"
    if counted_as_things(usage, text):
        return None
    acts = usage.acts(text)
    if form.kind == "familiar form":
        adverb = text[0] == text[-1] and _is_common(text)  # 默默
        return (
            "acts as a person in the text, near the full name" if acts and is_near(usage, text) and not adverb else None
        )
    # A transliterated name is not made of words.
    if is_han(form.of) and (form.kind == "family name" or _is_common(text)):
        return "acts as a person in the text" if acts else None
    if bare >= _OFTEN and acting < _NEVER * bare:
        return None
    return "nobody else has it"


def _spaced(found: DerivedNames, usage: Usage, form: NameForm, neighbors: dict[tuple[str, str], int]) -> None:
    text, owner = form.text, form.person.id
    inside, initial, small = (usage.of(text, use) for use in ("inside", "initial", "small"))
    if small and not inside and form.kind != "byname":
        found.refuse(text, [owner], "a plain word in the text")
        return
    found.accept(form, "the profile says so" if form.kind == "byname" else "nobody else has it")
    if text[0].isupper():
        rule, why = _case(inside, initial, small)
        found.doubtful.append(DoubtfulAlias(text, owner, rule, text, why))
    for (side, word), _ in sorted(neighbors.items()):
        longer = f"{word} {text}" if side == "before" else f"{text} {word}"
        gender = title_gender(word)
        if gender is not None:
            other = gender and form.person.gender and gender != form.person.gender
            doubt = gender and not form.person.gender and _both_genders(neighbors)
            if side == "before" and form.kind == "family name" and (other or doubt):
                why = "a title of the other gender" if other else "titles of both genders"
                found.longer.append(LongerName(longer, text, why))
        elif (side == "before" and form.kind == "family name") or (side == "after" and form.kind == "given name"):
            found.longer.append(LongerName(longer, text, "another name beside it"))


def _case(inside: int, initial: int, small: int) -> tuple[Literal["inside", "capital", "case"], str]:
    """The rule for the capital of a derived name."""
    if small and small >= _COMMONER * inside:
        return "inside", "mostly a plain word in the text"
    if small:
        return "capital", "also a plain word in the text"
    return "case", "derived" if inside + initial else "derived, not seen in the text"


def _both_genders(neighbors: Iterable[tuple[str, str]]) -> bool:
    seen = {title_gender(word) for side, word in neighbors if side == "before"}
    return {"m", "f"} <= seen


@lru_cache(4096)
def _is_common(text: str) -> bool:
    """Whether a tokenizer has `text` as one token: a frequent word, so use as a name must be shown."""
    return TokenCounter.for_encoding("deepseek_v3").count(text) == 1
