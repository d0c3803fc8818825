"""Chinese; the exact texts of the specification."""

from types import MappingProxyType
from typing import Final

from armarius.headings.frame import Frame

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
    thread="## 伏笔：{name}",
    begins=("条目", "段落", "大纲", "梗概", "结尾"),
)
