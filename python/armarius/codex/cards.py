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

TYPE_LABELS = {
    "character": "角色",
    "location": "地点",
    "event": "事件",
    "item": "物品",
    "faction": "阵营",
    "foreshadowing": "伏笔",
    "inspiration": "灵感",
}
OTHER_LABEL = "实体"
_SHORT_DESCRIPTION = 60
_STOPS = "。！？!?；;."


def entity_card(entity: Entity, *, chapter: int | None = None, chapters: Chapters = OPEN) -> str:
    r"""The card of `entity` as known in `chapter`.

    Args:
        entity: Any entity; an empty description leaves its line out.
        chapter: Facts that begin later or have ended are left out; None keeps all, each with its span.
        chapters: So are facts that hold in none of these, inclusive.

    Returns:
        Lines joined by `\n`, no trailing newline, no blank line.
    """
    lines = _head(entity)
    if description := one_line(entity.description):
        lines.append(f"- 描述：{description}")
    if entity.attributes:
        pairs = (
            f"{one_line(key)}={one_line(entity.attributes[key])}" for key in sorted(entity.attributes, key=_collated)
        )
        lines.append(f"- 属性：{', '.join(pairs)}")
    lines += _aliases(entity)
    lines += [fact_line(fact) for fact in entity.facts if holds(fact, chapter, chapters)]
    return "\n".join(lines)


def short_card(entity: Entity) -> str | None:
    """The card with only the first sentence of the description, or None when the full card is no longer."""
    first = _first_sentence(one_line(entity.description))
    if not entity.attributes and not entity.facts and first == one_line(entity.description):
        return None
    return "\n".join([*_head(entity), *([f"- 描述：{first}"] if first else []), *_aliases(entity)])


def fact_line(fact: Fact) -> str:
    """A fact with the chapters it holds for."""
    return f"- {span_label(fact) or '事实'}：{one_line(fact.text)}"


def span_label(fact: Fact | Relation) -> str:
    """The chapters that `fact` holds for, "" for all of them."""
    if fact.since is None and fact.until is None:
        return ""
    if fact.since is None:
        return f"第{fact.until}章前"
    if fact.until is None:
        return f"第{fact.since}章起"
    return f"第{fact.since}–{fact.until - 1}章"


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


def _head(entity: Entity) -> list[str]:
    label = TYPE_LABELS.get(entity.type, OTHER_LABEL)
    return [f"## {label}：{one_line(entity.name)}", f"- 类型：{one_line(entity.type)}"]


def _aliases(entity: Entity) -> list[str]:
    """The line of what else somebody is called; none where there is nothing."""
    names = dict.fromkeys(one_line(alias) for alias in entity.aliases)
    others = [name for name in names if name and name != one_line(entity.name)]
    return [f"- 别名：{'、'.join(others)}"] if others else []


def _first_sentence(text: str) -> str:
    for at, char in enumerate(text):
        ends = char in _STOPS and (char != "." or text[at + 1 : at + 2] in {"", " "})
        if ends and at >= 2:
            return text[: at + 1]
    return text if len(text) <= _SHORT_DESCRIPTION else text[:_SHORT_DESCRIPTION].rstrip() + "…"
