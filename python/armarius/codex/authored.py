"""Entities and relations authored through the API, kept as TOML under `.armarius/`, merged over all other sources.

    [[entity]]
    id = "lin-xiaoyu"
    name = "林小雨"
    aliases = ["小雨"]
    level = "always"

    [entity.attributes]
    年龄 = "16"

    [[relation]]
    id = "r-0a1b2c3d"
    source = "lin-xiaoyu"
    target = "林默"
    type = "兄妹"

The file may be edited by hand: it is read again when it changes. `problems()` lists its errors with file and line; an
invalid record keeps its last valid state.
"""

import hashlib
from collections.abc import Callable, Container, Hashable, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property
from itertools import count
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from armarius.codex.codex_json import (
    IMPORTERS,
    RECORD_FIELDS,
    CodexFile,
    EntryReader,
    entity_record,
    normalize_value,
    record_error,
    record_fields,
    refuse_record,
)
from armarius.codex.collection import Listed
from armarius.codex.merge import merge
from armarius.codex.model import (
    Codex,
    Deleted,
    Entity,
    NameIndex,
    Relation,
    already_exists,
    places,
    refuse_duplicate_names,
)
from armarius.codex.protocol import Authored, Block, write_block
from armarius.codex.record_file import records_of
from armarius.errors import ArmariusError, CodexError, ContractError, DescribedElsewhere, UnknownId
from armarius.headings import count_noun, frame
from armarius.text.unicode import fold, slug
from armarius.validation import flag, near, shown, suggestion

if TYPE_CHECKING:
    from armarius.codex.in_place import Edit, Pages

_NAMED = frozenset({"id", "name"})


class AuthoredCodex(Listed[Entity]):
    """Entities and relations authored for one project.

    Authored entities are merged over `codex.json` and the profiles: the fields that they state override those of an
    entity with the same id in `codex.json`, and give way to what a page says, unless they were made over just that.
    `build_codex(…, authored=authored.read())` returns the merged codex.

    Args:
        authored: The source of the records, or a project folder.
        whole: Returns the current merged codex. With it, `list`, `get` and `relations` cover all entities, and `update`
            can override an entity of a profile or of `codex.json`.
        pages: Gives the Markdown pages of the project; without them an entity of a page is changed by a record over it.
    """

    def __init__(
        self,
        authored: Authored | Path,
        *,
        whole: Callable[[], Codex] | None = None,
        pages: "Callable[[], Pages] | None" = None,
    ) -> None:
        self._given_pages = pages
        self._file = records_of(
            authored, "codex", tables=["entity", "relation"], check=lambda b: record_error(b.table, b.data or {})
        )
        self._whole = whole

    @cached_property
    def _pages(self) -> "Pages":
        import armarius.codex.in_place as in_place  # for edits alone

        return (self._given_pages or in_place.Pages)()

    def __repr__(self) -> str:
        try:
            entities, relations = len(self.list()), len(self.relations())
            return f"<codex: {count_noun(entities, 'entity', 'entities')}, {count_noun(relations, 'relation')}>"
        except (ArmariusError, OSError) as error:
            return f"<codex: {type(error).__name__}>"

    def list(self) -> tuple[Entity, ...]:
        """All entities; without `whole` only the authored ones, with defaults for fields that are not stated."""
        if self._whole is not None:
            return self._whole().entities
        return merge(authored=self.read().drafts).entities

    def _written_entity(self, id_: str) -> Entity:
        """An entity that was just written, read from its file if the index does not have it yet."""
        entities = self.list()
        return _by_id(entities, id_) or _by_id(merge(authored=self.read().drafts).entities, id_) or self.get(id_)

    def _all_names(self, *, written: bool = True) -> NameIndex:
        """Index of all names, with `written`, which the project index may not have yet.

        Cost: reads every name of the codex.
        """
        if self._whole is None:
            return NameIndex(self.list())
        codex, drafts = self._whole(), self.read().drafts if written else ()
        return NameIndex((*merge(authored=drafts).entities, *codex.entities), others=codex.others)

    def _id(self, reference: str) -> str:
        """The id of the entity with that id, name or alias; an invalid record in the file is found by its id."""
        if self._record(reference) is not None:
            return reference
        entity = self._all_names().one(reference)
        if entity is None:
            raise self._unknown_entity(reference)
        return entity.id

    def relations(self) -> tuple[Relation, ...]:
        """All relations; without `whole` only the authored ones, with their ends as written."""
        if self._whole is not None:
            return self._whole().relations
        return tuple(
            Relation(item.source, item.target, item.type, item.since, item.until, item.origin)
            for item in self.read().relations
        )

    def get(self, id_: str, /) -> Entity:
        """One entity, by id, name or alias.

        Raises:
            UnknownId: No entity has that name (lists similar ones), or several have it (lists their ids). A KeyError.
        """
        entity = self._all_names(written=False).one(id_)
        if entity is None:
            raise self._unknown_entity(id_)
        return entity

    def create(
        self,
        name: str,
        *,
        id: str = "",  # noqa: A002
        force: bool = False,
        comment: str = "",
        **values: Any,  # noqa: ANN401
    ) -> Entity:
        """Add an entity with a name that no other entity has.

        Args:
            name: Its name.
            id: Used unchanged; derived from the name by default, as for a profile.
            force: Allow a name or alias that another entity has: two are meant. A derived id gets a number, and a
                profile that would be merged by its name gets a record with its id. Also a type that looks like a slip.
            comment: A line above the record in the file, for who edits it.
            values: `type` (`character`, 人物, or a word of its own), `aliases`, `description`, `attributes`, `level`
                (`always`, 总是, or as profiles say it), `facts`; other fields are not stated.

        Raises:
            CodexError: A value is invalid, or the id, the name or an alias belongs to another entity (names are
                compared folded: case, width, apostrophes); the error names that entity and its file.
            StoreFull: The file cannot be written; nothing has changed.

        Cost: reads every name of the codex, and writes the file.
        """
        force, name, values = flag("force", force), normalize_value(name, "name"), normalize_value(values)
        if not isinstance(name, str):
            raise CodexError(f"entity: name: expected a text, got {shown(name)}")
        refuse_record("entity", {"id": id, "name": name})
        if not id:
            refuse_record("entity", entity_record({"name": name, **values}))
        id_ = id or slug(name)
        data = entity_record({"id": id_, "name": name, **values})
        refuse_record("entity", data)
        who = self._all_names()
        if force and not id and id_ in who.entities:
            id_ = data["id"] = next(option for n in count(2) if (option := f"{id_}.{n}") not in who.entities)
        if id_ in who.entities:
            raise already_exists(id_, [who.entities[id_]])
        if not force:
            _refuse_type(data)
            refuse_duplicate_names(who, id_, name, data.get("aliases", ()))
        ids = {block.id for block in self._file.records() if block.table == "entity"}
        others = [
            {"id": entity.id, "name": entity.name}
            for entity in who.bearers(name, id_)
            if entity.id == slug(name) and entity.id not in ids and fold(entity.name) == fold(name)
        ]
        self._file.extend([("entity", record) for record in (*others, data)], comment=comment)
        return self._written_entity(id_)

    def extend(self, entities: Iterable[Entity], relations: Iterable[Relation] = ()) -> None:
        """Add new entities, and relations between ids, in one write: all or none.

        Raises:
            CodexError, StoreFull: As `create` and `relate`.
        """
        records = [
            ("entity", entity_record({key: getattr(entity, key, None) for key in RECORD_FIELDS})) for entity in entities
        ]
        ids = {block.id for block in self._file.records() if block.table == "relation"}
        for edge in relations:
            id_ = _free_id(edge.source, edge.target, edge.type, ids)
            ids.add(id_)
            stated = {key: getattr(edge, key) for key in ("source", "target", "type", "since", "until")}
            records.append(("relation", {"id": id_, **{k: v for k, v in stated.items() if v is not None}}))
        for table, data in records:
            refuse_record(table, data)
        self._file.extend(records)

    def update(self, id_: str, /, *, force: bool = False, expect: str = "", **changes: Any) -> Entity:  # noqa: ANN401
        """Change fields of an entity, all but its id; None unstates a field.

        A field is changed where it stands: in the Markdown page that says it, whose other bytes stay; an attribute
        whose value is "" goes. Somebody whom pages alone describe gets a new field in the page. The rest (what
        `codex.json`, data files or imported books say; a name, facts; what the page cannot say so) is an authored
        record, which holds until the page says something else. A list replaces the one there is; aliases of the file
        that are not given stand in the record as `without`.

        Args:
            id_: Of the entity, or its name or an alias.
            force: As for `create`.
            expect: The `digest` of a `preview`: the page must still be as it was then.
            changes: As for `create`, and `name`; `attributes` are those that change.

        Raises:
            UnknownId: No entity or several have that name.
            CodexError: A value is invalid, or another entity has the name, as for `create`; or the page has changed
                since `expect`, or while it was edited: nothing was written.
            StoreFull: The file cannot be written; nothing has changed.
        """
        import armarius.codex.in_place as in_place  # for edits alone

        force, id_, changes = flag("force", force), self._id(id_), normalize_value(changes)
        if changes.get("id", id_) != id_:
            raise CodexError(f"entity {shown(id_)}: id: stays as it is, got {shown(changes['id'])}")
        block = self._record(id_)
        data = self._recorded(id_, block, changes)
        refuse_record("entity", data, checked=block is None or block.data is None or "facts" in changes)
        if not force and "type" in changes:
            _refuse_type(data)
        if not force and not changes.keys().isdisjoint(("name", "aliases")):  # the check reads every name
            refuse_duplicate_names(self._all_names(), id_, data["name"], data.get("aliases", ()))
        edit, fields = self._page_edit(id_, changes)
        if edit is not None and expect and expect != edit.digest:
            raise in_place.changed_meanwhile(edit.path)
        with self._pages.step():
            self._relate_by_id(id_, data, changes)
            if edit is not None:
                in_place.write_in_place(self._pages, edit, self.get(id_), fields, expect=expect)
                self._record_rest(id_, block, changes, fields)
                changes = in_place.missing_fields(self.get(id_), fields)
                if not changes:
                    return self.get(id_)
                block = self._record(id_)
            self._write(id_, block, self._recorded(id_, block, changes))
        return self._written_entity(id_)

    def undo(self) -> tuple[str, ...]:
        """Take back the last `update` or `delete` that changed a Markdown page, also one of another process.

        Returns:
            The files that are as they were before it; none if there is nothing to take back.

        Raises:
            PageChanged: One of them has been changed since; nothing was written.
            StoreFull: A file cannot be written.
        """
        return self._pages.undo()

    def preview(self, id_: str, /, **changes: Any) -> "Edit":  # noqa: ANN401
        """What `update` would write, or without `changes` `delete`: the file, its text before and after; no write.

        Raises:
            As `update`, but for names that another entity has.
        """
        import armarius.codex.in_place as in_place  # for edits alone

        id_, changes = self._id(id_), normalize_value(changes)
        block = self._record(id_)
        before = "" if block is None else block.text
        if not changes:
            edit = None if block is not None else in_place.removal_in_place(self._pages, self.get(id_))
            return in_place.Edit(self._file.name, before, "") if edit is None else edit
        data = self._recorded(id_, block, changes)
        refuse_record("entity", data)
        edit, fields = self._page_edit(id_, changes)
        if edit is not None:
            data = self._recorded(id_, block, *in_place.split_changes(changes, fields))
        after = "" if data.keys() <= _NAMED and edit is not None else write_block("entity", data, before=block)
        of_record = in_place.Edit(
            self._file.name, before, before if block is not None and data == _block_fields(block) else after
        )
        return of_record if edit is None else replace(edit, also=of_record if of_record.diff else None)

    def _record(self, id_: str) -> Block | None:
        return next((b for b in self._file.records() if (b.table, b.id) == ("entity", id_)), None)

    def _recorded(
        self,
        id_: str,
        block: Block | None,
        changes: Mapping[str, Any],
        fields: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """The record with `changes`, without what a page has taken, and with what pages say of what it changes."""
        import armarius.codex.in_place as in_place  # for edits alone

        record = {} if block is None or block.data is None else record_fields(block.data)
        entity = _by_id(self.list(), id_)
        over = dict(record.get("over", {}))
        for name, key, value in in_place.flatten({name: value for name, value in changes.items() if name != "aliases"}):
            field = key or name
            now = "" if entity is None else entity.attributes.get(key, "") if key else str(getattr(entity, name))
            if now != str((record.get("attributes", {}) if key else record).get(field, "")):
                over[field] = now  # not the record's own value
            if value is None or not now or entity is None or not self._has_pages(entity):
                over.pop(field, None)
        for name, key, _ in in_place.flatten(fields):
            over.pop(key or name, None)
            if key:
                record["attributes"] = {
                    label: text for label, text in record.get("attributes", {}).items() if label != key
                }
            else:
                record.pop(name, None)
                record = {label: text for label, text in record.items() if label != "without" or name != "aliases"}
        name = record.get("name") or self.get(id_).name
        stated = {**record, **self._alias_changes(id_, record, changes)}
        if isinstance(labels := changes.get("attributes"), Mapping):  # "" goes over what a file says
            stated["attributes"] = {**record.get("attributes", {}), **labels}
        return entity_record({"name": name, **stated, "id": id_, "over": over})

    def _has_pages(self, entity: Entity) -> bool:
        """Whether other files than records, `codex.json` and imported books describe an entity."""
        paths = (origin.path for origin in entity.origins if not origin.path.startswith(".armarius/"))
        return any(PurePosixPath(path).name not in IMPORTERS for path in paths)

    def _record_rest(
        self, id_: str, block: Block | None, changes: Mapping[str, Any], fields: Mapping[str, Any]
    ) -> None:
        """Write into the record what the page did not take of `changes`, and take out of it what the page says now."""
        import armarius.codex.in_place as in_place  # for edits alone

        data = self._recorded(id_, block, *in_place.split_changes(changes, fields))
        if block is not None and data.keys() <= _NAMED and id_ == slug(data["name"]):
            self._file.remove("entity", id_)
        elif not data.keys() <= _NAMED:
            self._write(id_, block, data)

    def _write(self, id_: str, block: Block | None, data: dict[str, Any]) -> None:
        if block is None or block.data is None:
            self._file.add("entity", data)
        elif data != _block_fields(block):
            self._file.replace("entity", data)

    def _alias_changes(self, id_: str, record: Mapping[str, Any], changes: Mapping[str, Any]) -> Mapping[str, Any]:
        """`changes` of a record; of aliases also those that files give and that are to go, as `without`."""
        wanted, entity = changes.get("aliases"), _by_id(self.list(), id_)
        if (
            "aliases" not in changes
            or entity is None
            or all(origin.path == self._file.name for origin in entity.origins)
        ):
            return changes
        names = dict.fromkeys((*entity.aliases, *record.get("without", ()))) if isinstance(wanted, list | tuple) else ()
        return {**changes, "without": [name for name in names if name not in (wanted or ())]}

    def _relate_by_id(self, id_: str, data: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
        """Write the id into authored relations that name the entity as `changes` of its names no longer let them."""
        if changes.keys().isdisjoint(("name", "aliases")):
            return
        kept, who = {id_, *map(fold, (data["name"], *data.get("aliases", ())))}, self._all_names()
        for block in self._relation_blocks(id_):
            record = block.data or {}
            ends = {key: str(record[key]) for key in ("source", "target")}
            gone = [key for key, end in ends.items() if not {end, fold(end)} & kept and who.find(end) == id_]
            if gone:
                self._file.replace("relation", {**record, **dict.fromkeys(gone, id_)})

    def _page_edit(self, id_: str, changes: Mapping[str, Any]) -> "tuple[Edit | None, dict[str, Any]]":
        import armarius.codex.in_place as in_place  # for edits alone

        entity = _by_id(self.list(), id_)
        return (None, {}) if entity is None else in_place.edit_in_place(self._pages, entity, changes)

    def delete(self, id_: str, /, *, relations: bool = False) -> Deleted:
        """Remove the record of an entity, or without a record its section of the one Markdown page that describes it.

        Descriptions in data files, `codex.json` and imported books stay, and pages that are about nobody else.

        Args:
            id_: Of the entity, or its name or an alias.
            relations: Also remove the authored relations that begin or end at it; pages that say some keep their text.

        Returns:
            What was removed, and where the entity is described still.

        Raises:
            UnknownId: No entity or several have that name.
            CodexError: It stands where nothing can be removed (lists the files), or the page changed meanwhile. Or, in
                an opened project, nothing else describes it and relations need it (lists them, with their files);
                those of `codex.json` in any case.
        """
        import armarius.codex.in_place as in_place  # for edits alone

        id_ = self._id(id_)
        written = self._record(id_) is not None
        edit = None if written else in_place.removal_in_place(self._pages, self.get(id_))
        if not written and edit is None:
            where = places(self.get(id_))
            message = f"entity {id_!r} is described in {where}: delete it there, or set its level to never"
            raise DescribedElsewhere(message)
        done = Deleted(id_, "record", self._file.name) if edit is None else Deleted(id_, "section", edit.path)
        entity = _by_id(self.list(), id_)
        left = () if entity is None else tuple(str(origin) for origin in entity.origins if origin.path != done.path)
        if self._whole is not None and not left:
            self._refuse_dangling(id_, relations=relations)
        with self._pages.step():
            for block in self._relation_blocks(id_) if relations else ():
                self._file.remove("relation", block.id)
            if edit is not None:
                in_place.write_in_place(self._pages, edit, self.get(id_), None)
            else:
                self._file.remove("entity", id_)
        return replace(done, left=left)

    def _relation_blocks(self, id_: str) -> tuple[Block, ...]:
        """The authored relations that begin or end at an entity, matched by any of its names."""
        blocks = [block for block in self._file.records() if block.table == "relation"]
        if not blocks:
            return ()
        names = self._all_names()
        return tuple(
            block
            for block in blocks
            if id_ in {names.find(str((block.data or {}).get(key, ""))) for key in ("source", "target")}
        )

    def _refuse_dangling(self, id_: str, *, relations: bool) -> None:
        """Refuse to delete an entity that relations need: with `relations` those that only a file can give up."""
        entity = _by_id(self.list(), id_)
        others = NameIndex([item for item in self.list() if item.id != id_])
        if entity is not None and others.find(entity.name) is not None:
            return  # they name that one then
        own = set() if entity is None else {(origin.path, origin.section) for origin in entity.origins}
        authored = [] if relations else [block.data or {} for block in self._relation_blocks(id_)]
        needed = [f"{record.get('source')} -{record.get('type')}-> {record.get('target')}" for record in authored]
        how = "unrelate them, or delete it with `relations`"
        for edge in self.relations():
            path, section = ("", "") if edge.origin is None else (edge.origin.path, edge.origin.section)
            if id_ not in (edge.source, edge.target) or path in ("", self._file.name) or (path, section) in own:
                continue
            declared = PurePosixPath(path).name in IMPORTERS
            if declared or not relations:
                needed.append(f"{edge.source} -{edge.type}-> {edge.target} ({path})")
            if declared:
                how = f"delete them in {path} first"
        if needed:
            named = f"{', '.join(needed[:3])}{', …' if len(needed) > 3 else ''}"
            what = f"{count_noun(len(needed), 'relation')}, which would lead nowhere: {named}"
            raise CodexError(f"entity {id_!r} has {what}; {how}")

    def relate(
        self,
        source: str,
        target: str,
        type: str,  # noqa: A002 - the field's name
        *,
        since: int | None = None,
        until: int | None = None,
    ) -> None:
        """Add a relation between two entities, by id, name or alias, or change the chapters of an existing one.

        The record has their ids: a name that goes later takes no relation along.

        Raises:
            CodexError: A value is wrong; or, in an opened project, an end that names no entity.
            ContractError: Both ends are one entity.
            UnknownId: Several entities have the name of an end; lists their ids.
        """
        for field, value in (("source", source), ("target", target), ("type", type)):
            refuse_record("relation", {"id": "new", "source": "new", "target": "new", "type": "new", field: value})
        who = self._all_names()
        for field, end in (("source", source), ("target", target)):
            if who.one(end) is None and self._whole is not None:
                raise CodexError(f"relation.{field}: no entity is called {shown(end)}")
        if source == target or (who.one(source) or source) == who.one(target):
            raise ContractError(f"relation.target: {shown(target)} is the source too; a relation has two entities")
        self._relate(who, source, target, type, since, until)

    def put_relation(self, relation: Relation) -> None:
        """As `relate`, between ids that exist; both ends may be one entity, as a `GraphStore` allows."""
        self._relate(self._all_names(), relation.source, relation.target, relation.type, relation.since, relation.until)

    def _relate(
        self, who: NameIndex, source: str, target: str, type_: str, since: int | None, until: int | None
    ) -> None:
        written = self._relation(who, source, target, type_)
        ids = {block.id for block in self._file.records() if block.table == "relation"}
        id_ = _free_id(source, target, type_, ids) if written is None else written.id
        ends = {"source": who.find(source) or source, "target": who.find(target) or target}
        data = {"id": id_, **ends, "type": type_, "since": since, "until": until}
        data = {key: value for key, value in data.items() if value is not None}
        refuse_record("relation", data)
        (self._file.add if written is None else self._file.replace)("relation", data)

    def related(self) -> set[tuple[str, str, str]]:
        """Source, target and type of the authored relations, as they were written."""
        records = [block.data or {} for block in self._file.records() if block.table == "relation"]
        return {(str(record.get("source")), str(record.get("target")), str(record.get("type"))) for record in records}

    def _relation(self, who: NameIndex, source: str, target: str, type_: str) -> Block | None:
        """The record of this type between these two entities, matched by any of their names."""
        ends = [who.meant(end) or (end,) for end in (source, target)]
        for block in self._file.records():
            data = block.data or {}
            if block.table == "relation" and data.get("type") == type_:
                names = [str(data.get(key)) for key in ("source", "target")]
                if names == [source, target] or [who.meant(end) or (end,) for end in names] == ends:
                    return block
        return None

    def unrelate(self, source: str, target: str, type: str) -> Deleted:  # noqa: A002
        """Remove an authored relation, its ends by id, name or alias; UnknownId, which is a KeyError, for none."""
        if written := self._relation(self._all_names(), source, target, type):
            self._file.remove("relation", written.id)
            return Deleted(written.id, "record", self._file.name)
        ends = (source, target, type)
        there = sorted(" ".join(row) for row in self.related())
        close = near(" ".join(shown(end).strip("'") for end in ends), there)
        what = f"{shown(source)} -{shown(type)[1:-1]}-> {shown(target)}"
        raise UnknownId(f"no authored relation {what}{suggestion(close)}", close)

    def read(self) -> CodexFile:
        """All authored records in the form that `build_codex` takes; its errors are `problems()`."""
        result = CodexFile()
        reader = EntryReader(self._file.name, result)
        for block in self._file.records():
            reader.record(block.table, block.data or {}, f"{block.table} ({block.id!r})", block.line)
        result.errors = list(self.problems())
        return result

    def problems(self) -> tuple[CodexError, ...]:
        """Current errors of the file."""
        return self._file.problems()

    def _unknown_entity(self, id_: str) -> UnknownId:
        close = near(id_, [called for entity in self.list() for called in (entity.name, *entity.aliases, entity.id)])
        return UnknownId(f"no entity has the id or name {shown(id_)}{suggestion(close)}", close)

    def stamp(self) -> Hashable:
        """Changes with every write to the file, also by other programs."""
        return self._file.stamp()


def _free_id(source: str, target: str, type_: str, ids: Container[str]) -> str:
    digest = hashlib.blake2b(f"{source}\n{target}\n{type_}".encode("utf-8", "replace")).hexdigest()
    return next(id_ for size in (8, 16, 32, 128) if (id_ := f"r-{digest[:size]}") not in ids)


def _by_id(entities: Iterable[Entity], id_: str) -> Entity | None:
    return next((entity for entity in entities if entity.id == id_), None)


BY_FORCE = "; with `force` it is one of its own"
"""What `create` and `update` can do with a type that looks like a slip; tools of an agent cannot."""


def _refuse_type(data: dict[str, Any]) -> None:
    """Refuse a slip of the pen for a type; any other word is a type of its own."""
    word, types = str(data.get("type", "other")), (*frame().types, "other")
    if word not in types and (close := get_close_matches(fold(word), types, cutoff=0.88)):
        what = f"type: {shown(word)} is none of {', '.join(types)}{suggestion(close)}"
        raise CodexError(f"entity {shown(data['id'])}: {what}{BY_FORCE}")


def _block_fields(block: Block) -> dict[str, Any]:
    return entity_record(record_fields(block.data or {}))
