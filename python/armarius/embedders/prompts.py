"""The words that a model wants before a question and before a paragraph."""

from collections.abc import Sequence
from dataclasses import dataclass

from armarius.embedders.families import family_of
from armarius.embedders.folder import ModelFolder

__all__ = ["Prompts", "prompted", "prompts_of"]

_FILE = "config_sentence_transformers.json"
_QUERY = ("query",)
_DOCUMENT = ("document", "passage", "corpus")
_LONGEST = 4_000


@dataclass(frozen=True, slots=True)
class Prompts:
    """What stands directly before a question and before a document; "" is nothing."""

    query: str = ""
    document: str = ""


def prompts_of(folder: ModelFolder, *, query: str | None = None, document: str | None = None) -> Prompts:
    """The prompts of a model: the caller's, else the folder's, else those of its family.

    A folder says them in `config_sentence_transformers.json`: `prompts` by name (query; document, passage or corpus)
    and `default_prompt_name` for a kind that has none of its own. Where all of them are empty the family decides
    (`embedders.families`): E5 and BGE were published before that file could say them.

    Raises:
        EmbeddingError: The file says prompts that are no strings, or a default that it does not have.
    """
    settings = folder.json(_FILE)
    said, default = settings.get("prompts") or {}, settings.get("default_prompt_name")
    path = folder.first(_FILE) or folder.path
    if not isinstance(said, dict) or not all(isinstance(one, str) and len(one) <= _LONGEST for one in said.values()):
        raise folder.broken(path, f"says prompts {str(said)[:80]!r}, expected texts of at most {_LONGEST:,} characters")
    if default is not None and default not in said:
        raise folder.broken(path, f"says default_prompt_name {str(default)[:80]!r}, which none of its prompts has")
    if any(said.values()):
        found = Prompts(_one(said, _QUERY, default), _one(said, _DOCUMENT, default))
    else:
        family = family_of(folder)
        found = Prompts(family.query, family.document) if family else Prompts()
    return Prompts(found.query if query is None else query, found.document if document is None else document)


def prompted(prompt: str, texts: Sequence[str]) -> Sequence[str]:
    """`texts` with `prompt` before each."""
    return [prompt + text for text in texts] if prompt else texts


def _one(said: dict[str, str], names: tuple[str, ...], default: str | None) -> str:
    """The first of `names` that says something; one that is there and empty wants nothing, also not the default."""
    there = [said[name] for name in names if name in said]
    if there:
        return next((prompt for prompt in there if prompt), "")
    return said[default] if default is not None else ""
