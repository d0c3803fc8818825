"""Texts and authored files as rows pass the tests of every source and of everything authored."""

import pytest

from armarius.store.postgres.writing import put_files
from armarius.testing import AuthoredConformance, DocumentSourceConformance
from armarius.trust.settings import Config
from armarius.workspace.stored import StoredAuthored, StoredFiles, StoredSource, part_of


def put(session, files, remove=()):
    with session.writing() as tx:
        put_files(tx, files, remove, part_of)


class TestStoredSource(DocumentSourceConformance):
    @pytest.fixture
    def source(self, open_store):
        return StoredSource(StoredFiles(open_store().session), Config)

    def write(self, source, path, data):
        put(source._files.session, {path: data})

    def remove(self, source, path):
        put(source._files.session, {}, [path])


class TestStoredAuthored(AuthoredConformance):
    @pytest.fixture
    def open_authored(self, open_store):
        return lambda: StoredAuthored(StoredFiles(open_store().session))

    def configure(self, authored, text):
        put(authored._files.session, {"armarius.toml": text.encode()})

    def declare(self, authored, text):
        put(authored._files.session, {"codex.json": text.encode()})
