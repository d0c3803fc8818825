"""Every place of what the user authored passes the same tests: the files of a folder, and memory."""

import shutil

import pytest

from armarius.codex.load import FolderAuthored
from armarius.testing import AuthoredConformance, FakeAuthored


class TestFolderAuthored(AuthoredConformance):
    @pytest.fixture
    def open_authored(self, tmp_path):
        return lambda: FolderAuthored(tmp_path)

    def configure(self, authored, text):
        (authored.root / "armarius.toml").write_text(text, "utf-8")

    def declare(self, authored, text):
        (authored.root / "codex.json").write_text(text, "utf-8")


class TestFakeAuthored(AuthoredConformance):
    @pytest.fixture
    def open_authored(self):
        authored = FakeAuthored()
        return lambda: authored

    def configure(self, authored, text):
        authored.configure(text)

    def declare(self, authored, text):
        authored.declare(text)


def test_a_book_that_comes_and_one_that_goes_change_the_stamp_of_a_folder(tmp_path):
    authored = FolderAuthored(tmp_path)
    stamps = [authored.stamp()]
    book = tmp_path / ".armarius" / "books" / "harbour"
    book.mkdir(parents=True)
    (book / "codex.json").write_text('{"entities": []}', "utf-8")
    stamps.append(authored.stamp())
    (book / "codex.json").write_text('{"entities": [], "relations": []}', "utf-8")
    stamps.append(authored.stamp())
    shutil.rmtree(book)
    stamps.append(authored.stamp())
    assert len(set(stamps[:3])) == 3
    assert stamps[3] == stamps[0]
