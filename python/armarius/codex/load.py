"""A project's documents to its codex: profiles, `codex.json` and what was authored, merged."""

from collections.abc import Iterable
from pathlib import Path

from armarius.codex.authored.codex import AuthoredCodex
from armarius.codex.importers.codex_json import CodexFile, parse_codex_json
from armarius.codex.merge import merge
from armarius.codex.model import Codex
from armarius.codex.profiles.draft import Profiles
from armarius.codex.profiles.read import parse_profiles
from armarius.config import Config
from armarius.documents.classify import PROSE_SUFFIXES
from armarius.documents.decode import Undecodable, decode
from armarius.documents.document import Document, list_documents
from armarius.errors import CodexError, ProjectError
from armarius.files import read_file
from armarius.warnings_table import CODEX_INVALID

CODEX_FILE = "codex.json"
AUTHORED_FILE = ".armarius/codex.toml"
_MAX_BYTES = 64 * 1024 * 1024


def load_codex(root: str | Path, *, config: Config | None = None, strict: bool = False) -> Codex:
    """Read the codex of the project at `root`.

    Args:
        root: The project folder.
        config: Its configuration, read from `armarius.toml` when not given.
        strict: Raise the first fault of `codex.json` instead of going on with what is right.

    Raises:
        ProjectError: `root` is not a folder.
        ConfigError: `armarius.toml` is wrong (only when `config` is not given).
        CodexError: Only when `strict`: file, entry and field, or line.

    Cost: reads every document of the project.
    """
    root = Path(root)
    if not root.is_dir():
        raise ProjectError(f"not a folder: {root}")
    documents = list_documents(root, config).documents
    return build_codex(documents, read_codex_file(root), authored=AuthoredCodex(root).read(), strict=strict)


def build_codex(
    documents: Iterable[Document],
    declared: CodexFile | None = None,
    *,
    authored: CodexFile | None = None,
    strict: bool = False,
) -> Codex:
    """The codex of documents that have been read already.

    Args:
        documents: Each path once, in any order; chapters and code are passed over.
        declared: What `codex.json` says, from `read_codex_file`.
        authored: What `.armarius/codex.toml` says, from `AuthoredCodex.read`.
        strict: As in `load_codex`.

    Cost: one pass over the text of settings, outlines and notes.
    """
    declared, authored = declared or CodexFile(), authored or CodexFile()
    profiles: dict[str, Profiles] = {}
    for document in documents:
        if document.kind not in ("chapter", "code") and Path(document.path).suffix.lower() in PROSE_SUFFIXES:
            profiles[document.path] = parse_profiles(document.path, document.text, setting=document.kind == "setting")
    drafts = [draft for path in sorted(profiles) for draft in profiles[path].drafts]
    lines = [line for path in sorted(profiles) for line in profiles[path].lines]
    relations = [*authored.relations, *declared.relations]
    merged = merge(drafts, declared.drafts, relations, authored=authored.drafts, lines=lines)
    errors = [*authored.errors, *declared.errors, *(CodexError(problem) for problem in merged.problems)]
    if strict and errors:
        raise errors[0]
    return Codex(
        entities=merged.entities,
        relations=merged.relations,
        warnings=tuple(CODEX_INVALID(problem=error) for error in errors),
        title=declared.title,
        language=declared.language,
    )


def read_codex_file(root: Path) -> CodexFile:
    """`codex.json` of the project at `root`; a missing file is an empty codex, an unreadable one has an error."""
    try:
        data = read_file(root / CODEX_FILE, limit=_MAX_BYTES, below=root)
    except FileNotFoundError:
        return CodexFile()
    except OSError as error:
        return CodexFile(errors=[CodexError(f"{CODEX_FILE}: not read: {error.strerror}")])
    try:
        return parse_codex_json(CODEX_FILE, decode(data).text)
    except Undecodable as error:
        return CodexFile(errors=[CodexError(f"{CODEX_FILE}: not read: {error}")])
