"""Entities, relations and context levels, and where they are read from."""

from armarius.codex.cards import entity_card, short_card
from armarius.codex.load import build_codex, load_codex, read_codex_file
from armarius.codex.model import CONTEXT_LEVELS, Codex, ContextLevel, Entity, Fact, Origin, Relation

__all__ = [
    "CONTEXT_LEVELS",
    "Codex",
    "ContextLevel",
    "Entity",
    "Fact",
    "Origin",
    "Relation",
    "build_codex",
    "entity_card",
    "load_codex",
    "read_codex_file",
    "short_card",
]
