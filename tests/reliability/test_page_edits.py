"""One page that every surface and a text editor edit at once: what was acknowledged is there, the rest as it was."""

import json
import os
import random
import re
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import armarius

pytest.importorskip("starlette", reason="armarius[studio]")
pytest.importorskip("mcp", reason="armarius[mcp]")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes and renaming of POSIX")

ROOT = Path(__file__).resolve().parents[2]
SURFACES = {"python": "林默", "channel": "小雨", "mcp": "周远", "studio": "白鹭", "editor": "顾长河"}
COMMENT = "<!-- 改到第三稿 -->"


def page_of(values):
    people = [f"## {name}\r\n\r\n甲\r\n\r\n- 住处：{values[name]}\r\n" for name in SURFACES.values()]
    return f"\ufeff# 人物\r\n\r\n{COMMENT}\r\n\r\n" + "\r\n".join(people)


class Surface:
    """A process of one surface, killed `kills` times; the next goes on behind what was acknowledged."""

    def __init__(self, surface, root, edits, lock, kills):
        self.name, self.edits, self.kills, self.acknowledged = SURFACES[surface], edits, kills, 0
        self._asked = [surface, str(root), self.name]
        self._lock = str(lock)
        self.failed = ""

    def run(self):
        chance = random.Random(self.name)
        while self.acknowledged < self.edits and not self.failed:
            span = (str(self.acknowledged + 1), str(self.edits + 1))
            with subprocess.Popen(
                [sys.executable, "-m", "tests.reliability.editing", *self._asked, *span, self._lock],
                env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as running:
                killer = threading.Timer(chance.uniform(2, 6), running.send_signal, [signal.SIGKILL])
                if self.kills:
                    self.kills -= 1
                    killer.start()
                for line in running.stdout:
                    self.acknowledged = json.loads(line)[1]
                said = running.stderr.read()
                killer.cancel()
            if running.returncode not in (0, -signal.SIGKILL):
                self.failed = said
        self.failed = self.failed or ("" if self.acknowledged == self.edits else "not all was acknowledged")


@pytest.mark.parametrize(("edits", "kills"), [(6, 0), pytest.param(150, 8, marks=pytest.mark.slow)])
def test_what_every_surface_and_an_editor_write_into_one_page_is_there(tmp_path, record_property, edits, kills):
    root = tmp_path / "novel"
    (root / "chapters").mkdir(parents=True)
    (root / "chapters" / "ch001.md").write_text(f"# 第一章\n\n{'来了。'.join(SURFACES.values())}来了。\n", "utf-8")
    page = root / "人物.md"
    page.write_text(page_of(dict.fromkeys(SURFACES.values(), "塔0")), "utf-8", newline="")
    page.chmod(0o640)
    owner = (1234, 4321) if os.geteuid() == 0 else (os.geteuid(), page.stat().st_gid)
    os.chown(page, *owner)
    surfaces = [Surface(name, root, edits, tmp_path / "lock", 0 if name == "editor" else kills) for name in SURFACES]
    threads = [threading.Thread(target=one.run) for one in surfaces]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [one.failed for one in surfaces] == [""] * len(surfaces)
    record_property("count", sum(one.acknowledged for one in surfaces))
    text = page.read_bytes().decode()
    values = {name: re.search(rf"## {name}\r\n\r\n甲\r\n\r\n- 住处：(.*)\r\n", text)[1] for name in SURFACES.values()}
    assert values == {one.name: f"塔{edits}" for one in surfaces}
    assert text == page_of(values)
    assert (stat.S_IMODE(page.stat().st_mode), (page.stat().st_uid, page.stat().st_gid)) == (0o640, owner)
    with armarius.open(root, watch=False) as engine:
        assert {one.name: one.attributes["住处"] for one in engine.entities()} == values
    if not kills:
        assert not list(root.rglob("*.tmp"))
    assert not (root / ".armarius" / "codex.toml").exists()
