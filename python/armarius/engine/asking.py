"""The one question to a host's language model about a project: files in groups, names, tables, the story's beginnings.

Files are grouped by the shape of their names, one head each, and answered by number, so that an answer matches what is
meant.
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Final

from armarius.arguments import KINDS
from armarius.codex.profile_fields import role_of
from armarius.codex.proposals import ProposedName, propose_names
from armarius.documents.kinds import CARD_KINDS, STORY_KINDS, glob
from armarius.documents.project_map import MappedFile
from armarius.documents.segments import folder_of
from armarius.documents.series import series_of
from armarius.engine.project import Project, ProjectView, entities_for_models
from armarius.lexicon import word_file
from armarius.text.chat import Message, without_secrets
from armarius.text.tokens import TokenCounter
from armarius.trust.settings import PeopleTable

MOST_TOKENS: Final = 6_000  # of a request, whatever the folder
_SIZES: Final = (  # code points of a head; heads and names of a folder; depth of folders that are told apart; people
    (240, 4, 60, 6, 80), (180, 4, 60, 6, 80), (140, 3, 60, 6, 80), (120, 2, 40, 6, 80), (90, 2, 40, 4, 60),
    (80, 1, 30, 4, 60), (60, 1, 20, 3, 40), (40, 1, 12, 3, 30), (20, 1, 8, 2, 20), (0, 0, 5, 2, 10), (0, 0, 2, 1, 5),
    (0, 0, 0, 1, 0),
)  # fmt: skip
_MOST_GROUPS: Final = 80
_LEAST: Final = 3  # files of a series that is a group of its own
_TEXTS: Final = word_file("asking")


@dataclass(slots=True)
class Group:
    """Files that are answered by one number: a series, or what else lies in a folder."""

    name: str
    paths: list[str]
    series: bool = False

    def patterns(self) -> Iterator[str]:
        """Patterns that match its files, the narrowest first."""
        parts = [path.split("/") for path in self.paths]
        if len({*map(len, parts)}) == 1:
            yield "/".join(_common(names) for names in zip(*parts, strict=True))
        folder = "/".join(islice(_common_parts([names[:-1] for names in parts]), 64))
        yield f"{folder}/**" if folder else "**"


class Asking:
    """One moment of a project, as it is asked about.

    Attributes:
        out: Lines that the user has taken out, as `_key` has them.
    """

    def __init__(self, project: Project, kept: Mapping[str, Any]) -> None:
        self._project, self.index = project, project.index
        self.view: ProjectView = project.view()
        self.config = self.index.config
        closed = [glob(pattern) for pattern in self.config.never]
        mapped = self.view.map.files
        self.files = {path: file for path, file in mapped.items() if not any(glob.matches(path) for glob in closed)}
        keys = {line_key(line) for line in _lines_of(self.config)}
        self.out = {*kept.get("out", ()), *(key for key in kept.get("applied", ()) if key not in keys)}
        self.groups: list[Group] = []
        self._proposed: list[Sequence[ProposedName]] | None = None

    @cached_property
    def hash(self) -> str:
        """Of paths, heads and, once there are `messages`, the groups: by it numbers mean the same files."""
        rows = [f"{path} {self._head(path, 200)[0]}" for path in sorted(self.files)]
        rows += [" ".join(group.paths) for group in self.groups]
        return hashlib.blake2b("\n".join(rows).encode("utf-8", "replace"), digest_size=16).hexdigest()

    @cached_property
    def features(self) -> Mapping[str, Any]:
        """The evidence of every file."""
        return self.index.features()

    @cached_property
    def unread(self) -> Mapping[str, int]:
        """See `Project.unread`."""
        return self._project.unread(self.view)

    def messages(self) -> tuple[Message, Message]:
        """The question, as long as it may be."""
        means: Mapping[str, str] = _TEXTS["means"]
        kinds = "; ".join(f"{kind} ({means[kind]})" if kind in means else kind for kind in KINDS)
        system = _TEXTS["system"].format(kinds=kinds)
        for head, samples, names, depth, people in _SIZES:
            self.groups = self._group_files(depth)
            user = without_secrets("\n".join(self._question_lines(head, samples, names, people)))
            if count(f"{system}\n\n{user}") <= MOST_TOKENS:
                break
        return Message(role="system", content=system), Message(role="user", content=user)

    def _group_files(self, depth: int) -> list[Group]:
        prose = {path: file for path, file in self.features.items() if path in self.files and file.kind != "code"}
        series = sorted(series_of(prose), key=lambda row: -len(row.paths))[: _MOST_GROUPS // 2]
        groups = [
            Group(f"{row.folder}/{row.frame}{row.ending}".lstrip("/"), sorted(row.paths), series=True)
            for row in series
            if len(row.paths) >= _LEAST
        ]
        members = {path for group in groups for path in group.paths}
        folders = defaultdict[str, list[str]](list)
        for path in self.files:
            if path not in members:
                folders["/".join(folder_of(path).split("/")[:depth])].append(path)
        largest = sorted(folders, key=lambda folder: -len(folders[folder]))[:_MOST_GROUPS]
        groups += [Group(f"{folder}/".lstrip("/") or "(root)", folders[folder]) for folder in largest]
        return sorted(groups, key=lambda group: (folder_of(group.paths[0]), group.name))

    def _question_lines(self, head: int, samples: int, names: int, people: int) -> Iterator[str]:
        yield "GROUPS"
        for number, group in enumerate(self.groups, 1):
            yield f"{number}. {group.name} [{len(group.paths)}] now {self.now(group.paths)}{self._names(group, names)}"
            for sample in self._samples(group, 1 if group.series else samples) if head else ():
                begins, headings = self._head(sample, head)
                yield f"   e.g. {sample.rpartition('/')[2]}: {begins}{headings}"
        if self.unread:
            yield "UNREAD " + ", ".join(f"{name} {files}" for name, files in islice(self.unread.items(), 12))
        entities = entities_for_models(self.view.codex.entities, self.config)
        cast = [entity for entity in entities if entity.type == "character"]
        others = [entity for entity in entities if entity.type != "character"]
        for title, bearers in (("PEOPLE", cast), ("OTHER NAMES", others)):
            rows = [_name_label(entity.name, entity.aliases) for entity in bearers[:people]]
            yield f"{title} known: {'; '.join(rows) or 'nobody'}{' …' * (len(bearers) > people)}"
        if people:
            for where, unnamed in zip(("the story uses", "settings and plans use"), self._unknown_names(), strict=True):
                listed = ", ".join(f"{proposal.name} {proposal.count}" for proposal in unnamed[: people // 2])
                yield f"NAMES that {where}, of nobody known: {listed or 'none'}"
            tables = sorted(self.tables(), key=lambda table: ("name" in map(role_of, table[1]), len(table[2])))
            by_header = {tuple(table[1]): table for table in tables}  # forms of one kind have one table
            by_path = {path: table for path, *table in by_header.values()}
            for path, (header, lines) in islice(reversed(by_path.items()), 6):
                yield f"TABLE {path}: columns {' | '.join(header)}, {len(lines)} rows, first: {lines[0][:100]}"
            yield from self._beginnings(min(400, 2 * head + 60))

    def _samples(self, group: Group, most: int) -> Sequence[str]:
        """Files whose heads are shown: of each kind the least sure one, the least sure kind first."""
        files = sorted((self.files[path] for path in group.paths), key=lambda file: (file.confidence, file.path))
        first = {file.kind: file.path for file in reversed(files) if file.path in self.view.documents}
        others = (file.path for file in files if file.path in self.view.documents)
        return [*dict.fromkeys((*sorted(first.values(), key=[file.path for file in files].index), *others))][:most]

    def _names(self, group: Group, most: int) -> str:
        """What lies in a group, by name, with what it is taken for where that differs."""
        files = [self.files[path] for path in group.paths]
        if not most or (group.series and (len(files) > most or len({file.kind for file in files}) == 1)):
            numbers = sorted(file.number for file in files if file.number is not None)
            return f" ({numbers[0]}–{numbers[-1]})" if numbers else ""
        mixed = len({file.kind for file in files}) > 1
        base = f"{'/'.join(_common_parts([file.path.split('/')[:-1] for file in files]))}/".lstrip("/")
        named = [file.path.removeprefix(base) + f" {file.kind}" * mixed for file in files[:most]]
        return f": {', '.join(named)}{', …' * (len(files) > most)}"

    def now(self, paths: Sequence[str]) -> str:
        """`chapter 224, chapter of a copy 76`."""
        counts = Counter(_kind_label(self.files[path]) for path in paths)
        return ", ".join(f"{what} {count}" if len(counts) > 1 else what for what, count in counts.most_common())

    def _head(self, path: str, most: int) -> tuple[str, str]:
        """How a file begins, and its further headings."""
        document = self.view.documents.get(path)
        if document is None:
            return "", ""
        begins = " ".join(without_secrets(document.text[: 4 * most]).split())[:most]  # half a key is not known as one
        titles = (row.heading_path[-1] for row in document.paragraphs if row.role == "heading" and row.start >= most)
        headings = " / ".join(islice(titles, 8))[: most // 2]
        return begins, f" headings: {headings}" if headings else ""

    def _unknown_names(self) -> Sequence[Sequence[ProposedName]]:
        """Names that no card has, in the story, and in settings and plans.

        Cost: reads 300,000 characters of each at most.
        """
        if self._proposed is None:
            story = [path for path in self.view.map.story() if path in self.files]
            plans = [path for path, file in self.files.items() if file.kind in CARD_KINDS and file.edition == "main"]
            names = [name for entity in self.view.codex.entities for name in (entity.name, *entity.aliases)]
            names += [term.text for term in self.index.snapshot.short_names]
            self._proposed = []
            for paths in (story, plans):
                texts = [(doc.path, doc.text) for path in paths if (doc := self.view.documents.get(path)) is not None]
                step = 1 + sum(len(text) for _, text in texts) // 300_000
                self._proposed.append(propose_names(texts[::step], known=names, least=4))
        return self._proposed

    def tables(self) -> Iterator[tuple[str, list[str], list[str]]]:
        """Tables with three rows and more outside the story: path, columns, rows."""
        for path, file in self.files.items():
            document = self.view.documents.get(path)
            if document is not None and file.kind not in (*STORY_KINDS, "code"):
                for match in _TABLE.finditer(document.text):
                    header = [cell.strip() for cell in match[1].strip().strip("|").split("|")]
                    if len(rows := match[2].strip().split("\n")) >= _LEAST and len(header) > 1:
                        yield path, header, rows

    def _beginnings(self, most: int) -> Iterator[str]:
        story = [path for path in self.view.map.story() if path in self.files]
        readme = next((path for path in self.files if path.lower().startswith("readme")), "")
        for title, path in (("FIRST CHAPTER", story[:1]), ("LAST CHAPTER", story[1:][-1:]), ("README", [readme])):
            if path and path[0] in self.view.documents:
                yield f"{title} {path[0]}: {self._head(path[0], most)[0]}"


_TABLE: Final = re.compile(
    r"^[ \t]*(\|[^\n]+\|)[ \t]*\n[ \t]*\|[ \t:|-]+\|[ \t]*\n((?:[ \t]*\|[^\n]*(?:\n|\Z))+)", re.MULTILINE
)


def _kind_label(file: MappedFile) -> str:
    return (
        file.kind
        if file.edition == "main"
        else f"{file.kind} of {'an' * (file.edition[0] == 'a') or 'a'} {file.edition}"
    )


def _name_label(name: str, aliases: Sequence[str]) -> str:
    return f"{name} ({', '.join(aliases[:4])})" if aliases else name


def _common(names: Sequence[str]) -> str:
    """One name, or what all begin and end with, and * between."""
    first, last = min(names), max(names)
    if first == last:
        return first
    begin = next((at for at, char in enumerate(first) if last[at : at + 1] != char), len(first))
    back = [name[begin:][::-1] for name in names]
    low, high = min(back), max(back)
    end = next((at for at, char in enumerate(low) if high[at : at + 1] != char), len(low))
    return f"{first[:begin].rstrip('0123456789')}*{low[:end][::-1].lstrip('0123456789')}"


def _common_parts(folders: Sequence[Sequence[str]]) -> Iterator[str]:
    for parts in zip(*folders, strict=False):
        if len({*parts}) > 1:
            return
        yield parts[0]


def _lines_of(config: Any) -> Iterator[tuple[str, str, Any]]:  # noqa: ANN401 - of trust.settings
    """What stands in `[proposed.*]` and in the user's own tables of the same form, as lines of proposals."""
    for line in config.lines:
        fields = {name: value for name in ("kind", "edition", "place") if (value := getattr(line, name))}
        yield "documents", line.pattern, fields["kind"] if fields.keys() == {"kind"} else fields
    yield from (("documents", pattern, kind) for kind, pattern in config.kinds)
    yield from (("documents", "read", pattern) for pattern in config.read)
    for people in (config.people, config.proposed_people):
        yield from (("people", name, [*aliases]) for name, aliases in people.names)
        yield from (("people", "no_names", name) for name in people.no_names)
        yield from (("people", "tables", table_row(table)) for table in people.tables)
    yield from (("project", key, value) for key, value in config.about.items())


def line_key(line: tuple[str, str, Any]) -> str:
    """A line as one text, to know it again."""
    return json.dumps(line, ensure_ascii=False)


def table_row(table: PeopleTable) -> dict[str, Any]:
    """A table of people as armarius.toml has it."""
    return {"path": table.path, "name": table.name, **({"aliases": [*table.aliases]} if table.aliases else {})}


def count(text: str) -> int:
    """Tokens of o200k_base."""
    return TokenCounter.for_encoding("o200k_base").count(text)
