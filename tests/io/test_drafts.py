import os
import subprocess
import sys
import time

from armarius.io import write_atomic


def test_drafts_of_killed_writers_are_removed_and_nothing_else_is(tmp_path):
    old = time.time() - 7200
    gone = [f".a.toml.{number:016x}.tmp" for number in range(3)]
    kept = [".a.toml.tmp", ".a.toml.xyz.tmp", f".b.toml.{1:016x}.tmp", f"a.toml.{1:016x}.tmp", f"..a.toml.{1:016x}.tmp"]
    for name in (*gone, *kept):
        (tmp_path / name).write_text("draft")
        os.utime(tmp_path / name, (old, old))
    young = f".a.toml.{9:016x}.tmp"
    (tmp_path / young).write_text("of one who writes now")
    (tmp_path / f".a.toml.{8:016x}.tmp").mkdir()
    write_atomic(tmp_path / "a.toml", b"x")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {*kept, young, f".a.toml.{8:016x}.tmp", "a.toml"}


def test_what_the_watcher_of_the_system_has_to_say_does_not_reach_a_terminal():
    script = (
        "import logging, armarius.index.watcher; "
        "logging.getLogger('watchdog.observers.inotify_c').error('Inotify queue overflowed')"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == ""
