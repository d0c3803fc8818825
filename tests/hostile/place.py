"""One case on the disk: a small project, and beside it everything that no project may touch.

base/project     the folder that somebody else made
base/outside     the user's own files, a foreign database, a book, a model, programs that leave a mark
base/home        the user's home        base/cwd     where the process stands
base/cache       of the package         base/shared  an index folder that the caller names
base/marks       empty, until a program of the case has run
"""

import contextlib
import functools
import importlib
import json
import os
import shutil
import sqlite3
import stat
import struct
import subprocess
from pathlib import Path

from tests.code.wire import document, index, occurrence

ROWS = json.loads(Path(__file__).parents[1].joinpath("cases/hostile.json").read_text("utf-8"))

CANARY = "泄密七号渡口"
"""Stands in every text outside of the project: whatever holds it was read there."""

MARK = "渡口的灯还亮着"
"""Stands in a chapter that no case touches: a search that finds it is answered from the project."""

MODELS = ("table", "bert", "onnx")
"""The settings that name a model folder in the project."""


class Place:
    """The folders of one case."""

    def __init__(self, base: Path, seeds: Path) -> None:
        self.base, self.seeds = base, seeds
        self.project, self.outside, self.home, self.cwd, self.marks, self.cache, self.shared, self.temporary = (
            base / name for name in ("project", "outside", "home", "cwd", "marks", "cache", "shared", "tmp")
        )

    def build(self, setting: str) -> None:
        """Write everything; `setting` is a key of the settings in `tests/cases/hostile.json`."""
        for folder in (self.home, self.cwd, self.marks, self.cache, self.shared, self.temporary):
            folder.mkdir(parents=True)
        for name, text in (ROWS["project"] | {"armarius.toml": ROWS["settings"][setting]}).items():
            put(self.project / name, text)
        if setting in ("scip", "build"):
            put(self.project / ("index.scip" if setting == "scip" else "build/index.scip"), scip())
        for name, text in ROWS["outside"].items():
            put(self.outside / name, text)
        (self.outside / "empty").mkdir()
        put(self.outside / "app/index.sqlite", foreign_database())
        put(self.outside / "index.scip", scip())
        shutil.copytree(plant(self.seeds, "table"), self.outside / "model")
        if setting in MODELS:
            shutil.copytree(plant(self.seeds, setting), self.project / "models/tiny")
        put(self.home / "mine.txt", CANARY)
        put(self.cwd / "codex.json", ROWS["outside"]["book/codex.json"])
        put(self.cwd / "secret.md", ROWS["outside"]["secret.md"])
        for folder in (self.outside / "bin", self.cwd, self.cwd / "tools", self.project, self.project / "tools"):
            for name in ("ckb", "nervusdb", "nervusdb-cli", "scip-python", "git"):
                program = put(folder / name, f'#!/bin/sh\necho ran > "{self.marks}/{name}"\n')
                program.chmod(0o755)

    def path(self, pattern: str) -> Path:
        """A path below the base; a name with a star is that of the first that the package made."""
        found = self.base
        for name in pattern.split("/"):
            if "*" in name:
                names = sorted(path.name for path in found.glob(name))
                name = next(one for one in names if one.endswith(".lock") == name.endswith(".lock"))
            found /= name
        return found

    def remove(self) -> None:
        """Delete the case, also what nobody may enter and what is deeper than a path can say."""
        try:
            shutil.rmtree(self.base)
        except (OSError, RecursionError):
            subprocess.run(["chmod", "-R", "u+rwX", str(self.base)], check=False, capture_output=True)
            subprocess.run(["rm", "-rf", str(self.base)], check=True)


def put(path: Path, content: str | bytes) -> Path:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
    return path


def text_of(parts: str | list[str | list[object]]) -> str:
    """A row's text: pieces, each as it is, so many times, or with each number of a range in the place of {n}."""
    match parts:
        case str():
            return parts
        case [str(piece), int(times)]:
            return piece * times
        case [str(piece), int(start), int(end)]:
            return "".join(piece.replace("{n}", str(n)) for n in range(start, end))
    return "".join(map(text_of, parts))


def contents(form: str) -> dict[str, str | bytes]:
    """What may stand in a file of this format, by name. Everything is made by rule, nothing is random.

    What is merely large is a few times the size of a book's: linear work on it is short, anything worse shows.
    """
    if form == "database":
        database = foreign_database()
        return {
            "somebody's database": database,
            "a header only": database[:100],
            "random bytes": bytes(range(256)) * 64,
            "empty": b"",
        }
    groups = {"codex": ["json"], "budget": ["json"], "records": ["toml"], "json": ["json", "model"]}.get(form, [])
    found = {name: parts for group in ("any", *groups, form) for name, parts in ROWS["contents"].get(group, {}).items()}
    found = {name: text_of(parts) for name, parts in found.items()}
    if form == "prose":
        found["deep lists"] = "".join(f"{' ' * (2 * n)}- 林默\n" for n in range(1_500))
    elif form == "code":
        found["deep functions"] = "".join(f"{' ' * n}def f{n}():\n" for n in range(1_500))
    elif form == "scip":
        found |= {"cut short": scip()[:-7], "a length of 2^63": b"\x12" + b"\xff" * 8 + b"\x7f" + b"x" * 20}
        paths = {"a path outside": "../outside/secret.py", "a path up and out": "src/../../outside/secret.py"}
        paths |= {"a path to a device": "/dev/zero", "an empty path": "", "a path with NUL": "a\0b.py"}
        found |= {name: scip(path) for name, path in paths.items()}
    if form in ("scip", "onnx"):
        found["random bytes"] = bytes(range(256)) * 500
    return found


def scip(strike: str = "src/clock.py") -> bytes:
    """A SCIP index of `src/clock.py`; `strike` is the path that it says the function is in."""
    package = "scip-python python project 1 `src.clock`"
    first, second = f"{package}/strike().", f"{package}/wind()."
    definitions = [occurrence(first, roles=1, at=[0, 4, 10]), occurrence(second, at=[1, 11, 15])]
    return index(document(strike, *definitions, occurrence(second, roles=1, at=[4, 4, 8])))


@functools.cache
def foreign_database() -> bytes:
    """A database of another program."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create table photos(name)")
    connection.execute("insert into photos values (?)", (CANARY,))
    connection.commit()
    return connection.serialize()


def plant(seeds: Path, model: str) -> Path:
    """The model that cases copy, written once: a static table by hand; BERT and ONNX where the tools for them are."""
    if (seeds / model).exists():
        return seeds / model
    for name in ("numpy", "onnxruntime", "safetensors.numpy", "tokenizers"):  # what they leave at home is not ours
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if model == "table":
        words = {word: row for row, word in enumerate(("[PAD]", "[UNK]", "林", "默", "雨", "钟"))}
        vocabulary = {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"}
        parts = {"added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "BertPreTokenizer"}}
        rows = [float(number) for number in range(1, 1 + 4 * len(words))]
        header = {"embeddings": {"dtype": "F32", "shape": [len(words), 4], "data_offsets": [0, 4 * len(rows)]}}
        data = json.dumps(header).encode()
        put(seeds / "table/tokenizer.json", json.dumps({"version": "1.0", "model": vocabulary, **parts}))
        put(
            seeds / "table/model.safetensors",
            struct.pack("<Q", len(data)) + data + struct.pack(f"<{len(rows)}f", *rows),
        )
        put(seeds / "table/config.json", '{"model_type": "model2vec", "normalize": true}')
        put(seeds / "table/modules.json", "[]")
        return seeds / model
    from tests.vectors.bert_reference import random_weights
    from tests.vectors.conftest import write_tiny
    from tests.vectors.export import export_bert

    write_tiny(seeds / model)
    if model == "onnx":
        config = json.loads((seeds / "onnx/config.json").read_text("utf-8"))
        (seeds / "onnx/model.safetensors").unlink()
        export_bert(random_weights(config), config, seeds / "onnx/onnx/model.onnx")
    return seeds / model


def describe(path: Path) -> tuple[object, ...]:
    """Type, mode, size, time and content of what lies at `path`; only regular files are opened."""
    try:
        info = path.lstat()
    except OSError as error:  # longer than a path may be, or not there
        return ("beyond reach", error.strerror)
    kind = stat.S_IFMT(info.st_mode)
    if kind == stat.S_IFLNK:
        return kind, path.readlink()
    if kind == stat.S_IFDIR:  # its time is told by what is in it
        return kind, info.st_mode
    try:
        content = path.read_bytes() if kind == stat.S_IFREG and info.st_size <= 1 << 20 else b""
    except PermissionError:  # for root there is none
        content = b""
    return kind, info.st_mode, info.st_size, info.st_mtime_ns, content


def snapshot(root: Path, without: tuple[Path, ...] = ()) -> dict[Path, tuple[object, ...]]:
    """Everything below `root`, and what `describe` says of it."""
    found = {root: describe(root)}
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if Path(folder, name) not in without)
        found |= {path: describe(path) for name in (*names, *files) if (path := Path(folder, name)) not in without}
    return found


def differences(before: dict[Path, tuple[object, ...]], after: dict[Path, tuple[object, ...]]) -> list[str]:
    """What became of entries, in words."""
    words = {(True, False): "deleted", (False, True): "made", (True, True): "changed"}
    paths = sorted({*before, *after})
    return [f"{words[path in before, path in after]} {path}" for path in paths if before.get(path) != after.get(path)]


def forget_reading(paths: list[Path]) -> list[Path]:
    """Let the next reading of each of them show: a system notes it where it is older than the last change.

    Returns:
        Those of which it will be known: a file with several names may be read by another of them.
    """
    for path in paths:
        os.utime(path, ns=(0, path.lstat().st_mtime_ns), follow_symlinks=False)
    return [path for path in paths if path.lstat().st_nlink == 1 or path.is_dir()]


def read_since(paths: list[Path]) -> list[Path]:
    """Which of them were read or listed since `forget_reading`."""
    return [path for path in paths if (path.is_symlink() or path.exists()) and path.lstat().st_atime_ns]
