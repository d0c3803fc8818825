"""The adapter across the process boundary: what it says to the program, and what it does when that misbehaves."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.graph.programs import fake_program, real_program, script

from armarius.codex.model import Entity, Relation
from armarius.errors import ContractError, GraphError
from armarius.graph import NervusDBGraph
from armarius.graph import nervusdb as module
from armarius.graph.entity_cache import read_graph_options
from armarius.trust.settings import Config, Permissions
from armarius.verbs.wire import describe

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a script is no program on Windows")


@pytest.fixture
def graph(tmp_path):
    return NervusDBGraph(tmp_path / "db", program=fake_program(tmp_path))


def broken(tmp_path, body, **limits):
    return NervusDBGraph(tmp_path / "db", program=script(tmp_path, body), **limits)


def calls(graph):
    """Make `graph` note the statements it sends."""
    sent = []
    run = graph._run

    def noted(verb, statement):
        sent.append((verb, statement))
        return run(verb, statement)

    graph._run = noted
    return sent


def test_writing_reads_first_and_writes_only_what_differs(graph):
    sent = calls(graph)
    for _ in range(2):
        graph.upsert_entity(Entity("a", "A"))
    graph.upsert_entity(Entity("a", "B"))
    graph.upsert_relation(Relation("a", "a", "影"))
    sent.clear()
    graph.upsert_entity(Entity("a", "B"))
    graph.upsert_relation(Relation("a", "a", "影"))
    assert [verb for verb, _ in sent] == ["query", "query"]


def test_a_relation_and_its_edges_are_one_statement(graph, tmp_path):
    graph.upsert_entity(Entity("a", "A"))
    graph.upsert_entity(Entity("b", "B"))
    sent = calls(graph)
    graph.upsert_relation(Relation("a", "b", "师徒"))
    assert [verb for verb, _ in sent].count("write") == 1
    done = subprocess.run(
        [
            *(tmp_path / "nervusdb", "v2", "query", "--db", tmp_path / "db", "--cypher"),
            "MATCH (a:Entity)-[:SOURCE_OF]->(r:Relation)-[:TO]->(b:Entity) WHERE a.id = 'a' RETURN r.type, b.name",
        ],
        capture_output=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == {"r.type": "师徒", "b.name": "B"}


def test_entities_written_by_hand_with_little_more_than_an_id_are_read(graph, tmp_path):
    for statement in (
        "CREATE (n:Entity {id: 'a', name: '甲'})",
        "CREATE (r:Relation {source: 'a', target: 'b', type: '友', since: 3})",
        "CREATE (n:Entity {id: 'b'})",
    ):
        command = [tmp_path / "nervusdb", "v2", "write", "--db", tmp_path / "db", "--cypher", statement]
        subprocess.run(command, check=True, capture_output=True)
    found = graph.snapshot()
    assert [(one.id, one.name) for one in found.entities] == [("a", "甲"), ("b", "b")]
    assert found.relations == (Relation("a", "b", "友", 3),)


def test_a_long_statement_goes_through_a_file_and_none_is_left_behind(graph, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    entity = Entity("a", "A", description="很长。" * 20_000)
    graph.upsert_entity(entity)
    assert graph.snapshot().entities == (entity,)
    assert not list(tmp_path.glob("armarius-*"))


def test_many_ids_are_answered_by_a_few_processes(graph):
    for number in range(12):
        graph.upsert_entity(Entity(f"e{number:02}", "E"))
        graph.upsert_relation(Relation("e00", f"e{number:02}", "友"))
    sent = calls(graph)
    assert len(graph.subgraph(["e00"], depth=3).entities) == 12
    assert len(sent) <= 6


def test_two_processes_writing_the_same_entity_make_one(tmp_path):
    program = fake_program(tmp_path)
    code = (
        "import sys; from armarius.graph import NervusDBGraph; from armarius.codex.model import Entity\n"
        "g = NervusDBGraph(sys.argv[1], program=sys.argv[2], timeout_s=60)\n"
        "for n in range(3): g.upsert_entity(Entity(f'e{n}', 'E'))\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / "db"), str(program)]
    running = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(120) for process in running] == [0, 0]
    graph = NervusDBGraph(tmp_path / "db", program=program)
    assert len(graph._rows("Entity", ("id",))) == 3


@pytest.mark.parametrize(
    "method", ["snapshot", "neighbors", "subgraph", "upsert_entity", "upsert_relation", "delete_entity"]
)
def test_without_the_program_every_method_says_so(method, tmp_path, monkeypatch):
    monkeypatch.delenv("NERVUSDB_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    arguments = {
        "snapshot": (),
        "subgraph": (["a"],),
        "upsert_entity": (Entity("a", "A"),),
        "upsert_relation": (Relation("a", "a", "影"),),
    }
    with pytest.raises(GraphError, match="nervusdb on the PATH cannot be run"):
        getattr(NervusDBGraph(tmp_path / "db"), method)(*arguments.get(method, ("a",)))


@pytest.mark.parametrize("name", ["nervusdb", "nervusdb-cli"])
def test_the_environment_names_the_program_before_the_path_does(tmp_path, monkeypatch, name):
    (tmp_path / "bin").mkdir()
    fake_program(tmp_path / "bin", name)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("NERVUSDB_BIN", raising=False)
    NervusDBGraph(tmp_path / "db").upsert_entity(Entity("a", "A"))
    monkeypatch.setenv("NERVUSDB_BIN", str(tmp_path / "nothing"))
    with pytest.raises(GraphError, match="NERVUSDB_BIN cannot be run"):
        NervusDBGraph(tmp_path / "db").snapshot()


@pytest.mark.parametrize("method", ["neighbors", "subgraph", "delete_entity"])
def test_an_id_with_a_lone_surrogate_is_refused_in_our_own_words(method, graph):
    id_ = "a\ud800"
    with pytest.raises(ValueError, match="lone surrogate") as caught:
        getattr(graph, method)([id_] if method == "subgraph" else id_)
    assert type(caught.value) is ContractError


def test_a_program_of_the_project_is_not_run(tmp_path, monkeypatch):
    project = tmp_path / "novel"
    (project / "bin").mkdir(parents=True)
    fake_program(project / "bin")
    monkeypatch.delenv("NERVUSDB_BIN", raising=False)
    monkeypatch.setenv("PATH", str(project / "bin"))
    permissions = Permissions.of(project, trusted=True)
    found = read_graph_options(Config(tables={"graph": {"store": "nervusdb"}}), project, permissions=permissions).store
    with pytest.raises(GraphError, match="on the PATH cannot be run"):
        found.snapshot()
    assert NervusDBGraph(tmp_path / "db").snapshot().entities == ()


MISBEHAVIOUR = {
    "status": "import sys; print('SELECT secret FROM /etc/passwd', file=sys.stderr); sys.exit(3)",
    "no json": "print('hello')",
    "no object": "print('[1, 2]')",
    "bytes": "import sys; sys.stdout.buffer.write(b'\\xff\\xfe{')",
    "deep": "print('[' * 100000)",
    "foreign": 'print(\'{"n.id": "a", "n.name": " ", "n.more": "[]"}\')',
    "signal": "import os; os.kill(os.getpid(), 9)",
    "shouting": "import sys; sys.stderr.write('/srv/secret ' * 200000); sys.exit(1)",
}


@pytest.mark.parametrize("body", MISBEHAVIOUR.values(), ids=MISBEHAVIOUR)
def test_a_program_that_misbehaves_is_an_error_without_path_or_statement(body, tmp_path):
    graph = broken(tmp_path, body)
    with pytest.raises(GraphError) as caught:
        graph.snapshot()
    for text in (str(caught.value), describe(caught.value).message):
        assert not any(part in text for part in (str(tmp_path), "/", "MATCH", "SELECT", "secret"))
    assert describe(caught.value).code == "KG_UNAVAILABLE"


def test_a_write_that_tells_no_count_is_an_error(tmp_path):
    graph = broken(tmp_path, "import sys; print('{}' if sys.argv[2] == 'write' else '')")
    with pytest.raises(GraphError, match="did not say how much it wrote"):
        graph.upsert_entity(Entity("a", "A"))


def test_a_program_that_never_ends_is_ended_with_all_that_it_started(tmp_path):
    body = (
        "import os, subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(tmp_path / 'pids')!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        "time.sleep(60)\n"
    )
    graph = broken(tmp_path, body, timeout_s=1.5)
    started = time.monotonic()
    with pytest.raises(GraphError, match=r"did not answer within 1\.5 s"):
        graph.snapshot()
    assert time.monotonic() - started < 10
    for pid in map(int, (tmp_path / "pids").read_text().split()):
        for _ in range(100):
            if not alive(pid):
                break
            time.sleep(0.05)
        assert not alive(pid)


def alive(pid):
    """Whether a process runs; one that has ended and waits to be collected does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_a_program_that_writes_without_end_is_cut_short(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MAX_BYTES", 1 << 20)
    graph = broken(tmp_path, "import sys\nwhile True: sys.stdout.write('x' * 65536)", timeout_s=30)
    with pytest.raises(GraphError, match="wrote more than 1048576 bytes"):
        graph.snapshot()


def test_the_program_gets_none_of_our_secrets_and_no_input(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    body = (
        "import json, os, sys\n"
        "told = json.dumps(dict(os.environ)) + sys.stdin.read()\n"
        "print(json.dumps({'n.id': 'a', 'n.name': 'secret' if 'sk-secret' in told else 'nothing'}))\n"
    )
    graph = broken(tmp_path, f"import sys\nif 'Relation' in sys.argv[-1]: sys.exit(0)\n{body}")
    assert graph.snapshot().entities[0].name == "nothing"


def test_a_database_in_use_by_another_is_waited_for_and_then_given_up(tmp_path, graph):
    from armarius.io import folder_lock

    graph.upsert_entity(Entity("a", "A"))
    impatient = NervusDBGraph(tmp_path / "db", program=tmp_path / "nervusdb", timeout_s=0.3)
    with (
        folder_lock(tmp_path, name=".db.lock"),
        ThreadPoolExecutor(1) as pool,
        pytest.raises(GraphError, match="cannot be used: StoreBusy"),
    ):
        pool.submit(impatient.snapshot).result()
    answers = []
    with folder_lock(tmp_path, name=".db.lock"):
        thread = threading.Thread(target=lambda: answers.append(graph.snapshot()))
        thread.start()
        time.sleep(0.2)
        assert not answers
    thread.join(20)
    assert [entity.id for entity in answers[0].entities] == ["a"]


def test_the_real_program_speaks_what_the_adapter_takes_for_granted(tmp_path):
    """Row keys, the count, integers and status; runs where the program is."""
    command = [real_program(), "v2"]
    write = subprocess.run(
        [*command, "write", "--db", tmp_path / "db", "--cypher", "CREATE (n:Entity {id: '小雨 %27', since: 3})"],
        capture_output=True, check=True,
    )  # fmt: skip
    assert json.loads(write.stdout)["count"] == 1
    query = subprocess.run(
        [*command, "query", "--db", tmp_path / "db", "--cypher", "MATCH (n:Entity) RETURN n.id, n.since, n.none"],
        capture_output=True, check=True,
    )  # fmt: skip
    assert [json.loads(line) for line in query.stdout.splitlines()] == [
        {"n.id": "小雨 %27", "n.since": 3, "n.none": None}
    ]
    refused = subprocess.run(
        [*command, "query", "--db", tmp_path / "db", "--cypher", "MERGE (n:Entity {id: 'x'})"], capture_output=True
    )
    assert refused.returncode != 0
