"""`armarius.toml` may be anything that somebody puts there: it is read as a file of settings, or refused at once."""

import os
import time
from pathlib import Path

import pytest
from tests.trust.support import put

import armarius
from armarius.cli import main
from armarius.errors import ConfigError
from armarius.io.toml import quote_toml, read_toml
from armarius.trust.settings import load_config

BOMBS = {
    "brackets": ("a = " + "[" * 5000, "nested too deep"),
    "braces": ("a = " + "{a=" * 5000, "nested too deep"),
    "digits": ("x = " + "9" * 10_000, "digits"),
    "header": ("[" + ".".join(["a"] * 100_000) + "]", "line 1: a key of more than 100 parts"),
    "spaced header": ("\n[" + " . ".join(["a"] * 60_000) + "]", "line 2: a key of more than 100 parts"),
    "quoted header": ('["' + '"."'.join([". a"] * 40_000) + '"]', "a key of more than 100 parts"),
    "literal key": (".".join(["'\"a'"] * 50_000) + " = 1", "a key of more than 100 parts"),
    "key in a table": ("x = [{" + ".".join(["a"] * 100_000) + " = 1}]", "a key of more than 100 parts"),
    "name": ("a" * 5_000_000 + " = 1", "larger than 262,144 bytes"),
    "not UTF-8": (b"x = '\xff'", "utf-8"),
    "NUL": ("x = '\0'", "invalid character"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_a_config_error_at_once(cloned, bomb):
    """D13: RecursionError, ValueError, 22 seconds."""
    text, what = BOMBS[bomb]
    (cloned / "armarius.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    start = time.thread_time()
    with pytest.raises(ConfigError, match=what) as caught:
        armarius.open(cloned)
    assert time.thread_time() - start < 2.0
    assert str(caught.value).startswith("armarius.toml: ")
    assert len(str(caught.value)) < 300


def test_the_worst_that_is_read_takes_no_time(cloned, says):
    says("[style]\n" + "".join("a." * 98 + f"b{number} = 1\n" for number in range(1230)))
    assert (cloned / "armarius.toml").stat().st_size > 250_000
    start = time.thread_time()
    armarius.open(cloned, watch=False).close()
    assert time.thread_time() - start < 2.0


@pytest.mark.parametrize(
    "text", ["[kinds]\nnote = [" + "'a', " * 501 + "]", "[documents]\nexclude = ['" + "*" * 501 + "']"]
)
def test_patterns_that_are_tried_on_every_file_are_few_and_short(cloned, says, text):
    says(text)
    with pytest.raises(ConfigError, match="may have 500 patterns of 500 characters each"):
        armarius.open(cloned)


@pytest.mark.parametrize("pattern", ["*a" * 100 + "b", "**/a" * 100 + "/b", "?*" * 200 + "b", "**a" * 100 + "b"])
def test_no_pattern_takes_long(cloned, says, pattern):
    """As a regular expression `*a*a*a*a*a*ab` over 120 letters took more than a minute."""
    put(cloned / ("a" * 200 + ".md"), "# a\n")
    put(cloned.joinpath(*["a"] * 50) / "a.md", "# a\n")
    says(f'[kinds]\nnote = ["{pattern}"]\n[documents]\nexclude = ["{pattern}"]\n')
    start = time.thread_time()
    with armarius.open(cloned, watch=False) as engine:
        assert len(engine.documents()) == 4
    assert time.thread_time() - start < 2.0


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("pipe", "no regular file"),
        ("folder", "no regular file"),
        ("link", "symbolic link"),
        ("device", "symbolic link"),
    ],
)
def test_what_is_no_file_is_refused_and_hangs_nothing(cloned, kind, what, tmp_path):
    put(tmp_path / "elsewhere.toml", "[kinds]\n")
    make = {
        "pipe": os.mkfifo,
        "folder": Path.mkdir,
        "link": lambda path: path.symlink_to(tmp_path / "elsewhere.toml"),
        "device": lambda path: path.symlink_to("/dev/zero"),
    }
    make[kind](cloned / "armarius.toml")
    for call in (lambda: armarius.open(cloned), lambda: load_config(cloned)):
        with pytest.raises(ConfigError, match=rf"^armarius\.toml: is .*{what}"):
            call()
    assert main(["assemble", str(cloned), "--query", "x"]) == 2


def test_a_file_that_turns_into_a_bomb_leaves_the_last_good_settings(cloned, says):
    says('[kinds]\nnote = ["a.md"]\n')
    with armarius.open(cloned, watch=False) as engine:
        assert engine.document("a.md").kind == "note"
        says(BOMBS["header"][0])
        (warning,) = engine.assemble(query="白鹭", budget=4000).warnings
        assert str(warning).startswith("INDEX_STALE: armarius.toml: line 1: a key of more than 100 parts")


@pytest.mark.parametrize(
    "text",
    ["a" * 64, ".".join(["a"] * 100), "1.2.3.4 and e.g. example.org", "…" * 100 + "." * 200, "是。否。Yes. No. " * 99],
)
def test_what_ordinary_settings_hold_is_read(tmp_path, text):
    put(tmp_path / "a.toml", f'[style]\ntext = "{text}"\n')
    assert read_toml(tmp_path / "a.toml", name="a.toml") == {"style": {"text": text}}


@pytest.mark.parametrize("text", ["", "plain", 'a"b\\c', "\n\r\t\0\x1b\x7f", "含\u202e\u2028\ufeff", "🙂\U000e0001"])
def test_what_is_written_is_read_again_and_is_printable(tmp_path, text):
    put(tmp_path / "a.toml", f"{quote_toml(text or 'k', key=True)} = {quote_toml(text)}\n")
    assert read_toml(tmp_path / "a.toml", name="a.toml") == {text or "k": text}
    assert quote_toml(text).isprintable()
