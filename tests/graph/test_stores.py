"""Every graph store passes the same tests: in memory, of a project, and NervusDB behind its command line."""

import pytest
from tests.graph.programs import fake_program, real_program

import armarius
from armarius.graph import NervusDBGraph
from armarius.testing import FakeGraph, GraphStoreConformance


class TestFakeGraph(GraphStoreConformance):
    @pytest.fixture
    def store(self):
        return FakeGraph()


class TestProjectGraph(GraphStoreConformance):
    @pytest.fixture
    def store(self, tmp_path):
        (tmp_path / "novel").mkdir()
        with armarius.open(tmp_path / "novel", watch=False) as engine:
            yield engine.graph


class TestNervusDBGraphOverAFakeProgram(GraphStoreConformance):
    """The fake speaks the documented subset and refuses everything else; it is no recording of the real one."""

    @pytest.fixture
    def store(self, tmp_path):
        return NervusDBGraph(tmp_path / "db", program=fake_program(tmp_path))


class TestNervusDBGraphOverTheRealProgram(GraphStoreConformance):
    @pytest.fixture
    def store(self, tmp_path):
        return NervusDBGraph(tmp_path / "db", program=real_program())
