"""Every short form that the names of a cast allow: given names, family names, familiar forms, family names with titles.

What is possible, not what holds: which of them are used, and for whom, the prose decides (`short`).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from armarius.names.chinese import all_titles, han_forms, split_name
from armarius.names.lexicon import letters, words
from armarius.names.people import Form, Person
from armarius.names.western import latin_forms, untitled
from armarius.text.folding import caseless
from armarius.text.matcher import EntityMatcher
from armarius.text.scripts import is_han

__all__ = ["Forms"]


class Forms:
    """The short forms of a cast.

    Args:
        people: Of the cast, all of whose names can be matched.
        names: Of everything in the cast.

    Attributes:
        by_text: Form to every way to read it, but for family names with titles.
        families: Chinese family name to the persons who bear it in front of a given name.
        titled: Family name with a title to its two parts.
        given: Given name to the id of the only person who has it.
        loose: Familiar form or family name with title to the ids of those who may be meant.
        complete: Ids of persons whose list of names has parts of the first: whoever listed one has listed all.
        taken: The names that are given; no form is one of them. Folded as `caseless` does.
        matcher: Finds the forms; the ids are the forms.
    """

    def __init__(self, people: Sequence[Person], names: Iterable[str]) -> None:
        self.taken: Final = {caseless(name.strip()) for name in names}
        self.by_text: Final[dict[str, list[Form]]] = {}
        self.complete: Final = {person.id for person in people if _lists_parts(person)}
        self.families: Final[dict[str, list[Person]]] = {}
        for person in people:
            for form in chain(han_forms(person), _korean_forms(person), latin_forms(person)):
                known = self.by_text.setdefault(form.text, [])
                if caseless(form.text) not in self.taken and form.person.id not in [one.person.id for one in known]:
                    known.append(form)
            parts = split_name(person.names[0])
            if parts is not None and parts[1]:
                self.families.setdefault(parts[0], []).append(person)
        for text in [text for text, forms in self.by_text.items() if not forms]:
            del self.by_text[text]
        titles = sorted(all_titles() - words("han", "wives"))
        self.titled: Final[dict[str, tuple[str, str]]] = {}
        self.given: Final = {
            text: forms[0].person.id
            for text, forms in self.by_text.items()
            if len(forms) == 1 and forms[0].kind == "given name"
        }
        self.loose: Final = {
            text: frozenset(form.person.id for form in forms)
            for text, forms in self.by_text.items()
            if forms[0].kind == "familiar form"
        }
        for family in sorted(self.families):
            bearers = frozenset(one.id for one in self.families[family])
            called = {family + title: (family, title) for title in titles if family + title not in self.taken}
            self.titled.update(called)
            self.loose.update(dict.fromkeys(called, bearers))
        self.matcher: Final = EntityMatcher.of_texts([*self.by_text, *self.titled])

    def is_listed(self, form: Form) -> bool:
        """Whether the list of a person's names would have a form if they were called so."""
        return form.kind != "byname" and (form.of != form.person.names[0] or form.person.id in self.complete)


def _lists_parts(person: Person) -> bool:
    """林雨桐 with 雨桐, "Dolge Orlick" with "Mr. Orlick"."""
    name, *others = person.names
    if is_han(name):
        return any(other != name and other in name for other in others)
    parts = frozenset(untitled(name))
    if len(parts) < 2:
        return False
    return any(frozenset() < frozenset(untitled(other)) < parts for other in others)


def _korean_forms(person: Person) -> Iterator[Form]:
    """민수 of 김민수."""
    name = person.names[0]
    if len(name) == 3 and all("가" <= char <= "힣" for char in name) and name[0] in letters("hangul", "surnames"):
        yield Form(name[1:], "given name", name, person)
