"""`armarius server`: a folder goes to a server and comes back the same bytes."""

import json
import shutil
import subprocess
from functools import partial

import pytest
from scripts.temporary_postgres import TemporaryPostgres, program_folder
from tests.server.novels import NOVEL, files_of

import armarius
from armarius.cli import main
from armarius.store.postgres import schema


@pytest.fixture
def dsn(server, shared_pool, monkeypatch):
    monkeypatch.setenv("ARMARIUS_DSN", server.dsn)
    return server.dsn


def test_a_folder_comes_back_as_it_went(dsn, tenant, tmp_path, capsys):
    folder = tmp_path / "novel"
    shutil.copytree(NOVEL, folder)
    with armarius.open(folder, watch=False) as engine:
        engine.memories.create("作者爱用短句")
        engine.codex.create("石爷爷")
    (folder / "armarius.toml").write_text('[documents]\nexclude = ["drafts/**"]\n')
    (folder / "drafts").mkdir()
    (folder / "drafts" / "old.md").write_text("旧稿")
    assert main(["server", "push", str(folder), "--tenant", tenant]) == 0
    pushed = capsys.readouterr().out
    assert main(["server", "pull", str(tmp_path / "back"), "--tenant", tenant, "--project", "novel"]) == 0
    expected = {path: data for path, data in files_of(folder).items() if not path.startswith("drafts/")}
    expected.pop(".armarius/.lock", None)
    assert files_of(tmp_path / "back") == expected
    assert f"{len(expected)} of {len(expected)} files written, 0 removed" in pushed


def test_a_push_makes_the_project_what_the_folder_is(dsn, tenant, tmp_path, capsys):
    folder = tmp_path / "p"
    folder.mkdir()
    for name in ("a.md", "b.md"):
        (folder / name).write_text(f"# {name}\n\n林默来了。\n")
    main(["server", "push", str(folder), "--tenant", tenant])
    (folder / "b.md").unlink()
    (folder / "c.md").write_text("丙")
    capsys.readouterr()
    assert main(["server", "push", str(folder), "--tenant", tenant, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["written"], told["removed"], told["files"]) == (["c.md"], ["b.md"], 2)
    assert main(["server", "push", str(folder), "--tenant", tenant, "--expect", "1"]) == 2
    assert "not 1" in capsys.readouterr().err


def test_a_pull_overwrites_only_when_told(dsn, tenant, tmp_path, capsys):
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "a.md").write_text("甲")
    main(["server", "push", str(folder), "--tenant", tenant])
    (folder / "a.md").write_text("改过的")
    assert main(["server", "pull", str(folder), "--tenant", tenant]) == 2
    assert "a.md" in capsys.readouterr().err
    assert (folder / "a.md").read_text() == "改过的"
    assert main(["server", "pull", str(folder), "--tenant", tenant, "--overwrite"]) == 0
    assert (folder / "a.md").read_text() == "甲"


def test_status_and_doctor_tell_what_there_is(dsn, tenant, tmp_path, capsys):
    assert main(["server", "migrate"]) == 0
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "a.md").write_text("# 甲\n\n林默来了。\n")
    main(["server", "push", str(folder), "--tenant", tenant])
    assert main(["server", "status", "--tenant", tenant]) == 0
    told = capsys.readouterr().out
    assert "PostgreSQL 18" in told
    assert "pgvector" in told
    assert main(["server", "doctor", "--tenant", tenant]) == 0
    assert "1 projects checked" in capsys.readouterr().out


def test_a_server_without_tables_is_told_how_to_get_them(dsn, capsys):
    assert main(["server", "status", "--schema", "nothing_here"]) == 0
    assert "no tables" in capsys.readouterr().out
    assert main(["server", "doctor", "--schema", "nothing_here"]) == 1
    assert main(["server", "push", str(NOVEL), "--schema", "nothing_here"]) == 2
    assert "armarius server migrate" in capsys.readouterr().err


def test_no_message_carries_the_dsn(capsys, monkeypatch):
    monkeypatch.delenv("ARMARIUS_DSN", raising=False)
    assert main(["server", "status"]) == 2
    assert "ARMARIUS_DSN" in capsys.readouterr().err
    assert main(["server", "status", "--store", "postgresql://me:secret@127.0.0.1:1/db"]) == 2
    said = capsys.readouterr().err
    assert "secret" not in said
    assert "me:" not in said
    assert "127.0.0.1/db" in said
    assert main(["server", "status", "--store", "no dsn at all ="]) == 2
    assert "connection string" in capsys.readouterr().err


def test_an_older_server_is_refused_before_a_table_is_made(server, shared_pool, monkeypatch):
    monkeypatch.setattr(schema, "OLDEST", 99)
    with pytest.raises(armarius.StoreError, match=r"PostgreSQL \d+\S*: 99 or newer is needed"):
        schema.migrate(shared_pool, "of_an_older_server")
    assert schema.server_state(shared_pool, "of_an_older_server").schema == 0


@pytest.mark.slow
def test_a_schema_that_is_dumped_and_restored_gives_the_same_prompts(server, dsn, open_shelf, tenant, tmp_path):
    """As the page on backup has it."""
    novel = open_shelf().project("novel", tenant=tenant)
    novel.write(files_of())
    prompt = novel.assemble("检查第3章的角色一致性", document="chapters/ch003.md", budget=4000).prompt
    copy = TemporaryPostgres().start("max_connections=20")
    try:
        dump = tmp_path / "armarius.dump"
        run = partial(subprocess.run, check=True, capture_output=True)
        run([program_folder() / "pg_dump", "--schema=armarius", "--format=custom", f"--file={dump}", server.dsn])
        run([program_folder() / "psql", copy.dsn, "-c", "CREATE EXTENSION IF NOT EXISTS vector"])
        run([program_folder() / "pg_restore", f"--dbname={copy.dsn}", dump])
        with armarius.connect(copy.dsn) as shelf:
            restored = shelf.project("novel", tenant=tenant)
            assert (
                restored.assemble("检查第3章的角色一致性", document="chapters/ch003.md", budget=4000).prompt == prompt
            )
            assert shelf.verify("novel", tenant=tenant) == []
    finally:
        copy.close()
