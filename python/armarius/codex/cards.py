"""The entity card: the one form in which an entity stands in a prompt.

    ## 角色：林小雨
    - 类型：character
    - 描述：林默的妹妹
    - 属性：年龄=16, 住处=江城        (when there are attributes; keys sorted)
    - 别名：小雨、雨丫头              (when there are any, in their order)
    - 第7章起：与白鹭一起照看钟表铺    (facts that hold in the chapter at hand)

Every value stands on one line, so that nothing inside it can pose as another card or heading.
"""

from armarius.bounds import OPEN, Chapters
from armarius.codex.model import Entity, Fact, Relation
from armarius.headings import DEFAULT_LANGUAGE, Frame, Language, frame

_SHORT_DESCRIPTION = 60
_STOPS = "。！？!?；;."


def entity_card(
    entity: Entity,
    *,
    chapter: int | None = None,
    chapters: Chapters = OPEN,
    language: Language = DEFAULT_LANGUAGE,
) -> str:
    r"""The card of `entity` as known in `chapter`.

    Args:
        entity: Any entity; an empty description leaves its line out.
        chapter: Facts that begin later or have ended are left out; None keeps all, each with its span.
        chapters: So are facts that hold in none of these, inclusive.
        language: Of the labels.

    Returns:
        Lines joined by `\n`, no trailing newline, no blank line.
    """
    said = frame(language)
    lines = _head(entity, said)
    if description := one_line(entity.description):
        lines.append("- " + said.description.format(text=description))
    if entity.attributes:
        pairs = (
            f"{one_line(key)}={one_line(entity.attributes[key])}" for key in sorted(entity.attributes, key=_collated)
        )
        lines.append("- " + said.attributes.format(pairs=", ".join(pairs)))
    lines += _aliases(entity, said)
    lines += [fact_line(fact, language) for fact in entity.facts if holds(fact, chapter, chapters)]
    return "\n".join(lines)


def short_card(entity: Entity, language: Language = DEFAULT_LANGUAGE) -> str | None:
    """The card with only the first sentence of the description, or None when the full card is no longer."""
    first = _first_sentence(one_line(entity.description))
    if not entity.attributes and not entity.facts and first == one_line(entity.description):
        return None
    said = frame(language)
    described = ["- " + said.description.format(text=first)] if first else []
    return "\n".join([*_head(entity, said), *described, *_aliases(entity, said)])


def fact_line(fact: Fact, language: Language = DEFAULT_LANGUAGE) -> str:
    """A fact with the chapters it holds for."""
    said, when = frame(language), span_label(fact, language)
    when = when[:1].upper() + when[1:] or said.fact
    return "- " + said.stated.format(when=when, text=one_line(fact.text))


def span_label(fact: Fact | Relation, language: Language = DEFAULT_LANGUAGE) -> str:
    """The chapters that `fact` holds for, "" for all of them."""
    said = frame(language)
    if fact.since is None and fact.until is None:
        return ""
    if fact.since is None:
        return said.until.format(until=fact.until)
    if fact.until is None:
        return said.since.format(since=fact.since)
    return said.span.format(since=fact.since, last=fact.until - 1)


def holds(fact: Fact | Relation, chapter: int | None, chapters: Chapters = OPEN) -> bool:
    """Whether `fact` holds in `chapter` and in one of `chapters`; without a chapter every fact does."""
    first, last = chapters
    if (last is not None and (fact.since or 0) > last) or (first is not None and (fact.until or first + 1) <= first):
        return False
    if chapter is None:
        return True
    return (fact.since is None or fact.since <= chapter) and (fact.until is None or chapter < fact.until)


def one_line(text: str) -> str:
    """`text` on one line: every run of white space, line separators included, as one space."""
    return " ".join(text.split())


def _collated(key: str) -> tuple[bytes, str]:
    """Where a reader of Chinese looks for `key`: Latin first, then the common characters by pronunciation.

    Source: GB 2312, whose first level (kept in GB 18030) is in pinyin order; 年龄 stands before 住处.
    """
    return key.encode("gb18030", "replace"), key


def _head(entity: Entity, said: Frame) -> list[str]:
    label = said.types.get(entity.type, said.other)
    name, type_ = one_line(entity.name), one_line(entity.type)
    return [said.card.format(label=label, name=name), "- " + said.type.format(type=type_)]


def _aliases(entity: Entity, said: Frame) -> list[str]:
    """The line of what else somebody is called; none where there is nothing."""
    names = dict.fromkeys(one_line(alias) for alias in entity.aliases)
    others = [name for name in names if name and name != one_line(entity.name)]
    return ["- " + said.aliases.format(names=said.and_.join(others))] if others else []


def _first_sentence(text: str) -> str:
    for at, char in enumerate(text):
        ends = char in _STOPS and (char != "." or text[at + 1 : at + 2] in {"", " "})
        if ends and at >= 2:
            return text[: at + 1]
    return text if len(text) <= _SHORT_DESCRIPTION else text[:_SHORT_DESCRIPTION].rstrip() + "…"
