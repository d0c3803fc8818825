"""`armarius trust`: what is remembered, where, until when."""

import json
import os
import threading
import tomllib

import pytest
from tests.trust.support import put

import armarius
from armarius import trust as room
from armarius.cli import main
from armarius.errors import ConfigError, ProjectError, StoreFull
from armarius.trust import is_trusted, revoke, trust, trusted


def test_trust_is_remembered_by_resolved_path_and_can_be_revoked(cloned, config, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(cloned)
    monkeypatch.chdir(tmp_path)
    assert not is_trusted(cloned)
    assert trust("link") == cloned
    assert trust(cloned) == cloned
    assert tomllib.loads((config / "trusted.toml").read_text("utf-8")) == {"folders": [str(cloned)]}
    assert all(map(is_trusted, (cloned, str(cloned), "cloned", "link", "cloned/../cloned/")))
    assert trusted() == (cloned,)
    assert revoke("link")
    assert not revoke(cloned)
    assert (is_trusted(cloned), trusted()) == (False, ())


def test_a_folder_is_trusted_alone(cloned):
    (cloned / "below").mkdir()
    trust(cloned)
    assert not is_trusted(cloned.parent)
    assert not is_trusted(cloned / "below")


def test_a_folder_that_is_gone_can_be_revoked(cloned):
    trust(cloned)
    cloned.rename(cloned.with_name("moved"))
    assert not is_trusted(cloned.with_name("moved"))
    assert revoke(cloned)


@pytest.mark.parametrize(
    "name", ["with space", "含中文", 'qu"ote\\', "tab\there", "new\nline", "🙂", "'single'", "\x7f\u202e"]
)
def test_any_name_is_written_and_read_again(tmp_path, config, name):
    folder = tmp_path / name
    folder.mkdir()
    trust(folder)
    assert is_trusted(folder)
    assert trusted() == (folder,)
    assert (config / "trusted.toml").read_text("utf-8").count("\n") == 4


def test_trusting_at_once_forgets_nobody(tmp_path):
    folders = [tmp_path / f"p{number}" for number in range(24)]
    for folder in folders:
        folder.mkdir()
    threads = [threading.Thread(target=trust, args=(folder,)) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(trusted()) == set(folders)


@pytest.mark.parametrize("folder", ["none", "cloned/a.md", "x" * 5000, ""])
def test_what_is_no_folder_is_not_trusted(cloned, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProjectError):
        trust(folder)
    assert trusted() == ()


@pytest.mark.parametrize(
    "text", ["folders = 3", "folders = [3]", "[", "folders = ['relative']", "other = 1", "a = " + "[" * 5000]
)
def test_a_damaged_list_is_said_and_trusts_nobody(cloned, config, text):
    put(config / "trusted.toml", text)
    for call in (lambda: is_trusted(cloned), lambda: armarius.open(cloned), lambda: trust(cloned), trusted):
        with pytest.raises(ConfigError, match=r"config/trusted\.toml: "):
            call()
    assert (config / "trusted.toml").read_text("utf-8") == text


def test_a_list_that_cannot_be_written_stays_as_it_was(cloned, config, monkeypatch):
    trust(cloned)
    before = (config / "trusted.toml").read_bytes()
    monkeypatch.setattr("armarius.trust.folders.write_atomic", lambda *_: (_ for _ in ()).throw(StoreFull("full")))
    with pytest.raises(StoreFull):
        revoke(cloned)
    assert (config / "trusted.toml").read_bytes() == before


def test_the_environment_trusts_folders_too(cloned, monkeypatch, capsys):
    monkeypatch.setenv("ARMARIUS_TRUSTED", os.pathsep.join(["/nowhere", str(cloned), ""]))
    assert is_trusted(cloned)
    assert cloned in trusted()
    assert main(["trust", "--revoke", str(cloned)]) == 1
    assert "ARMARIUS_TRUSTED still trusts it" in capsys.readouterr().err
    monkeypatch.setenv("ARMARIUS_TRUSTED", ".")
    monkeypatch.chdir(cloned)
    with pytest.raises(ConfigError, match=r"ARMARIUS_TRUSTED must hold absolute paths, got '\.'"):
        is_trusted(cloned)


def test_a_configuration_inside_the_project_came_with_it(cloned, monkeypatch, says):
    """A repository that is checked out as somebody's home brings a `.config` of its own."""
    monkeypatch.delenv("ARMARIUS_CONFIG")
    monkeypatch.setenv("HOME", str(cloned))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(cloned / ".config"))
    put(cloned / ".config" / "armarius" / "trusted.toml", f'folders = ["{cloned}"]\n')
    put(cloned / ".config" / "armarius" / "config.toml", '[indexes]\nout = "/out"\n')
    assert not is_trusted(cloned)
    says('[documents]\nindex_dir = "../out"\n')
    with armarius.open(cloned, watch=False) as engine:
        assert [one.code for one in engine.status().warnings] == ["SETTING_IGNORED"]
    monkeypatch.setenv("ARMARIUS_CONFIG", str(cloned / ".config" / "armarius"))
    assert is_trusted(cloned)


def test_without_a_home_nothing_is_trusted_and_everything_works(cloned, monkeypatch):
    monkeypatch.delenv("ARMARIUS_CONFIG")
    monkeypatch.setattr("platformdirs.user_config_dir", lambda *_, **__: "~/.config/armarius")
    with armarius.open(cloned, watch=False) as engine:
        assert engine.assemble(query="白鹭", budget=4000).prompt
    with pytest.raises(ConfigError, match="ARMARIUS_CONFIG may name one"):
        trust(cloned)


def test_the_command_trusts_lists_and_revokes(cloned, says, capsys):
    says('[code]\nckb = "./tools/ckb"\n[embedding]\nmodel = "../m"\n')
    assert main(["trust", "--list"]) == 0
    assert capsys.readouterr() == ("", "armarius: no folder is trusted\n")
    assert main(["trust", str(cloned)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"trusted: {cloned}",
        "  its armarius.toml says embedding.model = '../m'",
        "  its armarius.toml says code.ckb = './tools/ckb'",
    ]
    assert main(["trust", "--list"]) == 0
    assert capsys.readouterr().out == f"{cloned}\n"
    assert main(["trust", str(cloned), "--revoke"]) == 0
    assert capsys.readouterr().out == f"no longer trusted: {cloned}\n"
    assert main(["trust", str(cloned), "--revoke"]) == 1
    assert "was not trusted" in capsys.readouterr().err


def test_the_command_speaks_json(cloned, says, capsys):
    says('[documents]\nindex_dir = "../i"\n')
    assert main(["trust", str(cloned), "--json"]) == 0
    said = {"trusted": True, "path": str(cloned), "asked": {"documents.index_dir": "../i"}}
    assert json.loads(capsys.readouterr().out) == said
    assert main(["trust", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "folders": [{"path": str(cloned), "by": "trusted.toml"}],
        "rules": [],
    }
    assert main(["trust", str(cloned), "--revoke", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"trusted": False, "path": str(cloned), "revoked": True}


@pytest.mark.parametrize("words", [[], ["--revoke"], ["--list", "x"], ["nowhere"], ["x", "--list", "--revoke"]])
def test_a_command_that_means_nothing_is_one_line_and_status_two(words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["trust", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_project_with_a_wrong_configuration_can_be_trusted(cloned, says, capsys):
    says("[")
    assert main(["trust", str(cloned)]) == 0
    assert "! armarius.toml: " in capsys.readouterr().err
    assert is_trusted(cloned)


def test_the_room_shows_what_hosts_need():
    assert room.__all__ == ["is_trusted", "revoke", "trust", "trusted"]
