"""One of several processes that edit one page: `python -m tests.reliability.editing SURFACE ROOT NAME FIRST LAST LOCK`.

Each surface gives one person of the page another dwelling, again and again; `editor` is a program of its own that reads
the page, writes a draft and renames it, as a text editor does. A line of JSON for each value that was acknowledged.
The editor knows no lock of ours: LOCK keeps it out of the microseconds between our last look and the renaming.
"""

import asyncio
import fcntl
import io
import json
import os
import re
import shutil
import sys
import time
from pathlib import Path

import armarius
from armarius.errors import StoreBusy
from armarius.io import write as writer
from armarius.io.files import Folder

PAGE = "人物.md"


def by_python(engine, name):
    """The value through `engine.codex`."""
    return lambda value: engine.codex.update(name, attributes={"住处": value})


def by_channel(engine, name):
    """The value through a message of the channel."""
    from armarius.channel import Channel
    from armarius.verbs import methods_of

    def edit(value):
        output = io.BytesIO()
        params = {"id": name, "attributes": {"住处": value}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "entities:update", "params": params}
        Channel(methods_of(engine)).serve(io.BytesIO(json.dumps(call).encode() + b"\n"), output)
        _refused("error" in json.loads(output.getvalue()), output.getvalue())

    return edit


def by_mcp(engine, name):
    """The value through the tool of MCP."""
    from mcp import Client

    from armarius.mcp import build_server

    async def ask(value):
        async with Client(build_server(engine, allow_write=True)) as client:
            return await client.call_tool("update", {"name": name, "attributes": {"住处": value}})

    def edit(value):
        answer = asyncio.run(ask(value))
        _refused(answer.is_error, answer.content)

    return edit


def by_studio(engine, name):
    """The value through a field of the studio, saved as it is left."""
    from starlette.testclient import TestClient

    from armarius.studio.app import build_app

    client = TestClient(build_app(engine, "secret", 8123), base_url="http://127.0.0.1:8123")
    client.get("/?token=secret")

    def edit(value):
        form = {"id": name, "key": "住处", "value": value}
        for _ in range(50):  # somebody else wrote in between
            answer = client.post("/change/entity", data=form, headers={"origin": "http://127.0.0.1:8123"})
            if answer.status_code == 200:
                return
            assert "changed meanwhile" in answer.text, answer.text
        raise StoreBusy("the page is edited all the time")

    return edit


def by_editor(engine, name):
    """The value by a program that knows nothing of ours: it reads, writes a draft, looks again and renames."""
    page, guard = engine.root / PAGE, _Guard.of_process

    def edit(value):
        while True:
            before = page.read_bytes()
            line = rf"(## {name}\r\n\r\n甲\r\n\r\n- 住处：)[^\r]*"
            draft = page.with_name(f"{name}.draft")
            draft.write_bytes(re.sub(line, rf"\g<1>{value}", before.decode()).encode())
            time.sleep(0.05)  # the editor asks its plug-ins
            shutil.copystat(page, draft)
            os.chown(draft, page.stat().st_uid, page.stat().st_gid)
            guard.lock()
            try:
                if page.read_bytes() == before:
                    draft.rename(page)
                    break
            finally:
                guard.unlock()
        time.sleep(0.1)  # the writer reads what stands there

    return edit


def _refused(wrong, answer):
    if wrong:
        raise (StoreBusy if "STORE_BUSY" in str(answer) else AssertionError)(str(answer))


class _Guard:
    """A lock of the test around the last look at a file and its renaming."""

    def __init__(self, path):
        self._file, self._held = path.open("w"), False

    def lock(self, how=fcntl.LOCK_EX):
        if not self._held:
            fcntl.flock(self._file, how)
            self._held = True

    def unlock(self):
        fcntl.flock(self._file, fcntl.LOCK_UN)
        self._held = False

    @classmethod
    def install(cls, path):
        """Guard `write_atomic` of this process."""
        guard = cls.of_process = cls(path)
        look, replace, unlink = writer._first_bytes, Folder.replace, Folder.unlink
        writer._first_bytes = lambda *asked: guard.lock(fcntl.LOCK_SH) or look(*asked)

        def replaced(folder, name, target):
            try:
                replace(folder, name, target)
            finally:
                guard.unlock()

        def unlinked(folder, name):
            guard.unlock()
            unlink(folder, name)

        Folder.replace, Folder.unlink = replaced, unlinked


def main(surface, root, name, first, last, lock):
    _Guard.install(lock)
    with armarius.open(root, watch=False) as engine:
        edit = globals()[f"by_{surface}"](engine, name)
        for number in range(first, last):
            while True:
                try:
                    edit(f"塔{number}")
                    break
                except StoreBusy:
                    time.sleep(0.01)
            print(json.dumps([name, number]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), Path(sys.argv[6]))
