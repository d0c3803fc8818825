"""One writer, one reader, one place that deletes: every file of a project, an index folder or the cache passes here.

    folder.py  a folder held open, reached from a trusted one without following a link
    write.py   `write_atomic`: a random exclusive draft, fsync, replace, fsync of the folder; folders are made here
    read.py    `read_file`: only what is a regular file and not larger than the caller says
    cache.py    `folder_lock`: who writes next
    write.py  what we made is deleted, and nothing else

What must hold: no link is followed in the last part of a path, nor in any folder below the trusted one (`below`). No
name is opened for writing that could be guessed. Nothing waits for a pipe or a device. A reader sees the old file or
the new one. Nothing else in the package writes, deletes, starts a program or opens a connection, but for what
`scripts/check_gates.py` lists with a reason (docs/decisions/0054).
"""

from armarius.io.folder import Refused, is_passing, refusal
from armarius.io.lock import folder_lock, open_lock_file
from armarius.io.read import TooLarge, is_regular, names_in, open_file, read_file, read_files, stat_of
from armarius.io.write import (
    create_empty,
    make_folder,
    move_atomic,
    private_folder,
    remove_any,
    remove_file,
    remove_folder,
    scratch_folder,
    write_atomic,
)

__all__ = [
    "Refused",
    "TooLarge",
    "create_empty",
    "folder_lock",
    "is_passing",
    "is_regular",
    "make_folder",
    "move_atomic",
    "names_in",
    "open_file",
    "open_lock_file",
    "private_folder",
    "read_file",
    "read_files",
    "refusal",
    "remove_any",
    "remove_file",
    "remove_folder",
    "scratch_folder",
    "stat_of",
    "write_atomic",
]
