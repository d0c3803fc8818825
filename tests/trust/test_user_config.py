"""The user's own config.toml: what it may say, and how it is read."""

import os
from pathlib import Path

import pytest
from tests.trust.support import put

import armarius
from armarius.errors import ConfigError
from armarius.trust.folders import UserConfig, config_file, display_path, read_user_config


def test_names_are_absolute_paths_or_begin_at_home(allows, config, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    allows('[models]\n"模型 一" = "~/m"\n[programs]\nckb = "/opt/ckb"\n[indexes]\nfast = "/mnt/fast"\n')
    found = read_user_config()
    assert found.file == config / "config.toml"
    assert dict(found.models) == {"模型 一": Path("/home/me/m")}
    assert (dict(found.programs), dict(found.indexes)) == ({"ckb": Path("/opt/ckb")}, {"fast": Path("/mnt/fast")})


def test_an_absent_file_is_an_empty_one(config):
    assert read_user_config() == UserConfig(config / "config.toml")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            "[modles]\n",
            "unknown table modles; known: models, programs, indexes, servers, embedding, books; near it: models",
        ),
        ("models = 3\n", "models must be a table, got int"),
        ("[models]\nx = 3\n", "models.x must be a path, got 3"),
        ('[models]\nx = ""\n', "models.x must be a path"),
        ('[models]\n"a b" = "m"\n', 'models."a b" must be an absolute path or begin with ~'),
        ('[models]\nlexical = "/m"\n', "models.lexical: this name means"),
        ('[indexes]\nx = "./i"\n', "indexes.x must be an absolute path"),
        ('[indexes]\nx = "/a\\u0000b"\n', "indexes.x must be a path"),
        ('[programs]\nckbb = "/c"\n', "unknown program ckbb; known: ckb, nervusdb, .*; near it: ckb"),
        ('[programs]\nckb = "ckb"\n', "programs.ckb must be an absolute path"),
        ('[models]\nx = "~nobody-of-that-name/m"\n', "models.x: "),
        ("[servers]\nx = 3\n", "servers.x must be a table"),
        ('[servers.x]\nquery_model = "q"\n', "servers.x.base_url must be a text, got NoneType"),
        ('[servers.x]\nbase_url = "u"\napi_kye = "k"\n', "servers.x: unknown key api_kye; .*near it: api_key"),
        ('[servers.x]\nbase_url = "u"\ntimeout_s = 0\n', "servers.x.timeout_s must be seconds > 0"),
        ('[servers.x]\nbase_url = "u"\nextra = 1\n', "servers.x.extra must be a table"),
        ('[servers.x]\nbase_url = "u"\napi_key = "a"\napi_key_env = "b"\n', "expected one of them"),
        ('[servers.lexical]\nbase_url = "u"\n', "servers.lexical: this name means"),
        ('[models]\nx = "/m"\n[servers.x]\nbase_url = "u"\n', "x is a name under .models. and under .servers."),
        ("embedding = 3\n", "embedding must be a table, got int"),
        ('[embedding]\nmodle = "x"\n', "unknown key embedding.modle"),
        ("[", "Invalid initial character"),
        ("a = " + "[" * 5000, "nested too deep"),
        ("x" * 1_100_000, "larger than 262,144 bytes"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(allows, cloned, text, what):
    allows(text)
    with pytest.raises(ConfigError, match=what) as caught:
        armarius.open(cloned)
    assert "config/config.toml: " in str(caught.value)


def test_it_may_be_a_link_for_it_is_the_users_own(config, tmp_path):
    put(tmp_path / "dotfiles" / "a.toml", '[indexes]\nfast = "/mnt/fast"\n')
    (config / "config.toml").symlink_to(tmp_path / "dotfiles" / "a.toml")
    assert "fast" in read_user_config().indexes


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_it_is_a_file(config, kind):
    file = config / "config.toml"
    {"pipe": os.mkfifo, "folder": Path.mkdir, "device": lambda path: path.symlink_to("/dev/zero")}[kind](file)
    with pytest.raises(ConfigError, match=r"config\.toml: is no regular file"):
        read_user_config()


def test_where_it_is(tmp_path, monkeypatch):
    assert config_file() == tmp_path / "config" / "config.toml"
    monkeypatch.setenv("ARMARIUS_CONFIG", "/etc/other.toml")
    assert config_file() == Path("/etc/other.toml")
    monkeypatch.setenv("ARMARIUS_CONFIG", "relative")
    with pytest.raises(ConfigError, match="ARMARIUS_CONFIG must be an absolute path, got 'relative'"):
        config_file()
    monkeypatch.delenv("ARMARIUS_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    found = config_file()
    assert found is not None
    assert found.name == "config.toml"


def test_paths_are_shown_short_and_harmless(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert display_path(Path("/home/me/.config/x")) == "~/.config/x"
    assert display_path(Path("/home/men/x")) == "/home/men/x"
    assert display_path(Path("/a\x1b[31m\n\u202eb")) == "/a\\x1b[31m\\x0a\\x202eb"
    monkeypatch.setenv("HOME", "/")
    assert display_path(Path("/etc")) == "/etc"
