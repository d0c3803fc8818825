"""Load the codex of a project: profiles, `codex.json` and authored records, merged."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from armarius.codex.authored import AuthoredCodex
from armarius.codex.codex_json import CODEX_FILE, IMPORTERS, CodexFile, card_draft, parse_codex_json, profiles_of_data
from armarius.codex.draft import Profiles
from armarius.codex.merge import SeriesFolder, file_of, merge, profiles_of
from armarius.codex.model import Codex, Origin
from armarius.codex.names_in_story import Story, apply_people, judge_profiles, names_sought, uses_in
from armarius.codex.protocol import BookName, Check, RecordStore, profile_of_text
from armarius.codex.record_file import FOLDER, RecordFile
from armarius.documents.classify import PROSE_SUFFIXES, stated_kind
from armarius.documents.data import card_in
from armarius.documents.decide import Rules
from armarius.documents.decode import Undecodable, decode
from armarius.documents.document import Document, list_documents
from armarius.documents.features import stated_by
from armarius.documents.kinds import CARD_KINDS, STORY_KINDS
from armarius.documents.segments import parts_of
from armarius.documents.titles import group_of
from armarius.errors import CodexError, ConfigError
from armarius.io import folder_lock, names_in, project_folder, read_file, write_atomic
from armarius.io.toml import rewrite_toml
from armarius.trust.settings import CONFIG_NAME, Config, People, PeopleTable, load_config
from armarius.warnings import CODEX_INVALID

BOOKS = ".armarius/books"
"""A folder for each imported lorebook; its `codex.json` has the entities of that book."""
AUTHORED_FILE = ".armarius/codex.toml"
_MAX_BOOKS = 1_000
_MAX_BYTES = 64 * 1024 * 1024


def load_codex(root: str | Path, *, config: Config | None = None, strict: bool = False) -> Codex:
    """Read the codex of the project at `root`.

    Args:
        root: The project folder.
        config: Its configuration, read from `armarius.toml` when not given.
        strict: Raise the first error of `codex.json` instead of skipping invalid entries.

    Raises:
        ProjectError: `root` is not a folder.
        ConfigError: `armarius.toml` is wrong (only when `config` is not given).
        CodexError: Only when `strict`: file, entry and field, or line.

    Cost: reads every document of the project.
    """
    root = project_folder(root)
    documents = list_documents(root, config).documents
    config = load_config(root) if config is None else config
    people = (config.people, config.proposed_people)
    authored = AuthoredCodex(root).read()
    return build_codex(
        documents, read_declared(root), authored=authored, strict=strict, people=people, rules=config.kinds
    )


def build_codex(
    documents: Iterable[Document],
    declared: CodexFile | None = None,
    *,
    authored: CodexFile | None = None,
    strict: bool = False,
    series: Sequence[SeriesFolder] = (),
    profiles: Mapping[str, Mapping[str, Profiles]] = MappingProxyType({}),
    story: Story | None = None,
    people: Sequence[People] = (),
    rules: Rules = (),
) -> Codex:
    """The codex of documents that are already in memory.

    Args:
        documents: Each path once, in any order; chapters and code are skipped.
        declared: Content of `codex.json` and imported files, from `read_declared`.
        authored: Content of `.armarius/codex.toml`, from `AuthoredCodex.read`.
        strict: As in `load_codex`.
        series: Other folders of a series, the strongest first; the project overrides all of them.
        profiles: Of documents that are not given, from `profiles_in`, by folder ("" is the project) and path in it.
        story: How the story uses the names of these profiles; counted in `documents` when not given.
        people: What `armarius.toml` says of people: the user's words, then what a model proposed.
        rules: What it says of kinds.

    Cost: one pass over the text of settings, outlines and notes, and one over the story for names that only a heading
        claims.
    """
    documents = list(documents)
    tables = [table for item in people for table in item.tables]
    pages = _profiles(documents, profiles.get("", {}), tables=tables, rules=rules)
    declared_all, authored_all = [declared or CodexFile()], [authored or CodexFile()]
    for folder in series:
        pages += [
            profiles_of(folder, page)
            for page in _profiles(folder.documents, profiles.get(folder.root, {}), folder.root)
        ]
        declared_all.append(file_of(folder, folder.declared))
        authored_all.append(file_of(folder, folder.authored))
    if story is None:
        story = story_of(documents, names_sought(pages))
    pages = apply_people(pages, people) if any(map(any, people)) else pages
    pages, rejected = judge_profiles(pages, story)
    merged = merge(
        [draft for page in pages for draft in page.drafts],
        [draft for file in declared_all for draft in file.drafts],
        [relation for file in (*authored_all, *declared_all) for relation in file.relations],
        authored=[draft for file in authored_all for draft in file.drafts],
        lines=[line for page in pages for line in page.lines],
        roots={"": False} | {folder.root: folder.past for folder in series},
    )
    errors = [error for file in (*authored_all, *declared_all) for error in file.errors]
    errors += [CodexError(problem) for problem in merged.problems]
    if strict and errors:
        raise errors[0]
    return Codex(
        entities=merged.entities,
        relations=merged.relations,
        warnings=tuple(CODEX_INVALID(problem=error) for error in errors),
        title=declared_all[0].title,
        language=declared_all[0].language,
        others=merged.others,
        rejected=rejected,
        without=merged.without,
        called=merged.called,
    )


def story_of(documents: Iterable[Document], names: Sequence[str]) -> Story:
    """How the chapters among `documents` use these names."""
    texts = [doc.text for doc in documents if doc.kind in STORY_KINDS]
    story = Story()
    for text, uses in zip(texts, uses_in(texts, names), strict=True):
        story.add(len(text), uses)
    return story


def profiles_in(document: Document, path: str, tables: Sequence[PeopleTable] = (), rules: Rules = ()) -> Profiles:
    """The profiles in one document, by its path inside its folder; none in chapters, code and manuscripts.

    Args:
        document: The document. Of one that was taken for a tool file, and is not declared, people are read.
        path: Its path.
        tables: Its tables of people, as `armarius.toml` names them.
        rules: Kinds that `armarius.toml` declares.
    """
    suffix, kind = parts_of(path).suffix.lower(), document.kind
    is_guess = kind == "tool" and stated_kind(path, rules) is None and stated_by(document.front_matter) is None
    kind = "state" if is_guess else kind
    if kind not in CARD_KINDS:
        return Profiles()
    if suffix in (".json", ".yaml", ".yml"):
        if (card := card_in(suffix, document.text)) is not None:
            return Profiles([card_draft(card, Origin(path))])
        return profiles_of_data(path, document.text) if kind == "setting" else Profiles()
    if suffix not in PROSE_SUFFIXES:
        return Profiles()
    from armarius.codex.profiles import parse_profiles  # what is kept with the index is not read again
    from armarius.documents.markup import markdown_of

    text = markdown_of(suffix, document.text)
    page = parse_profiles(path, text, kind, tables)
    if kind == "state":  # its headings say what is counted there
        page.drafts = [
            draft for draft in page.drafts
            if draft.standing in ("declared", "cast", "label") and (draft.type == "character" or not is_guess)
        ]  # fmt: skip
    group = group_of(str(document.front_matter.get("kind", ""))) if suffix == ".nwd" else None
    if group is not None:
        for draft in page.drafts:
            draft.type = draft.type or group.type
    return page


def _profiles(
    documents: Iterable[Document],
    cache: Mapping[str, Profiles],
    root: str = "",
    tables: Sequence[PeopleTable] = (),
    rules: Rules = (),
) -> list[Profiles]:
    """The profiles in documents, in path order."""
    pages = dict(cache)
    for document in documents:
        path = document.path.removeprefix(f"{root}/") if root else document.path
        pages[path] = profiles_in(document, path, [table for table in tables if table.path == path], rules)
    return [pages[path] for path in sorted(pages)]


def read_declared(root: Path) -> CodexFile:
    """The content of `codex.json` and of imported lorebooks; unreadable files are in `errors`."""
    return declared_in(lambda path: read_file(root / path, limit=_MAX_BYTES, below=root), codex_files_of_books(root))


def codex_files_of_books(root: Path) -> list[str]:
    """Paths of the codex files of imported lorebooks, sorted; the files may be missing."""
    return codex_files_of(names_in(root / BOOKS, below=root))


def codex_files_of(books: Iterable[str]) -> list[str]:
    """Paths of the codex files of these lorebooks, sorted."""
    return [f"{BOOKS}/{id_}/{CODEX_FILE}" for id_ in sorted(books)[:_MAX_BOOKS]]


def declared_in(read: Callable[[str], bytes], books: Iterable[str] = ()) -> CodexFile:
    """`read_declared` for files that are not in a folder.

    Args:
        read: Returns the bytes of a path; raises FileNotFoundError when there is no file.
        books: Paths of the files of imported lorebooks.
    """
    declared = CodexFile()
    for path, parse in IMPORTERS.items():
        declared.add(_imported(read, path, parse))
    for path in books:
        declared.add(_imported(read, path, parse_codex_json))
    return declared


def _imported(read: Callable[[str], bytes], path: str, parse: Callable[[str, str], CodexFile]) -> CodexFile:
    try:
        data = read(path)
    except FileNotFoundError:
        return CodexFile()
    except OSError as error:
        return CodexFile(errors=[CodexError(f"{path}: not read: {error.strerror}")])
    try:
        return parse(path, decode(data).text)
    except Undecodable as error:
        return CodexFile(errors=[CodexError(f"{path}: not read: {error}")])


# Inputs of the index that are no documents.
_INDEXED = (f"{FOLDER}/codex.toml", f"{FOLDER}/memories.toml", f"{FOLDER}/constraints.toml")
_PROFILE = "budget.json"
_PROFILE_PATH = f"{FOLDER}/{_PROFILE}"
_MAX_PROFILE_BYTES = 1024 * 1024


class FolderAuthored:
    """`Authored` over the files of one project folder.

    Args:
        root: The project folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._indexed = [str(root / name) for name in (*IMPORTERS, *_INDEXED)]
        self._books = str(root / BOOKS)
        self._config = str(root / CONFIG_NAME)
        self._profile = str(root / FOLDER / _PROFILE)

    def stamp(self) -> str:
        """See `Authored`. Cost: one stat per file."""
        stamp = _stamp(*self._indexed)
        if os.path.lexists(self._books):  # usually there are none
            stamp += _stamp(*(str(self.root / name) for name in codex_files_of_books(self.root)))
        return stamp

    def config_stamp(self) -> str:
        """See `Authored`."""
        return _stamp(self._config)

    def config(self) -> Config:
        """See `Authored`."""
        return load_config(self.root)

    def change_config(self, change: Callable[[str], str]) -> None:
        """See `Authored`."""
        with folder_lock(self.root / FOLDER, below=self.root):
            rewrite_toml(self.root / CONFIG_NAME, change, name=CONFIG_NAME, below=self.root)

    def declared(self) -> CodexFile:
        """See `Authored`."""
        return read_declared(self.root)

    def records(self, book: BookName, *, tables: Iterable[str], check: Check) -> RecordStore:
        """See `Authored`."""
        return RecordFile(self.root, f"{book}.toml", tables=tables, check=check)

    @property
    def profile_name(self) -> str:
        """See `Authored`."""
        return _PROFILE_PATH

    def profile(self) -> Mapping[str, Any] | None:
        """See `Authored`. Links, special files and files above 1 MiB are refused."""
        try:
            os.lstat(self._profile)  # called before every prompt; usually there is none
            data = read_file(self.root / FOLDER / _PROFILE, limit=_MAX_PROFILE_BYTES, below=self.root)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.filename != _PROFILE:
                return None  # the folder of records is a link: reported as CODEX_INVALID
            raise ConfigError(f"{_PROFILE_PATH}: not read: {error.strerror}") from None
        return profile_of_text(data, _PROFILE_PATH)

    def change_profile(self, change: Callable[[Mapping[str, Any] | None], Mapping[str, Any]]) -> None:
        """See `Authored`."""
        folder = self.root / FOLDER
        with folder_lock(folder, below=self.root):
            data = json.dumps(change(self.profile()), ensure_ascii=False, indent=2) + "\n"
            write_atomic(folder / _PROFILE, data.encode("utf-8"), below=self.root)


def _stamp(*paths: str) -> str:
    """What changes with these files."""
    stamps = []
    for path in paths:
        try:
            info = os.stat(path)  # noqa: PTH116 - called before every answer: a Path doubles its time
        except OSError:
            continue
        stamps.append(f"{path} {info.st_size}:{info.st_mtime_ns}:{info.st_ctime_ns}:{info.st_ino}")
    return "|".join(stamps)
