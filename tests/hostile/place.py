"""One case on the disk: a small project, and beside it everything that no project may touch.

base/project     the folder that somebody else made
base/outside     the user's own files, a foreign database, a book, a model, programs that leave a mark
base/home        the user's home        base/cwd     where the process stands
base/cache       of the package         base/shared  an index folder that the caller names
base/marks       empty, until a program of the case has run
"""

import contextlib
import functools
import json
import os
import shutil
import sqlite3
import stat
import struct
import subprocess
import tempfile
from pathlib import Path

from tests.code.wire import document, index, occurrence

CANARY = "泄密七号渡口"
"""Stands in every text outside of the project: whatever holds it was read there."""

MARK = "渡口的灯还亮着"
"""Stands in a chapter that no case touches: a search that finds it is answered from the project."""

PROJECT = {
    "chapters/ch001.md": "# 第一章 雨夜\n\n林默推开门，小雨站在雨里。\n\n钟停了。\n",
    "chapters/ch002.md": f"# 第二章 钟楼\n\n林小雨没有说话。\n\n{MARK}，林默修好了钟。\n",
    "spec/people.md": "# 人物\n\n"
    "## 林小雨\n\n- 类型：人物\n- 别名：小雨\n- 描述：林默的妹妹\n\n"
    "## 林默\n\n- 类型：人物\n- 描述：钟表匠\n",
    "style.md": "# 风格\n\n第三人称限知。\n",
    "guide/tone.md": "# 语气\n\n克制。\n",
    "src/clock.py": "def strike():\n    return wind()\n\n\ndef wind():\n    return 1\n",
    "notes.log": "strike: 林默\n",
    "codex.json": json.dumps({"entities": [{"name": "钟楼", "type": "location"}]}, ensure_ascii=False),
    ".gitignore": "drafts/\n",
    ".ignore": "*.tmp.md\n",
    "chapters/.gitignore": "*.bak.md\n",
    ".git/info/exclude": "attic/\n",
    ".armarius/codex.toml": '[[entity]]\nid = "lamp"\nname = "灯塔"\n',
    ".armarius/memories.toml": '[[memory]]\nid = "m-1"\ntext = "灯塔三年没有亮过。"\n',
    ".armarius/constraints.toml": '[[constraint]]\nid = "c-1"\ntext = "不得改名。"\n',
    ".armarius/budget.json": '{"version": 1, "budget": 7000}',
}

SETTINGS = {
    "plain": '[style]\ntext = "短句。"\n',
    "idx": '[documents]\nindex_dir = "idx"\n',
    "shared": '[style]\ntext = "短句。"\n',
    "nervusdb": '[graph]\nstore = "nervusdb"\n',
    "style": '[style]\nfiles = ["guide/tone.md"]\n',
    "scip": '[code]\nsource = "scip"\n',
    "build": '[code]\nindex = "build/index.scip"\n',
    "table": '[embedding]\nmodel = "models/tiny"\n',
    "bert": '[embedding]\nmodel = "models/tiny"\n',
    "onnx": '[embedding]\nmodel = "models/tiny"\n',
}
"""`armarius.toml` of each kind of project; the tests of one file need what makes the package read it."""

MODELS = ("table", "bert", "onnx")
"""The settings that name a model folder in the project."""

PROGRAMS = ("ckb", "nervusdb-cli", "scip-python", "git")

_OUTSIDE = {
    "mine.txt": f"{CANARY}\n",
    "secret.md": f"# 私信\n\n{CANARY}，林默的妹妹小雨 strike。\n",
    "secret.py": f"def strike():\n    return '{CANARY}'\n",
    "book/chapters/ch009.md": f"# 第九章\n\n{CANARY}，林默。\n",
    "book/codex.json": json.dumps({"entities": [{"name": CANARY, "aliases": ["林默"]}]}, ensure_ascii=False),
    "book/armarius.toml": f'[style]\ntext = "{CANARY}"\n',
    "book/constraints.toml": f'[[constraint]]\nid = "x"\ntext = "{CANARY}"\n',
    "book/budget.json": '{"version": 1, "budget": 7001}',
    "book/.gitignore": "chapters/\n",
}


class Place:
    """The folders of one case."""

    def __init__(self, base: Path, seeds: Path) -> None:
        self.base, self.seeds = base, seeds
        self.project, self.outside = base / "project", base / "outside"
        self.home, self.cwd, self.marks = base / "home", base / "cwd", base / "marks"
        self.cache, self.shared, self.temporary = base / "cache", base / "shared", base / "tmp"
        self.output = base / "output.txt"

    def build(self, setting: str) -> None:
        """Write everything; `setting` is a key of `SETTINGS`."""
        for folder in (self.home, self.cwd, self.marks, self.cache, self.shared, self.temporary):
            folder.mkdir(parents=True)
        for name, text in PROJECT.items():
            put(self.project / name, text)
        put(self.project / "armarius.toml", SETTINGS[setting])
        if setting in ("scip", "build"):
            put(self.project / ("index.scip" if setting == "scip" else "build/index.scip"), scip())
        plant(self.seeds, "table")
        if setting in MODELS:
            plant(self.seeds, setting)
            shutil.copytree(self.seeds / setting, self.project / "models/tiny")
        for name, text in _OUTSIDE.items():
            put(self.outside / name, text)
        (self.outside / "empty").mkdir()
        put(self.outside / "app/index.sqlite", foreign_database())
        put(self.outside / "index.scip", scip())
        shutil.copytree(self.seeds / "table", self.outside / "model")
        put(self.home / "mine.txt", CANARY)
        put(self.cwd / "codex.json", _OUTSIDE["book/codex.json"])
        put(self.cwd / "secret.md", _OUTSIDE["secret.md"])
        for folder in (self.outside / "bin", self.cwd, self.cwd / "tools", self.project, self.project / "tools"):
            for name in PROGRAMS:
                program = put(folder / name, f'#!/bin/sh\necho ran > "{self.marks}/{name}"\n')
                program.chmod(0o755)

    def index_folder(self) -> Path:
        """Where the index of this project lies in the cache, once it was opened."""
        return next(path for path in sorted(self.cache.glob("project-*")) if path.is_dir())

    def shared_index(self) -> Path:
        """Where it lies in the folder that the caller names."""
        return next(iter((self.shared / "armarius-index").glob("project-*")))

    def remove(self) -> None:
        """Delete the case, also what nobody may enter and what is deeper than a path can say."""
        for folder, names, _ in os.walk(self.base):
            for name in names:
                with contextlib.suppress(OSError):  # longer than a path may be: those are nobody's to open
                    info = Path(folder, name).lstat()
                    if stat.S_ISDIR(info.st_mode) and not info.st_mode & stat.S_IRWXU:
                        Path(folder, name).chmod(0o700)
        try:
            shutil.rmtree(self.base)
        except (OSError, RecursionError):
            subprocess.run(["rm", "-rf", str(self.base)], check=True)


def put(path: Path, content: str | bytes) -> Path:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def scip(strike: str = "src/clock.py") -> bytes:
    """A SCIP index of `src/clock.py`; `strike` is the path that it says the function is in."""
    package = "scip-python python project 1 `src.clock`"
    first, second = f"{package}/strike().", f"{package}/wind()."
    definitions = [occurrence(first, roles=1, at=[0, 4, 10]), occurrence(second, at=[1, 11, 15])]
    return index(document(strike, *definitions, occurrence(second, roles=1, at=[4, 4, 8])))


@functools.cache
def foreign_database() -> bytes:
    """A database of another program."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "photos.sqlite")
        connection = sqlite3.connect(path)
        connection.execute("create table photos(name)")
        connection.execute("insert into photos values (?)", (CANARY,))
        connection.commit()
        connection.close()
        return path.read_bytes()


def plant(seeds: Path, model: str) -> None:
    """Write the model that cases copy, once: a static table by hand; BERT and ONNX where the tools for them are."""
    if (seeds / model).exists():
        return
    if model == "table":
        words = {word: row for row, word in enumerate(("[PAD]", "[UNK]", "林", "默", "雨", "钟"))}
        vocabulary = {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"}
        parts = {"added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "BertPreTokenizer"}}
        rows = [float(number) for number in range(1, 1 + 4 * len(words))]
        table = {"embeddings": {"dtype": "F32", "shape": [len(words), 4], "data_offsets": [0, 4 * len(rows)]}}
        put(seeds / "table/tokenizer.json", json.dumps({"version": "1.0", "model": vocabulary, **parts}))
        put(seeds / "table/model.safetensors", safetensors(table, struct.pack(f"<{len(rows)}f", *rows)))
        put(seeds / "table/config.json", '{"model_type": "model2vec", "normalize": true}')
        put(seeds / "table/modules.json", "[]")
        return
    from tests.vectors.bert_reference import random_weights
    from tests.vectors.conftest import write_tiny
    from tests.vectors.export import export_bert

    write_tiny(seeds / model)
    if model == "onnx":
        config = json.loads((seeds / "onnx/config.json").read_text("utf-8"))
        (seeds / "onnx/model.safetensors").unlink()
        export_bert(random_weights(config), config, seeds / "onnx/onnx/model.onnx")


def safetensors(header: object, data: bytes = b"", *, length: int | None = None) -> bytes:
    """A safetensors file; `length` is what it claims its header to be long."""
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data
