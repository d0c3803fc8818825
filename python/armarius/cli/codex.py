"""The options that bound a question, `--chapters --kind --as-of`, and `--also`, which words it again."""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from armarius.arguments import KINDS
from armarius.cli.terminal import add_project, add_series, note, plain, show, show_json, words
from armarius.codex import Entity
from armarius.codex.cards import entity_card
from armarius.display import counted
from armarius.engine import open as open_engine
from armarius.errors import ContractError
from armarius.headings import FRAMES
from armarius.io import read_file, stat_of, write_atomic
from armarius.lorebooks.changes import Change
from armarius.lorebooks.edits import to_json
from armarius.lorebooks.importing import ImportReport
from armarius.names.proposals import ProposedName
from armarius.text.matcher import EntityMatcher, Mention, Rejection
from armarius.validation import LONGEST_TEXT

_RANGE = re.compile(r"(\d*)\s*(-|–|\.\.)\s*(\d*)")


def add_bounds(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what may be looked into."""
    parser.add_argument(
        "--chapters", type=_chapters, metavar="N-M", help="look into these chapters alone: 3, 1-40, 5- or -40"
    )
    parser.add_argument(
        "--kind",
        dest="kinds",
        action="append",
        default=[],
        choices=KINDS,
        help="look into documents of this kind alone; several times for several",
    )
    parser.add_argument("--as-of", type=int, metavar="N", help="nothing later than this chapter of the story")


def add_also(parser: argparse.ArgumentParser) -> None:
    """Add the option that asks in other words."""
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="TEXT",
        help="the question in other words, as the book would put it; at most 8 times",
    )


def bounds_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those options as keywords of the engine."""
    found = {"chapters": arguments.chapters, "kinds": tuple(arguments.kinds), "as_of": arguments.as_of}
    return {**found, "also": tuple(arguments.also)} if hasattr(arguments, "also") else found


def _chapters(text: str) -> int | tuple[int | None, int | None]:
    if text.strip().isdecimal():
        return int(text)
    found = _RANGE.fullmatch(text.strip())
    if found is None or not (found[1] or found[3]):
        raise argparse.ArgumentTypeError(f"{text!r} is no chapter and no range of chapters, such as 3, 1-40, 5- or -40")
    return (int(found[1]) if found[1] else None, int(found[3]) if found[3] else None)


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


def add_detect_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    detect = subparsers.add_parser(
        "detect",
        help="which entities of the project a text names",
        description="One row per entity, in the order of the text; then the names that were not counted, and why.",
    )
    add_project(detect)
    add_series(detect)
    detect.add_argument("--text", required=True, help="the text; - reads it from standard input")
    detect.add_argument("--cards", action="store_true", help="print the cards that a prompt would carry")
    detect.add_argument("--json", action="store_true", help="matches and mentions, positions in code points")
    detect.set_defaults(run=_detect)


def _detect(arguments: argparse.Namespace) -> int:
    text = words(arguments.text, "--text")
    if not text.strip():
        raise ContractError("--text is empty")
    with open_engine(arguments.path, with_=arguments.series) as engine:
        entities = {entity.id: entity for entity in engine.codex.list()}
        matcher = engine.matcher
    matches = matcher.detect(text)
    if arguments.json:
        show_json(_wire(matcher, text, entities))
    elif arguments.cards:
        print("\n\n".join(entity_card(entities[match.entity_id]) for match in matches))
    else:
        show(_table(matcher, text, entities))
    if not entities:
        note("armarius: this project describes no entities")
    return 0


def _wire(matcher: EntityMatcher, text: str, entities: dict[str, Entity]) -> dict[str, list[dict[str, object]]]:
    return {
        "matches": [
            {
                "entityId": match.entity_id,
                "matchedTerm": match.matched_term,
                "position": match.position,
                "name": entities[match.entity_id].name,
                "aiContextLevel": entities[match.entity_id].level,
            }
            for match in matcher.detect(text)
        ],
        "mentions": [
            {
                "entityId": item.entity_id,
                "term": item.term,
                "start": item.start,
                "end": item.end,
                "derived": _derived(matcher, item),
            }
            for item in matcher.find_all(text)
        ],
        "rejected": [
            {"entityId": item.entity_id, "term": item.term, "start": item.start, "reason": item.reason, "by": item.by}
            for item in matcher.explain(text)
        ],
    }


def _table(matcher: EntityMatcher, text: str, entities: dict[str, Entity]) -> RenderableType:
    matches, mentions = matcher.detect(text), matcher.find_all(text)
    if not matches:
        found: RenderableType = Text("no entity is named")
    else:
        found = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for heading in ("entity", "id", "type", "written", "at", "times", "level"):
            found.add_column(heading, justify="right" if heading in ("at", "times") else "left", overflow="fold")
        for match in matches:
            entity = entities[match.entity_id]
            times = sum(item.entity_id == entity.id for item in mentions)
            row = (
                entity.name,
                entity.id,
                entity.type,
                match.matched_term,
                str(match.position),
                str(times),
                entity.level,
            )
            found.add_row(*map(Text, row))
    terms = {(item.entity_id, item.term): item for item in mentions}
    notes = [f"{item.term}: {why}" for item in terms.values() if (why := _derived(matcher, item))]
    notes += [_rejection(item, entities) for item in matcher.explain(text)]
    return Group(found, *(Text(line, style="dim") for line in notes))


def _derived(matcher: EntityMatcher, item: Mention) -> str | None:
    short = matcher.derived(item.entity_id, item.term)
    return None if short is None else str(short)


def _rejection(item: Rejection, entities: dict[str, Entity]) -> str:
    why = f"inside {item.by}" if item.reason == "shadowed" else item.reason
    return f"not {entities[item.entity_id].name}: {item.term} at {item.start}, {why}"


_TITLES = {"person": "人物", "place": "地点", "thing": "其他"}
_ENGLISH = {"person": "Characters", "place": "Locations", "thing": "Other"}


def add_propose_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "propose",
        help="names that the story uses and no profile describes",
        description="One row per name: what it probably is, how often, where first, likely aliases. Nothing is written "
        "without --write.",
    )
    add_project(parser, alone=True)
    parser.add_argument("--least", type=int, default=10, metavar="N", help="how often a name is written (default: 10)")
    parser.add_argument("--known", action="store_true", help="also names that are described, marked")
    parser.add_argument("--write", metavar="PATH", help="write profiles to edit into a new file of the project")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=_propose)


def _propose(arguments: argparse.Namespace) -> int:
    if arguments.least < 2:
        raise ContractError(f"--least must be at least 2, got {arguments.least}")
    root: Path = arguments.path
    target = None if arguments.write is None else _target(root, arguments.write)
    with open_engine(root, watch=False) as engine:
        found = engine.propose(least=arguments.least, known=arguments.known)
    new = [one for one in found if not one.known]
    if target is not None and new:
        write_atomic(target, as_profiles(new).encode(), below=root)
        note(f"wrote {counted(len(new), 'profile')} to {arguments.write}: keep what is right, delete the rest")
    if arguments.json:
        show_json({"names": [plain(one) for one in found]})
    elif target is None and found:
        _proposals_table(found, marked=arguments.known)
    if not (new if target is not None else found) and not arguments.json:
        which = "" if arguments.known and target is None else " that nobody has described"
        note(f"armarius: no name{which} is written {arguments.least} times or more")
    return 0


def _target(root: Path, path: str) -> Path:
    """A Markdown file inside the project that is not there yet."""
    target = root / path
    if not path.endswith(".md") or Path(path).is_absolute() or ".." in Path(path).parts:
        raise ContractError(f"--write takes a new .md file inside the project, got {path!r}")
    if stat_of(target, below=root) is not None:
        raise ContractError(f"--write: {path} is there already; nothing is written over")
    return target


def _proposals_table(found: Sequence[ProposedName], *, marked: bool) -> None:
    from rich.table import Table

    columns = ("name", "kind", "count", "first", "aliases", "reason")
    table = Table(*columns, *(("described",) if marked else ()))
    for one in found:
        row = (one.name, one.kind, str(one.count), one.document, ", ".join(one.aliases), one.reason)
        table.add_row(*row, *((("yes" if one.known else "no"),) if marked else ()))
    show(table)


def as_profiles(found: Sequence[ProposedName]) -> str:
    """Profiles as `armarius` reads them: a section for each kind, a heading for each name."""
    chinese = sum(not one.name.isascii() for one in found) * 2 >= len(found)
    titles, alias, first = (_TITLES, "别名", "首次出现") if chinese else (_ENGLISH, "Aliases", "First seen")
    lines = []
    for kind, title in titles.items():
        mine = [one for one in found if one.kind == kind]
        if mine:
            lines += [f"# {title}", ""]
        for one in mine:
            lines += [f"## {one.name}", ""]
            if one.aliases:
                lines.append(f"- {alias}{'：' if chinese else ': '}{', '.join(one.aliases)}")
            lines += [f"- {first}{'：' if chinese else ': '}{one.document} ({one.count})", ""]
    return "\n".join(lines)


_SPAN = re.compile(r"(\d{1,12})-(\d{1,12})")
_MOST_BYTES = 4 * LONGEST_TEXT  # UTF-8


def add_editing(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--buffer", metavar="FILE", help="the document as the editor holds it; - is standard input (default: as saved)"
    )
    parser.add_argument("--selection", type=_span, metavar="A-B", help="offsets of what is selected in it, half-open")
    parser.add_argument("--no-marks", action="store_true", help="do not mark cursor and selection in the prompt")
    for option, what in (("--include", "pin"), ("--exclude", "mute")):
        parser.add_argument(
            option,
            action="append",
            default=[],
            metavar="TARGET",
            help=f"{what} an id, name, path, paragraph (path#12) or tag; several times for several",
        )
    parser.add_argument("--language", choices=sorted(FRAMES), help="of headings and labels (default: the project's)")


def editing_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those options as keywords of a request.

    Raises:
        ContractError: The file of `--buffer` cannot be read, or is not UTF-8.
    """
    return {
        "text": _edited_text(arguments.buffer),
        "selection": arguments.selection,
        "marks": not arguments.no_marks,
        "include": tuple(words(one, "--include") for one in arguments.include),
        "exclude": tuple(words(one, "--exclude") for one in arguments.exclude),
        "language": arguments.language,
    }


def _edited_text(given: str | None) -> str | None:
    if given is None or given == "-":
        return None if given is None else words(given, "--buffer")
    try:
        return read_file(Path(given), limit=_MOST_BYTES, follow=True).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContractError(f"--buffer {given} is not UTF-8 at byte {error.start}") from None
    except OSError as error:
        raise ContractError(f"--buffer {given}: {error.strerror or error}") from None


def _span(text: str) -> tuple[int, int]:
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no selection, such as 2980-3021")
    return int(found[1]), int(found[2])


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands of this file to the parser."""
    add_detect_commands(subparsers)
    add_propose_commands(subparsers)
