"""Word files of the package.

kinds.toml      names of files, folders and headings: documents/kinds.py
profiles.toml   labels of profiles, context levels: codex/profile_fields.py
names.toml      parts of names, titles, genders, closed classes: codex/people.py
questions.toml  kin of questions, words of consistency: search/query/words.py
attributes.toml attributes and values for comparing sentences: search/contradictions/values.py
followups.toml  words of questions that refer to the conversation: search/query/coreference.py
chapters.toml   how a question names chapters from where it stands: search/query/chapters.py
asking.toml     the prompt for what files are, and what kinds mean: engine/asking.py
summaries.toml  the prompt for summaries: engine/summaries.py
rewording.toml  the prompt for query variants: `armarius/rewording.py`
intents.toml    what requests ask for by their verb, parts and shares of their prompts: search/query/recipe.py
intents.txt     weights of a linear model of requests, from benches/fit_intents.py: search/query/words.py
look_alikes.toml letters that look like others, from scripts/build_look_alikes.py: prompt/admit.py
probes.toml     unrelated questions: vectors/embedder.py
units.toml      what chapters, parts, scenes … are called, numerals: documents/units.py
frames.toml     headings, labels and type names of prompts by language: `armarius/headings.py`
reasons.toml    the sentences of an account by code, in each language: `armarius/headings.py`
functions.toml  function words, ignored in search: search/query/query.py

A new word is a line here, never a list in code. What must hold: words of the language, not of one story; no duplicates
in a row or among rows of one purpose; one reader per file. tests/test_one_list.py and tests/cases compare copies in the
core. Third-party dictionaries are in search/thesaurus, with their licences.
"""

import tomllib
from pathlib import Path
from typing import Any

__all__ = ["text_file", "word_file"]


def word_file(name: str) -> dict[str, Any]:
    """The tables of `name`.toml."""
    return tomllib.loads(text_file(f"{name}.toml"))


def text_file(name: str) -> str:
    """The text of a file. Read by path: importlib.resources takes as long as parsing all words."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
