"""Every word file of the package, and how one is read.

kinds.toml      what names of files, folders and headings say: documents/kinds.py
profiles.toml   labels of profiles, context levels: codex/profiles/fields.py
names.toml      what names are made of, titles, genders, closed classes: names/words.py
questions.toml  kin and intents of questions: search/query/kinship.py
attributes.toml what two sentences can be compared by, and its values: search/contradictions/values.py
followups.toml  words by which a question leans on what was said: search/query/coreference.py
rewording.toml  how a language model is asked for other wordings: rewording/asking.py
continuing.toml by what words a request continues the story: prompt/fetchers/story.py
look_alikes.toml letters that look like others, written by scripts/build_look_alikes.py: prompt/escape.py
functions.toml  words that say nothing about which passage is meant: search/query/query.py

A new word is a line here and never a list in code. What must hold: language, of no story in particular; a word once in
its row, and in one row of its question; no reader reads another's file. What the core must have of it too is held equal
by tests/test_one_list.py and tests/cases. Dictionaries of others lie in retrieval/thesaurus, with their licences.
"""

import tomllib
from pathlib import Path
from typing import Any

__all__ = ["word_file"]


def word_file(name: str) -> dict[str, Any]:
    """The tables of `name`.toml. Beside this file, not by importlib.resources: that takes as long as all the words."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
