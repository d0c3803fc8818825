"""Record golden outputs of projects, or compare with recorded ones.

    python -m tests.golden.record --write FILE.jsonl FOLDER...     outputs whole, one request a line
    python -m tests.golden.record --check FILE.jsonl FOLDER...     compare; exits with 1 on a difference

Two states of the code are compared over any project by the two commands, without its text in the repository.
A folder is copied without `.armarius/` and `truth/`; a lorebook is added. Each project is served by `armarius channel`,
so the outputs are those of the wire; the prompt's items and omissions are read from the Python API beside it.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.golden.requests import LOREBOOK, requests_of

CHANGING = frozenset({"requestedAt", "seconds", "timings"})
"""Fields of the wire that hold a time."""


class Channel:
    """A client of `armarius channel` over one folder."""

    def __init__(self, folder: Path, work: Path) -> None:
        environment = os.environ | {"ARMARIUS_CACHE": str(work / "cache"), "ARMARIUS_CONFIG": str(work / "config")}
        command = [sys.executable, "-W", "ignore", "-m", "armarius", "channel", str(folder)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._asked = 0

    def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        self._asked += 1
        message = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        while line := self._process.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self._asked:
                if "error" in answer:
                    return {"error": answer["error"]["data"]["code"]}
                return answer["result"]
        raise AssertionError("the channel ended")

    def close(self) -> None:
        self._process.communicate()  # closes the pipes; the channel ends with its input


def outputs(folder: Path, code: str = "") -> Iterator[tuple[str, Any]]:
    """Every request of a project with its output, in order."""
    with tempfile.TemporaryDirectory() as made:
        project = Path(made) / folder.name
        shutil.copytree(folder, project, ignore=shutil.ignore_patterns(".armarius", "truth", "__pycache__"))
        channel = Channel(project, Path(made))
        try:
            channel.ask("index:wait", {})
            documents = sorted(channel.ask("documents:list", {})["items"], key=lambda one: one["path"])
            entities = sorted(channel.ask("entities:list", {})["items"], key=lambda one: one["id"])
            requests = requests_of(documents, entities, code)
            for label, method, params in requests:
                yield label, stable(channel.ask(method, params))
        finally:
            channel.close()
        yield from accounts(project, Path(made) / "index", requests)


def accounts(project: Path, index: Path, requests: list[Any]) -> Iterator[tuple[str, Any]]:
    """Items and omissions of the first prompts, with a lorebook of the project in them."""
    import armarius

    with armarius.open(project, watch=False, index_dir=index) as engine:
        first = min((one.name for one in engine.entities()), default="")
        book = project.parent / "book.json"
        book.write_text(json.dumps(LOREBOOK).replace("{name}", json.dumps(first)[1:-1]), "utf-8")
        engine.importing.add(book)
        for label, method, params in requests[:12]:
            if method != "context:prompt:assemble":
                continue
            pack = engine.assemble(
                params["query"],
                document=params["documentId"],
                cursor=params["cursorPosition"] if params["documentId"] else None,
                skill=params["skillId"],
                model=params["model"],
                budget=params["budget"],
            )
            items = [[one.source, one.layer, one.tokens] for one in pack.items]
            left = [[one.source, one.code] for one in pack.omitted]
            yield f"account: {label}", {"prompt": pack.prompt, "items": items, "omitted": left}


def stable(value: Any) -> Any:
    """The value without times; fractions to six digits."""
    if isinstance(value, dict):
        return {
            key: stable(one) for key, one in value.items() if key not in CHANGING or not isinstance(one, str | float)
        }
    if isinstance(value, list):
        return [stable(one) for one in value]
    return round(value, 6) if isinstance(value, float) else value


def recorded(file: Path) -> dict[str, Any]:
    """Output by `project/label`."""
    return dict(map(json.loads, file.read_text("utf-8").splitlines()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--check", type=Path)
    parser.add_argument("--symbol", default="", help="a symbol of the code, for projects with source files")
    given = parser.parse_args()
    found = {
        f"{folder.name}/{label}": output
        for folder in given.folders
        for label, output in outputs(folder.resolve(), given.symbol)
    }
    if given.write:
        lines = (json.dumps([key, value], ensure_ascii=False) for key, value in found.items())
        given.write.write_text("\n".join(lines) + "\n", "utf-8")
    if not given.check:
        return 0
    known = recorded(given.check)
    differing = [key for key, value in found.items() if known.get(key) != value]
    for key in differing:
        print("differs:", key)
    print(f"{len(found) - len(differing)} of {len(found)} outputs are as recorded")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())
