"""A reply to the one question of `asking.py` as proposals: every entry alone, as weak models write it too."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal, cast, get_args

from armarius.arguments import KINDS, Edition, Kind
from armarius.codex.load import profiles_in
from armarius.documents.classify import is_closed, matching_files
from armarius.documents.decide import decide
from armarius.documents.kinds import EDITION_WORDS, KIND_OF_WORD, LANGUAGE_WORDS, glob
from armarius.documents.project_map import ProjectMap
from armarius.documents.titles import group_of, is_generic
from armarius.engine.asking import Asking, Group, line_key, table_row
from armarius.errors import ContractError
from armarius.headings import ResultList, count_noun
from armarius.lexicon import word_file
from armarius.text.chat import read_answers, reply_text
from armarius.text.unicode import fold, is_han
from armarius.trust.settings import ABOUT, OF_PEOPLE, FileLine, PeopleTable
from armarius.validation import shown

_MOST_LINES: Final = 60  # paths that one answer may become
_LONGEST: Final = 80  # code points of a name
About = Literal["files", "read", "person", "table", "no name", "project"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a model proposes: lines of armarius.toml.

    Attributes:
        about: What it is about.
        name: The group or path of the files, the name of the person, or what is said of the project.
        says: What is proposed.
        now: What it is now, "" where nothing is known.
        files: How many files it is about.
        enters: Paths, or names of cards, that prompts of tasks have with it and did not have; paths that are read then.
        leaves: That they had and have in answers to questions alone, or of somebody who is nobody.
        warning: Why it should be looked at, "" for nothing.
        lines: The lines that say it: table, key and value.
    """

    about: About
    name: str
    says: str
    now: str = ""
    files: int = 0
    enters: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    warning: str = ""
    lines: tuple[tuple[str, str, Any], ...] = field(default=(), repr=False)


class Proposals(ResultList[Proposal]):
    """What a model proposes: an ordinary list, so that what is wrong can be taken out; written by `apply` alone.

    Attributes:
        model: Its name, which is written beside what is applied.
        refused: What of the reply could not be used, a sentence each.
        unsure: What the model itself doubts.
        cut: The reply ends in the middle; what is whole was taken.
    """

    noun = ("proposal", "proposals")
    columns = ("about", "name", "proposed", "now", "files", "enters", "leaves", "")

    def __init__(
        self,
        rows: Iterable[Proposal] = (),
        *,
        model: str = "",
        refused: Iterable[str] = (),
        unsure: Iterable[str] = (),
        cut: bool = False,
        write: Callable[["Proposals", bool], None] | None = None,
    ) -> None:
        super().__init__(rows)
        self.model, self.cut = model, cut
        self.refused, self.unsure = tuple(refused), tuple(unsure)
        self.every = tuple(self)
        self._write = write

    @classmethod
    def brief(cls, row: Proposal, /) -> str:
        """The name and what it is."""
        return f"{row.name}: {row.says}"

    @classmethod
    def cells(cls, row: Proposal, /) -> tuple[str, ...]:
        """One text for each column."""
        many = [str(len(paths) or "") for paths in (row.enters, row.leaves)]
        return row.about, row.name, row.says, row.now, str(row.files or ""), *many, row.warning

    def __str__(self) -> str:
        """A line for each proposal, and below it the files that enter and leave prompts."""
        lines = []
        for row in self:
            count = f" ({count_noun(row.files, 'file')})" if row.files else ""
            lines.append(
                f"{row.about}: {row.name}: {row.now or '–'} -> {row.says}{count}{row.warning and f'; {row.warning}'}"
            )
            lines += [f"  {verb}: {', '.join(paths)}" for verb in ("enters", "leaves") if (paths := getattr(row, verb))]
        return "\n".join(lines) or repr(self)

    def to_wire(self) -> dict[str, Any]:
        """The proposals as plain JSON."""
        names = [part.name for part in fields(Proposal) if part.name != "lines"]
        items = [{name: value for name in names for value in [getattr(proposal, name)]} for proposal in self]
        for item in items:
            item |= {key: [*item[key]] for key in ("enters", "leaves")}
        return {"items": items, "refused": [*self.refused], "unsure": [*self.unsure], "cut": self.cut}

    def apply(self, *, declared: bool = False) -> None:
        """Write all of them, or nothing, as `[proposed.*]` of armarius.toml, each in place of the line of its key.

        Other lines that were proposed before stay.

        Args:
            declared: A person has said yes to each: they stand in the user's own tables, and weigh as lines of theirs.

        What was taken out of the list, or out of armarius.toml since the last time, is not proposed again.

        Raises:
            ContractError: A slice, which knows no project: take out of the list itself what is not wanted.
            ConfigError, StoreFull: The file is wrong, or it cannot be written.
        """
        if self._write is None:
            raise ContractError("proposals: a slice cannot be applied; remove from the list what is not wanted")
        self._write(self, declared)


_KEYS: Final[Mapping[str, str]] = {
    word: key for key, words in word_file("kinds")["keys"].items() for word in (key, *words.split())
}
"""Word for a part of a reply, folded, to the part."""
_PARTS: Final = ("about", "files", "read", "people", "people_tables", "same", "no_names", "unsure")
_NUMBER: Final = re.compile(r"(?:(?i:g(?:roup)?)|[#组第])?\s*(\d{1,4})\.?组?")
_SAID: Final = re.compile("->|[:：=→]")
_WITH_ALIASES: Final = re.compile(r"([^(（]+)[(（](.+)[)）]")
_BETWEEN: Final = re.compile(r"[,，、;；/|]")
_OTHER_KINDS: Final[Mapping[str, Kind]] = {"manual": "note", "documentation": "note", "doc": "note"}
_COMMON: Final = frozenset(word for words in LANGUAGE_WORDS.values() for word in words) | {
    "he", "she", "it", "they", "i", "you", "we", "him", "her", "them", "me", "man", "woman", "boy", "girl", "his",
    "他", "她", "它", "我", "你", "他们", "她们", "我们", "你们", "某人", "自己", "彼", "彼女", "私",
}  # fmt: skip


class Reading:
    """Reads one reply."""

    def __init__(self, asking: Asking) -> None:
        self.asking = asking
        self.refused: list[str] = []
        self.rows: list[tuple[Proposal, Sequence[str]]] = []  # with the paths that it is about

    def proposals(self, reply: object, model: str, write: Callable[[Proposals, bool], None]) -> Proposals:
        """What is in it. Raises ContractError when there is nothing of the form."""
        parts, cut, formed = _parts_of(reply)
        if not parts and (cut or not formed):
            what = "is cut before its end" if cut else f"holds no JSON with {', '.join(_PARTS[:4])}"
            raise ContractError(f"model: the reply {what}")
        if cut:
            self.refused.append("the reply ends in the middle: what is whole was taken, ask again for the rest")
        self._project(parts.get("about"))
        self._files(parts.get("files"))
        self._propose_unread(parts.get("read"))
        self._people(parts.get("people"), parts.get("same"))
        self._tables(parts.get("people_tables"))
        self._propose_no_names(parts.get("no_names"))
        unsure = [
            f"{self._selected_files(*pair)[0] or pair[0]}: {_text(item.get('why'))}"
            for item in _list(parts.get("unsure"))
            if isinstance(item, dict) and not _is_form(pair := (item.get("g"), item.get("path")))
        ]
        rows = self._add_effects()
        return Proposals(rows, model=model, refused=self.refused, unsure=unsure, cut=cut, write=write)

    def _add(self, proposal: Proposal, paths: Sequence[str] = ()) -> None:
        lines = tuple(line for line in proposal.lines if line_key(line) not in self.asking.out)
        if not lines:
            self.refused.append(f"{shown(proposal.name)}: {proposal.says}: was taken out before")
        else:
            self.rows.append((proposal if lines == proposal.lines else replace(proposal, lines=lines), paths))

    def _project(self, values: object) -> None:
        for key, value in values.items() if isinstance(values, dict) else ():
            text = _text(value)
            now = self.asking.config.table("project").get(key, "")
            if key in ABOUT and text not in ("", now) and not _is_form(text):
                self._add(Proposal("project", key, text, now, lines=(("project", key, text[:200]),)))

    def _files(self, items: object) -> None:
        entries = []
        for selector, values in _entries(items):
            if _is_form(selector) or _is_form(values.get("kind")):
                continue
            name, paths, group = self._selected_files(*selector)
            kind, edition, place = (_text(values.get(key)) for key in ("kind", "edition", "place"))
            if not paths:
                self.refused.append(f"{name}: no file matches it")
            elif kind and (meaning := _kind_of(kind)) is None:
                self.refused.append(f"{name}: {shown(kind)} is no kind")
            elif edition and _edition_of(edition) is None:
                self.refused.append(f"{name}: {shown(edition)} is no edition")
            else:
                values = {"kind": meaning if kind else "", "edition": edition and _edition_of(edition)}
                if place and _place_of(place) is None:
                    self.refused.append(f"{name}: {shown(place)} is no place")
                values["place"] = _place_of(place) if place else ""
                stated = {key: value for key, value in values.items() if value}
                if stated:
                    entries.append((name, paths, group, stated))
                else:
                    self.refused.append(f"{name}: no kind, edition or place is given")
        changes = [self._changes(paths, stated) for _, paths, _, stated in entries]
        moved = {path for paths in changes for path in paths}
        for (name, paths, group, stated), changed in sorted(
            zip(entries, changes, strict=True), key=lambda pair: len(pair[0][1])
        ):
            broader = any(len(other) > len(paths) and {*paths} & {*other} for _, other, _, _ in entries)
            if not changed and not (broader and moved.intersection(paths)):
                continue  # nothing new, and nothing of the reply that would change it
            patterns = self._patterns(paths, group)
            if patterns is None:
                self.refused.append(f"{name}: no pattern matches these {len(paths)} files alone")
                continue
            value = stated["kind"] if stated.keys() == {"kind"} else stated
            claims = (("/read" if pattern == "read" else pattern, kept or value) for pattern, kept in patterns)
            lines = tuple(("documents", *pair) for pair in claims)
            says = ", ".join(value if key != "edition" else f"{value} edition" for key, value in stated.items())
            self._add(Proposal("files", name, says, self.asking.now(paths), len(paths), lines=lines), paths)

    def _changes(self, paths: Sequence[str], values: Mapping[str, str]) -> list[str]:
        """Of these files those that are taken for something else, or for the same with a doubt."""
        mapped = self.asking.view.map
        doubtful = {file.path for file in mapped.doubtful}
        return [
            path
            for path in paths
            for file in [self.asking.files[path]]
            if not file.declared
            and (
                values.get("kind", file.kind) != file.kind
                or path in doubtful
                or file.proposed
                or values.get("edition", file.edition) != file.edition
                or "place" in values
            )
        ]

    def _selected_files(self, number: object, path: object = None) -> tuple[str, Sequence[str], Group | None]:
        """What an answer is about: its name, its files, and the group."""
        groups, files = self.asking.groups, self.asking.files
        match = _NUMBER.fullmatch(str(number)) if number is not None else None
        if match is not None and 0 < int(match[1]) <= len(groups) and not path:
            group = groups[int(match[1]) - 1]
            return group.name, group.paths, group
        name = _text(path or number)
        if name in files:
            return name, [name], None
        same = [group for group in groups if name and group.name.strip("/") == name.strip("/")]
        if same:
            return same[0].name, same[0].paths, same[0]
        pattern = f"{name}**" if name.endswith("/") else name
        matching = glob(pattern) if name else None
        paths = [file for file in files if matching is not None and matching.matches(file)]
        if not paths and name and "*" not in name and match is not None:
            inside = groups[int(match[1]) - 1].name if 0 < int(match[1]) <= len(groups) else ""
            paths = [file for file in files if file == f"{inside}{name}"]
        if not paths and name and "*" not in name:
            ends = [file for file in files if file.endswith(f"/{name}")]
            paths = ends if len(ends) == 1 else []
        return pattern or str(number), paths, Group(pattern, paths) if len(paths) > 1 else None

    def _patterns(self, paths: Sequence[str], group: Group | None) -> list[tuple[str, str]] | None:
        """Patterns that match these files, and for what else they would match before them what that is taken for."""
        if group is not None and "*" in group.name and not group.series:
            return [(group.name, "")]  # what the model wrote itself
        if len(paths) <= 2 or group is None:
            return [(path, "") for path in paths] if len(paths) <= _MOST_LINES else None
        wanted, files = {*paths}, self.asking.files
        best: tuple[int, str, list[str]] | None = None
        for pattern in group.patterns():
            matched = {path for path in self.asking.view.map.files if glob(pattern).matches(path)}
            others = sorted(matched - wanted)
            if wanted <= matched and (best is None or len(others) < best[0]):
                best = len(others), pattern, others
        if best is None or (best[0] > len(paths) > 8 and best[0] > 2 * _MOST_LINES):
            return [(path, "") for path in paths] if len(paths) <= _MOST_LINES else None
        if best[0] and len(paths) <= 8:
            return [(path, "") for path in paths]
        kept = list[tuple[str, str]]()
        left = [path for path in best[2] if path in files]
        for other in sorted(self.asking.groups, key=lambda group: len(group.paths)):
            mine = [path for path in left if path in {*other.paths}]
            kinds = {files[path].kind for path in mine}
            pattern = next(other.patterns()) if len(mine) > 2 else ""
            if pattern and len(kinds) == 1 and not any(glob(pattern).matches(path) for path in wanted):
                kept.append((pattern, kinds.pop()))
                left = [path for path in left if path not in {*mine}]
        if len(left) > _MOST_LINES:
            return [(path, "") for path in paths] if len(paths) <= _MOST_LINES else None
        return [*((path, files[path].kind) for path in left), *kept, (best[1], "")]

    def _propose_unread(self, items: object) -> None:
        index, config = self.asking.index, self.asking.config
        for item in _list(items):
            pattern = _text(item)
            pattern = f"{pattern}**" if pattern.endswith("/") else pattern
            if _is_form(pattern):
                continue
            if not pattern or is_closed(pattern) or ".." in pattern.split("/") or index.root is None:
                self.refused.append(f"{shown(item)}: stays closed")
            elif not (paths := matching_files(index.root, config, pattern)):
                self.refused.append(f"{pattern}: no file matches it")
            elif any(part.startswith(".") for part in pattern.split("/")):
                new = tuple(path for path in paths if path not in self.asking.view.documents)
                line = ("documents", "read", pattern)
                self._add(Proposal("read", pattern, "is read", "not read", len(new), new, lines=(line,)))
            elif not any(map(glob(pattern).matches, self.asking.view.map.files)):
                self.refused.append(f"{pattern}: is no text that can be read")

    def _people(self, people: object, same: object) -> None:
        # Name or alias, folded, to the name of who has it
        found = {fold(alias): one.name for one in self.asking.view.codex.entities for alias in one.aliases}
        bearers = found | {fold(one.name): one.name for one in self.asking.view.codex.entities}
        before = {fold(name): {*map(fold, aliases)} for name, aliases in self.asking.config.proposed_people.names}
        persons, joined, owners = dict[str, tuple[str, list[str]]](), set[tuple[str, str]](), Counter[str]()
        for name, aliases in (*_named_people(people), *((names[0], names[1:]) for names in _pairs(same))):
            if not _is_form(name):
                persons.setdefault(fold(name), (name, []))[1].extend(alias for alias in aliases if not _is_form(alias))
        joined = {(fold(names[0]), fold(name)) for names in _pairs(same) for name in names[1:]}
        for key, (_, aliases) in persons.items():
            owners.update({key, *map(fold, aliases)})
        for key, (name, aliases) in persons.items():
            bearer = bearers.get(key)
            if bearer is None and (why := self._name_fault(name)):
                self.refused.append(f"{shown(name)}: {why}")
                continue
            kept, cards = list[str](), [] if bearer is None else [bearer]
            said_before = before.get(fold(bearer or name), set())
            for alias in {fold(alias): alias for alias in aliases}.values():
                other = bearers.get(fold(alias))
                if fold(alias) == key or (other is not None and other == bearer and fold(alias) not in said_before):
                    continue
                same = not joined.isdisjoint({(key, fold(alias)), (key, fold(other or ""))})
                if why := self._name_fault(alias):
                    self.refused.append(f"{shown(name)}: {shown(alias)}: {why}")
                elif not same and owners[fold(alias)] > 1:
                    self.refused.append(f"{shown(name)}: {shown(alias)}: is said of several")
                elif not same and other not in (None, bearer) and bearer is not None:
                    self.refused.append(f"{shown(name)}: {shown(alias)}: is {shown(other)}")
                else:
                    kept.append(alias)
                    cards += [other] if other is not None and other not in cards else []
            if bearer is not None and not kept and fold(bearer) not in before:
                continue  # nothing new
            main = next(iter(cards), name)
            if main in OF_PEOPLE:
                self.refused.append(f"{shown(main)}: a word of armarius.toml")
                continue
            others = [term for term in (name, *kept) if fold(term) != fold(main)]
            files = sum(main in document.text for document in self.asking.view.documents.values())
            says = f"one with {', '.join(cards[1:])}" if len(cards) > 1 else ", ".join(others) or "a person"
            new = () if cards else (f"card {main}",)
            line = ("people", main, others)
            self._add(Proposal("person", main, says, "" if new else "known", files, new, lines=(line,)))

    def _name_fault(self, name: str) -> str:
        """Why something is no name of somebody, "" where it may be."""
        folded = fold(name)
        if folded in _COMMON or (len(name) == 1 and is_han(name)) or not any(map(str.isalpha, name)):
            return "a common word"
        if is_generic(name) or group_of(name) is not None or len(name) > _LONGEST:
            return "no name"
        every = self.asking.view.documents.values()
        return "" if any(name in document.text for document in every) else "stands in no file"

    def _tables(self, items: object) -> None:
        for item in _list(items):
            path, name = (_text(item.get(key)) for key in ("path", "name")) if isinstance(item, dict) else ("", "")
            if _is_form(path):
                continue
            headers = [header for of, header, _ in self.asking.tables() if of == path]
            header = next((header for header in headers if name in header), None)
            if header is None:
                self.refused.append(f"{shown(path or item)}: no table with a column {shown(name)}")
                continue
            others = [text for text in map(_text, _list(item.get("aliases"))) if text in header and text != name]
            table = PeopleTable(path, name, tuple(others))
            row, document = table_row(table), self.asking.view.documents[path]
            if row not in map(table_row, self.asking.config.people.tables):
                people = profiles_in(document, path, (table,), self.asking.config.kinds).drafts
                new = tuple(f"card {draft.name}" for draft in people if not self.asking.view.who.meant(draft.name))
                says = ", ".join((name, *others))
                self._add(Proposal("table", path, says, "", 1, new, lines=(("people", "tables", row),)))

    def _propose_no_names(self, items: object) -> None:
        terms = (*self.asking.config.proposed_people.no_names, *(item.name for item in self.asking.view.codex.entities))
        names = {fold(term): term for term in terms}
        for name in map(_text, _list(items)):
            if _is_form(name):
                continue
            if fold(name) not in names:
                self.refused.append(f"{shown(name)}: nobody is called so")
            else:
                card = (f"card {names[fold(name)]}",)
                self._add(
                    Proposal("no name", name, "nobody", "known", leaves=card, lines=(("people", "no_names", name),))
                )

    def _add_effects(self) -> list[Proposal]:
        """The proposals with what enters and leaves prompts of tasks when all are applied."""
        asking = self.asking
        own = [line for line in asking.config.lines if not line.proposed]
        lines = [
            FileLine(key, **({"kind": value} if isinstance(value, str) else value), proposed=True)
            for proposal, _ in self.rows
            for table, key, value in proposal.lines
            if table == "documents" and key != "read"
        ]
        if not lines:
            return [proposal for proposal, _ in self.rows]
        after = decide(asking.features, {"": asking.config.kinds}, {"": [*own, *lines]})
        return [self._add_effect(proposal, paths, after) for proposal, paths in self.rows]

    def _add_effect(self, proposal: Proposal, paths: Sequence[str], after: ProjectMap) -> Proposal:
        before, story = self.asking.view.map, {*self.asking.view.map.story()}
        enters = tuple(path for path in paths if path in before.hidden and path not in after.hidden)
        leaves = tuple(path for path in paths if path in after.hidden and path not in before.hidden)
        count = sum(path in story for path in leaves)
        warning = f"hides {count_noun(count, 'chapter')}" if count else ""
        if len(leaves) * 2 > len(before.files):
            warning = f"hides {len(leaves):,} of {len(before.files):,} files"
        return replace(proposal, enters=enters or proposal.enters, leaves=leaves or proposal.leaves, warning=warning)


def _parts_of(reply: object) -> tuple[dict[str, Any], bool, bool]:
    """The parts of a reply by their names, whether it is cut, and whether an object has the form, if without a part.

    Of several objects the last that has a part counts.
    """
    if isinstance(reply, list) and reply and all(isinstance(item, dict) and "type" not in item for item in reply):
        reply = json.dumps(reply, ensure_ascii=False)  # what a library has read already
    answers = read_answers(reply)
    sections, formed = dict[str, Any](), "".join(reply_text(reply).split()).strip("`").removeprefix("json") == "{}"
    for value in reversed(answers.values):
        answer = _rename_keys(value)
        while isinstance(answer, dict) and not answer.keys() & {*_PARTS, "g", "path"}:  # a wrapper
            inner = next((value for value in answer.values() if isinstance(value, dict | list)), None)
            if inner is None:
                break
            answer = inner
        formed = formed or (isinstance(answer, dict) and answer.keys() <= {*_PARTS})
        if isinstance(answer, list):
            rows = [row for row in answer if isinstance(row, dict)]
            inner = [row for row in rows if row.keys() & {*_PARTS}]
            files = [row for row in rows if row.keys() & {"g", "path"}]
            answer = inner[-1] if inner else {"files": files} if files else {"people": rows} if rows else {}
        if answer.keys() & {"g", "path"} and "kind" in answer:
            answer = {"files": [answer]}
        parts = {key: part for key, part in answer.items() if key in _PARTS and part not in ([], {}, None)}
        if not sections.keys() & parts.keys():
            sections |= parts
    return sections, answers.cut, formed


def _rename_keys(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - JSON
    """JSON with the words of the form in place of others for them."""
    if isinstance(value, list):
        return [_rename_keys(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    keys = {key: _KEYS.get(fold(str(key)).replace(" ", "_"), str(key)) for key in value}
    return {keys[key]: _rename_keys(item, depth + 1) if depth < 6 else item for key, item in value.items()}


def _entries(items: object) -> Iterator[tuple[tuple[object, object], dict[str, Any]]]:
    """What is said of files: number and path, and the values."""
    if isinstance(items, dict):
        if items.keys() & {"g", "path"}:
            items = [items]
        else:
            for key, value in items.items():
                if isinstance(value, list):  # {"note": ["a.md", 3]}
                    yield from (((target, None), {"kind": key}) for target in value if isinstance(target, str | int))
                else:
                    yield (key, None), value if isinstance(value, dict) else {"kind": value}
            return
    for item in _list(items):
        if isinstance(item, dict):
            for number in item["g"] if isinstance(item.get("g"), list) else [item.get("g")]:
                for path in item["path"] if isinstance(item.get("path"), list) else [item.get("path")]:
                    yield (number, path), item
        elif isinstance(item, str) and len(pair := _SAID.split(item, maxsplit=1)) > 1:
            yield (pair[0].strip(), None), {"kind": pair[1].strip()}


def _named_people(rows: object) -> Iterator[tuple[str, list[str]]]:
    """People with their other names."""
    if isinstance(rows, dict) and "name" not in rows:
        rows = [{**(row if isinstance(row, dict) else {"aliases": row}), "name": name} for name, row in rows.items()]
    for row in _list(rows):
        person = row if isinstance(row, dict) else {"name": row}
        name, aliases = _text(person.get("name")), person.get("aliases")
        aliases = _BETWEEN.split(aliases) if isinstance(aliases, str) else _list(aliases)
        if (pair := _WITH_ALIASES.fullmatch(name)) is not None:  # as the question shows people
            name, aliases = pair[1].strip(), [*aliases, *_BETWEEN.split(pair[2])]
        if name:
            yield name, [text for text in map(_text, aliases) if text]


def _pairs(groups: object) -> Iterator[list[str]]:
    if isinstance(groups, dict):
        groups = [[key, *_list(names)] for key, names in groups.items()]
    rows = _list(groups)
    rows = [rows] if rows and all(isinstance(row, str) for row in rows) else rows
    for row in rows:
        names = [text for text in map(_text, _list(row)) if text]
        if len(names) > 1:
            yield names


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value] if value not in (None, "", {}) else []


def _text(value: object) -> str:
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _is_form(value: object) -> bool:
    """Whether it is a place of the form that a model has left as it is."""
    return value in ("…", "...", 0, "0") or (
        isinstance(value, tuple) and any(_is_form(part) for part in value if part is not None)
    )


def _kind_of(text: str) -> Kind | None:
    """The kind that a word means: `Setting`, `chapters`, 设定."""
    word = fold(text).strip(" .。")
    for term in (word, word.removesuffix("s"), f"{word.removesuffix('ies')}y", *re.split(r"[\s/|,(（]+", word)[:1]):
        if term in KINDS:
            return cast("Kind", term)
        if (kind := _OTHER_KINDS.get(term) or KIND_OF_WORD.get(term)) is not None:
            return kind
    return None


def _edition_of(text: str) -> Edition | None:
    word = fold(text)
    rows = {"final": "main", "draft": "copy"}
    edition = (
        word if word in get_args(Edition) else next((row for row, words in EDITION_WORDS.items() if word in words), "")
    )
    edition = "main" if word in ("正文", "正式", "定稿", "original", "principal") else rows.get(edition, edition)
    return cast("Edition", edition) if edition in get_args(Edition) else None


def _place_of(text: str) -> str | None:
    word = fold(text).replace("chapter ", "").replace("the ", "")
    word = {"start": "first", "beginning": "first", "end": "last", "end of volume": "end of part"}.get(word, word)
    return word if re.fullmatch(r"first|last|end of part|(?:before|after) \d{1,5}", word) else None
