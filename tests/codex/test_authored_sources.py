"""Every place of what the user authored passes the same tests: the files of a folder, and memory."""

import pytest

from armarius.codex.folder import FolderAuthored
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
