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


def test_everything_that_is_refused_is_listed_once_with_what_would_allow_it(cloned, says, capsys, config):
    says(ASKS)
    assert main(["doctor", str(cloned)]) == 1
    out = capsys.readouterr().out
    assert out.splitlines()[1] == f"project: {cloned}, not trusted: what its armarius.toml asks for is refused"
    for key in KEYS:
        (line,) = [line for line in out.splitlines() if f"armarius.toml: {key}" in line]
        assert line.startswith("! ")
        assert f"run: armarius trust {cloned}" in line
    assert f'add under [models] in {config}/config.toml: x = "/models/x"' in out


def test_json_carries_the_line_to_add(cloned, says, capsys, config):
    says(ASKS)
    assert main(["doctor", str(cloned), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)["trust"]
    assert (said["trusted"], said["by"], said["configuration"]) == (False, "", f"{config}/config.toml")
    assert [refused["key"] for refused in said["refused"]] == KEYS
    assert [(refused["table"], refused["line"]) for refused in said["refused"]] == [
        ("models", 'x = "/models/x"'),
        ("", ""),
        ("programs", f'ckb = "{cloned}/tools/ckb"'),
        ("", ""),
    ]
    assert said["refused"][0]["value"] == "/models/x"


def test_an_index_folder_that_is_ignored_is_reported_once(cloned, says, capsys, tmp_path):
    says('[documents]\nindex_dir = "../app"\n[embedding]\nmodel = "/models/x"\n')
    assert main(["doctor", str(cloned)]) == 1
    out = capsys.readouterr().out
    assert out.count("armarius.toml: documents.index_dir is not heeded") == 1
    assert "names nothing outside it" not in out
    assert out.count("armarius.toml: embedding.model must lie inside") == 1
    assert main(["doctor", str(cloned), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert [refused["key"] for refused in said["trust"]["refused"]] == ["documents.index_dir", "embedding.model"]
    assert len(said["wrong"]) == 1
    assert not (tmp_path / "app").exists()


def test_in_a_trusted_project_nothing_is_refused(cloned, says, capsys):
    says('[code]\nckb = "./tools/ckb"\nindex = "/elsewhere/index.scip"\n[documents]\nindex_dir = "../app"\n')
    trust(cloned)
    assert main(["doctor", str(cloned), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trust"]["refused"] == []


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
