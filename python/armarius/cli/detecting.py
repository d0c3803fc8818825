"""`armarius detect`: the entities that a text names, and the matches that were rejected.

`armarius entities`: the entities of a project, and the headings that were taken for none.

`armarius propose`: names that a story uses and nobody has described, as profiles for the writer to edit.

armarius propose novel/                                # a table; nothing is written
armarius propose novel/ --write novel/settings/new.md  # profiles to edit, in a new file
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from armarius.cli.terminal import add_field, add_project, add_series, note, plain, show, show_json, words
from armarius.codex import Entity
from armarius.display import counted, rich_table
from armarius.engine import open as open_engine
from armarius.engine.engine import ContextEngine
from armarius.errors import ContractError
from armarius.io import stat_of, write_atomic
from armarius.io.folder import project_folder
from armarius.names.proposals import ProposedName
from armarius.text.matcher import EntityMatcher, Mention, Rejection
from armarius.verbs.wire import listed_entity


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
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
    listing = subparsers.add_parser(
        "entities",
        help="the people, places and things of the project",
        description="One row per entity, by mentions; then the headings that were taken for no entity, and why.",
    )
    add_project(listing)
    add_series(listing)
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(run=_entities)
    _add_propose(subparsers)


def _entities(arguments: argparse.Namespace) -> int:
    with open_engine(arguments.path, with_=arguments.series, watch=False) as engine:
        found = engine.entities()
        times = found.mentions
    if arguments.json:
        items = [listed_entity(one, times.get(one.id, 0)) for one in found]
        show_json({"entities": items, "rejected": [plain(one) for one in found.rejected]})
        return 0
    ordered = sorted(found, key=lambda one: (-times.get(one.id, 0), one.id))
    rows = [(*found.cells(one), f"{times.get(one.id, 0):,}") for one in ordered]
    if rows:
        show(rich_table((*found.columns, "mentions"), rows))
    else:
        note("armarius: this project describes no entities")
    if found.rejected:
        show(Text("no entities:"))
        show(rich_table(("", "", ""), [(one.name, f"{one.path}:{one.line}", one.reason) for one in found.rejected]))
    return 0


def _detect(arguments: argparse.Namespace) -> int:
    text = words(arguments.text, "--text")
    if not text.strip():
        raise ContractError("--text is empty")
    with open_engine(arguments.path, with_=arguments.series) as engine:
        entities = {entity.id: entity for entity in engine.codex.list()}
        matcher = engine.matcher
        matches = matcher.detect(text)
        cards = [engine.card(match.entity_id) for match in matches] if arguments.cards else []
    if arguments.json:
        show_json(_wire(matcher, text, entities))
    elif arguments.cards:
        print("\n\n".join(cards))
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
    return None if short is None else f"derived: {short.kind} of {short.of}"


def _rejection(item: Rejection, entities: dict[str, Entity]) -> str:
    why = f"inside {item.by}" if item.reason == "shadowed" else item.reason
    return f"not {entities[item.entity_id].name}: {item.term} at {item.start}, {why}"


_TITLES = {"person": "人物", "place": "地点", "thing": "其他"}
_ENGLISH = {"person": "Characters", "place": "Locations", "thing": "Other"}
_TYPES = {"person": ("人物", "character"), "place": ("地点", "location")}


def _add_propose(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "propose",
        help="names that the story uses and no profile describes",
        description="One row per name: what it probably is, how often, where first, likely aliases. Nothing is written "
        "without --write.",
    )
    add_project(parser)
    add_field(parser, "least", "--least", verb="entities:propose", type=int, default=10, metavar="N")
    add_field(parser, "known", "--known", verb="entities:propose", action="store_true")
    parser.add_argument("--write", metavar="PATH", help="write profiles to edit into this new file of the project")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=_propose)


def _propose(arguments: argparse.Namespace) -> int:
    if arguments.least < 2:
        raise ContractError(f"--least must be at least 2, got {arguments.least}")
    root = _absolute(project_folder(arguments.path))
    target = None if arguments.write is None else _target(root, arguments.write)
    with open_engine(arguments.path, watch=False) as engine:
        found = engine.propose(least=arguments.least, known=arguments.known)
        places = [_place(engine, one) for one in found]
    new = [one for one in found if not one.known]
    if target is not None and new:
        write_atomic(target, as_profiles(new).encode(), below=root)
        note(f"wrote {counted(len(new), 'profile')} to {arguments.write}: keep what is right, delete the rest")
    if arguments.json:
        show_json({"names": [plain(one) for one in found]})
    elif target is None and found:
        _proposals(found, places, marked=arguments.known)
    if not (new if target is not None else found) and not arguments.json:
        which = "" if arguments.known and target is None else " that nobody has described"
        note(f"armarius: no name{which} is written {arguments.least} times or more")
    return 0


def _target(root: Path, path: str) -> Path:
    """A Markdown file inside the project that is not there yet; the path is that of the shell."""
    target = _absolute(path)
    if not path.endswith(".md") or not target.is_relative_to(root):
        raise ContractError(f"--write takes a new .md file inside the project, got {path!r}")
    if stat_of(target, below=root) is not None:
        raise ContractError(f"--write: {path} is there already; nothing is written over")
    return target


def _absolute(path: str | Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - not resolved: a link on the way is refused when it is written


def _place(engine: ContextEngine, one: ProposedName) -> str:
    """Where a name is first, with the chapter in a file of several."""
    document = engine.document(one.document)
    inside = (part.chapter for part in reversed(document.paragraphs) if part.start <= one.position)
    number = None if document.chapter is not None else next(inside, None)
    return one.document if number is None else f"{one.document}, chapter {number}"


def _proposals(found: Sequence[ProposedName], places: Sequence[str], *, marked: bool) -> None:
    columns = ("name", "kind", "count", "first", "aliases", "reason")
    table = Table(*columns, *(("described",) if marked else ()))
    for one, place in zip(found, places, strict=True):
        row = (one.name, one.kind, str(one.count), place, ", ".join(one.aliases), one.reason)
        table.add_row(*row, *((("yes" if one.known else "no"),) if marked else ()))
    show(table)


def as_profiles(found: Sequence[ProposedName]) -> str:
    """Profiles as `armarius` reads them: a section for each kind, a heading for each name."""
    chinese = sum(not one.name.isascii() for one in found) * 2 >= len(found)
    titles, type_, alias, colon = (_TITLES, "类型", "别名", "：") if chinese else (_ENGLISH, "Type", "Aliases", ": ")
    lines = []
    for kind, title in titles.items():
        mine = [one for one in found if one.kind == kind]
        if mine:
            lines += [f"# {title}", ""]
        for one in mine:
            lines += [f"## {one.name}", ""]
            if kind in _TYPES:
                lines.append(f"- {type_}{colon}{_TYPES[kind][not chinese]}")
            if one.aliases:
                lines.append(f"- {alias}{colon}{', '.join(one.aliases)}")
            lines += [""] * bool(lines[-1])
    return "\n".join(lines)
