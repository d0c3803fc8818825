import os
import sys

import pytest
from tests.io.conftest import KINDS, plant
from tests.rows import rows

from armarius.documents.document import (
    list_documents,
    make_document,
    read_document,
)
from armarius.errors import ConfigError, DocumentSkipped, UnknownDocument
from armarius.trust.settings import Config, load_config


def put(root, path, content=""):
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return target


@rows("project_documents")
def test_kind_chapter_and_title_follow_from_path_front_matter_and_headings(path, text, kind, chapter, title):
    if path == "x.md":
        kind, chapter = "chapter", 12  # the heading says chapter, the front matter which
    document = make_document(path, text.encode())
    assert (document.kind, document.chapter, document.title) == (kind, chapter, title)


def test_configuration_decides_kinds_before_any_rule():
    config = Config(kinds=(("note", "chapters/old/**"), ("setting", "*.x1.md")))
    assert make_document("chapters/old/ch1.md", b"", config=config).kind == "note"
    assert make_document("x.x1.md", b"", config=config).kind == "setting"
    assert make_document("sub/x.x1.md", b"", config=config).kind == "note"


def test_offsets_point_into_the_file_as_written():
    data = "\ufeff---\r\ntitle: 甲\r\n---\r\n# 第三回\r\n\r\n他走了。🙂\r\n".encode()
    document = make_document("a.md", data)
    assert document.text == data.decode("utf-8-sig")
    assert [document.text[p.start : p.end] for p in document.paragraphs] == [
        "---\r\ntitle: 甲\r\n---", "# 第三回", "他走了。🙂",
    ]  # fmt: skip
    assert document.front_matter == {"title": "甲"}


def test_front_matter_lists_of_both_shapes():
    text = "---\ntitle: \"甲: 乙\"\ncharacters: [林默, '林小雨']\ntags:\n  - 雨\n  - 夜\n---\n"
    assert make_document("a.md", text.encode()).front_matter == {
        "title": "甲: 乙", "characters": ("林默", "林小雨"), "tags": ("雨", "夜"),
    }  # fmt: skip
    assert make_document("a.md", b"---\nnot closed").front_matter == {}


def test_front_matter_blocks_of_text_and_quoted_commas():
    text = '---\nbio: >\n  a pilot\n  from the north\nverse: |\n  one\n\n  two\naka: ["Reed, the Fox", Marc]\n---\n'
    assert make_document("a.md", text.encode()).front_matter == {
        "bio": "a pilot from the north",
        "verse": "one\ntwo",
        "aka": ("Reed, the Fox", "Marc"),
    }


def test_ignored_hidden_and_foreign_files_are_not_documents(tmp_path):
    for path in ("a.md", "b/c.txt", "b/skip.md", "old/x.md", ".secret/s.md", "cover.png", "src/a.py", "draft.tmp.md"):
        put(tmp_path, path, "话")
    put(tmp_path, ".gitignore", "*.tmp.md\n")
    put(tmp_path, "b/.ignore", "skip.md\n")
    listing = list_documents(tmp_path, Config(exclude=("old/**",)))
    assert [d.path for d in listing.documents] == ["a.md", "b/c.txt", "src/a.py"]
    assert listing.skipped == ()


def test_unreadable_files_are_reported_and_skipped(tmp_path):
    put(tmp_path, "binary.md", b"a\0b")
    put(tmp_path, "large.md", b"x" * 101)
    put(tmp_path, "russian.txt", "Мой кот спит на окне".encode("cp1251"))
    put(tmp_path, "empty.md")
    listing = list_documents(tmp_path, Config(max_bytes=100))
    assert [d.path for d in listing.documents] == ["empty.md"]
    assert [(s.path, s.reason.split(":")[0]) for s in listing.skipped] == [
        ("binary.md", "binary"), ("large.md", "too large"), ("russian.txt", "unknown encoding"),
    ]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX links and pipes")
def test_links_pipes_and_loops_are_neither_followed_nor_opened(tmp_path):
    root, outside = tmp_path / "novel", tmp_path / "outside"
    put(root, "a.md", "话")
    put(outside, "secret.md", "秘密")
    (root / "link.md").symlink_to(outside / "secret.md")
    (root / "folder").symlink_to(outside)
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe.md")
    listing = list_documents(root)
    assert [d.path for d in listing.documents] == ["a.md"]
    assert [(s.path, s.reason) for s in listing.skipped] == [
        ("link.md", "symbolic link"),
        ("pipe.md", "not a regular file"),
    ]
    for path in ("link.md", "pipe.md"):
        with pytest.raises(DocumentSkipped, match=r"symbolic link|not a regular file"):
            read_document(root, path)
    for path in ("folder/secret.md", "loop/a.md"):
        with pytest.raises(UnknownDocument, match="no such document"):
            read_document(root, path)


@pytest.mark.parametrize(
    "path", ["../outside/secret.md", "/etc/passwd", "", "a/../../x.md", "no.md", "a\0.md", "\udcff.md"]
)
def test_paths_that_leave_the_project_or_do_not_exist_are_unknown(tmp_path, path):
    with pytest.raises(UnknownDocument):
        read_document(tmp_path, path)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system that takes any name")
def test_odd_file_names_are_documents_and_invalid_ones_are_reported(tmp_path):
    put(tmp_path, "a\nb.md", "话")
    put(tmp_path, "🙂 \"quoted\" 'x'.md", "话")
    (tmp_path / "bad\udcff.md").touch()
    listing = list_documents(tmp_path)
    assert [d.path for d in listing.documents] == ["a\nb.md", "🙂 \"quoted\" 'x'.md"]
    assert [(s.path, s.reason) for s in listing.skipped] == [("bad\\udcff.md", "file name is not valid Unicode")]


def test_configuration_is_read_from_armarius_toml(tmp_path):
    assert load_config(tmp_path) == Config()
    put(
        tmp_path,
        "armarius.toml",
        '[documents]\nexclude = ["old/**"]\n[kinds]\nnote = ["x/**"]\n[budget]\nrules = 0.1\n',
    )
    config = load_config(tmp_path)
    assert (config.exclude, config.kinds, config.table("budget")) == (("old/**",), (("note", "x/**"),), {"rules": 0.1})


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")
@pytest.mark.parametrize("kind", KINDS)
def test_a_configuration_that_is_no_regular_file_is_refused_and_not_waited_for(tmp_path, kind):
    mine = tmp_path / "mine"
    mine.write_text("[documents]\nmax_bytes = 1\n")
    root = tmp_path / "project"
    plant(root / "armarius.toml", kind, mine)
    with pytest.raises(ConfigError, match=r"armarius\.toml: is (a symbolic link|no regular file)"):
        load_config(root)


def test_a_configuration_above_its_limit_is_refused_by_name_and_limit(tmp_path):
    with (tmp_path / "armarius.toml").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ConfigError, match=r"armarius\.toml: larger than 262,144 bytes"):
        load_config(tmp_path)
