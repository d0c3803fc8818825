"""Removes absolute paths from messages before they leave the process."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from armarius.warnings import ContextWarning

_PART = r"[^\s'\":,;)\]]+"
_ABSOLUTE: Final = re.compile(
    r"(?P<quote>['\"`])(?:file://)?(?:/|[A-Za-z]:\\|\\\\)(?P<inside>[^'\"`\n]+)(?P=quote)"  # white space is of the path
    rf"|file://{_PART}"
    rf"|(?<![\w./\\])(?:(?<!:)|(?!//))(?:/{_PART}|[A-Za-z]:\\{_PART}|\\\\{_PART})"
)
_SEPARATOR: Final = re.compile(r"[/\\]")
_LONGEST: Final = 600


def without_paths(text: str, *, root: Path | None = None, longest: int | None = _LONGEST) -> str:
    """`text` with paths made relative to the project folder and other absolute paths cut to their last part.

    Args:
        text: A message.
        root: The project folder.
        longest: Maximum length in code points; None is unlimited.
    """
    if root is not None:
        resolved = Path(os.path.realpath(root))
        for form in {str(root), root.as_posix(), str(resolved), resolved.as_posix(), resolved.as_uri()}:
            text = text.replace(f"{form}/", "").replace(f"{form}\\", "")
            text = re.sub(rf"{re.escape(form)}(?![\w-]|\.\w)", ".", text)
    text = _ABSOLUTE.sub(_last, text)
    return text if longest is None or len(text) <= longest else f"{text[: longest - 1]}…"


def warnings_without_paths(warnings: Iterable[ContextWarning], root: Path | None) -> tuple[ContextWarning, ...]:
    """The same warnings, with messages safe to send."""
    return tuple(replace(one, message=without_paths(one.message, root=root, longest=None)) for one in warnings)


def answer_without_paths(answer: Any, root: Path | None) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """Remove absolute paths from the `warnings` of a JSON response and of its layers.

    Cost: linear in the warnings; other members are not copied.
    """
    if not isinstance(answer, Mapping):
        return answer
    changed: dict[str, Any] = {}
    if isinstance(said := answer.get("warnings"), list | tuple) and said:
        changed["warnings"] = [without_paths(str(one), root=root, longest=None) for one in said]
    for name in ("layers", "layersDetail"):
        if isinstance(layers := answer.get(name), Mapping):
            changed[name] = {layer: answer_without_paths(one, root) for layer, one in layers.items()}
    return {**answer, **changed} if changed else answer


def _last(found: re.Match[str]) -> str:
    quote, path = found["quote"] or "", (found["inside"] or found.group()).rstrip("/\\")
    return f"{quote}{_SEPARATOR.split(path)[-1] or '.'}{quote}"
