"""The texts of a prompt in each language: a frame or a heading by language, the sentences of an account by code.

reasons.toml has the sentences, a line for each code with a text in Chinese and in English; a Japanese frame has those
in English.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Final, Literal, Self

from armarius.errors import ContractError
from armarius.validation import shown

Language = Literal["zh", "en", "ja"]
HeadingKey = Literal[
    "constraints",
    "always",
    "memories",
    "style",
    "story",
    "lore_always",
    "detected",
    "lore",
    "relations",
    "passages",
    "weak",
    "code",
    "window",
    "selection",
    "conversation",
    "query",
]


@dataclass(frozen=True)
class Frame:
    """The texts of one language; parts in braces as for `str.format`.

    Attributes:
        headings: Above groups, brackets included.
        types: What a card calls a type of entity; `other` is any other.
        card: First line of a card: label, name. Then its lines, without `- ` before them.
        aliases: Joined by `and_`.
        since: A fact that holds from a chapter; `until` before one, `span` from first to last; `fact` without either.
        stated: A fact: when, text.
        dated: What follows a relation that holds for some chapters.
        passage: Above a paragraph or a document: title, place. `place` where that says the title.
        signatures: Above lines of source code that surround the code above.
        dispute: Above a sentence that competes with others: place, others.
        entry: Above an entry of a lorebook: name, book.
        turn: Above a turn of a conversation: number, who; `speakers` are who, by role.
        outlined: Above lines of the outline: number. `summarised` above a chapter's summary, `ending` and
            `beginning` above its end and its beginning: title; `thread` above an open thread of the plot: name.
        begins: Words that a line of a prompt's own begins with, behind `#`.
    """

    headings: Mapping[HeadingKey, str]
    types: Mapping[str, str]
    other: str
    card: str
    type: str
    description: str
    attributes: str
    aliases: str
    and_: str
    since: str
    until: str
    span: str
    fact: str
    stated: str
    dated: str
    passage: str
    place: str
    signatures: str
    dispute: str
    entry: str
    turn: str
    speakers: Mapping[str, str]
    outlined: str
    summarised: str
    ending: str
    beginning: str
    thread: str
    begins: tuple[str, ...]


# Headings have at least two words: single words in brackets are common in prose and links.
EN: Final = Frame(
    headings=MappingProxyType(
        {
            # rules
            "constraints": "[Project constraints]",
            "always": "[Knowledge graph — always]",
            # settings
            "memories": "[Project memories]",
            "style": "[Project style]",
            "story": "[Story so far]",
            "lore_always": "[World book — constant]",
            # retrieved
            "detected": "[Knowledge graph — mentioned]",
            "lore": "[World book — triggered]",
            "relations": "[Knowledge graph — relations]",
            "passages": "[Project search — passages]",
            "weak": "[Project search — faint traces, perhaps no answer]",
            "code": "[Code graph — symbol subgraph]",
            # immediate
            "window": "[Current document]",
            "selection": "[Selected text]",
            "conversation": "[Conversation so far]",
            "query": "[User request]",
        }
    ),
    types=MappingProxyType(
        {
            "character": "Character",
            "location": "Location",
            "event": "Event",
            "item": "Item",
            "faction": "Faction",
            "foreshadowing": "Foreshadowing",
            "inspiration": "Inspiration",
        }
    ),
    other="Entity",
    card="## {label}: {name}",
    type="Type: {type}",
    description="Description: {text}",
    attributes="Attributes: {pairs}",
    aliases="Also called: {names}",
    and_=", ",
    since="from chapter {since}",
    until="before chapter {until}",
    span="chapters {since}–{last}",
    fact="Fact",
    stated="{when}: {text}",
    dated=" ({when})",
    passage="## Passage: {title} ({place})",
    place="## Passage: {place}",
    signatures="## Passage: signatures of neighbouring code",
    dispute="## Accounts differ: {place}, see also {others}",
    entry="## Entry: {name} ({book})",
    turn="## Turn {number}: {who}",
    speakers=MappingProxyType({"user": "user", "assistant": "assistant"}),
    outlined="## Outline: chapter {number}",
    summarised="## Summary: {title}",
    ending="## Ending: {title}",
    beginning="## Beginning: {title}",
    thread="## Foreshadowing: {name}",
    begins=("Entry", "Passage", "Outline", "Summary", "Ending"),
)


ZH: Final = Frame(
    headings=MappingProxyType(
        {
            # rules
            "constraints": "[约束]",
            "always": "[知识图谱 — 始终]",
            # settings
            "memories": "[记忆]",
            "style": "[风格]",
            "story": "[前情与计划]",
            "lore_always": "[世界书 — 常驻]",
            # retrieved
            "detected": "[知识图谱 — 引用检测]",
            "lore": "[世界书 — 触发]",
            "relations": "[知识图谱 — 关系]",
            "passages": "[检索 — 相关段落]",
            "weak": "[检索 — 线索微弱，可能无答案]",
            "code": "[代码图谱 — 符号子图]",
            # immediate
            "window": "[当前文档]",
            "selection": "[选中内容]",
            "conversation": "[对话记录]",
            "query": "[用户请求]",
        }
    ),
    types=MappingProxyType(
        {
            "character": "角色",
            "location": "地点",
            "event": "事件",
            "item": "物品",
            "faction": "阵营",
            "foreshadowing": "伏笔",
            "inspiration": "灵感",
        }
    ),
    other="实体",
    card="## {label}：{name}",
    type="类型：{type}",
    description="描述：{text}",
    attributes="属性：{pairs}",
    aliases="别名：{names}",
    and_="、",
    since="第{since}章起",
    until="第{until}章前",
    span="第{since}–{last}章",
    fact="事实",
    stated="{when}：{text}",
    dated="（{when}）",
    passage="## 段落：{title}（{place}）",
    place="## 段落：{place}",
    signatures="## 段落：相邻代码的签名",  # → what the code above calls, ← what calls it
    dispute="## 说法不一：{place}，另见 {others}",
    entry="## 条目：{name}（{book}）",
    turn="## 第{number}条：{who}",
    speakers=MappingProxyType({"user": "用户", "assistant": "助手"}),
    outlined="## 大纲：第{number}章",
    summarised="## 梗概：{title}",
    ending="## 结尾：{title}",
    beginning="## 开头：{title}",
    thread="## 伏笔：{name}",
    begins=("条目", "段落", "大纲", "梗概", "结尾"),
)


JA: Final = Frame(
    headings=MappingProxyType(
        {
            # rules
            "constraints": "[プロジェクトの制約]",
            "always": "[知識グラフ — 常時]",
            # settings
            "memories": "[プロジェクトの記憶]",
            "style": "[文体の指定]",
            "story": "[これまでの話と予定]",
            "lore_always": "[ワールドブック — 常時]",
            # retrieved
            "detected": "[知識グラフ — 言及]",
            "lore": "[ワールドブック — 起動]",
            "relations": "[知識グラフ — 関係]",
            "passages": "[検索 — 関連する段落]",
            "weak": "[検索 — かすかな手がかり、答えはないかもしれない]",
            "code": "[コードグラフ — シンボルの部分グラフ]",
            # immediate
            "window": "[現在の文書]",
            "selection": "[選択範囲]",
            "conversation": "[これまでの会話]",
            "query": "[ユーザーの依頼]",
        }
    ),
    types=MappingProxyType(
        {
            "character": "人物",
            "location": "場所",
            "event": "出来事",
            "item": "物品",
            "faction": "勢力",
            "foreshadowing": "伏線",
            "inspiration": "着想",
        }
    ),
    other="対象",
    card="## {label}：{name}",
    type="種別：{type}",
    description="説明：{text}",
    attributes="属性：{pairs}",
    aliases="別名：{names}",
    and_="、",
    since="第{since}章から",
    until="第{until}章より前",
    span="第{since}–{last}章",
    fact="事実",
    stated="{when}：{text}",
    dated="（{when}）",
    passage="## 段落：{title}（{place}）",
    place="## 段落：{place}",
    signatures="## 段落：隣接するコードのシグネチャ",
    dispute="## 記述の食い違い：{place}、{others}も参照",
    entry="## 項目：{name}（{book}）",
    turn="## 第{number}発言：{who}",
    speakers=MappingProxyType({"user": "ユーザー", "assistant": "アシスタント"}),
    outlined="## あらすじ：第{number}章",
    summarised="## 要約：{title}",
    ending="## 結び：{title}",
    beginning="## 冒頭：{title}",
    thread="## 伏線：{name}",
    begins=("項目", "段落", "あらすじ", "要約", "結び"),
)


DEFAULT_LANGUAGE: Final[Language] = "zh"

FRAMES: Final[Mapping[Language, Frame]] = MappingProxyType({"zh": ZH, "en": EN, "ja": JA})
_LANGUAGES: Final = tuple(FRAMES)

HEADINGS: Final[Mapping[Language, Mapping[HeadingKey, str]]] = MappingProxyType(
    {language: frame.headings for language, frame in FRAMES.items()}
)


def frame(language: Language = DEFAULT_LANGUAGE) -> Frame:
    """The texts of one language.

    Raises:
        ContractError: The language is not supported.
    """
    if language not in _LANGUAGES:  # a tuple: what cannot be hashed is refused too
        raise ContractError(f"language must be one of {', '.join(FRAMES)}, got {shown(language)}")
    return FRAMES[language]


def heading(key: HeadingKey, language: Language = DEFAULT_LANGUAGE) -> str:
    """The heading of one group, on one line, brackets included.

    Args:
        key: The group under the heading.
        language: Of the prompt.
    """
    return HEADINGS[language][key]


_MOST = 8  # values of a list that are said


class Reason(str):
    """A sentence with its code. As a text it is English; `in_language` says it in the language of a prompt.

    Args:
        code: A row of reasons.toml.
        parts: What stands in its braces: texts, numbers, other reasons, or several of them, of which eight are said.

    Attributes:
        code: For programs, stable: `mention.cursor`.
        parts: As given.

    Raises:
        KeyError: No such row, or a part of it is missing.
    """

    __slots__ = ("code", "parts")
    code: str
    parts: Mapping[str, Any]

    def __new__(cls, code: str, /, **parts: Any) -> Self:  # noqa: ANN401 - texts, numbers, reasons
        """The sentence in English."""
        plain = not parts or {str, int}.issuperset(map(type, parts.values()))
        made = super().__new__(cls, reasons_table()[code]["en"].format(**parts) if plain else _said(code, parts, "en"))
        made.code, made.parts = code, parts
        return made

    def in_language(self, language: str) -> str:
        """The sentence in Chinese for `zh`, in English for every other language."""
        return _said(self.code, self.parts, language) if language == "zh" else str(self)

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        """For copies."""
        return (self.code,), dict(self.parts)


class _Kept:
    """For a field of a type that is a text: pydantic leaves a `Reason` what it is."""

    def __get_pydantic_core_schema__(self, _source: object, _handler: object) -> dict[str, Any]:
        text = {"type": "is-instance", "cls": str}
        return {"type": "json-or-python", "json_schema": {"type": "str"}, "python_schema": text}


KEPT: Final = _Kept()


@cache
def reasons_table() -> Mapping[str, Mapping[str, str]]:
    """The text of each sentence by code and language."""
    return tomllib.loads(resources.files("armarius.headings").joinpath("reasons.toml").read_text("utf-8"))


def kind_name(kind: str) -> str:
    """What a kind of documents, or an edition of the story, is called; any other word as it is."""
    code = next((code for code in (f"kind.{kind}", f"edition.{kind}") if code in reasons_table()), None)
    return kind if code is None else Reason(code)


def say(reason: str, language: str) -> str:
    """A reason in `language`; any other text as it is."""
    return reason.in_language(language) if isinstance(reason, Reason) else reason


def sentence(parts: Iterable[str], language: str, most: int = 3) -> str:
    """The first `most` different ones of several, in `language`, as one sentence."""
    return ("；" if language == "zh" else "; ").join(list(dict.fromkeys([say(one, language) for one in parts]))[:most])


def _said(code: str, parts: Mapping[str, Any], language: str) -> str:
    values = dict(parts)
    for name, part in parts.items():
        if isinstance(part, Reason):
            values[name] = part.in_language(language)
        elif isinstance(part, tuple | list):
            values[name] = ("、" if language == "zh" else ", ").join(
                [value.in_language(language) if isinstance(value, Reason) else str(value) for value in part[:_MOST]]
            )
    return reasons_table()[code][language].format(**values)
