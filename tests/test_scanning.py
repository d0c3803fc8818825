from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armarius
from armarius.errors import ProjectError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "drafts").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("secret.md\n", encoding="utf-8")
    (tmp_path / "b.md").write_text("前文\n一盏灯，又一盏灯\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("The Lamp and the lamp\r\n", encoding="utf-8")
    (tmp_path / "drafts" / "c.md").write_text("灯\n", encoding="utf-8")
    (tmp_path / "secret.md").write_text("灯 lamp\n", encoding="utf-8")
    (tmp_path / "picture.bin").write_bytes("灯\0".encode())
    return tmp_path


def where(hits: armarius.text.ScanHits) -> list[tuple[str, int, int, int]]:
    return [(hit.path, hit.line, hit.start, hit.end) for hit in hits]


def test_every_match_of_a_line_is_reported_in_code_points(folder):
    hits = armarius.scan(folder, "盏灯")
    assert where(hits) == [("b.md", 2, 1, 3), ("b.md", 2, 6, 8)]
    assert all(hit.text[hit.start : hit.end] == "盏灯" for hit in hits)
    assert not hits.truncated
    assert hits.unread == ()


def test_ignored_and_binary_files_are_left_out(folder):
    assert {hit.path for hit in armarius.scan(folder, "灯")} == {"b.md", "drafts/c.md"}


def test_a_glob_cannot_bring_back_an_ignored_file(folder):
    assert {hit.path for hit in armarius.scan(folder, "灯", globs=["*.md"])} == {"b.md", "drafts/c.md"}
    assert {hit.path for hit in armarius.scan(folder, "灯", globs=["!drafts/"])} == {"b.md"}


def test_a_literal_is_not_an_expression(folder):
    assert armarius.scan(folder, "一.灯") == []
    assert where(armarius.scan(folder, "一.灯", regex=True)) == [("b.md", 2, 0, 3), ("b.md", 2, 5, 8)]


def test_case_can_be_ignored(folder):
    assert where(armarius.scan(folder, "lamp")) == [("a.txt", 1, 17, 21)]
    assert where(armarius.scan(folder, "lamp", case_sensitive=False)) == [("a.txt", 1, 4, 8), ("a.txt", 1, 17, 21)]


def test_a_limit_keeps_the_first_hits_and_says_so(folder):
    every = armarius.scan(folder, "灯")
    for limit in range(len(every) + 1):
        hits = armarius.scan(folder, "灯", limit=limit)
        assert list(hits) == list(every)[:limit]
        assert hits.truncated == (limit < len(every))


def test_a_byte_order_mark_is_not_text(folder):
    (folder / "bom.md").write_bytes("\ufeff钟声".encode())
    (folder / "wide.md").write_bytes("\ufeff钟声".encode("utf-16-le"))
    assert where(armarius.scan(folder, "^钟", regex=True)) == [("bom.md", 1, 0, 1), ("wide.md", 1, 0, 1)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pattern": ""}, "must not be empty"),
        ({"pattern": "a\nb"}, "pattern"),
        ({"pattern": "(", "regex": True}, "pattern"),
        ({"pattern": "a", "globs": ["{"]}, "glob"),
        ({"pattern": "a", "limit": -1}, "limit must be a whole number >= 0"),
    ],
)
def test_a_scan_that_cannot_work_is_refused_with_the_reason(folder, arguments, message):
    with pytest.raises(ValueError, match=message):
        armarius.scan(folder, **arguments)


def test_a_root_that_is_no_folder_is_refused(folder):
    with pytest.raises(ProjectError, match="nowhere"):
        armarius.scan(folder / "nowhere", "x")


@settings(max_examples=40)
@given(
    text=st.text(alphabet="ab灯火\n\r 😀", max_size=60),
    needle=st.text(alphabet="ab灯火😀", min_size=1, max_size=3),
)
def test_a_literal_scan_equals_a_search_line_by_line(tmp_path_factory, text, needle):
    root = tmp_path_factory.mktemp("scan")
    (root / "x.md").write_bytes(text.encode())
    expected = []
    for number, line in enumerate(text.split("\n"), 1):
        start = line.find(needle)
        while start >= 0:
            expected.append(("x.md", number, start, start + len(needle)))
            start = line.find(needle, start + len(needle))
    assert where(armarius.scan(root, needle)) == expected
