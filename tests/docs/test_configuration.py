"""The page of settings has every table and every key that the code reads, and no other."""

import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest

import armarius
from armarius.arguments import KINDS
from armarius.errors import ConfigError
from armarius.trust.folders import PROGRAMS, read_user_config
from armarius.trust.settings import TABLES
from armarius.types import LAYERS, TaskName

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
OF_PROJECT, OF_USER = (tomllib.loads(one) for one in re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
UNKNOWN = "no_such_key"


def use(folder):
    with armarius.open(folder, watch=False) as engine:
        engine.assemble("x", budget=2000)
        engine.subgraph("x")


def known_keys(folder, table):
    """What the code says that it knows, when it is asked for something that it does not."""
    (folder / "armarius.toml").write_text(f"[{table}]\n{UNKNOWN} = 1\n", encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        use(folder)
    said = re.search(r"known: ([a-z_, ]+)", str(refused.value))
    assert said, str(refused.value)
    return set(said[1].strip(", ").split(", "))


def test_every_table_of_a_project_is_on_the_page():
    assert OF_PROJECT.keys() == TABLES


@pytest.mark.parametrize("table", sorted(TABLES - {"kinds", "skills"}))
def test_every_key_of_a_table_is_on_the_page(tmp_path, table):
    patterns = {key for key in OF_PROJECT[table] if table in ("documents", "people") and not key.isidentifier()}
    patterns |= {key for key in OF_PROJECT[table] if table == "people" and not key.isascii()}
    assert OF_PROJECT[table].keys() - patterns == known_keys(tmp_path, table)


def test_what_the_page_says_of_kinds_tasks_and_layers_is_what_there_is():
    line = next(line for line in PAGE.splitlines() if line.startswith("[kinds]"))
    assert line.rpartition(": ")[2].split(", ") == list(KINDS)
    assert OF_PROJECT["kinds"].keys() <= set(KINDS)
    line = next(line for line in PAGE.splitlines() if line.startswith('"my-button"'))
    assert set(line.rpartition("# ")[2].split(", ")) == set(get_args(TaskName))
    line = next(line for line in PAGE.splitlines() if line.startswith("layers.retrieved"))
    assert all(layer in line for layer in LAYERS)


def test_the_settings_of_the_page_are_read_without_complaint(tmp_path):
    block = re.search(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]
    for line in ('model = "text2vec"', 'ckb = "ckb"', 'index_dir = "fast"'):  # what the user has to allow
        block = block.replace(line, "")
    (tmp_path / "armarius.toml").write_text(block, encoding="utf-8")
    (tmp_path / "guide").mkdir()
    (tmp_path / "guide" / "tone.md").write_text("# One\n\nIt rained.\n", encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        pack = engine.assemble("rain", budget=2000)
        warned = [one for one in (*pack.warnings, *engine.status().warnings) if "armarius.toml" in str(one)]
    assert warned == []


def test_every_table_and_key_of_ones_own_configuration_is_on_the_page(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CONFIG", str(tmp_path))

    def refused(text):
        (tmp_path / "config.toml").write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError) as error:
            read_user_config()
        return set(re.search(r"known: ([a-z_, -]+)", str(error.value))[1].strip(", ").split(", "))

    assert OF_USER.keys() == refused("[no_such_table]\n")
    keys = refused(f'[servers.mine]\nbase_url = "http://127.0.0.1"\n{UNKNOWN} = 1\n')
    assert OF_USER["servers"]["mine"].keys() | {"api_key"} == keys
    assert OF_USER["programs"].keys() <= set(PROGRAMS)
