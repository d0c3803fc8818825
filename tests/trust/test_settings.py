"""What an `armarius.toml` may say where a setting names a program, a place or a server: one list, and one warning."""

import json
import os
import sqlite3
from pathlib import Path

import pytest
from tests.trust.support import snapshot, witness
from tests.vectors.conftest import write_tiny

import armarius
from armarius.index.project_index import ProjectIndex
from armarius.trust import trust
from armarius.trust.settings import MAY_SAY, Permissions, load_config

CASES = json.loads((Path(__file__).parents[1] / "cases" / "trust.json").read_text("utf-8"))
IGNORED = [(key, value) for key, values in CASES["ignored"] for value in values]
HEEDED = [(key, value) for key, values in CASES["heeded"] for value in values]


@pytest.fixture
def outside(tmp_path, cloned, monkeypatch):
    """A folder of the user's with a database, a model and programs in it, and links to it in the project."""
    folder = tmp_path / "app"
    write_tiny(folder / "tiny")
    with sqlite3.connect(folder / "index.sqlite") as database:
        database.execute("create table photos(x)")
    database.close()
    for path in (folder / "ckb", folder / "tool", folder / "python3", cloned / "tools" / "ckb"):
        witness(path, tmp_path / "OWNED")
    (cloned / "link").symlink_to(folder)
    (cloned / "chain").symlink_to("link")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def write(cloned, says, outside, allows):
    """Writes one setting, over a user's configuration that names a server, a model and an index."""
    allows(f'[servers.mine]\nbase_url = "http://127.0.0.1:9/v1"\n[models]\ntiny = "{outside / "tiny"}"\n'
           f'[indexes]\nfast = "{outside / "fast"}"\n')  # fmt: skip

    def written(*settings):
        lines = []
        for key, value in settings:
            table, name = key.split(".")
            lines.append(f"[{table}]\n{name} = {json.dumps(value.format(outside=outside, cloned=cloned))}\n")
        says("".join(lines))

    return written


def told(opened):
    return [one for one in opened.status().warnings if one.code == "SETTING_IGNORED"]


def test_every_setting_of_the_list_has_rows():
    assert list(MAY_SAY) == [key for key, _ in CASES["ignored"]] == [key for key, _ in CASES["heeded"]]


@pytest.mark.parametrize(("key", "value"), IGNORED)
@pytest.mark.parametrize("opening", [armarius.open, ProjectIndex.open], ids=["engine", "index"])
def test_what_is_not_on_the_list_is_ignored_and_touches_nothing(cloned, write, outside, key, value, opening, tmp_path):
    """D1, D2: `[code] ckb` was run by any request; `index_dir = "../app"` deleted the database that lay there."""
    write((key, value))
    before, here = snapshot(outside), snapshot(cloned)
    with opening(cloned, watch=False) as opened:
        (warning,) = told(opened)
        assert Path(opened.status().path).is_relative_to(os.environ["ARMARIUS_CACHE"])
        if opening is armarius.open:
            opened.assemble(query="`invoke` 白鹭的师父是谁", budget=4000)
    assert warning.message.startswith(f"armarius.toml: ignored, for the project is not trusted: {key} = ")
    assert warning.message.endswith(f"To allow it, run: armarius trust {cloned}")
    assert (snapshot(outside), snapshot(cloned)) == (before, here)
    assert not (tmp_path / "OWNED").exists()


@pytest.mark.parametrize(("key", "value"), HEEDED)
def test_what_is_on_the_list_is_heeded(cloned, write, key, value):
    write((key, value))
    config = load_config(cloned)
    permissions = Permissions.of(cloned)
    assert (permissions.heeded_config(config), permissions.warning(config)) == (config, None)


@pytest.mark.parametrize(("key", "value"), IGNORED)
def test_a_trusted_project_may_say_all(cloned, write, key, value):
    write((key, value))
    trust(cloned)
    assert Permissions.of(cloned).ignored(load_config(cloned)) == []
    assert Permissions.of(cloned, trusted=False).ignored(load_config(cloned)) != []


def test_all_that_is_ignored_is_one_warning_of_each_prompt(cloned, write):
    write(
        ("documents.index_dir", "fsat"), ("code.ckb", "tool\x1b]0;owned\x07\u202e"), ("graph.path", "x/" * 900 + "..")
    )
    with armarius.open(cloned, watch=False) as engine:
        (warning,) = told(engine)
        assert str(warning) in engine.assemble(query="白鹭", budget=4000).warnings
    assert [warning.message.count(f"{key} = ") for key in ("index_dir", "ckb", "path")] == [1, 1, 1]
    assert "near it: fast" in warning.message
    assert warning.message.isprintable()
    assert len(warning.message) < 1000


def test_what_the_caller_decides_is_not_asked_of_the_project(cloned, write, tmp_path):
    write(("documents.index_dir", "../app"), ("embedding.model", "../app"))
    with armarius.open(cloned, watch=False, index_dir=tmp_path / "i", embedder=armarius.embedders.lexical()) as engine:
        assert told(engine) == []
