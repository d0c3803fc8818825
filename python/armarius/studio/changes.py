"""What may be changed from a page: the engine's own verbs, into the same files."""

from urllib.parse import quote

from armarius.engine.engine import ContextEngine
from armarius.errors import ContractError

__all__ = ["Changes"]


class Changes:
    """Each takes a form and gives the page to go back to; whatever the engine raises is shown.

    Args:
        engine: Whose codex and memories change.
    """

    def __init__(self, engine: ContextEngine) -> None:
        self._engine = engine

    def level(self, form: dict[str, str]) -> str:
        """Set the context level of an entity."""
        self._engine.codex.update(form["id"], level=form["level"])
        return _entity(form["id"])

    def alias(self, form: dict[str, str]) -> str:
        """Give an entity another name."""
        entity = self._engine.codex.get(form["id"])
        self._engine.codex.update(entity.id, aliases=[*entity.aliases, _text(form, "alias")])
        return _entity(entity.id)

    def memory(self, form: dict[str, str]) -> str:
        """Remember something."""
        self._engine.memories.create(_text(form, "text"))
        return "/entities#memories"

    def forget(self, form: dict[str, str]) -> str:
        """Forget it again."""
        self._engine.memories.delete(form["id"])
        return "/entities#memories"

    def pin(self, form: dict[str, str]) -> str:
        """Pin or mute an entity, a document, a paragraph of one or a tag, for the project.

        From a prompt, back to what the same question gives now.
        """
        self._engine.pins.add(_text(form, "target"), mute=form.get("mute") == "yes")
        number = form.get("number", "")
        return f"/again/{number}" if number.isascii() and number.isdigit() else "/entities#pins"

    def unpin(self, form: dict[str, str]) -> str:
        """Neither pin nor mute it any more."""
        self._engine.pins.delete(form["id"])
        return "/entities#pins"


def _entity(id_: str) -> str:
    return f"/entity/{quote(id_, safe='')}"


def _text(form: dict[str, str], name: str) -> str:
    text = form.get(name, "").strip()
    if not text:
        raise ContractError(f"{name} is empty")
    return text
