"""The cache folder, which holds only derived data."""

import os
import re
import sys
from pathlib import Path

from armarius.io.write import private_folder

_REMOTE = frozenset(
    {"9p", "afs", "ceph", "cifs", "fuse.sshfs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"}
)


def cache_root() -> Path:
    """The folder of all indexes: `ARMARIUS_CACHE`, else the user's cache directory, or a temporary one if it is remote.

    Raises:
        StoreFull: The temporary folder belongs to another user.
    """
    if chosen := os.environ.get("ARMARIUS_CACHE"):
        return Path(chosen)
    import platformdirs

    root = Path(platformdirs.user_cache_dir("armarius", appauthor=False))
    if not is_remote(root):
        return root
    import tempfile

    temporary = Path(tempfile.gettempdir()) / f"armarius-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    private_folder(temporary)  # its parent is writable by all users
    return temporary


def is_remote(path: Path, mounts: str = "/proc/self/mountinfo") -> bool:
    """Whether `path` lies on a network drive, where SQLite's write-ahead log does not work; False when unknown."""
    if not sys.platform.startswith("linux"):
        return str(path).startswith("\\\\")
    best, remote = -1, False
    try:
        lines = Path(mounts).read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return False
    wanted = os.path.realpath(path)
    for line in lines:
        fields = line.split()
        mount = re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), fields[4])
        inside = wanted == mount or wanted.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= best:
            best, remote = len(mount), fields[fields.index("-") + 1] in _REMOTE
    return remote
