"""What an index remembers having learnt about names, and from what: one note of its store."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from armarius.names import NameModel
from armarius.store.protocol import Store
from armarius.store.rows import Note

__all__ = ["RULES", "digest_of", "forgotten", "habits_of", "note_of", "remembered", "to_json"]

RULES: Final = 3  # raised when the same prose teaches something else
_NOTE: Final = "habits"


def note_of(people_digest: str, prose: str, habits: str) -> Note:
    """The note: digests of cast and prose, and what was learnt from them, as JSON."""
    head = {"cast": people_digest, "prose": prose, "rules": RULES}
    return Note(_NOTE, f'{to_json(head)[:-1]},"habits":{habits}}}')


def forgotten() -> Note:
    """The note of which the next refresh learns anew."""
    return Note(_NOTE, "")


def remembered(store: Store) -> dict[str, Any]:
    """What the note says; nothing where it is damaged."""
    try:
        value = json.loads(store.note(_NOTE) or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def to_json(value: object) -> str:
    """As short as it can be."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def habits_of(head: Mapping[str, Any]) -> NameModel | None:
    """What a note says, None when it is damaged."""
    try:
        return NameModel.from_dict(head["habits"])
    except (KeyError, TypeError, ValueError):
        return None


def digest_of(prose: Mapping[str, str]) -> str:
    """Of what is learnt from: path to content hash."""
    whole = "\n".join(f"{path}\t{prose[path]}" for path in sorted(prose))
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
