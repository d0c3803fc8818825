"""Every file and folder that the package reads or writes in a project, in an index folder and in the cache.

`test_oracle.py` proves that none is missing: what an innocent life opens or leaves behind is in this list.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.place import Place

_NOTHING: frozenset[str] = frozenset()
_RECORDS = frozenset({"constraint", "memory", "entity"})
_BUDGET = frozenset(
    {"assemble a document", "assemble a query", "inspect", "profile", "update the profile", "assemble again"}
)
_DOCUMENT = frozenset({"assemble a document", "inspect"})
_MEANING = frozenset({"similar"})


@dataclass(frozen=True)
class Target:
    """A file or folder.

    Attributes:
        name: As in failures; relative to the project unless it begins with a word and a colon.
        path: Where it is in a place.
        format: Key of `contents.CONTENTS`.
        setting: Key of `place.SETTINGS`: what makes the package want it.
        folder: It is a folder.
        prior: It is there only after a first life.
        quiet: Whatever lies there, every answer comes but for the steps in `may_fail`, which may raise our errors.
        foreign: What is not ours there is nobody's to delete.
        users: A folder of the cache, which the user may have led elsewhere by a link.
        often: In the quick suite.
    """

    name: str
    path: Callable[[Place], Path]
    format: str
    setting: str = "plain"
    folder: bool = False
    prior: bool = False
    quiet: bool = True
    may_fail: frozenset[str] = _NOTHING
    foreign: bool = False
    users: bool = False
    often: bool = True


def _project(name: str, form: str, **more: object) -> Target:
    return Target(name, lambda place: place.project / name, form, **more)  # type: ignore[arg-type]


def _folder(name: str, **more: object) -> Target:
    return _project(name, "text", folder=True, **more)


def _index(name: str, form: str, *, foreign: bool = False, often: bool = True) -> list[Target]:
    """A file of the index: below the folder that the caller names, in the cache."""
    here = {"prior": True, "quiet": False, "format": form, "foreign": foreign}
    return [
        Target(f"shared: {name}", lambda place: place.shared_index() / name, setting="shared", often=often, **here),
        Target(f"cache: {name}", lambda place: place.index_folder() / name, often=False, **here),
    ]


def _code_cache(place: Place) -> Path:
    return next(iter(sorted(place.cache.glob("code/*"))))


_SETTLED = {"prior": True, "quiet": False}

TARGETS: tuple[Target, ...] = (
    _project("armarius.toml", "toml", quiet=False),
    _project("codex.json", "codex"),
    _folder(".armarius", may_fail=_RECORDS | _BUDGET),
    _project(".armarius/codex.toml", "records", may_fail=_RECORDS),
    _project(".armarius/memories.toml", "records", may_fail=_RECORDS, often=False),
    _project(".armarius/constraints.toml", "records", may_fail=_RECORDS),
    _project(".armarius/budget.json", "budget", may_fail=_BUDGET),
    _project(".armarius/budget.tmp", "text", may_fail=_BUDGET),
    _project(".armarius/.lock", "text", may_fail=_RECORDS | _BUDGET),
    _folder(".armarius/nervusdb", setting="nervusdb", quiet=False),
    _project(".armarius/.nervusdb.lock", "text", setting="nervusdb", often=False),
    _folder("chapters", may_fail=_DOCUMENT),
    _project("chapters/ch001.md", "prose", may_fail=_DOCUMENT),
    _project("spec/people.md", "prose"),
    _folder("spec", often=False),
    _project("style.md", "prose", often=False),
    _project("guide/tone.md", "prose", setting="style", quiet=False, often=False),
    _project("src/clock.py", "code"),
    _folder("src", often=False),
    _project("notes.log", "text", often=False),
    _project(".gitignore", "ignore"),
    _project(".ignore", "ignore", often=False),
    _project("chapters/.gitignore", "ignore", often=False),
    _folder(".git"),
    _project(".git/info/exclude", "ignore"),
    _project(".git/commondir", "text", often=False),
    _project("chapters/.ignore", "ignore", often=False),
    _project("chapters/.git/info/exclude", "ignore", often=False),
    _project("index.scip", "scip", setting="scip"),
    _project("build/index.scip", "scip", setting="build", often=False),
    _folder(".ckb", often=False),
    _folder("models/tiny", setting="table", may_fail=_MEANING),
    _project("models/tiny/config.json", "json", setting="table", may_fail=_MEANING),
    _project("models/tiny/modules.json", "json", setting="table", may_fail=_MEANING, often=False),
    _project("models/tiny/tokenizer.json", "json", setting="table", may_fail=_MEANING),
    _project("models/tiny/model.safetensors", "weights", setting="table", may_fail=_MEANING),
    _project("models/tiny/vocab.txt", "text", setting="bert", may_fail=_MEANING, often=False),
    _project("models/tiny/tokenizer_config.json", "json", setting="bert", may_fail=_MEANING, often=False),
    _project("models/tiny/sentence_bert_config.json", "json", setting="bert", may_fail=_MEANING, often=False),
    _project("models/tiny/1_Pooling/config.json", "json", setting="bert", may_fail=_MEANING, often=False),
    _project("models/tiny/onnx/tokenizer.json", "json", setting="onnx", may_fail=_MEANING, often=False),
    _project("models/tiny/onnx/model.onnx", "onnx", setting="onnx", may_fail=_MEANING, often=False),
    _folder("idx", setting="idx", **_SETTLED),
    *_index("index.sqlite", "database", foreign=True),
    *_index("index.sqlite-wal", "database", often=False),
    *_index("index.sqlite-shm", "database", often=False),
    *_index("index.sqlite-journal", "database", often=False),
    *_index("index.seal", "text"),
    *_index("index.lock", "text"),
    Target("cache: index folder", Place.index_folder, "text", folder=True, users=True, often=False, **_SETTLED),
    Target(
        "cache: code",
        lambda place: place.cache / "code",
        "text",
        "scip",
        folder=True,
        users=True,
        often=False,
        **_SETTLED,
    ),
    Target(
        "cache: index.scip", lambda place: _code_cache(place) / "index.scip", "scip", "scip", often=False, **_SETTLED
    ),
    Target(
        "cache: scip-files.json",
        lambda place: _code_cache(place) / "scip-files.json",
        "json",
        "scip",
        often=False,
        **_SETTLED,
    ),
)
