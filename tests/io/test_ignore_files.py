"""Ignore files of a project: heeded where they are files, never waited for or followed."""

import os
import sys

import pytest

import armarius
from armarius.documents.document import list_documents
from armarius.trust.settings import Config

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX links and pipes")

NAMES = (".gitignore", ".ignore", "part/.gitignore", "part/.ignore")


@pytest.fixture
def novel(tmp_path):
    root = tmp_path / "novel"
    (root / "part").mkdir(parents=True)
    for name in ("a.md", "b.md", "part/a.md", "part/b.md"):
        (root / name).write_text("灯\n", "utf-8")
    return root


def plant(path, kind):
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "large":
        path.write_bytes(b"b.md\n" + b"#" * (1 << 20))
    elif kind == "long":
        path.write_text("b.md\n" * 10_001)
    elif kind == "link":
        path.with_name("rules").write_text("b.md\n")
        path.symlink_to("rules")
    else:
        path.symlink_to("/dev/zero")


REASONS = {
    "pipe": "not a regular file",
    "folder": "not a regular file",
    "large": "too large: 1048581 bytes, at most 1048576 are read",
    "long": "more than 10000 lines",
    "link": "symbolic link",
    "device": "symbolic link",
}


@pytest.mark.parametrize("kind", REASONS)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_small_file_in_the_place_of_an_ignore_file_is_named_and_not_heeded(novel, name, kind):
    plant(novel / name, kind)
    listing = list_documents(novel, Config())
    documents = {document.path for document in listing.documents}
    assert documents >= {"a.md", "b.md", "part/a.md", "part/b.md"}
    why = f"its patterns are not heeded: {REASONS[kind]}"
    assert (name, why) in [(skipped.path, skipped.reason) for skipped in listing.skipped]
    hits = armarius.scan(novel, "灯")
    assert [hit.path for hit in hits] == ["a.md", "b.md", "part/a.md", "part/b.md"]
    assert hits.unread == (f"{name}: {why}",)


@pytest.mark.parametrize("kind", ["pipe", "link", "device"])
def test_a_search_reads_the_exclude_file_of_git_only_where_it_is_one(novel, kind):
    plant(novel / ".git/info/exclude", kind)
    hits = armarius.scan(novel, "灯")
    assert len(hits) == 4
    assert hits.unread == (f".git/info/exclude: its patterns are not heeded: {REASONS[kind]}",)
    (novel / ".git/info/exclude").unlink()
    (novel / ".git/info/exclude").write_text("b.md\n")
    assert [hit.path for hit in armarius.scan(novel, "灯")] == ["a.md", "part/a.md"]


def test_a_git_folder_elsewhere_is_not_read(novel, tmp_path):
    repository = tmp_path / "repository/info"
    repository.mkdir(parents=True)
    (repository / "exclude").write_text("*.md\n")
    (novel / ".git").write_text("gitdir: ../repository\n")
    assert len(armarius.scan(novel, "灯")) == 4
    (novel / ".git").unlink()
    (novel / ".git").symlink_to("../repository")
    assert len(armarius.scan(novel, "灯")) == 4


def test_a_search_heeds_the_users_own_ignore_files_above_the_project_and_waits_for_none(novel):
    os.mkfifo(novel.parent / ".ignore")
    (novel.parent / "rules").write_text("/novel/part/b.md\n")
    (novel.parent / ".gitignore").symlink_to("rules")
    assert [hit.path for hit in armarius.scan(novel, "灯")] == ["a.md", "b.md", "part/a.md"]
    (novel / ".gitignore").write_text("!b.md\n")  # the nearer file decides
    assert [hit.path for hit in armarius.scan(novel, "灯")] == ["a.md", "b.md", "part/a.md", "part/b.md"]
    assert len(list_documents(novel, Config()).documents) == 4


def test_nothing_but_regular_files_up_to_a_size_is_searched(novel):
    with (novel / "huge.md").open("wb") as file:
        file.truncate(1 << 34)
    os.mkfifo(novel / "pipe.md")
    (novel / "link.md").symlink_to("a.md")
    hits = armarius.scan(novel, "灯")
    assert len(hits) == 4
    assert hits.unread == ("huge.md: too large: 17179869184 bytes, at most 268435456 are read",)
