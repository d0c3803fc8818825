"""Which program is run over a folder, and by whose word: CKB, the graph's program, the indexers."""

import os
import sys
from pathlib import Path

import pytest
from tests.graph.programs import fake_program
from tests.trust.support import put, witness

import armarius
from armarius.cli import main
from armarius.code import CodeIndex, CodeOptions
from armarius.code.scip import INDEXERS, find_indexer
from armarius.errors import ConfigError
from armarius.graph import NervusDBGraph
from armarius.index.graph import ProjectGraph
from armarius.trust import trust
from armarius.trust.folders import child_path, named_by_user

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a script is no program on Windows")

REASON = "CODE_GRAPH_REASON: untrusted: "


@pytest.fixture
def mark(tmp_path):
    return tmp_path / "OWNED"


@pytest.fixture
def ran(mark):
    """The program that ran, "" for none."""
    return lambda: mark.read_text().splitlines()[0] if mark.exists() else ""


def ask(project, **options):
    """The reasons that an assembled prompt gives for having no code graph."""
    with armarius.open(project, watch=False, **options) as engine:
        return [str(w) for w in engine.assemble(query="`invoke`", budget=4000).warnings if "CODE_GRAPH" in str(w)]


def untrusted(reasons):
    return [reason.removeprefix(REASON) for reason in reasons if reason.startswith(REASON)]


@pytest.mark.parametrize("name", ["tools/ckb", "./tools/ckb", "{cloned}/tools/ckb"])
def test_a_trusted_project_names_a_program_relative_to_itself(cloned, says, mark, ran, name, tmp_path, monkeypatch):
    program = witness(cloned / "tools" / "ckb", mark)
    witness(tmp_path / "elsewhere" / "tools" / "ckb", tmp_path / "wrong")
    monkeypatch.chdir(tmp_path / "elsewhere")
    says(f'[code]\nckb = "{name.format(cloned=cloned)}"\n')
    trust(cloned)
    assert untrusted(ask(cloned)) == []
    assert os.path.normpath(ran()) == program
    assert not (tmp_path / "wrong").exists()


def test_what_a_program_starts_in_turn_is_not_looked_for_in_the_project(cloned, mark, tmp_path, monkeypatch):
    program = witness(tmp_path / "bin" / "ckb", mark)
    (tmp_path / "link").symlink_to(cloned / "bin")
    folders = (".", "", "bin", cloned / "bin", tmp_path / "link", tmp_path / "bin", "/bin")
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, folders)))
    assert child_path(cloned) == f"{tmp_path / 'bin'}{os.pathsep}/bin"
    ask(cloned, trusted=True)
    assert mark.read_text().splitlines() == [program, str(cloned), f"{tmp_path / 'bin'}{os.pathsep}/bin"]
    monkeypatch.setenv("PATH", str(cloned / "bin"))
    assert child_path(cloned) == os.defpath


ORIGINS = ["path", "environment", "configuration"]


def name_it(origin, program, allows, monkeypatch, *, slot="ckb", variable="CKB_BIN"):
    if origin == "path":
        monkeypatch.setenv("PATH", str(Path(program).parent))
    elif origin == "environment":
        monkeypatch.setenv(variable, program)
    else:
        allows(f'[programs]\n{slot} = "{program}"\n')


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_program_of_the_users_is_not_run_over_a_folder_without_trust(
    cloned, allows, mark, ran, origin, tmp_path, monkeypatch
):
    name_it(origin, witness(tmp_path / "bin" / "ckb", mark), allows, monkeypatch)
    (told,) = untrusted(ask(cloned))
    assert ran() == ""
    assert told.startswith("ckb is not run over a folder that is not trusted, whose .ckb/config.json")
    assert told.endswith(f"To allow it, run: armarius trust {cloned}")
    assert ask(cloned, trusted=False)
    assert CodeIndex(cloned).failures[-1].reason == "untrusted"
    assert ran() == ""


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("how", ["remembered", "environment", "caller"])
def test_a_program_of_the_users_is_run_over_a_trusted_folder(
    cloned, allows, mark, ran, origin, how, tmp_path, monkeypatch
):
    program = witness(tmp_path / "bin" / "ckb", mark)
    name_it(origin, program, allows, monkeypatch)
    if how == "remembered":
        trust(cloned)
    elif how == "environment":
        monkeypatch.setenv("ARMARIUS_TRUSTED", str(cloned))
    assert untrusted(ask(cloned, trusted=True if how == "caller" else None)) == []
    assert ran() == program


def test_without_a_program_nobody_is_told_about_trust(cloned):
    assert untrusted(ask(cloned)) == []


def test_the_caller_names_a_program_and_a_folder(cloned, mark, ran, tmp_path):
    program = witness(tmp_path / "mine", mark)
    index = CodeIndex(cloned, options=CodeOptions(source="ckb", ckb=program))
    assert [failure.reason for failure in index.failures] == ["crashed"]
    assert ran() == program


def test_the_command_line_has_ckb_run_over_the_folder_it_names(cloned, says, mark, ran, tmp_path, monkeypatch, capsys):
    program = witness(tmp_path / "bin" / "ckb", mark)
    witness(cloned / "tools" / "ckb", tmp_path / "wrong")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    says('[code]\nckb = "tools/ckb"\nsource = "ckb"\n')
    assert main(["subgraph", str(cloned), "invoke"]) == 0
    said = capsys.readouterr()
    assert (ran(), "ignored, for the project is not trusted: code.ckb" in said.err) == ("", True)
    assert main(["subgraph", str(cloned), "invoke", "--source", "ckb"]) == 0
    assert ran() == program
    assert not (tmp_path / "wrong").exists()


def test_the_users_program_stands_in_for_the_one_that_the_project_names(cloned, says, allows, mark, ran, tmp_path):
    program = witness(tmp_path / "bin" / "mine", mark)
    witness(cloned / "tools" / "ckb", tmp_path / "wrong")
    allows(f'[programs]\nckb = "{program}"\n')
    says('[code]\nckb = "./tools/ckb"\n')
    ask(cloned, trusted=True)
    assert ran() == program
    assert not (tmp_path / "wrong").exists()


def test_a_variable_with_a_relative_path_is_refused(cloned, mark, ran, monkeypatch):
    witness(cloned / "ckb", mark)
    monkeypatch.chdir(cloned)
    monkeypatch.setenv("CKB_BIN", "./ckb")
    with pytest.raises(ConfigError, match=r"CKB_BIN must be a bare name or an absolute path, got './ckb'"):
        named_by_user("ckb", "CKB_BIN")
    assert any("CKB_BIN must be a bare name" in reason for reason in ask(cloned, trusted=True))
    assert ran() == ""


def test_the_environment_comes_before_the_configuration(allows, tmp_path, monkeypatch):
    allows('[programs]\nckb = "/opt/ckb"\n')
    assert named_by_user("ckb", "CKB_BIN") == (f"programs.ckb in {tmp_path}/config/config.toml", "/opt/ckb")
    monkeypatch.setenv("CKB_BIN", "/opt/other")
    assert named_by_user("ckb", "CKB_BIN") == ("CKB_BIN", "/opt/other")


def test_a_dotenv_file_of_the_project_is_not_read(cloned, mark, ran, monkeypatch):
    program = witness(cloned / "ckb", mark)
    put(cloned / ".env", f"CKB_BIN={program}\nARMARIUS_TRUSTED={cloned}\n")
    monkeypatch.chdir(cloned)
    ask(".")
    assert ran() == ""


@pytest.mark.parametrize("origin", ORIGINS)
def test_the_graphs_program_is_run_over_trusted_folders_only(cloned, says, allows, origin, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}")
    (tmp_path / "bin").mkdir()
    program = str(fake_program(tmp_path / "bin"))
    name_it(origin, program, allows, monkeypatch, slot="nervusdb", variable="NERVUSDB_BIN")
    says('[graph]\nstore = "nervusdb"\ntimeout_s = 60.0\n')
    with armarius.open(cloned, watch=False) as engine:
        assert isinstance(engine.graph, ProjectGraph)
        assert any(
            "graph.store" in warning for warning in engine.assemble(query="白鹭的师父是谁", budget=4000).warnings
        )
    assert not (cloned / ".armarius" / "nervusdb").exists()
    trust(cloned)
    with armarius.open(cloned, watch=False) as engine:
        assert isinstance(engine.graph, NervusDBGraph)
        assert engine.graph.snapshot().entities == ()


@pytest.mark.parametrize("indexer", INDEXERS, ids=lambda indexer: indexer.program)
def test_an_indexer_is_the_users_or_that_of_a_trusted_project(cloned, allows, indexer, mark, tmp_path):
    own = witness(cloned / "node_modules" / ".bin" / indexer.program, mark)
    assert find_indexer(indexer, cloned) is None
    trust(cloned)
    assert find_indexer(indexer, cloned) == own
    named = witness(tmp_path / "opt" / indexer.program, mark)
    allows(f'[programs]\n{indexer.program} = "{named}"\n')
    assert find_indexer(indexer, cloned) == named


def test_a_folder_of_tools_is_named_by_an_absolute_path(cloned, mark, monkeypatch):
    witness(cloned / "node_modules" / ".bin" / "scip-python", mark)
    monkeypatch.chdir(cloned)
    monkeypatch.setenv("ARMARIUS_TOOLS", ".")
    assert find_indexer(INDEXERS[0], cloned) is None


def test_an_indexer_is_not_run_where_it_would_write_through_a_link(cloned, mark, ran, tmp_path, monkeypatch, capsys):
    witness(tmp_path / "bin" / "scip-python", mark)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (cloned / "tsconfig.json").symlink_to(tmp_path / "victim")
    assert main(["code-index", str(cloned)]) == 2
    assert "tsconfig.json leads out of" in capsys.readouterr().err
    assert ran() == ""
