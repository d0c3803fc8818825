"""Which short forms of names hold: unambiguous, used of a person, no plain word (docs/decisions/0044)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from armarius.names.family import (
    chinese_titles,
    counted_as_things,
    is_near,
    western_titles,
)
from armarius.names.people import Form
from armarius.names.usage import Usage
from armarius.names.western import title_gender
from armarius.text.name_model import (
    DoubtfulAlias,
    LongerName,
    RefusedName,
    ShortName,
)
from armarius.text.scripts import is_han
from armarius.text.tokens import TokenCounter

__all__ = ["DerivedNames", "short_names", "titled_names"]

# A form used so often without anybody acting is a word, whatever it looks like.
_OFTEN: Final = 20
_NEVER: Final = 0.02
# A word written small this many times as often as with a capital is read as the word where a sentence begins.
_COMMONER: Final = 4
_STRANGER: Final = 2  # times that another family name stands in front of a Chinese given name


@dataclass(slots=True)
class DerivedNames:
    """What was decided."""

    short: list[ShortName] = field(default_factory=list)
    refused: list[RefusedName] = field(default_factory=list)
    longer: list[LongerName] = field(default_factory=list)
    doubtful: list[DoubtfulAlias] = field(default_factory=list)

    def accept(self, form: Form, because: str) -> None:
        """`form` is a name of its person."""
        self.short.append(ShortName(form.text, form.person.id, form.kind, form.of, because))

    def take(self, decided: Iterable[ShortName | RefusedName]) -> None:
        """Names decided elsewhere."""
        for one in decided:
            if isinstance(one, ShortName):
                self.short.append(one)
            else:
                self.refused.append(one)

    def refuse(self, text: str, ids: Iterable[str], because: str) -> None:
        """`text` is nobody's name."""
        self.refused.append(RefusedName(text, tuple(sorted(ids)), because))


def short_names(usage: Usage, text: str, beside: dict[tuple[str, str], int]) -> DerivedNames:
    """Decide about a form of a cast (`Forms.by_text`), by how the prose uses it and what stands beside it there."""
    found = DerivedNames()
    forms = usage.forms.by_text[text]
    if len(forms) > 1:
        if _seen(usage, text):
            found.refuse(text, [form.person.id for form in forms], "several persons")
        found.take(western_titles(forms, beside, usage.forms.complete))
    elif usage.forms.is_listed(forms[0]):
        pass
    elif is_han(text[0]):
        _han(found, usage, forms[0], beside)
    else:
        _spaced(found, usage, forms[0], beside)
    return found


def titled_names(usage: Usage) -> DerivedNames:
    """Decide about all Chinese family names with titles, each of which depends on the others of its family."""
    found = DerivedNames()
    found.take(chinese_titles(usage))
    return found


def _seen(usage: Usage, text: str) -> int:
    return sum(usage.of(text, use) for use in ("bare", "inside", "initial", "small"))


def _han(found: DerivedNames, usage: Usage, form: Form, beside: dict[tuple[str, str], int]) -> None:
    because = _as_person(usage, form)
    if because is None:
        if _seen(usage, form.text):
            found.refuse(form.text, [form.person.id], "not used of a person in the text, or as a word")
        return
    found.accept(form, because)
    if form.kind == "given name":
        own = form.of[: -len(form.text)]
        for (_, family), count in sorted(beside.items()):
            if count >= _STRANGER and not own.endswith(family):
                why = f"{family}{form.text} occurs {count} times: another family name"
                found.longer.append(LongerName(family + form.text, form.text, why))


def _as_person(usage: Usage, form: Form) -> str | None:
    """Why a Chinese form is a person's name, or None when it is not to be taken for one."""
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
    # A foreign name in Chinese is made of no words.
    if is_han(form.of) and (form.kind == "family name" or _is_common(text)):
        return "acts as a person in the text" if acts else None
    if bare >= _OFTEN and acting < _NEVER * bare:
        return None
    return "nobody else has it"


def _spaced(found: DerivedNames, usage: Usage, form: Form, beside: dict[tuple[str, str], int]) -> None:
    text, owner = form.text, form.person.id
    inside, initial, small = (usage.of(text, use) for use in ("inside", "initial", "small"))
    if small and not inside and form.kind != "byname":
        found.refuse(text, [owner], "a plain word in the text")
        return
    found.accept(form, "the profile says so" if form.kind == "byname" else "nobody else has it")
    if text[0].isupper():
        rule, why = _case(inside, initial, small)
        found.doubtful.append(DoubtfulAlias(text, owner, rule, text, why))
    for (side, word), _ in sorted(beside.items()):
        longer = f"{word} {text}" if side == "before" else f"{text} {word}"
        gender = title_gender(word)
        if gender is not None:
            other = gender and form.person.gender and gender != form.person.gender
            doubt = gender and not form.person.gender and _both_genders(beside)
            if side == "before" and form.kind == "family name" and (other or doubt):
                why = "a title of the other gender" if other else "titles of both genders"
                found.longer.append(LongerName(longer, text, why))
        elif (side == "before" and form.kind == "family name") or (side == "after" and form.kind == "given name"):
            found.longer.append(LongerName(longer, text, "another name beside it"))


def _case(inside: int, initial: int, small: int) -> tuple[Literal["inside", "capital", "case"], str]:
    """How much a derived name depends on its capital."""
    if small and small >= _COMMONER * inside:
        return "inside", "mostly a plain word in the text"
    if small:
        return "capital", "also a plain word in the text"
    return "case", "derived" if inside + initial else "derived, not seen in the text"


def _both_genders(beside: Iterable[tuple[str, str]]) -> bool:
    seen = {title_gender(word) for side, word in beside if side == "before"}
    return {"m", "f"} <= seen


@lru_cache(4096)
def _is_common(text: str) -> bool:
    """Whether a tokenizer knows `text` as one word: frequent in any text, so prose must show that it is a name."""
    return TokenCounter.for_encoding("deepseek_v3").count(text) == 1
