"""Where a path leads, told without a look at anything outside."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armarius.documents.kinds import Glob
from armarius.trust.folders import is_file_within, path_inside, way


@pytest.fixture
def root(tmp_path):
    (tmp_path / "p" / "d" / "e").mkdir(parents=True)
    (tmp_path / "p" / "f").write_text("x")
    links = {
        "out": "../q", "abs": str(tmp_path / "q"), "back": str(tmp_path / "p" / "d"), "up": "..", "loop": "loop",
        "a": "b", "b": "a", "chain": "d/far", "d/far": "../../q", "self": ".", "d/home": "../f", "dangling": "nothing",
    }  # fmt: skip
    for name, target in links.items():
        (tmp_path / "p" / name).symlink_to(target)
    return tmp_path / "p"


@pytest.mark.parametrize(
    ("path", "end"),
    [
        ("f", "f"), ("d/e/new/er", "d/e/new/er"), ("back/e", "d/e"), ("d/home", "f"), ("self/self/f", "f"),
        ("dangling", "nothing"), ("d/../f", "f"), ("f/below", "f/below"), ("out", None), ("abs/x", None),
        ("up/p", None), ("chain", None), ("d/far/x", None), ("loop", None), ("a", None), ("../p/f", None),
        ("d/../../x", None), ("/etc", None),
    ],
)  # fmt: skip
def test_a_path_ends_inside_or_outside(root, path, end):
    found = way(root, path)
    assert found.within == (end is not None)
    if end is not None:
        assert found.end == root / end
    assert (path_inside(root, path) is not None) == (end == path.rstrip("/"))


@pytest.mark.parametrize("path", ["", ".", "./", "~", "~/x", "~root", "a\0b", "..", "/", "//host/share", "x" * 5000])
def test_what_names_no_place_inside_is_none(root, path):
    assert path_inside(root, path) is None or path == "x" * 5000


def test_nothing_outside_is_looked_at(root, monkeypatch):
    """On an automounter a look is a connexion to whatever host the project names."""
    seen = []
    real = Path.lstat
    monkeypatch.setattr(Path, "lstat", lambda path: seen.append(path) or real(path))
    (root / "net").symlink_to("/net/evil.example/share")
    for path in ("net/x", "../q/x", "/net/evil.example/x", "out/x", "chain/x", "up/up/x"):
        assert not way(root, path).within
    assert seen
    assert all(path.is_relative_to(root) for path in seen)


@pytest.mark.parametrize(
    ("path", "good"),
    [
        ("f", True), ("d/home", True), ("none", True), ("dangling", True), ("d", False), ("out", False),
        ("pipe", False), ("../p/f", False), ("/etc/passwd", False), ("loop", False), ("a\0b", False), ("self/f", True),
    ],
)  # fmt: skip
def test_a_stated_path_is_a_file_of_the_project_or_refused(root, path, good):
    os.mkfifo(root / "pipe")
    assert is_file_within(root, path) is good


names = st.lists(st.sampled_from(["d", "e", "f", "..", ".", "out", "back", "up", "self", "chain", "new"]), max_size=6)


@settings(max_examples=300)
@given(names)
def test_it_says_what_the_system_says(root, parts):
    """Against `realpath`, which does look outside."""
    path = "/".join(parts) or "."
    if not way(root, path).within:
        return  # one that leaves and comes back is refused although it ends inside
    assert Path(os.path.realpath(root / path)) == way(root, path).end


def as_expression(pattern):
    """What a pattern means, as a regular expression: exponential, but plain."""
    pattern = pattern.removeprefix("/") + ("**" if pattern.endswith("/") else "")
    special = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", pattern)
    return re.compile("".join(special.get(part) or re.escape(part) for part in parts), re.DOTALL)


@settings(max_examples=2000)
@given(
    st.lists(st.sampled_from(["a", "b", "/", "*", "**", "**/", "?", "."]), max_size=7).map("".join),
    st.text("ab/.\n", max_size=8),
)
def test_patterns_mean_what_the_expression_means(pattern, path):
    assert Glob(pattern).matches(path) == bool(as_expression(pattern).fullmatch(path))
