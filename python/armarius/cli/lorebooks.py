"""`armarius import` and `armarius export`: lorebooks, cards, vaults and manuscripts in and out of a project.

armarius import card.png lore.json --into novel/          # what it is, and what has no effect; nothing is written
armarius import card.png lore.json --into novel/ --yes
armarius export novel/                                   # which books there are
armarius export novel/ --book eldoria --as sillytavern > lore.json
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from armarius.arguments import ProfileName
from armarius.cli.options import PROJECT, command, flag, note, option, plain, printable, repeatable, show_json
from armarius.codex.load import load_codex
from armarius.engine import open as open_engine
from armarius.errors import ArmariusError, BookError, ContractError, UnknownId
from armarius.headings import count_noun
from armarius.io import project_folder, write_atomic
from armarius.lorebooks.book import EXPORTS, Book
from armarius.lorebooks.importing import (
    Importing,
    ImportReport,
    ManuscriptReport,
    import_manuscript,
    is_manuscript,
    story_folder,
)
from armarius.lorebooks.project_books import FOLDER, Books, available_books
from armarius.lorebooks.record import Change, Conflict, UnsupportedField

_SHOWN = 12


@command(
    "import", "bring lorebooks, cards, vaults and manuscripts into a project",
    option("files", "a file, or a folder of notes", type=Path, nargs="+", metavar="FILE"),
    option("--into", "the project folder (default: .)", type=Path, default=Path(), metavar="PROJECT"),
    option("--profile", "the program that has the rules for the book, instead of its own"),
    option("--updates", "the book that FILE is a newer state of", default="", metavar="BOOK"),
    repeatable("--theirs", "take an entry (or ENTRY.FIELD, or all that conflict) that was changed here as the file has "
             "it; else what was changed here stays; may be given several times", metavar="ENTRY"),
    flag("--allow-rules", "with --yes: its always active entries are rules of every prompt, until the book changes"),
    flag("--yes", "import; without it nothing is written"),
    flag("--json", "the whole report, every loss and conflict"),
    description="Shows first what each file is, its entries, what has no effect here, and conflicts with what was "
    "imported before. Nothing is written without --yes.",
    example="card.png lore.json book.docx --into novel/ --yes",
)  # fmt: skip
def _import(arguments: argparse.Namespace) -> int:
    if arguments.updates and len(arguments.files) > 1:
        raise ContractError("--updates says which book one file is a newer state of; several files were given")
    root = project_folder(arguments.into)
    books = Books(root)
    importing = Importing(books, lambda: load_codex(root).entities)
    reports: list[dict[str, Any]] = []
    failed = 0
    for file in arguments.files:
        try:
            if is_manuscript(file):
                manuscript = import_manuscript(file, root, write=arguments.yes, into=_story_folder(root))
                reports.append(plain(manuscript))
                if not arguments.json:
                    print("\n".join(map(printable, _manuscript_lines(manuscript))))
                continue
            report = _import_file(importing, file, arguments)
            if arguments.allow_rules and report.kept:
                books.allow_rules(report.book.id, lasting=True)
        except (BookError, UnknownId) as error:
            failed += 1
            reports.append({"file": file.name, "error": str(error)})
            if not arguments.json:
                note(f"armarius: {error}")
            continue
        reports.append({"file": file.name, **report.to_wire()})
        if not arguments.json:
            lines = _lines(file.name, report)
            if arguments.allow_rules:
                lines += _rules(report)
            print("\n".join(map(printable, lines)))
    if arguments.json:
        show_json({"written": bool(arguments.yes), "files": reports})
    elif not arguments.yes and failed < len(reports):
        print("nothing was written; --yes imports")
    return 2 if failed else 0


def _story_folder(root: Path) -> str:
    with open_engine(root, watch=False) as engine:
        return story_folder(engine.map())


def _import_file(importing: Importing, file: Path, arguments: argparse.Namespace) -> ImportReport:
    profile = arguments.profile
    if profile is not None and profile not in get_args(ProfileName):
        raise ArmariusError(f"--profile: expected one of {', '.join(get_args(ProfileName))}, got {profile!r}")
    bring = importing.add if arguments.yes else importing.preview
    return bring(file, profile=profile, updates=arguments.updates, theirs=arguments.theirs)


def _lines(name: str, report: ImportReport) -> list[str]:
    """A report for a terminal."""
    book = report.book
    levels = {level: sum(1 for entry in book if entry.level == level) for level in ("always", "manual_only", "never")}
    text = ", ".join(f"{count} {level}" for level, count in levels.items() if count)
    lines = [
        f"{name}: {book.format}, {count_noun(len(book), 'entry', 'entries')}{f' ({text})' if text else ''}",
        f"  {report.kind}: book {book.id!r}, rules of {book.profile}",
    ]
    if book.settings.get("character"):
        lines.append(f"  character: {book.settings['character']}")
    if report.kept:
        already = "there already, nothing was written" if report.kind == "same" else "wrote"
        lines.append(f"  {already}: {FOLDER}/{book.id}/ (original, book.json)")
    lines += _update_lines(report) if report.kind == "update" else _entries(book)
    lines += _rows("kept, without effect or repaired", report.losses)
    if report.conflicts:
        lines += _rows("changed here and in the file; ours stay, --theirs takes the file's", report.conflicts)
    if report.said.entities:
        entities = count_noun(len(report.said.entities), "entity", "entities")
        count = f"{entities}, {count_noun(len(report.said.relations), 'relation')}"
        lines.append(f"  in the codex with the book: {count}")
        lines += [f"    {entity.name} ({entity.type})" for entity in report.said.entities[:_SHOWN]]
        lines += [f"    {source} —{type_}→ {target}" for source, target, type_ in report.said.relations[:_SHOWN]]
    if report.shared:
        lines.append(f"  names that several have ({len(report.shared)}):")
        lines += _first([f"    {name}" for name in report.shared], "    … {} more, all with --json")
    if report.entities:
        lines.append(f"  could be entities: {', '.join(entity.name for entity in report.entities[:_SHOWN])}")
    return lines


def _first(lines: list[str], more: str) -> list[str]:
    """The first lines, and how many more there are."""
    return lines if len(lines) <= _SHOWN else [*lines[:_SHOWN], more.format(len(lines) - _SHOWN)]


def _entries(book: Book) -> list[str]:
    keys = (", ".join(key.text for key in entry.match.keys[:6]) or "no keys" for entry in book)
    lines = [f"  · {entry.name or entry.id}: {text}" for entry, text in zip(book, keys, strict=True)]
    return _first(lines, "  · … {} more")


def _rules(report: ImportReport) -> list[str]:
    """What a permission is for: every text that stands among the rules of every prompt."""
    constant = [entry for entry in report.book if entry.level == "always"]
    if not constant:
        return ["  no entry is always active: nothing to be a rule"]
    how = "are rules of every prompt" if report.kept else "would be rules of every prompt"
    lines = [f"  {how}, until the book changes ({len(constant)}):"]
    return lines + [f"    ! {' '.join(entry.text.split())[:200]}" for entry in constant]


def _manuscript_lines(report: ManuscriptReport) -> list[str]:
    number = sum(not item.path.startswith("notes/") for item in report.chapters)
    lines = [f"{report.file}: a manuscript, {count_noun(number, 'chapter')}"]
    states = {"new": "", "same": " (there already)", "other": " (another text is there; left as it is)"}
    rows = []
    for item in report.chapters:
        title = item.title or "before the first heading"
        rows.append(f"  · {item.path}: {title}, {len(item.text):,} characters{states[item.state]}")
    lines += _first(rows, "  · … {} more")
    if report.kept:
        lines.append(f"  the file itself is kept as {report.kept}")
    return lines


def _rows(
    title: str, rows: Sequence[UnsupportedField | Conflict], limit: int = _SHOWN, rest: str = "--json"
) -> list[str]:
    if not rows:
        return []
    lines = [f"  {title} ({len(rows)}):"]
    for row in rows[:limit]:
        lines += [f"    {' '.join(text.split())[:200]}" for text in _line_for(row)]
    if len(rows) > limit:
        lines.append(f"    … {len(rows) - limit} more, all with {rest}")
    return lines


def _line_for(row: UnsupportedField | Conflict) -> list[str]:
    """A row as lines: a conflict with what it was, ours and theirs."""
    if isinstance(row, UnsupportedField):
        return [str(row)]
    if not row.field:
        gone = "deleted here, changed in the file" if row.ours is None else "changed here, gone from the file"
        return [f"{row.entry}: {gone}"]
    return [f"{row.entry}.{row.field}: was {row.base!r}", f"  here {row.ours!r}", f"  file {row.theirs!r}"]


@command(
    "export", "give a book back, as it came or as another format", PROJECT,
    option("--book", "id or name of the book; without it the books are listed", metavar="NAME"),
    option("--as", "the format (default: what it came in)", dest="to", choices=EXPORTS),
    option("--out", "write it there instead", type=Path, metavar="FILE"), flag("--json", "the list as JSON"),
    flag("--all", "every loss, not only the first ones"),
    description="Writes the book to standard output, without --book a list of the books; what the format cannot say "
    "is listed on standard error.",
    example="novel/ --book eldoria --as card-v3",
)  # fmt: skip
def _export(arguments: argparse.Namespace) -> int:
    books = Books(project_folder(arguments.path))
    if arguments.book is None:
        if arguments.to is not None or arguments.out is not None:
            raise ArmariusError(f"--as and --out need --book{available_books(list(books))}")
        return _list(books, as_json=arguments.json)
    book = books[arguments.book]
    done = book.exported(arguments.to)
    for line in _rows("the format cannot say", done.losses, len(done.losses) if arguments.all else _SHOWN, "--all"):
        note(line.strip() if line.startswith("  the") else line)
    if arguments.out is not None:
        write_atomic(arguments.out, done.data, make=False)
        note(f"wrote {arguments.out}")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(done.data)
    return 0


def _list(books: Books, *, as_json: bool) -> int:
    """The books of a project: what `--book` takes."""
    rows = [book.to_wire() for book in books.values()]
    if as_json:
        show_json({"books": rows, "problems": dict(books.problems)})
    else:
        for row in rows:
            named = "" if row["name"] == row["id"] else f" ({row['name']})"
            print(printable(f"{row['id']}{named}: {row['format']}, {row['entries']} entries, from {row['file']}"))
        for id_, why in sorted(books.problems.items()):
            note(f"armarius: {id_}: {why}")
        if not rows:
            note("the project has no books: armarius import brings one in")
    return 0


_WIDTH = 80
_BEFORE = 24  # characters of a long text that are kept before the first difference


def _update_lines(report: ImportReport) -> list[str]:
    """Counts, then a line for each change; of those that are many the first ones."""
    of = {kind: {row.entry for row in report.changes if row.kind == kind} for kind in ("new", "changed", "gone")}
    changed = of["changed"] - {""}
    unchanged = len(report.book) - len(of["new"]) - len(changed)
    counts = f"{len(of['new'])} new, {len(changed)} changed, {len(of['gone'])} gone, {unchanged} unchanged"
    lines = [f"  {count_noun(len(report.book), 'entry', 'entries')} now: {counts}"]
    more = count_noun(len(report.changes) - _SHOWN, "more change")
    return lines + _first([f"  {_line(row)}" for row in report.changes], f"  … {more}, all with --json")


def _line(row: Change) -> str:
    called = row.name or row.entry
    if row.kind == "changed":
        was, now = (_text(value) for value in row.values())
        was, now = _cut_to_change(was, now)
        where = f"{called}.{row.field}" if row.entry else f"the book's {row.field}"
        return f"~ {where}: was {was}, now {now}"
    text, _ = _cut_to_change(_text(row.now if row.kind == "new" else row.was), "")
    return f"{'+' if row.kind == 'new' else '-'} {called}: {text}"


def _text(value: Any) -> str:  # noqa: ANN401
    """A value for people: keys by their texts, texts in quotation marks on one line."""
    if isinstance(value, str):
        return repr(" ".join(value.split()))
    if isinstance(value, list) and value and all(isinstance(item, dict) and "text" in item for item in value):
        return ", ".join(item["text"] for item in value)
    return "nothing" if value in (None, [], ()) else str(value)


def _cut_to_change(was: str, now: str) -> tuple[str, str]:
    """Two long texts from a little before where they begin to differ."""
    same = next((at for at, (char, other) in enumerate(zip(was, now, strict=False)) if char != other), 0)
    start = max(0, same - _BEFORE) if same > _WIDTH // 2 else 0
    return _cut(was, start), _cut(now, start)


def _cut(text: str, start: int) -> str:
    text = f"…{text[start:]}" if start else text
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
