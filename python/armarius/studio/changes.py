"""What forms change: each handler returns the page to redirect to, or one to show; errors are shown in the form."""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from armarius.codex.in_place import SUFFIXES, add_in_place, changed_meanwhile, digest_of
from armarius.codex.model import Entity, Fact
from armarius.codex.record_file import FOLDER, RecordFile
from armarius.documents.kinds import STORY_KINDS
from armarius.engine.engine import ContextEngine
from armarius.errors import ConfigError, ContractError, DescribedElsewhere, UnknownDocument
from armarius.index.graph import FolderPages
from armarius.io import folder_lock, write_atomic
from armarius.io.toml import with_value
from armarius.io.write import Step, changed_files
from armarius.lorebooks.importing import import_manuscript, is_manuscript, story_folder
from armarius.prompt.profile import read_settings
from armarius.studio.pages import STYLE_PAGES, Page, Refused, limits_in
from armarius.text.unicode import fold
from armarius.trust.settings import CONFIG_NAME, parse_config
from armarius.validation import control_in

Form = dict[str, Any]
_MOST_STEPS = 20  # that can be undone
_PAGES = {"character": ("人物.md", "characters.md"), "location": ("地点.md", "places.md")}  # as `armarius new` makes
_HEADINGS = {"人物.md": "人物", "characters.md": "Characters", "地点.md": "地点", "places.md": "Places"}


def place_of(step: Step) -> str:
    """The first file of a step, and the line at which it differs, 1-based."""
    path, pair = next(iter(step.files.items()))
    before, after = ((data or b"").splitlines() for data in pair)
    same = sum(1 for _ in takewhile(lambda lines: lines[0] == lines[1], zip(before, after, strict=False)))
    return f"{path}:{same + 1}"


class Changes:
    """Handlers of forms; each returns the page to redirect to, or one to show. Errors are shown in the form.

    Args:
        engine: The engine to change.
        types: Types of entities by the words that pages say for them.
    """

    def __init__(self, engine: ContextEngine, types: Mapping[str, str]) -> None:
        self._engine = engine
        self._types = types
        root = engine.root
        self._pages = FolderPages(engine.index, engine.config)
        self._settled = (
            None if root is None else RecordFile(root, "studio.toml", tables=["settled"], check=lambda _: "")
        )
        self._ids, self._lock = count(1), threading.Lock()
        self._steps: dict[str, Step] = {}

    def handlers(self) -> dict[str, Callable[[Form], str | Page]]:
        """Every handler by the name of its form."""
        own = (
            *(self.alias, self.bring, self.create, self.delete, self.entity, self.entry, self.fact, self.kind),
            *(self.limits, self.merge, self.pin, self.propose, self.relate, self.settle, self.style, self.summary),
            *(self.unbook, self.understood, self.undo, self.unfact, self.unrelate),
        )
        every = {handler.__name__: handler for handler in own} | _records(self._engine)
        return {name: partial(self._with_plain_fields, handler) for name, handler in every.items()}

    def _with_plain_fields(self, handler: Callable[[Form], str | Page], form: Form) -> str | Page:
        """Call a handler with line feeds at the ends of lines, where browsers send carriage returns too.

        `to` leads on. Other processes wait from the look at what the form began with until it is written.

        Raises:
            ContractError: A field holds a control character, which would make a page binary.
            StoreBusy, StoreFull: As `folder_lock`.
        """
        plain = {name: value.replace("\r\n", "\n") if isinstance(value, str) else value for name, value in form.items()}
        for name, value in plain.items():
            if isinstance(value, str) and (control := control_in(value)):
                raise ContractError(f"{name} holds the control character {control}")
        root = self._engine.root
        if root is None or handler == self.bring:  # a manuscript may take long
            answer = handler(plain)
        else:
            with folder_lock(root / FOLDER, below=root), self._pages.step():
                self._engine.index.freshen()
                answer = handler(plain)
        return f"/{plain['to'].lstrip('/')}" if isinstance(answer, str) and "to" in plain else answer

    def keep(self, changes: Mapping[Path, bytes | None]) -> str:
        """The id of a new step that a form made, "" where it changed no file of the project."""
        root = self._engine.root
        if root is None or not (step := Step.of(changes, root)).files:
            return ""
        with self._lock:
            id_ = str(next(self._ids))
            self._steps[id_] = step
            for old_id in [*self._steps][:-_MOST_STEPS]:
                del self._steps[old_id]
        return id_

    def step(self, id_: str) -> "Step | None":
        """A step that can be undone still."""
        return self._steps.get(id_)

    def undo(self, form: Form) -> str:
        """Give the files of a step what they held before it; refused if one has been changed since."""
        root, step = self._engine.root, self._steps.get(form["id"])
        if root is None or step is None:
            raise Refused("meanwhile")
        step.undo(root)
        self._engine.refresh()
        return "/"

    def settled(self) -> dict[str, str]:
        """The doubts that the writer has settled: id, and what each is about."""
        records = () if self._settled is None else self._settled.records()
        return {record.id: str((record.data or {}).get("about", "")) for record in records}

    def entity(self, form: Form) -> str:
        """Write the fields of an entity that say something else than the form began with."""
        codex = self._engine.codex
        entity = codex.get(form["id"])
        form = form | {name: self._types.get(form[name], form[name]) for name in form.keys() & {"type", "was_type"}}
        changes: dict[str, Any] = {}
        for name in ("type", "level", "description"):
            if name in form and _is_changed(form, name, getattr(entity, name)):
                changes[name] = form[name].strip() if name == "description" else _text(form, name)
        key = form.get("key", "").strip()
        if key and _is_changed(form, "value", " ".join(entity.attributes.get(key, "").split())):
            changes["attributes"] = {key: form["value"].strip()}
        if more := form.get("more", "").strip():
            changes["description"] = f"{entity.description}\n{more}".strip()
        if changes:
            codex.update(entity.id, **changes)
        return _entity(entity.id)

    def alias(self, form: Form) -> str:
        """Add another name of an entity; with `gone`, take it back."""
        entity, alias = self._engine.codex.get(form["id"]), _text(form, "alias")
        kept = [name for name in entity.aliases if name != alias]
        aliases = kept if "gone" in form else [*entity.aliases, alias]
        self._engine.codex.update(entity.id, aliases=aliases)
        return _entity(entity.id)

    def create(self, form: Form) -> str:
        """Add an entity."""
        name, aliases = _text(form, "name"), _names(form.get("aliases", ""))
        return _entity(self._add(name, form.get("type", "other"), aliases, form.get("description", "").strip()))

    def _add(self, name: str, type_: str, aliases: list[str], description: str = "") -> str:
        """The id of a new entity: a section of the page of people or of places, else a record."""
        engine, codex = self._engine, self._engine.codex
        names = {fold(alias) for entity in engine.entities() for alias in (entity.name, *entity.aliases)}
        free = names.isdisjoint(fold(alias) for alias in (name, *aliases))
        if engine.root is not None and free and type_ in _PAGES:
            paths = self._pages_for(type_, name)
            if any(add_in_place(self._pages, path, name, type_, title=_HEADINGS.get(path, "")) for path in paths):
                made = codex.get(name)
                stated: dict[str, Any] = {"aliases": aliases, "description": description}
                codex.update(made.id, **{key: value for key, value in stated.items() if value})
                return made.id
        return codex.create(name, type=type_, aliases=aliases, description=description).id

    def _pages_for(self, type_: str, name: str) -> list[str]:
        """Pages for somebody new: the one that describes most people by name, and the one that `armarius new` makes."""
        described = Counter(
            origin.path
            for entity in self._engine.entities()
            for origin in entity.origins
            if entity.type == type_ == "character" and origin.path.endswith(SUFFIXES) and entity.name in origin.section
        )
        root, pages = self._engine.root, _PAGES[type_]
        usual = next((page for page in pages if root is not None and (root / page).is_file()), pages[name.isascii()])
        return [*(path for path, _ in described.most_common(1)), usual]

    def delete(self, form: Form) -> str:
        """Delete an entity, or its record over a file, with the relations that were added to it."""
        self._engine.codex.delete(form["id"], relations=True)
        return "/entities"

    def merge(self, form: Form) -> str:
        """Make one of two that are the same: the other goes, its names, attributes, facts and relations stay."""
        codex, other = self._engine.codex, self._other_entity(form)
        entity = codex.get(form["id"])
        changes, stated = _merge_entities(entity, other), codex.related()
        moved = [
            edge
            for edge in codex.relations()
            if other.id in (edge.source, edge.target) and (edge.source, edge.target, edge.type) in stated
        ]
        with changed_files() as written:
            try:
                codex.update(entity.id, force=True, **changes)
                codex.delete(other.id, relations=True)
            except DescribedElsewhere:
                if self._engine.root is not None:
                    Step.of(written, self._engine.root).undo(self._engine.root)
                written.clear()
                raise
        for edge in moved:
            source, target = (entity.id if end == other.id else end for end in (edge.source, edge.target))
            if source != target:
                codex.relate(source, target, edge.type, since=edge.since, until=edge.until)
        return _entity(entity.id)

    def _other_entity(self, form: Form) -> Entity:
        other = self._engine.codex.get(_text(form, "other"))
        if other.id == self._engine.codex.get(form["id"]).id:
            raise ContractError("other must be somebody else")
        return other

    def relate(self, form: Form) -> str:
        """Add a relation."""
        self._engine.codex.relate(form["id"], _text(form, "other"), _text(form, "type"), since=_chapter(form))
        return _entity(form["id"])

    def unrelate(self, form: Form) -> str:
        """Remove a relation that was added here."""
        self._engine.codex.unrelate(form["source"], form["target"], form["type"])
        return _entity(form["id"])

    def fact(self, form: Form) -> str:
        """Add what holds from a chapter on."""
        entity = self._engine.codex.get(form["id"])
        self._engine.codex.update(entity.id, facts=[*entity.facts, Fact(_text(form, "text"), _chapter(form))])
        return _entity(entity.id)

    def unfact(self, form: Form) -> str:
        """Take back what holds from a chapter on."""
        entity = self._engine.codex.get(form["id"])
        kept = [fact for fact in entity.facts if fact.text != form["text"]]
        if len(self._engine.codex.update(entity.id, facts=kept).facts) > len(kept):  # those of a file hold again
            raise DescribedElsewhere(f"it is described in {entity.origins[0].path}: delete it there")
        return _entity(entity.id)

    def entry(self, form: Form) -> str:
        """Set when an entry of a lorebook is active."""
        book = self._engine.books[form["id"]]
        entry = book.entry(form["entry"])
        if _is_changed(form, "level", entry.level):
            self._engine.books.update(book.with_entry(entry.changed(level=form["level"])))
        return f"/book/{quote(book.id, safe='')}"

    def unbook(self, form: Form) -> str:
        """Take a lorebook out of the project."""
        self._engine.books.delete(form["id"])
        return "/bring"

    def propose(self, form: Form) -> str:
        """Add names that the text uses, each with its aliases."""
        wanted = [json.loads(row) for row in form["every"].getlist("name")]
        for name, kind, aliases in wanted:
            type_ = {"person": "character", "place": "location"}.get(kind, "item")
            self._add(name, type_, aliases)
        return "/inbox"

    def summary(self, form: Form) -> str:
        """Keep the summary of a chapter; an empty one is deleted, and one that is saved as it was holds again."""
        summaries, document, text = self._engine.summaries, form["document"], form.get("text", "").strip()
        now = next((summary.text.strip() for summary in summaries.list() if summary.document == document), "")
        if text == now or _is_changed({**form, "text": text}, "text", now):
            summaries.set(document, text) if text else summaries.delete(document)
        return "/notes#summaries"

    def style(self, form: Form) -> str:
        """Write the file that says how to write; refused if it changed since it was shown."""
        path, root, expect = form["path"], self._engine.root, form.get("expect", "")
        others = {document.path for document in self._engine.documents() if document.kind not in STORY_KINDS}
        if root is None or path not in (others if expect else STYLE_PAGES.values()):
            raise UnknownDocument(f"no such document: {path[:200]!r}")
        text = _text(form, "text")

        def edit(now: str, _: object) -> str:
            if expect != (digest_of(now) if now else ""):
                raise changed_meanwhile(path)
            return f"{text}\n".replace("\n", "\r\n" if "\r\n" in now else "\n")

        self._pages.change(path, edit)
        return "/notes#style"

    def limits(self, form: Form) -> str:
        """Keep budget and model of the project, as lines of armarius.toml."""
        budget, model = _text(form, "budget"), _text(form, "model")
        if not budget.isascii() or not budget.isdigit():
            raise Refused("number")

        def edit(text: str) -> str:
            tokens, name = limits_in(self._engine, parse_config(text))
            written: str | None = text
            if _is_changed(form, "budget", str(tokens)):
                written = with_value(text, "budget", "tokens", int(budget))
            if written is not None and _is_changed(form, "model", name):
                written = with_value(written, "assembly", "model", model)
            if written is None:
                raise ConfigError(f"{CONFIG_NAME}: no line can be put into it; write [budget] tokens = {budget}")
            read_settings(parse_config(written))
            return written

        self._engine.index.authored.change_config(edit)
        self._engine.refresh()
        return "/"

    def kind(self, form: Form) -> str:
        """Say what files are; a kind that is saved as it was guessed is declared."""
        for path in form["every"].getlist("path") or [form["path"]]:
            file = self._engine.index.map.files.get(path)
            now = form["kind"] if file is None else file.kind
            if _is_changed(form, "kind", now) or form["kind"] == now:
                self._engine.set_kind(path, form["kind"])
        return "/inbox"

    def settle(self, form: Form) -> str:
        """Remember that a doubt is settled, or with `undo` no longer."""
        if self._settled is not None:
            exists, undo = form["id"] in self.settled(), form.get("undo") == "yes"
            if undo and exists:
                self._settled.remove("settled", form["id"])
            elif not undo and not exists:
                self._settled.add("settled", {"id": form["id"], "about": form.get("about", "")})
        return "/inbox"

    def understood(self, form: Form) -> str | Page:
        """Show what a language model's reply proposes; with `write`, declare what is ticked."""
        question, reply = self._engine.understanding_request(), _text(form, "reply")
        if form["hash"] != question.hash:
            raise Refused("asked")
        result = question.parse(reply)
        if form.get("write") != "yes":
            return "question.html", {"question": question, "found": result, "reply": reply}
        ticked = form["every"].getlist("tick")
        result[:] = [item for item in result if f"{item.about} {item.name}" in ticked]
        result.apply(declared=True)
        self._engine.refresh()
        return "/inbox"

    def bring(self, form: Form) -> Page:
        """Show what a file of another program is; with `write`, bring it in."""
        file, write, root = form["every"].get("file"), form.get("write") == "yes", self._engine.root
        name = Path(str(getattr(file, "filename", "") or "")).name
        if not name:
            raise Refused("empty")
        with TemporaryDirectory() as place:
            path = Path(place) / name
            write_atomic(path, file.file.read())
            if root is not None and is_manuscript(path):
                into = story_folder(self._engine.index.map.files.values())
                manuscript = import_manuscript(path, root, write=write, into=into)
                self._engine.refresh()
                return "brought.html", {"manuscript": manuscript, "report": None, "name": name, "written": write}
            importing = self._engine.importing
            report = (importing.add if write else importing.preview)(path)
        return "brought.html", {"manuscript": None, "report": report, "name": name, "written": write}

    def pin(self, form: Form) -> str:
        """Pin or mute an entity, a document, a paragraph or a tag, for the project."""
        self._engine.pins.add(_text(form, "target"), mute=form.get("mute") == "yes")
        return "/notes#pins"


def _records(engine: ContextEngine) -> dict[str, Callable[[Form], str | Page]]:
    """Handlers of lists: one that adds a text or changes the one with the id of the form, one that deletes."""

    def keep(records: Any, place: str, form: Form) -> str:  # noqa: ANN401 - rules, memories
        text = _text(form, "text")
        if not form.get("id"):
            records.create(text)
        elif _is_changed(form, "text", records.get(form["id"]).text):
            records.update(form["id"], text=text)
        return place

    def drop(records: Any, place: str, form: Form) -> str:  # noqa: ANN401 - rules, memories, pins
        records.delete(form["id"])
        return place

    rules, memories = (engine.constraints, "/notes#rules"), (engine.memories, "/notes#memories")
    return {
        "rule": partial(keep, *rules),
        "unrule": partial(drop, *rules),
        "memory": partial(keep, *memories),
        "forget": partial(drop, *memories),
        "unpin": partial(drop, engine.pins, "/notes#pins"),
    }


def _entity(id_: str) -> str:
    return f"/entity/{quote(id_, safe='')}"


def _text(form: Form, name: str) -> str:
    text: str = form.get(name, "").strip()
    if not text:
        raise Refused("empty")
    return text


def _chapter(form: Form) -> int | None:
    since = form.get("since", "").strip()
    if since and not (since.isascii() and since.isdigit()):
        raise Refused("number")
    return int(since) if since else None


def _names(text: str) -> list[str]:
    return [name for part in re.split(r"[、，,;；\n]", text) if (name := part.strip())]


def _is_changed(form: Form, name: str, now: str) -> bool:
    """Whether a field says something else than the form began with, which is in `was_` and its name.

    Raises:
        Refused: The value has been changed elsewhere, too.
    """
    value, now = form[name].strip(), now.strip()
    was = form.get(f"was_{name}", now).strip()
    if value in (now, was, was.replace("\n", "")):  # a field of one line has no ends of lines
        return False
    if was != now:
        raise Refused("meanwhile")
    return True


def _merge_entities(entity: Entity, other: Entity) -> dict[str, Any]:
    """The fields of an entity that say more with those of another one."""
    names = [name for name in (other.name, *other.aliases) if name not in (entity.name, *entity.aliases)]
    texts = [text for text in (entity.description, other.description) if text]
    merged = {
        "aliases": (*entity.aliases, *names),
        "description": "\n".join(dict.fromkeys(texts)),
        "attributes": {key: value for key, value in other.attributes.items() if key not in entity.attributes},
        "facts": [*entity.facts, *(fact for fact in other.facts if fact not in entity.facts)],
    }
    now = {"aliases": entity.aliases, "description": entity.description, "attributes": {}, "facts": [*entity.facts]}
    return {name: value for name, value in merged.items() if value != now[name]}
