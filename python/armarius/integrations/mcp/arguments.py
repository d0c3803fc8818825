"""What tools take: types with the descriptions that a model reads."""

from typing import Annotated, Any

from pydantic import Field, StrictInt

from armarius.bounds import Kind
from armarius.headings import Language
from armarius.messages import MOST_MESSAGES
from armarius.wordings import LONGEST, MOST

__all__ = [
    "Also",
    "AsOf",
    "Budget",
    "Buffer",
    "Chapters",
    "Cursor",
    "DocumentPath",
    "FrameLanguage",
    "Kinds",
    "Limit",
    "Messages",
    "Model",
    "Name",
    "Query",
    "Selection",
    "Targets",
    "pair",
]

Query = Annotated[str, Field(description="The user's words, in any language.", max_length=20_000)]
DocumentPath = Annotated[str, Field(description='Project-relative path of the current document, or "".')]
Cursor = Annotated[
    StrictInt | None, Field(description="Offset into that document in code points; null is its end.", ge=0)
]
Buffer = Annotated[
    str | None,
    Field(description="The document as the editor holds it, saved or not; null is as saved.", max_length=2_000_000),
]
Selection = Annotated[
    list[Annotated[StrictInt, Field(ge=0)]] | None,
    Field(description="What is selected in it: [first, last] offset in code points.", min_length=2, max_length=2),
]
Targets = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=400)]] | None,
    Field(description="Ids, names, document paths, paragraphs (path#number) or tags.", max_length=64),
]
FrameLanguage = Annotated[
    Language | None, Field(description="Of headings and labels in the prompt; null is the project's.")
]
Budget = Annotated[StrictInt | None, Field(description="Tokens for the whole prompt; null for the default.", ge=1)]
Model = Annotated[str | None, Field(description="Decides the tokenizer; null for the default.")]
Chapters = Annotated[
    StrictInt | Annotated[list[StrictInt | None], Field(min_length=2, max_length=2)] | None,
    Field(description="Look into these chapters alone: one number, or [first, last], inclusive; null is open."),
]
Kinds = Annotated[
    list[Kind] | None,
    Field(description="Look into documents of these kinds alone; profiles of people and places are `setting`."),
]
AsOf = Annotated[
    StrictInt | None,
    Field(description="Nothing later than this chapter: no text, outline line, fact or relation; null is all.", ge=0),
]
Also = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=LONGEST)]] | None,
    Field(
        description="Two to four other wordings of the query, each a short sentence in the words that the book itself "
        "would use, with the names of the people and places meant, in the language of the book. They are looked up "
        "beside the query and never shown: they find what the query's own words miss.",
        max_length=MOST,
    ),
]
Messages = Annotated[
    list[dict[str, Any]] | None,
    Field(
        description='The conversation so far, oldest first, as {"role": "user" or "assistant", "content": text}: '
        "give it when the query leans on it (she, there, and then?). It is looked up and never shown.",
        max_length=MOST_MESSAGES,
    ),
]
Limit = Annotated[StrictInt, Field(description="At most this many results.", ge=1, le=100)]
Name = Annotated[str, Field(description="Name, alias or id of somebody or something known.", min_length=1)]


def pair(value: int | list[int | None] | None) -> int | tuple[int | None, int | None] | None:
    """Chapters as the engine takes them."""
    return (value[0], value[1]) if isinstance(value, list) else value
