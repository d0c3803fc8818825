"""Every source of documents passes the same tests: a folder, and texts in memory."""

import pytest

from armarius.index.source import FolderSource
from armarius.testing import DocumentSourceConformance, FakeSource
from armarius.trust.settings import Config


class TestFolderSource(DocumentSourceConformance):
    @pytest.fixture
    def source(self, tmp_path):
        return FolderSource(tmp_path, Config)

    def write(self, source, path, data):
        target = source.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    def remove(self, source, path):
        (source.root / path).unlink()


class TestFakeSource(DocumentSourceConformance):
    @pytest.fixture
    def source(self):
        return FakeSource()

    def write(self, source, path, data):
        source.write(path, data)

    def remove(self, source, path):
        source.remove(path)
