"""Every bracketed heading that a prompt can hold, in every language that it can be written in.

A room that offers something asks for its heading by key; nobody spells one out. The fence lets no text pose as any of
them, in any language, whether or not the prompt at hand has that group (`docs/decisions/0033`). Another language is one
more column with the same keys.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

__all__ = ["DEFAULT_LANGUAGE", "HEADINGS", "HeadingKey", "Language", "heading"]

Language = Literal["zh"]
HeadingKey = Literal[
    "constraints",
    "always",
    "memories",
    "style",
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

DEFAULT_LANGUAGE: Final[Language] = "zh"

HEADINGS: Final[Mapping[Language, Mapping[HeadingKey, str]]] = MappingProxyType(
    {
        "zh": MappingProxyType(
            {
                # rules
                "constraints": "[约束]",
                "always": "[知识图谱 — 始终]",
                # settings
                "memories": "[记忆]",
                "style": "[风格]",
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
    }
)


def heading(key: HeadingKey, language: Language = DEFAULT_LANGUAGE) -> str:
    """The heading of one group, on one line, brackets included.

    Args:
        key: What stands under it.
        language: Of the prompt.
    """
    return HEADINGS[language][key]
