"""English. Headings have at least two words, because single words in brackets are common in prose and links."""

from types import MappingProxyType
from typing import Final

from armarius.headings.frame import Frame

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
    thread="## Foreshadowing: {name}",
    begins=("Entry", "Passage", "Outline", "Summary", "Ending"),
)
