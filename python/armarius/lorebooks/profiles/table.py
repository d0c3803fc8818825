"""The profiles that are searched in rounds, and the names of their settings."""

from collections.abc import Mapping
from typing import Final

from armarius.lorebooks.active.decorated import SILLYTAVERN, SPECIFICATION
from armarius.lorebooks.active.rules import Rules

__all__ = ["ROUNDS", "SETTINGS"]

ROUNDS: Final[Mapping[str, Rules]] = {
    "sillytavern": Rules(
        words="ascii",
        full="stop",
        comments=False,
        decorators=SILLYTAVERN,
        book_facts=False,
        chat_marks=True,
    ),
    "character-card-spec": Rules(depth=None, names=False, decorators=SPECIFICATION),
    "obsidian": Rules(depth=4, names=False),
    "novelcrafter": Rules(depth=None, names=False, recursion=False, plural=True),
    "armarius": Rules(depth=8, decorators=SPECIFICATION, full="drop"),
}
"""What holds when nothing is set: of SillyTavern 1.18, the specification V3, DeepLore, Novelcrafter, and our own."""

_OWN = {
    "depth": "depth", "names": "names", "recursion": "recursion", "case": "case", "scoring": "scoring",
    "budget": "budget", "max_steps": "max_steps", "min_activations": "min_activations",
}  # fmt: skip
SETTINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "sillytavern": {
        "world_info_depth": "depth",
        "world_info_include_names": "names",
        "world_info_recursive": "recursion",
        "world_info_case_sensitive": "case",
        "world_info_match_whole_words": "words",
        "world_info_use_group_scoring": "scoring",
        "world_info_min_activations": "min_activations",
        "world_info_min_activations_depth_max": "min_depth",
        "world_info_max_recursion_steps": "max_steps",
        "world_info_budget_cap": "budget",
    },
    "character-card-spec": {"scan_depth": "depth", "token_budget": "budget", "recursive_scanning": "recursion"},
    "obsidian": {**_OWN, "scanDepth": "depth"},
    "novelcrafter": _OWN,
    "armarius": _OWN,
}
"""Setting by its own name to the field of `Rules`."""
