"""Which program a name means, and that none comes with a cloned folder."""

import os
import sys
from pathlib import Path

import pytest

from armarius.code.ckb import find_ckb
from armarius.code.scip import INDEXERS, find_indexer
from armarius.errors import SourceUnavailable
from armarius.trust.folders import find_program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a script is no program on Windows")


def program(folder, name="tool"):
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return str(file)


def path_of(monkeypatch, *folders):
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, folders)))


def test_a_name_means_the_first_program_on_the_path(tmp_path, monkeypatch):
    first, _ = program(tmp_path / "a"), program(tmp_path / "b")
    path_of(monkeypatch, tmp_path / "none", tmp_path / "a", tmp_path / "b")
    assert find_program("tool") == first
    assert find_program("other") is None


@pytest.mark.parametrize("entry", [".", "", "bin", "{here}", "{here}/../here"])
def test_a_name_never_means_a_program_of_the_current_directory(tmp_path, monkeypatch, entry):
    here = tmp_path / "here"
    program(here)
    program(here / "bin")
    outside = program(tmp_path / "outside")
    monkeypatch.chdir(here)
    path_of(monkeypatch, entry.format(here=here))
    assert find_program("tool") is None
    path_of(monkeypatch, entry.format(here=here), tmp_path / "outside")
    assert find_program("tool") == outside


def test_a_name_never_means_what_windows_finds_in_the_current_directory_first(tmp_path, monkeypatch):
    program(tmp_path)
    monkeypatch.chdir(tmp_path)
    path_of(monkeypatch, tmp_path / "bin")
    monkeypatch.setattr("armarius.trust.folders.shutil.which", lambda name, path=None: str(Path(name)))
    assert find_program("tool") is None


def test_a_name_never_means_a_program_of_the_project(tmp_path, monkeypatch):
    project = tmp_path / "project"
    inside, outside = program(project / "deep" / "bin"), program(tmp_path / "outside")
    (tmp_path / "link").symlink_to(project / "deep" / "bin")
    path_of(monkeypatch, project / "deep" / "bin", tmp_path / "link", tmp_path / "outside")
    assert find_program("tool", project=project) == outside
    assert find_program("tool") == inside


def test_a_path_is_taken_as_it_is(tmp_path, monkeypatch):
    file = program(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert find_program(file, project=tmp_path) == file
    assert find_program(f".{os.sep}tool", project=tmp_path) == f".{os.sep}tool"
    assert find_program(str(tmp_path / "none")) is None


def test_neither_ckb_nor_an_indexer_comes_from_the_path_into_the_project(tmp_path, monkeypatch):
    for name in ("CKB_BIN", *(indexer.variable for indexer in INDEXERS)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("ARMARIUS_TOOLS", raising=False)
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    elsewhere.mkdir()
    path_of(monkeypatch, project / "bin")
    ckb = program(project / "bin", "ckb")
    with pytest.raises(SourceUnavailable):
        find_ckb(None, project)
    with pytest.raises(SourceUnavailable):
        find_ckb("ckb", project)
    assert find_ckb(None, elsewhere) == ckb
    for indexer in INDEXERS:
        file = program(project / "bin", indexer.program)
        assert find_indexer(indexer, project) is None
        assert find_indexer(indexer, elsewhere) == file
        installed = program(project / "node_modules" / ".bin", indexer.program)
        assert find_indexer(indexer, project) is None
        with monkeypatch.context() as context:
            context.setenv("ARMARIUS_TRUSTED", str(project))
            assert find_indexer(indexer, project) == installed
