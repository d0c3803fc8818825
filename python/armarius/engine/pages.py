"""The Markdown pages of a folder, for edits in place, each step with its undo."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from armarius.codex.authored.in_place import Pages, Parse, changed_meanwhile
from armarius.codex.authored.record_file import FOLDER
from armarius.codex.load import profiles_in
from armarius.documents.decode import Undecodable, decode, encode
from armarius.documents.document import document_of
from armarius.errors import CodexError, StoreConflict
from armarius.index.project_index import ProjectIndex
from armarius.io import folder_lock, read_file, remove_file, rewrite_file, write_atomic
from armarius.io.write import Step, changed_files
from armarius.trust.settings import Config

_UNDO = f"{FOLDER}/undo.json"
_MOST_UNDO = 1024 * 1024 * 1024  # bytes


class FolderPages(Pages):
    """The Markdown pages of a folder, for edits in place; see `Pages`."""

    def __init__(self, index: ProjectIndex, config: Config) -> None:
        self._index = index
        self._config = config
        self._most = config.max_bytes

    def read(self, path: str) -> tuple[str, Parse] | None:  # noqa: D102 - as `Pages`
        root, parse = self._index.root, self._parse(path)
        try:
            if root is None or parse is None:
                return None
            return decode(read_file(root / path, limit=self._most, below=root)).text, parse
        except (OSError, Undecodable):
            return None

    def change(self, path: str, change: Callable[[str, Parse], str]) -> None:  # noqa: D102 - as `Pages`
        root, parse = self._index.root, self._parse(path)
        if root is None or parse is None:
            raise changed_meanwhile(path)

        def changed(data: bytes) -> bytes:
            after = encode(change(decode(data).text, parse), data)
            if after is None or len(after) > self._most:
                long = f"more than {self._most:,} bytes are not read"
                raise CodexError(f"{path}: not written: {'its encoding cannot say that' if after is None else long}")
            return after

        try:
            with folder_lock(root / FOLDER, below=root):
                rewrite_file(root / path, changed, limit=self._most, below=root)
        except (OSError, Undecodable, StoreConflict):
            raise changed_meanwhile(path) from None
        self._index.refresh({path})

    @contextmanager
    def step(self) -> Iterator[None]:  # noqa: D102 - as `Pages`
        root = self._index.root
        if root is None:
            yield
            return
        with folder_lock(root / FOLDER, below=root), changed_files() as changes:
            try:
                yield
            finally:
                if any(not path.is_relative_to(root / FOLDER) for path in changes):
                    write_atomic(root / _UNDO, Step.of(changes, root).to_json(), below=root, mode=0o600)
                    changes.pop(root / _UNDO, None)

    def undo(self) -> tuple[str, ...]:  # noqa: D102 - as `Pages`
        root = self._index.root
        if root is None or not (root / _UNDO).is_file():
            return ()
        with folder_lock(root / FOLDER, below=root):
            try:
                step = Step.from_json(read_file(root / _UNDO, limit=_MOST_UNDO, below=root))
            except ValueError as error:
                raise CodexError(f"{_UNDO}: not read: {error}") from None
            step.undo(root)
            remove_file(root / _UNDO, below=root)
        self._index.refresh()
        return tuple(step.files)

    def _parse(self, path: str) -> Parse | None:
        rows = list(self._index.ask(lambda store: store.documents_of([path])))
        if not rows and (self._index.root is None or (self._index.root / path).exists()):
            return None  # a file that is not read
        document = self._index.placed(rows[0] if rows else document_of(path, "", "utf-8", "", config=self._config))
        return lambda text: profiles_in(replace(document, text=text), path, rules=self._config.kinds)
