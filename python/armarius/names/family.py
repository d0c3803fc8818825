"""Family names with a title ("Mr. Finch", 李师傅): whose they are, by bearers of the name, gender and calling."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from armarius.names.lexicon import groups, words
from armarius.names.people import Form, Person
from armarius.names.usage import Usage
from armarius.names.western import bare, title_gender
from armarius.text.name_model import RefusedName, ShortName

__all__ = ["chinese_titles", "counted_as_things", "is_near", "western_titles"]

# Titles that a question may use although the prose never does.
_ADDRESSES = {("before", title) for title in ("Mr.", "Mr", "Miss", "Ms.", "Ms")}
_COUNTED = 0.1


def western_titles(
    forms: Sequence[Form], beside: Iterable[tuple[str, str]], complete: AbstractSet[str] = frozenset()
) -> Iterator[ShortName | RefusedName]:
    """For a family name of several persons: each title in front of it that tells which one.

    Args:
        forms: The ways to read the name.
        beside: What stands beside it, as in `Usage.beside`.
        complete: Ids of persons who are called what is listed and nothing else.
    """
    bearers = [form for form in forms if form.kind == "family name"]
    seen = set(beside)
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
    said = " ".join([*person.names, person.said]).lower()
    return any(word in said.replace(".", " ").split() for word in called)


def chinese_titles(usage: Usage) -> Iterator[ShortName | RefusedName]:
    """Every family name with a title that the prose uses."""
    used: defaultdict[str, list[str]] = defaultdict(list)
    seen = {form for form, use in usage.uses if use == "bare"}  # of every family name with every title, a few
    for text in sorted(seen & usage.forms.titled.keys()):
        family, title = usage.forms.titled[text]
        # A title of one character may be the beginning of a word (马总会): the prose must show a person.
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
    """Whether most uses of a form stand near a mention of whom it may mean."""
    return 2 * usage.of(form, "near") >= usage.of(form, "bare") > 0


def counted_as_things(usage: Usage, form: str) -> bool:
    """Whether a form is counted as things are, not once only."""
    counted = usage.of(form, "counted")
    return counted >= 2 and counted > _COUNTED * usage.of(form, "bare")


def _bearer(title: str, titles: Sequence[str], bearers: Sequence[Person]) -> tuple[Person | None, str]:
    """Who is meant by a title behind a family name that all of `bearers` have, given all titles behind it."""
    gender = "m" if title in words("han", "male") else "f" if title in words("han", "female") else ""
    if gender:
        fit = [one for one in bearers if one.gender in ("", gender)]
        other = words("han", "female" if gender == "m" else "male")
        if len(fit) == 1 and not fit[0].gender and other.intersection(titles):
            return None, "titles of both genders, and the profile does not say which"
        return (fit[0], "the only one of that family name") if len(fit) == 1 else (None, "several persons")
    called = groups("han", "same").get(title, frozenset({title}))
    so_called = [one for one in bearers if any(word in one.said or word in "".join(one.names) for word in called)]
    if len(so_called) == 1:
        return so_called[0], "the profile names the calling"
    callings = [one for one in titles if one in words("han", "professions") and one not in called]
    if len(bearers) > 1 or so_called:
        return None, "several persons"
    if title in words("han", "professions") and callings:
        return None, f"another calling of the same family name: {callings[0]}"
    return bearers[0], "the only one of that family name"
