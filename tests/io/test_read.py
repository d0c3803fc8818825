import os
import sys

import pytest
from tests.io.conftest import KINDS, plant

from armarius.io import Refused, TooLarge, is_regular, read_file, read_files, stat_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")


@pytest.mark.parametrize("kind", KINDS)
def test_only_regular_files_are_read_and_nothing_waits(tmp_path, mine, kind):
    path = tmp_path / "project" / "a.toml"
    plant(path, kind, mine)
    with pytest.raises(Refused) as refused:
        read_file(path, limit=100, below=tmp_path / "project")
    assert refused.value.strerror == ("symbolic link" if "link" in kind else "not a regular file")
    assert not is_regular(path)


def test_a_link_is_followed_to_a_regular_file_where_the_caller_says_so(tmp_path, mine):
    (tmp_path / "good").symlink_to(mine)
    assert read_file(tmp_path / "good", limit=100, follow=True) == b"the user's own"
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bad").symlink_to(tmp_path / "pipe")
    with pytest.raises(Refused, match="not a regular file"):
        read_file(tmp_path / "bad", limit=100, follow=True)
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "none", limit=100, follow=True)


def test_no_folder_below_the_trusted_one_may_be_a_link(tmp_path, mine):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "way").symlink_to(tmp_path)
    with pytest.raises(Refused, match="symbolic link"):
        read_file(tmp_path / "project" / "way" / "mine", limit=100, below=tmp_path / "project")
    with pytest.raises(Refused, match="not a path inside the folder"):
        read_file(tmp_path / "project" / ".." / "mine", limit=100, below=tmp_path / "project")
    assert stat_of(tmp_path / "project" / "way" / "mine", below=tmp_path / "project") is None


@pytest.mark.parametrize(("size", "limit"), [(0, 0), (0, 5), (5, 5), (100_000, 100_000)])
def test_a_file_up_to_the_limit_is_read_whole(tmp_path, size, limit):
    (tmp_path / "a").write_bytes(b"x" * size)
    assert read_file(tmp_path / "a", limit=limit) == b"x" * size


def test_a_file_above_the_limit_is_refused_by_name_and_limit_without_being_read(tmp_path):
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(TooLarge, match=r"too large: 1099511627776 bytes, at most 64 bytes are read.*huge") as refused:
        read_file(tmp_path / "huge", limit=64)
    assert (refused.value.limit, refused.value.size) == (64, 1 << 40)


@pytest.mark.skipif(sys.platform != "linux", reason="a file that grows under the reader")
def test_a_file_that_grows_beyond_the_limit_while_being_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 10)
    plain = os.fstat

    def grown(descriptor):
        found = plain(descriptor)
        with path.open("ab") as file:
            file.write(b"y" * 40)
        return found

    monkeypatch.setattr(os, "fstat", grown)
    with pytest.raises(TooLarge, match="grew while being read"):
        read_file(path, limit=20)
    monkeypatch.undo()
    path.write_bytes(b"x" * 10)
    assert read_file(path, limit=20) == b"x" * 10


def _one(root, path, limit):
    """What `read_file` gives or raises, as a value."""
    try:
        return read_file(root / path, limit=limit, below=root)
    except OSError as error:
        return type(error), error.strerror


def test_many_files_are_read_as_each_alone(tmp_path, mine):
    root = tmp_path / "project"
    (root / "a/b").mkdir(parents=True)
    for path, text in {"a/x.md": "一", "a/b/y.md": "二", "z.md": "", "a/large.md": "x" * 101}.items():
        (root / path).write_text(text, "utf-8")
    (root / "a/link.md").symlink_to(mine)
    (root / "way").symlink_to(tmp_path)
    os.mkfifo(root / "a/pipe")
    paths = [
        "a/x.md", "a/link.md", "a/b/y.md", "a/b/none.md", "a/large.md", "z.md", "way/mine", "a/pipe", "z.md/x.md",
        "a/b", "none/x.md", "a/x.md",
    ]  # fmt: skip
    found = [one if isinstance(one, bytes) else (type(one), one.strerror) for one in read_files(root, paths, limit=100)]
    assert found == [_one(root, path, 100) for path in paths]
    assert found[:3] == ["一".encode(), (Refused, "symbolic link"), "二".encode()]
    (large,) = read_files(root, ["a/large.md"], limit=100)
    assert (large.limit, large.size) == (100, 101)


@pytest.mark.parametrize("path", ["../mine", "/etc/passwd", "", "a/../../mine"])
def test_many_files_are_read_below_their_folder_only(tmp_path, mine, path):
    (tmp_path / "project/a").mkdir(parents=True)
    (found,) = read_files(tmp_path / "project", [path], limit=100)
    assert isinstance(found, Refused)


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_an_error_of_the_system(tmp_path):
    (tmp_path / "a").write_text("x")
    (tmp_path / "a").chmod(0)
    (found,) = read_files(tmp_path, ["a"], limit=100)
    assert isinstance(found, PermissionError)
    assert found.strerror == "Permission denied"
