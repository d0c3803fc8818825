"""The headings, labels and type names of prompts, in each supported language.

zh.py, en.py  the texts of one language
frame.py      `Frame`: the type of these texts; languages.py has them by language
reasons.toml  the sentences of an account by code, in each language; reasons.py makes them

Other rooms get headings by key and labels by `frame(language)`; they never contain the texts. Project text that equals
a heading of any language is escaped in every prompt (`docs/decisions/0033`, `0048`). A new language is a file here and
a row of `FRAMES` in languages.py.
"""

from armarius.headings.frame import Frame, HeadingKey, Language
from armarius.headings.languages import DEFAULT_LANGUAGE, FRAMES, HEADINGS, frame, heading
from armarius.headings.reasons import Reason, kind_name, say, sentence

__all__ = [
    "DEFAULT_LANGUAGE",
    "FRAMES",
    "HEADINGS",
    "Frame",
    "HeadingKey",
    "Language",
    "Reason",
    "frame",
    "heading",
    "kind_name",
    "say",
    "sentence",
]
