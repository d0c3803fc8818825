"""onnxruntime, and USearch beside it, in a process of its own: a wrong order ends it, a wrong import leaves files."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the wheels of Linux alone share a C++ runtime")

OURS = "from armarius.store.sqlite.ann import AnnIndex; AnnIndex(8)"
THEIRS = "import usearch.index"
MODEL = "import sys; from armarius import embedders; print(embedders.load(sys.argv[1]).embed_queries(['rain']).shape)"


def run(*lines, model, **environment):
    program = [sys.executable, "-W", "ignore::RuntimeWarning", "-c", "\n".join(lines), str(model)]
    done = subprocess.run(
        program, capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **environment}
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("lines", [(OURS, MODEL), (MODEL, OURS), (MODEL, THEIRS, OURS), (OURS, THEIRS, MODEL)])
def test_an_approximate_index_and_a_model_serve_in_one_process(lines, minilm):
    status, said = run(*lines, model=minilm)
    assert (status, said.strip()) == (0, "(1, 384)")


def test_a_model_is_refused_where_other_code_loaded_usearch_first(minilm):
    status, said = run(THEIRS, MODEL, model=minilm)
    # a USearch without a runtime of its own is no trouble
    assert (status, "import onnxruntime before usearch" in said) == (1, True) or (status, said.strip()) == (
        0,
        "(1, 384)",
    )


def test_a_model_leaves_nothing_in_the_home_and_reports_to_nobody(minilm, tmp_path):
    assert run(MODEL, model=minilm, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path)) == (0, "(1, 384)\n")
    assert list(tmp_path.iterdir()) == []
