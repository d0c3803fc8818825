"""Words for what people are to each other: 母亲, 儿媳妇, 师徒, "sister of", "daughter-in-law"."""

from dataclasses import dataclass
from functools import cache

from armarius.retrieval.understand.lexicon import (
    Found,
    Phrases,
    Tokens,
    table,
)

__all__ = ["ANY", "INVERSE", "Role", "Step", "pair_of", "relation_words", "role_words"]

INVERSE = {
    "parent": "child",
    "child": "parent",
    "spouse": "spouse",
    "sibling": "sibling",
    "cousin": "cousin",
    "grandparent": "grandchild",
    "grandchild": "grandparent",
    "uncle_aunt": "nephew_niece",
    "nephew_niece": "uncle_aunt",
    "master": "servant",
    "servant": "master",
    "teacher": "student",
    "student": "teacher",
    "friend": "friend",
    "lover": "lover",
    "enemy": "enemy",
}


@dataclass(frozen=True, slots=True)
class Role:
    """What X is to Y: "parent" with gender "f" is a mother; gender "" is not said."""

    name: str
    gender: str = ""

    @property
    def inverse(self) -> "Role":
        """What Y is to X; of unknown gender."""
        return Role(INVERSE[self.name])


@dataclass(frozen=True, slots=True)
class Step:
    """A relation word of a question: one role, two for in-laws, none for kin of any kind."""

    word: str
    path: tuple[Role, ...]


ANY: tuple[Role, ...] = ()


def _role(name: str) -> Role:
    bare, _, gender = name.rpartition("_")
    return Role(bare, gender) if gender in ("m", "f") else Role(name)


@cache
def role_words() -> Phrases[Role]:
    """Single words that name a role, as profiles use them."""
    return Phrases({word: _role(name) for name, words in table("kin").items() for word in words})


@cache
def _pairs() -> dict[str, tuple[Role, Role]]:
    found: dict[str, tuple[Role, Role]] = {}
    for name, words in table("pairs").items():
        first, second = (_role(part) for part in name.split("__"))
        found.update(dict.fromkeys(words, (first, second)))
    return found


@cache
def _pair_phrases() -> Phrases[tuple[Role, Role]]:
    return Phrases(_pairs())


@cache
def _question_words() -> Phrases[tuple[Role, ...]]:
    entries: dict[str, tuple[Role, ...]] = {}
    for name, words in table("in_law").items():
        entries.update(dict.fromkeys(words, tuple(_role(part) for part in name.split("__"))))
    for name, words in table("kin").items():
        for word in words:
            # A single character (父, 子, 友) is a role in a profile; in a question it is mostly part of a name.
            if len(word) > 1 or word in "妻妾":
                entries.setdefault(word, (_role(name),))
    for name, words in table("kin_verbs").items():
        for word in words:
            entries.setdefault(word, (_role(name),))
    entries.update(dict.fromkeys(table("any_kin")["any"], ANY))
    return Phrases(entries)


def relation_words(query: str, tokens: Tokens | None = None) -> list[Found[tuple[Role, ...]]]:
    """Relation words of a question, leftmost-longest: the value is the way to walk, `ANY` for kin of any kind."""
    return _question_words().find(query, tokens)


def pair_of(kind: str) -> tuple[Role, Role] | None:
    """What the source and the target of a relation of type `kind` are to each other, or None.

    父子 makes the source the father and the target the son; a word for one end (母亲, "mentor of") is what the
    source is to the target.
    """
    for found in _pair_phrases().find(kind):
        return found.value
    parts = role_words().find(kind)
    if len(parts) == 2 and kind[parts[0].end : parts[1].start].strip() in ("-", "/", "and", "&", "–", "与", "和"):
        return parts[0].value, parts[1].value
    if parts:
        return parts[-1].value, parts[-1].value.inverse
    return None
