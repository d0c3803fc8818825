# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.workspace.cache import Quota as Quota
from armarius.workspace.connection import connect as connect
from armarius.workspace.folder import FolderEntry as FolderEntry
from armarius.workspace.folder import LocalNovel as LocalNovel
from armarius.workspace.folder import LocalShelf as LocalShelf
from armarius.workspace.folder import shelf as shelf
from armarius.workspace.project import Health as Health
from armarius.workspace.project import ShelfStatus as ShelfStatus
