"""A graph store over NervusDB's command-line program: `v2 write` and `v2 query`, one process per statement.

NervusDB is under the AGPL: it is optional, never linked, and used only by its documented command line. Its Mini-Cypher
has no MERGE, no ORDER BY, no variable length and no parallel edges (docs/decisions/0090):

    (:Entity {id, name, type, description, more})      more: aliases, attributes, level and facts as JSON
    (:Relation {key, source, target, type, since, until})

with an edge SOURCE_OF from the source to the relation and an edge TO from it to the target. Relations are nodes, so
that two entities can have several; every query compares one property for equality.
"""

import json
import logging
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from armarius.codex.model import Entity, Fact, Relation
from armarius.errors import ConfigError, ContractError, GraphError, StoreBusy, StoreFull, UnknownId
from armarius.graph.protocol import Graph, checked_entity, checked_relation, relation_key, sort_relations, walk
from armarius.io import folder_lock, scratch_folder, write_atomic
from armarius.trust.folders import bounded_output, child_path, find_program, named_by_user
from armarius.validation import whole

_ENTITY = ("id", "name", "type", "description", "more")
_RELATION = ("source", "target", "type", "since", "until")
_UNSAFE = re.compile("[\x00-\x1f\"$%'/;\\\\`\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff0-\uffff]")
_CODED = re.compile("(?:%[0-9A-F]{2})+")


def encode(text: str) -> str:
    """`text` escaped so that it contains no end of a literal, no comment and no invisible character."""
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), text)


def decode(text: str) -> str:
    """The text that was encoded; a foreign `%` is kept."""

    def decoded(match: re.Match[str]) -> str:
        try:
            return bytes.fromhex(match[0].replace("%", "")).decode()
        except UnicodeDecodeError:
            return match[0]

    return _CODED.sub(decoded, text)


def literal(text: str) -> str:
    """A string literal of `encode(text)`."""
    return f"'{encode(text)}'"


def match(variable: str, label: str, key: str, value: str) -> str:
    """A MATCH of nodes by label and property, which NervusDB looks up in its index."""
    return f"MATCH ({variable}:{label}) WHERE {variable}.{key} = {literal(value)}"


def create(variable: str, label: str, properties: Mapping[str, str]) -> str:
    """The pattern of a new node in a CREATE."""
    stated = ", ".join(f"{key}: {literal(value)}" for key, value in properties.items())
    return f"({variable}:{label} {{{stated}}})"


def update(variable: str, properties: Mapping[str, str]) -> str:
    """The end of a MATCH that sets properties of its nodes."""
    return f"SET {', '.join(f'{variable}.{key} = {literal(value)}' for key, value in properties.items())}"


def delete(variable: str) -> str:
    """The end of a MATCH that deletes its nodes and their edges."""
    return f"DETACH DELETE {variable}"


_INHERITED = ("HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "USERPROFILE", "SYSTEMROOT")
_NO_WINDOW = 0x08000000 if sys.platform == "win32" else 0
_TAIL = 4096  # bytes of standard error kept for the log


def run(command: Sequence[str], *, timeout_s: float, max_bytes: int, path: str) -> tuple[int, bytes, str]:
    """The exit status, the output and the end of standard error of `command`, which gets no input.

    On a timeout its process group is killed on POSIX; on Windows only the program, not its children.

    Args:
        command: The program and its arguments.
        timeout_s: Maximum seconds.
        max_bytes: Maximum bytes of output.
        path: Its PATH.

    Raises:
        GraphError: It cannot be started, takes longer than `timeout_s`, or writes more than `max_bytes`.
    """
    environment = {name: value for name in _INHERITED if (value := os.environ.get(name)) is not None}
    environment["PATH"] = path
    try:
        process = subprocess.Popen(  # noqa: S603 - a list, no shell; the program is the user's choice
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            creationflags=_NO_WINDOW,
            start_new_session=sys.platform != "win32",
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise GraphError(f"the graph program cannot be started: {reason}") from None
    tail: list[bytes] = []
    listener = threading.Thread(target=_drain, args=(process, tail), daemon=True)
    listener.start()
    status, output = bounded_output(process, timeout_s=timeout_s, max_bytes=max_bytes)
    if len(output) > max_bytes:
        raise GraphError(f"the graph program wrote more than {max_bytes} bytes")
    listener.join(timeout_s)
    if status is None:
        raise GraphError(f"the graph program did not answer within {timeout_s:g} s")
    return status, output, b"".join(tail)[-_TAIL:].decode("utf-8", "replace")


def _drain(process: "subprocess.Popen[bytes]", tail: list[bytes]) -> None:
    """Read standard error to its end and close it: a full pipe would block the program."""
    if process.stderr is None:
        return
    with suppress(OSError, ValueError), process.stderr as stream:
        while chunk := stream.read(65536):
            tail[:] = [b"".join(tail)[-_TAIL:], chunk]


def to_bytes(graph: Graph) -> bytes:
    """`graph` as UTF-8 JSON in the format of `codex.json`, without origins and warnings."""
    entities = _lines(map(entity_wire, graph.entities))
    relations = _lines(_stated_fields(relation, *_RELATION) for relation in graph.relations)
    return f'{{"entities": [\n{entities}\n],\n"relations": [\n{relations}\n]}}\n'.encode()


def from_bytes(data: bytes) -> Graph:
    """The graph that `to_bytes` wrote.

    Raises:
        ValueError: Invalid bytes; names the entry.
    """
    try:
        whole = json.loads(data)
        entries, relations = whole["entities"], whole["relations"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"not a graph: {type(error).__name__}") from None
    try:
        stated = [Relation(r["source"], r["target"], r["type"], r.get("since"), r.get("until")) for r in relations]
        return Graph.of(map(read_entity, entries), map(checked_relation, stated))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a graph: {type(error).__name__}: {error}") from None


def entity_wire(entity: Entity) -> dict[str, Any]:
    """An entity with the field names of `codex.json`, without empty fields."""
    stated = {
        "id": entity.id,
        "name": entity.name,
        "type": entity.type,
        "aliases": list(entity.aliases),
        "description": entity.description,
        "attributes": dict(sorted(entity.attributes.items())),
        "aiContextLevel": entity.level,
        "facts": [_stated_fields(fact, "text", "since", "until") for fact in entity.facts],
    }
    return {key: value for key, value in stated.items() if value not in ("", [], {})}


def read_entity(entry: dict[str, Any]) -> Entity:
    """The entity that `entity_wire` wrote; only id and name are needed.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: It is invalid.
    """
    return checked_entity(
        Entity(
            id=entry["id"],
            name=entry["name"],
            type=entry.get("type", "other"),
            aliases=tuple(entry.get("aliases", ())),
            description=entry.get("description", ""),
            attributes=dict(entry.get("attributes", {})),
            level=entry.get("aiContextLevel", "when_detected"),
            facts=tuple(Fact(fact["text"], fact.get("since"), fact.get("until")) for fact in entry.get("facts", ())),
        )
    )


def _stated_fields(record: Fact | Relation, *names: str) -> dict[str, Any]:
    """Fields of a record, without those that are None."""
    return {name: value for name in names if (value := getattr(record, name)) is not None}


def _lines(values: Iterable[dict[str, Any]]) -> str:
    return ",\n".join(json.dumps(value, ensure_ascii=False) for value in values)


logger = logging.getLogger("armarius")

PROGRAM = "nervusdb"
_NAMES = (PROGRAM, "nervusdb-cli")  # of today, and as it was published up to 0.0.8
_MAX_BYTES = 64 << 20
_LONGEST_ARGUMENT = 8_000  # bytes of a statement; a longer one is passed in a file (Windows allows 32 KB)
_ONE_BY_ONE = 4  # for more ids reading all nodes of a label needs fewer processes

Row = dict[str, str]


class NervusDBGraph:
    """`GraphStore` over a NervusDB database. Calls of all processes are serialised: the database admits one at a time.

    Args:
        path: The database folder; the program creates it.
        program: The program; None looks up `NERVUSDB_BIN`, the user's configuration, then `nervusdb` and `nervusdb-cli`
            on the PATH, at every call.
        timeout_s: Seconds for each run, and for the lock of the database.
        project: A bare program name is never resolved inside this folder, nor in the current directory.

    Raises:
        GraphError: From every method: no program, a timeout, an error, or invalid output. The message has no path and
            no statement; the program's output is logged at debug level.
        ValueError: An id with a lone surrogate.

    Cost: one process per statement: two for `neighbors`, two or three for a write, at most four per level of a walk.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        program: str | PathLike[str] | None = None,
        timeout_s: float = 10.0,
        project: str | PathLike[str] | None = None,
    ) -> None:
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 - not resolved: a database may be a link
        self._program = None if program is None else os.fspath(program)
        self._project = None if project is None else Path(project)
        self._timeout = timeout_s
        self._lock = threading.Lock()
        self._changes, self._files = 0, ""

    def stamp(self) -> int:
        """Differs after every change, also by another process; reads the metadata of the database files."""
        with self._lock:
            self._look()
            return self._changes

    def neighbors(self, entity_id: str, /, *, limit: int = 1000) -> Sequence[Relation]:
        """See `GraphStore`."""
        limit = whole("limit", limit, least=1)
        with self._exclusive_lock():
            return sort_relations(self._relations_of([entity_id]))[:limit]

    def subgraph(self, entity_ids: Sequence[str], /, *, depth: int = 1, limit: int = 1000) -> Graph:
        """See `GraphStore`."""
        with self._exclusive_lock():
            return walk(entity_ids, depth=depth, limit=limit, entities=self._entities, touching=self._relations_of)

    def snapshot(self) -> Graph:
        """See `GraphStore`; two processes."""
        with self._exclusive_lock():
            return Graph.of(self._all_entities(), self._all_relations())

    def upsert_entity(self, entity: Entity, /) -> None:
        """See `GraphStore`; read first, as there is no MERGE."""
        entity = checked_entity(entity)
        wanted = _entity_row(entity)
        with self._exclusive_lock():
            rows = self._rows("Entity", _ENTITY, ("id", entity.id))
            if not rows:
                self._write(f"CREATE {create('n', 'Entity', wanted)}")
            elif any(row != wanted for row in rows):
                self._write(f"{match('n', 'Entity', 'id', entity.id)} {update('n', wanted)}")

    def upsert_relation(self, relation: Relation, /) -> None:
        """See `GraphStore`; relation and edges are made by one statement."""
        relation = checked_relation(relation)
        wanted = {name: "" if (value := getattr(relation, name)) is None else str(value) for name in _RELATION}
        key = "|".join(encode(part).replace("|", "%7C") for part in relation_key(relation))
        with self._exclusive_lock():
            rows = self._rows("Relation", _RELATION, ("key", key))
            if rows:
                if any(row != wanted for row in rows):
                    self._write(f"{match('r', 'Relation', 'key', key)} {update('r', wanted)}")
                return
            for end in (relation.source, relation.target):
                if not self._rows("Entity", ("id",), ("id", end)):
                    raise UnknownId(f"no entity has the id {end!r}")
            self._write(
                f"{match('a', 'Entity', 'id', relation.source)} {match('b', 'Entity', 'id', relation.target)} "
                f"CREATE (a)-[:SOURCE_OF]->{create('r', 'Relation', {'key': key, **wanted})}-[:TO]->(b)"
            )

    def delete_entity(self, entity_id: str, /) -> None:
        """See `GraphStore`; relations first, so that none is left without an end."""
        with self._exclusive_lock():
            for key in ("source", "target"):
                self._write(f"{match('r', 'Relation', key, entity_id)} {delete('r')}")
            self._write(f"{match('n', 'Entity', 'id', entity_id)} {delete('n')}")

    def _entities(self, ids: Sequence[str]) -> list[Entity]:
        if len(ids) > _ONE_BY_ONE:
            wanted = set(ids)
            return [entity for entity in self._all_entities() if entity.id in wanted]
        return [_entity(row) for id_ in ids for row in self._rows("Entity", _ENTITY, ("id", id_))]

    def _relations_of(self, ids: Sequence[str]) -> list[Relation]:
        if len(ids) > _ONE_BY_ONE:
            wanted = set(ids)
            return [edge for edge in self._all_relations() if edge.source in wanted or edge.target in wanted]
        ends = [(key, id_) for id_ in ids for key in ("source", "target")]
        return [_relation(row) for end in ends for row in self._rows("Relation", _RELATION, end)]

    def _all_entities(self) -> list[Entity]:
        return [_entity(row) for row in self._rows("Entity", _ENTITY)]

    def _all_relations(self) -> list[Relation]:
        return [_relation(row) for row in self._rows("Relation", _RELATION)]

    def _rows(self, label: str, columns: Sequence[str], where: tuple[str, str] | None = None) -> list[Row]:
        """The nodes with this label as plain text, sorted; missing properties are ""."""
        start = f"MATCH (n:{label})" if where is None else match("n", label, *where)
        output = self._run("query", f"{start} RETURN {', '.join(f'n.{column}' for column in columns)}")
        rows = []
        for line in output.splitlines():
            if line.strip():
                row = _object(line)
                rows.append({column: _property_text(row.get(f"n.{column}")) for column in columns})
        return sorted(rows, key=lambda row: tuple(row.values()))

    def _look(self) -> None:
        files = self._state()
        if files != self._files:
            self._files = files
            self._changes += 1

    def _state(self) -> str:
        """Names, sizes and times of all files of the database."""
        stamps = []
        for folder, _, names in os.walk(self.path):
            for name in names:
                with suppress(OSError):
                    info = os.lstat(os.path.join(folder, name))  # noqa: PTH118 - asked for before every answer
                    stamps.append(f"{folder}/{name}:{info.st_size}:{info.st_mtime_ns}")
        return "\n".join(sorted(stamps))

    def _write(self, statement: str) -> None:
        with self._lock:
            self._changes += 1
        if not isinstance(_object(self._run("write", statement)).get("count"), int):
            raise GraphError("the graph program did not say how much it wrote")

    def _run(self, verb: Literal["query", "write"], statement: str) -> bytes:
        try:
            size = len(statement.encode())
        except UnicodeEncodeError:
            raise ContractError("an id holds a lone surrogate") from None
        command = [self._find(), "v2", verb, "--db", str(self.path)]
        if size <= _LONGEST_ARGUMENT:
            return self._answer([*command, "--cypher", statement])
        with scratch_folder() as folder:
            file = folder / "statement.cypher"
            write_atomic(file, statement.encode())
            return self._answer([*command, "--file", str(file)])

    def _answer(self, command: Sequence[str]) -> bytes:
        path = child_path(self._project)
        status, output, errors = run(command, timeout_s=self._timeout, max_bytes=_MAX_BYTES, path=path)
        if status != 0:
            logger.debug("%s failed with status %d: %s", PROGRAM, status, errors)
            raise GraphError(f"the graph program failed with status {status}")
        return output

    def _find(self) -> str:
        try:
            named = ("the given program", self._program) if self._program else None
            named = named or named_by_user(PROGRAM, "NERVUSDB_BIN", project=self._project)
        except ConfigError as error:
            raise GraphError(f"no graph program: {error}") from None
        where, names = (named[0], named[1:]) if named else (f"{PROGRAM} on the PATH", _NAMES)
        for name in names:
            if path := find_program(name, project=self._project):
                return path
        raise GraphError(f"no graph program: {where} cannot be run")

    @contextmanager
    def _exclusive_lock(self) -> Iterator[None]:
        """Hold the lock against other threads and processes for a read and write."""
        try:
            inside = self._project if self._project and self.path.is_relative_to(self._project) else None
            with folder_lock(self.path.parent, name=f".{self.path.name}.lock", timeout=self._timeout, below=inside):
                with self._lock:
                    self._look()
                try:
                    yield
                finally:
                    # Opening the database changes its files, but not the graph.
                    with self._lock:
                        self._files = self._state()
        except (StoreBusy, StoreFull) as error:
            raise GraphError(f"the graph database cannot be used: {type(error).__name__}") from None


def _property_text(value: object) -> str:
    """A property as text; one written by hand may be a number."""
    return decode(value) if isinstance(value, str) else "" if value is None else str(value)


def _object(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise GraphError("the graph program answered with something that is no JSON object")
    return row


def _entity_row(entity: Entity) -> Row:
    wire = entity_wire(entity)
    row = {column: wire.pop(column, "") for column in _ENTITY[:-1]}
    return {**row, "more": json.dumps(wire, ensure_ascii=False)}


def _entity(row: Mapping[str, str]) -> Entity:
    """An entity written by this class, or by hand with at least an id."""
    try:
        more = json.loads(row["more"] or "{}")
        stated = {column: row[column] for column in _ENTITY[:-1] if row[column]}
        return read_entity({"name": stated.get("id", ""), **more, **stated})
    except (ValueError, KeyError, TypeError, AttributeError):
        raise GraphError("the graph database holds an Entity that is none") from None


def _relation(row: Mapping[str, str]) -> Relation:
    try:
        since, until = (int(row[key]) if row[key] else None for key in ("since", "until"))
        return checked_relation(Relation(row["source"], row["target"], row["type"], since, until))
    except ValueError:
        raise GraphError("the graph database holds a Relation that is none") from None
