"""Files of other programs, or of a hand, read as a codex: one module for each format.

codex_json.py (`codex.json`, the format of our own: `parse_codex_json`, `CodexFile`, `EntryReader`)

An importer is a function from a path and the text of that file to a `CodexFile`: drafts, relations, title, and every
fault as a `CodexError` that names file, entry and field. `EntryReader` reads an entry's fields as users and programs
write them; an importer of another format maps its names onto those and leaves the reading to it. The file's name is a
row of `IMPORTERS`: what stands there is read (`codex/load.py`), watched (`codex/folder.py`) and part of what a prompt
depends on.

What must hold: no fault stops the rest; an importer opens nothing; the same text is the same codex. Where two files
describe one entity, `codex/merge.py` decides, and an importer does not.
"""

from collections.abc import Callable

from armarius.codex.importers.codex_json import CODEX_FILE, CodexFile, parse_codex_json

__all__ = ["IMPORTERS"]

IMPORTERS: dict[str, Callable[[str, str], CodexFile]] = {
    CODEX_FILE: parse_codex_json,
}
"""Path in the project folder to who reads it; of two that name one thing, the first says what it is called."""
