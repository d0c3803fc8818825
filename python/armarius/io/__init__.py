"""File access: all reads, writes and deletions in a project, an index folder or the cache.

    files.py   opens files and folders below a trusted one without following links, reads within limits; ZIP files;
               checks paths and removes them from messages
    write.py   `write_atomic`: exclusive draft, fsync, replace, fsync of the folder; `rewrite_file`: what the user
               edits too; creates and deletes files; the folder of all indexes
    toml.py    TOML files within limits
    processes.py  `folder_lock`: the lock of a folder's writers; resources after a fork and at garbage collection

Invariants: no link is followed in the last part of a path, nor in a folder below the trusted one (`below`). Files are
written under random names. Pipes and devices are refused, so reads never block. A reader sees the old file or the new
one. The rest of the package does not write, delete, start programs or open connections, except as listed with a
reason in `scripts/check_gates.py` (docs/decisions/0054).
"""

from armarius.io.files import (
    MAX_BYTES,
    Archive,
    Refused,
    TooLarge,
    is_passing,
    is_regular,
    names_in,
    no_path,
    open_file,
    project_folder,
    read_file,
    read_files,
    refusal,
    stat_of,
    without_paths,
)
from armarius.io.processes import folder_lock
from armarius.io.write import (
    create_empty,
    make_folder,
    move_atomic,
    private_folder,
    remove_any,
    remove_file,
    remove_folder,
    rewrite_file,
    scratch_folder,
    write_atomic,
)

__all__ = [
    "MAX_BYTES", "Archive", "Refused", "TooLarge", "create_empty", "folder_lock", "is_passing", "is_regular",
    "make_folder", "move_atomic", "names_in", "no_path", "open_file", "private_folder", "project_folder",
    "read_file", "read_files", "refusal", "remove_any", "remove_file", "remove_folder", "rewrite_file",
    "scratch_folder", "stat_of", "without_paths", "write_atomic",
]  # fmt: skip
