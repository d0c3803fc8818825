"""Entities, relations and context levels, and where they are read from."""

from armarius.codex.authored.codex import AuthoredCodex
from armarius.codex.authored.collection import Constraints, Memories
from armarius.codex.cards import entity_card, short_card
from armarius.codex.load import build_codex, load_codex, read_codex_file
from armarius.codex.model import CONTEXT_LEVELS, Codex, Constraint, ContextLevel, Entity, Fact, Memory, Origin, Relation

__all__ = [
    "CONTEXT_LEVELS",
    "AuthoredCodex",
    "Codex",
    "Constraint",
    "Constraints",
    "ContextLevel",
    "Entity",
    "Fact",
    "Memories",
    "Memory",
    "Origin",
    "Relation",
    "build_codex",
    "entity_card",
    "load_codex",
    "read_codex_file",
    "short_card",
]
