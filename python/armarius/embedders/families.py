"""How the makers of well-known models run them, for folders that do not say it themselves.

A folder of sentence-transformers says its pooling, and newer ones their prompts. Many were saved before prompts could
be saved, or hold nothing but config, tokenizer and weights; the model is then told by its name, which is part of the
folder's name or stands in `config.json` (`_name_or_path`).
"""

import re
from dataclasses import dataclass

from armarius.embedders.folder import ModelFolder
from armarius.embedders.preprocess import Pooling

__all__ = ["FAMILIES", "Family", "family_of"]

_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_BGE_ZH = "为这个句子生成表示以用于检索相关文章："
_BGE_EN = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class Family:
    """Models that are run alike.

    Attributes:
        name: A regular expression, searched in the model's name in lower case.
        pooling: Where the folder says none. All of these normalise.
        query: Before a question.
        document: Before a paragraph.
    """

    name: str
    pooling: Pooling
    query: str = ""
    document: str = ""


FAMILIES = (
    Family(r"\be5\b.*\binstruct", "mean", f"{_INSTRUCT} "),
    Family(r"\be5\b", "mean", "query: ", "passage: "),
    Family(r"\bbge (small|base|large) zh", "cls", _BGE_ZH),
    Family(r"\bbge (small|base|large) en", "cls", _BGE_EN),
    Family(r"\bbge m3\b", "cls"),
    Family(r"\bqwen3 embedding", "lasttoken", _INSTRUCT),
    Family(r"\bgte qwen2\b", "lasttoken", f"{_INSTRUCT} "),
    Family(r"\bgte (multilingual|(base|large) en v1 5|(small|base|large) zh)", "cls"),
    Family(r"\bgte (small|base|large)", "mean"),
)
"""The first that matches decides. Source: the model cards of intfloat, BAAI, Qwen, thenlper and Alibaba-NLP."""


def family_of(folder: ModelFolder) -> Family | None:
    """The family that a folder's name or its `config.json` names; None for any other model."""
    path = folder.path.resolve()
    names = [path.name]
    if path.parent.name == "snapshots":  # a model cache: models--intfloat--e5-base/snapshots/1c644c…
        names.append(path.parent.parent.name)
    original = folder.json("config.json").get("_name_or_path")
    if isinstance(original, str):
        names.append(original.rstrip("/").rpartition("/")[2])
    words = " / ".join(re.sub(r"[^a-z0-9]+", " ", name.lower()) for name in names)
    return next((family for family in FAMILIES if re.search(family.name, words)), None)
