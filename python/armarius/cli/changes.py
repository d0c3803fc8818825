"""An update of a book as a terminal shows it: what is new, what was changed from what to what, what is gone."""

from typing import Any

from armarius.books.changes import Change
from armarius.books.edits import to_json
from armarius.books.importing import ImportReport
from armarius.shown import counted

__all__ = ["changes_wire", "update_lines"]

_SHOWN = 12
_WIDTH = 80
_BEFORE = 24  # characters of a long text that are kept before the first difference


def update_lines(report: ImportReport) -> list[str]:
    """Counts, then a line for each change; of those that are many the first ones."""
    of = {kind: {one.entry for one in report.changes if one.kind == kind} for kind in ("new", "changed", "gone")}
    changed = of["changed"] - {""}
    unchanged = len(report.book) - len(of["new"]) - len(changed)
    counts = f"{len(of['new'])} new, {len(changed)} changed, {len(of['gone'])} gone, {unchanged} unchanged"
    lines = [f"  {counted(len(report.book), 'entry', 'entries')} now: {counts}"]
    lines += [f"  {_line(one)}" for one in report.changes[:_SHOWN]]
    if len(report.changes) > _SHOWN:
        lines.append(f"  … {counted(len(report.changes) - _SHOWN, 'more change')}, all with --json")
    return lines


def changes_wire(report: ImportReport) -> list[dict[str, Any]]:
    """The changes as JSON, values in the form of `book.json`."""
    return [{**one._asdict(), "was": _plain(one, one.was), "now": _plain(one, one.now)} for one in report.changes]


def _line(one: Change) -> str:
    called = one.name or one.entry
    if one.kind == "changed":
        was, now = (_text(_plain(one, value)) for value in (one.was, one.now))
        was, now = _around(was, now)
        where = f"{called}.{one.field}" if one.entry else f"the book's {one.field}"
        return f"~ {where}: was {was}, now {now}"
    text, _ = _around(_text(one.now if one.kind == "new" else one.was), "")
    return f"{'+' if one.kind == 'new' else '-'} {called}: {text}"


def _plain(one: Change, value: Any) -> Any:  # noqa: ANN401 - each field has its own type
    if one.field == "decorators" and one.entry:
        return [f"@@{mark.name} {','.join(mark.args)}".strip() for mark in value]
    return to_json(one.field, value) if one.entry and value is not None else value


def _text(value: Any) -> str:  # noqa: ANN401
    """A value for people: keys by their texts, texts in quotation marks on one line."""
    if isinstance(value, str):
        return repr(" ".join(value.split()))
    if isinstance(value, list) and value and all(isinstance(one, dict) and "text" in one for one in value):
        return ", ".join(one["text"] for one in value)
    return "nothing" if value in (None, [], ()) else str(value)


def _around(was: str, now: str) -> tuple[str, str]:
    """Two long texts from a little before where they begin to differ."""
    same = next((at for at, (one, other) in enumerate(zip(was, now, strict=False)) if one != other), 0)
    start = max(0, same - _BEFORE) if same > _WIDTH // 2 else 0
    return _cut(was, start), _cut(now, start)


def _cut(text: str, start: int) -> str:
    text = f"…{text[start:]}" if start else text
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
