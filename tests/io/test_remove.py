import os
import sys

import pytest
from tests.io.conftest import KINDS, plant

from armarius.io import Refused, remove_any, remove_file, remove_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_regular_file_is_not_removed_as_one(tmp_path, mine, kind):
    path = tmp_path / "project" / "a"
    plant(path, kind, mine)
    with pytest.raises(Refused):
        remove_file(path, below=tmp_path / "project")
    assert os.path.lexists(path)
    assert mine.exists()


def test_a_file_is_removed_once_and_never_through_a_link(tmp_path, mine):
    (tmp_path / "a").write_text("x")
    assert remove_file(tmp_path / "a")
    assert not remove_file(tmp_path / "a")
    assert not remove_file(tmp_path / "none" / "a")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "way").symlink_to(tmp_path)
    with pytest.raises(Refused, match="symbolic link"):
        remove_file(tmp_path / "project" / "way" / "mine", below=tmp_path / "project")
    assert mine.exists()


@pytest.mark.parametrize("kind", ["link", "link to nowhere", "pipe", "socket", "folder"])
def test_what_lies_where_only_ours_may_is_removed_itself(tmp_path, mine, kind):
    plant(tmp_path / "cache" / "a", kind, mine)
    remove_any(tmp_path / "cache" / "a", below=tmp_path / "cache")
    assert not os.path.lexists(tmp_path / "cache" / "a")
    assert mine.exists()


def test_a_folder_is_removed_with_all_in_it_and_nothing_that_its_links_lead_to(tmp_path, mine):
    folder = tmp_path / "project" / ".ckb"
    (folder / "deep" / "deeper").mkdir(parents=True)
    (folder / "deep" / "file").write_text("x")
    (folder / "deep" / "link").symlink_to(mine)
    (folder / "out").symlink_to(tmp_path)
    assert remove_folder(folder, below=tmp_path / "project")
    assert remove_folder(folder, below=tmp_path / "project")  # nothing there is fine
    assert not folder.exists()
    assert mine.read_text() == "the user's own"


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_is_no_real_folder_is_not_removed_as_one(tmp_path, kind):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").write_text("kept")
    plant(tmp_path / "project" / ".ckb", kind, tmp_path / "outside")
    with pytest.raises(Refused, match="not a folder"):
        remove_folder(tmp_path / "project" / ".ckb", below=tmp_path / "project")
    assert (tmp_path / "outside" / "kept").exists()
