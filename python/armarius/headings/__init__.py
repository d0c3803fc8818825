"""The headings, labels and type names of prompts, in each supported language.

display.py    `Frame`: the texts of one language, and all of them; `Reason`, a sentence of an account; result lists as
              tables in terminal and notebook, names in camelCase
frames.toml   headings, labels and type names by language
reasons.toml  the sentences of an account by code, in each language

Other rooms get headings by key and labels by `frame(language)`; they never contain the texts. Project text that equals
a heading of any language is escaped in every prompt (`docs/decisions/0033`, `0048`). A new language is
a table in frames.toml and a word of `Language` in display.py.
"""

from armarius.headings.display import (
    DEFAULT_LANGUAGE,
    FRAMES,
    HEADINGS,
    Frame,
    HeadingKey,
    Language,
    Reason,
    frame,
    heading,
    kind_name,
    say,
    sentence,
)

__all__ = [
    "DEFAULT_LANGUAGE", "FRAMES", "HEADINGS", "Frame", "HeadingKey", "Language", "Reason", "frame", "heading",
    "kind_name", "say", "sentence",
]  # fmt: skip
