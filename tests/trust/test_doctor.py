"""`armarius doctor` shows whom a project is trusted by, and what it asks for in vain."""

import json

import pytest

from armarius.cli import main
from armarius.trust import trust

ASKS = """
[code]
ckb = "./tools/ckb"
index = "/elsewhere/index.scip"
[embedding]
model = "/models/x"
[graph]
store = "nervusdb"
"""
KEYS = ["embedding.model", "code.index", "code.ckb", "graph.store"]


def test_a_project_that_asks_for_nothing_is_sound_without_trust(cloned, config, capsys):
    assert main(["doctor", str(cloned)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == f"project: {cloned}, not trusted: its armarius.toml names nothing outside it"
    assert lines[2] == f"configuration: {config}/config.toml"
    trust(cloned)
    assert main(["doctor", str(cloned)]) == 0
    assert f"project: {cloned}, trusted by trusted.toml\n" in capsys.readouterr().out


def test_all_that_is_ignored_is_one_line_with_what_would_allow_it(cloned, says, capsys, config):
    says(ASKS)
    assert main(["doctor", str(cloned)]) == 1
    out = capsys.readouterr().out
    assert out.splitlines()[1] == f"project: {cloned}, not trusted: some of its armarius.toml is ignored"
    (line,) = [line for line in out.splitlines() if "SETTING_IGNORED" in line]
    assert [key for key in KEYS if f"{key} = " in line] == KEYS
    assert f"a name under [models] of {config}/config.toml" in line
    assert line.endswith(f"To allow it, run: armarius trust {cloned}")
    assert "names nothing outside it" not in out


def test_json_carries_what_each_setting_may_be(cloned, says, capsys, config):
    says(ASKS)
    assert main(["doctor", str(cloned), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    said = found["trust"]
    assert (said["trusted"], said["by"], said["configuration"]) == (False, "", f"{config}/config.toml")
    assert [one["key"] for one in said["ignored"]] == KEYS
    assert said["ignored"][2] == {"key": "code.ckb", "value": "./tools/ckb", "allowed": '"ckb"'}
    assert found["wrong"] == []


def test_in_a_trusted_project_nothing_is_ignored(cloned, says, capsys):
    says('[code]\nckb = "./tools/ckb"\nindex = "/elsewhere/index.scip"\n[documents]\nindex_dir = "../app"\n')
    trust(cloned)
    assert main(["doctor", str(cloned), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trust"]["ignored"] == []


def test_a_wrong_configuration_of_the_users_is_one_line(cloned, allows, capsys):
    allows("[modles]\n")
    assert main(["doctor", str(cloned)]) == 2
    assert "config.toml: unknown table modles" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a b", "a;touch x", "$(x)", "'q'"])
def test_the_command_shown_can_be_pasted(tmp_path, name, capsys):
    import shlex

    (tmp_path / name).mkdir()
    (tmp_path / name / "armarius.toml").write_text('[documents]\nindex_dir = ".."\n')
    assert main(["doctor", str(tmp_path / name)]) == 1
    command = capsys.readouterr().out.split("run: ")[1].splitlines()[0]
    assert shlex.split(command) == ["armarius", "trust", str(tmp_path / name)]


def test_what_a_project_says_reaches_the_terminal_as_text(cloned, says, capsys):
    says('[embedding]\nmodel = "/m\\u001b]0;owned\\u0007\\u202e"\n')
    assert main(["doctor", str(cloned)]) == 1
    assert not set("\x1b\x07\u202e") & set(capsys.readouterr().out)
