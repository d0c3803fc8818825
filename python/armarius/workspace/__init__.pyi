# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.workspace.engines import Health as Health
from armarius.workspace.engines import ShelfStatus as ShelfStatus
from armarius.workspace.folder import FolderEntry as FolderEntry
from armarius.workspace.folder import LocalNovel as LocalNovel
from armarius.workspace.folder import LocalShelf as LocalShelf
from armarius.workspace.folder import connect as connect
from armarius.workspace.folder import shelf as shelf
