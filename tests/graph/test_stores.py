"""Every graph store passes the same tests: in memory, of a project, and NervusDB behind its command line."""

import pytest
from tests.graph.fake_nervusdb import answered
from tests.graph.programs import fake_program, real_program

import armarius
from armarius.errors import GraphError
from armarius.graph import NervusDBGraph
from armarius.testing import FakeGraph, GraphStoreConformance
from armarius.testing.graphs import HOSTILE_TEXTS
from armarius.validation import control_in


class TestFakeGraph(GraphStoreConformance):
    @pytest.fixture
    def store(self):
        return FakeGraph()


class TestProjectGraph(GraphStoreConformance):
    texts = tuple(one for one in HOSTILE_TEXTS if not control_in(one.replace("\r\n", "\r")))

    @pytest.fixture
    def store(self, tmp_path):
        (tmp_path / "novel").mkdir()
        with armarius.open(tmp_path / "novel", watch=False) as engine:
            yield engine.graph


class AskedHere(NervusDBGraph):
    """Its program answers in this process: no interpreter is started for each statement."""

    def _answer(self, command):
        status, said, complaint = answered(command[1:])
        if status:
            raise GraphError(f"the graph program failed with status {status}: {complaint}")
        return said


class TestNervusDBGraphOverAFakeInThisProcess(GraphStoreConformance):
    """The fake speaks the documented subset and refuses everything else; it is no recording of the real one."""

    @pytest.fixture
    def store(self, tmp_path):
        return AskedHere(tmp_path / "db", program=fake_program(tmp_path))


@pytest.mark.slow
class TestNervusDBGraphOverAFakeProgram(GraphStoreConformance):
    """Across a process boundary, as test_nervusdb.py does in `make test` for each thing that can go wrong there."""

    @pytest.fixture
    def store(self, tmp_path):
        return NervusDBGraph(tmp_path / "db", program=fake_program(tmp_path))


class TestNervusDBGraphOverTheRealProgram(GraphStoreConformance):
    @pytest.fixture
    def store(self, tmp_path):
        return NervusDBGraph(tmp_path / "db", program=real_program(), timeout_s=60)
