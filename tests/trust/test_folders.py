"""Where an index, a model and a graph may live, and by whose word."""

import os
from pathlib import Path

import pytest
from tests.code.wire import document, index, occurrence
from tests.trust.support import put
from tests.vectors.conftest import write_tiny

import armarius
from armarius.cli import main
from armarius.code import CodeIndex
from armarius.errors import ConfigError, ProjectError, StoreFull
from armarius.index.graph import ProjectGraph
from armarius.index.project_index import ProjectIndex
from armarius.trust import trust


def scip(path, name):
    """An index of one document, which defines one function in its first line."""
    said = occurrence(f"s p n v a/{name}().", roles=1, at=(0, 4, 4 + len(name)))
    return index(document(path, said))


def place(project, **options):
    with armarius.open(project, watch=False, **options) as engine:
        return Path(engine.status().path).parent


def unavailable(project, **options):
    """Why there is no recall by meaning, "" when there is."""
    with armarius.open(project, watch=False, **options) as engine:
        told = [w.message for w in engine.status().warnings if w.code == "EMBEDDING_UNAVAILABLE"]
        asked = engine.retrieve("白鹭").warnings
        assert [w.message for w in asked if w.code == "EMBEDDING_UNAVAILABLE"] == told
        return told[0] if told else ""


def test_an_index_folder_of_the_users_is_chosen_by_name_and_shared(cloned, says, allows, tmp_path):
    fast = tmp_path / "fast disk"
    allows(f'[indexes]\nfast = "{fast}"\n')
    says('[documents]\nindex_dir = "fast"\n')
    where = place(cloned)
    assert where.parent == fast / "armarius-index"
    assert where.name.startswith("cloned-")
    put(tmp_path / "b" / "cloned" / "a.md", "# b\n")
    put(tmp_path / "b" / "cloned" / "armarius.toml", '[documents]\nindex_dir = "fast"\n')
    other = place(tmp_path / "b" / "cloned")
    assert other.parent == where.parent
    assert other != where


@pytest.mark.parametrize("form", ["../app2", "{outside}", "link", "~/app2"])
def test_a_trusted_project_has_its_index_where_it_says(cloned, says, form, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "app2").mkdir()
    says(f'[documents]\nindex_dir = "{form.format(outside=tmp_path / "app2")}"\n')
    trust(cloned)
    if form == "link":  # inside the project no link is followed, whoever names it
        (cloned / "link").symlink_to(tmp_path / "app2")
        with pytest.raises(StoreFull, match="symbolic link"):
            place(cloned)
    else:
        assert place(cloned).resolve().parent == tmp_path / "app2" / "armarius-index"
    assert Path(place(cloned, trusted=False)).is_relative_to(os.environ["ARMARIUS_CACHE"])


def test_the_caller_and_the_command_line_have_an_index_anywhere(cloned, says, tmp_path, capsys):
    says('[documents]\nindex_dir = "../app"\n')
    assert place(cloned, index_dir=tmp_path / "mine").parent == tmp_path / "mine" / "armarius-index"
    assert main(["index", str(cloned), "--index-dir", str(tmp_path / "other")]) == 0
    assert list((tmp_path / "other" / "armarius-index").glob("cloned-*/index.sqlite"))
    assert not (tmp_path / "app").exists()


def test_a_model_outside_is_not_read_and_the_request_goes_on(cloned, says, tmp_path, capsys):
    says(f'[embedding]\nmodel = "{write_tiny(tmp_path / "model")}"\n')
    with armarius.open(cloned, watch=False) as engine:
        assert [one.code for one in engine.status().warnings] == ["SETTING_IGNORED"]
    assert main(["embed", str(cloned)]) == 2
    assert "ignored, for the project is not trusted: embedding.model = " in capsys.readouterr().err
    trust(cloned)
    with armarius.open(cloned, watch=False) as engine:
        assert engine.status().warnings == ()


def test_a_model_of_the_users_is_chosen_by_name(cloned, says, allows, tmp_path):
    allows(f'[models]\ntext2vec = "{write_tiny(tmp_path / "model")}"\n')
    says('[embedding]\nmodel = "text2vec"\n')
    assert unavailable(cloned) == ""
    says('[embedding]\nmodel = "text2vac"\n')
    told = unavailable(cloned)
    assert '"text2vac" is neither a folder of the project nor a name under [models]' in told
    assert "near it: text2vec" in told


def test_a_model_may_lie_in_the_project_but_lead_nowhere_else(cloned, says, tmp_path):
    model = write_tiny(cloned / "models" / "tiny")
    says('[embedding]\nmodel = "models/tiny"\n')
    assert unavailable(cloned) == ""
    (model / "blobs").mkdir()
    (model / "vocab.txt").rename(model / "blobs" / "1")
    (model / "vocab.txt").symlink_to("blobs/1")
    assert unavailable(cloned) == ""
    weights = tmp_path / "weights"
    (model / "model.safetensors").rename(weights)
    (model / "model.safetensors").symlink_to(weights)
    assert "model.safetensors leads out of the project" in unavailable(cloned)


def test_a_graph_outside_is_that_of_a_trusted_project(cloned, says, tmp_path):
    says('[graph]\nstore = "nervusdb"\npath = "../graph"\n')
    with armarius.open(cloned, watch=False) as engine:
        assert isinstance(engine.graph, ProjectGraph)
    with armarius.open(cloned, watch=False, trusted=True) as engine:
        assert Path(engine.graph.path).resolve() == tmp_path / "graph"


def test_a_link_for_the_records_is_no_setting_that_nobody_wrote(cloned, tmp_path):
    """D21: it was refused as a `graph.path` that stood nowhere."""
    (tmp_path / "records").mkdir()
    (cloned / ".armarius").symlink_to(tmp_path / "records")
    with armarius.open(cloned, watch=False) as engine:
        warnings = list(map(str, engine.assemble(query="白鹭", budget=4000).warnings))
    assert not any("graph.path" in warning for warning in warnings)


@pytest.mark.parametrize("path", ["../index.scip", "{outside}", "link.scip"])
def test_an_index_of_code_outside_is_not_read(cloned, says, path, tmp_path):
    (tmp_path / "index.scip").write_bytes(scip("a.py", "invoke"))
    (cloned / "link.scip").symlink_to(tmp_path / "index.scip")
    says(f'[code]\nsource = "scip"\nindex = "{path.format(outside=tmp_path / "index.scip")}"\n')
    with armarius.open(cloned, watch=False) as engine:
        told = list(map(str, engine.subgraph("invoke").warnings))
    assert told[1].startswith("CODE_GRAPH_REASON: no_index: ")
    with armarius.open(cloned, watch=False, trusted=True) as engine:
        assert not engine.subgraph("invoke").warnings


def test_a_link_in_place_of_the_index_of_code_is_not_read(cloned, tmp_path):
    (tmp_path / "index.scip").write_bytes(scip("a.py", "invoke"))
    (cloned / "index.scip").symlink_to(tmp_path / "index.scip")
    assert [failure.reason for failure in CodeIndex(cloned).failures] == ["no_index", "no_binary"]


SECRET = "def secret_of_the_user(): pass\n"


@pytest.mark.parametrize("kind", ["absolute", "up", "link", "folder link", "pipe", "device"])
def test_an_index_that_describes_other_files_is_not_believed(cloned, kind, tmp_path):
    """Each document of an index is read, and its lines are quoted in the prompt."""
    put(tmp_path / "secret.py", SECRET)
    (cloned / "link.py").symlink_to(tmp_path / "secret.py")
    (cloned / "folder").symlink_to(tmp_path)
    (cloned / "zero.py").symlink_to("/dev/zero")
    os.mkfifo(cloned / "pipe.py")
    path = {
        "absolute": str(tmp_path / "secret.py"),
        "up": "../secret.py",
        "link": "link.py",
        "folder link": "folder/secret.py",
        "pipe": "pipe.py",
        "device": "zero.py",
    }[kind]
    (cloned / "index.scip").write_bytes(scip(path, "secret_of_the_user"))
    with armarius.open(cloned, watch=False) as engine:
        pack = engine.assemble(query="`secret_of_the_user`", budget=4000)
        assert "def secret_of_the_user" not in pack.prompt
        told = [str(w) for w in engine.subgraph("secret_of_the_user").warnings]
    assert any(f"untrusted: the index describes {path!r}, which is no file of the project" in line for line in told)


@pytest.mark.parametrize(
    ("path", "what"),
    [("x" * 5000, "too long"), ("a\0b", "holds a NUL"), ("a/" * 3000, "too long"), ("\ud800", "not valid Unicode")],
)
def test_what_is_no_path_is_a_project_error(cloned, says, path, what):
    """D21: OSError and ValueError."""
    for call in (
        lambda: armarius.open(path),
        lambda: ProjectIndex.open(path),
        lambda: trust(path),
        lambda: armarius.open(cloned, index_dir=path),
    ):
        with pytest.raises(ProjectError, match=what) as caught:
            call()
        assert len(str(caught.value)) < 250
    if path != "\ud800":  # which no TOML file can hold
        said = path.replace("\0", "\\u0000")
        for text in (f'[documents]\nindex_dir = "{said}"', f'[graph]\npath = "{said}"'):
            says(text)
            with pytest.raises(ConfigError, match=rf"^armarius.toml: \w+\.\w+: .*{what}"):
                armarius.open(cloned)
        says(f'[embedding]\nmodel = "{said}"')
        with pytest.raises(ConfigError, match=what):
            armarius.open(cloned)


def test_a_file_is_no_project(cloned):
    for path in (cloned / "a.md", cloned / "a.md" / "b", cloned / "none"):
        with pytest.raises(ProjectError, match="not a project folder"):
            armarius.open(path)
