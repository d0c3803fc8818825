"""A search by meaning runs while words are looked up, and an answer waits for it no longer than it may."""

import threading
import time

from armarius.codex import build_codex
from armarius.documents.document import make_document
from armarius.search.models import VectorGuard
from armarius.search.retrieve import Sources, retrieve
from armarius.search.scope import ProjectCorpus
from armarius.types import Near, VectorHits

TEXT = "# 第1章 灯\n\n林默在灯塔上点灯。\n\n江水涨了一夜。\n"
CORPUS = ProjectCorpus({"chapters/ch001.md": make_document("chapters/ch001.md", TEXT.encode())}, build_codex([]))
FOUND = VectorHits((Near("chapters/ch001.md", 1, 0.6),))


def test_the_question_is_embedded_while_something_else_goes_on():
    go, asked = threading.Event(), []

    def search(query):
        asked.append((query, threading.current_thread() is threading.main_thread()))
        go.wait(60)
        return FOUND

    wait = VectorGuard(search).begin("点灯")
    go.set()  # whoever had waited in `begin` would not come here
    assert wait([]) is FOUND
    assert asked == [("点灯", False)]


def test_a_late_answer_is_a_warning_and_the_answer_of_words():
    go = threading.Event()

    def search(query):
        go.wait(20)
        return FOUND

    guard = VectorGuard(search, timeout_s=0.05)
    began = time.monotonic()
    answer = retrieve(CORPUS, "灯塔", sources=Sources(vectors=guard))
    assert time.monotonic() - began < 5
    go.set()
    assert [str(warning) for warning in answer.warnings] == ["EMBEDDING_UNAVAILABLE: no answer within 0.05 s"]
    assert [hit.reference for hit in answer] == [hit.reference for hit in retrieve(CORPUS, "灯塔")]


def test_no_more_than_four_that_hang_are_ever_started():
    go, started = threading.Event(), []

    def search(query):
        started.append(query)
        go.wait(20)
        return FOUND

    guard = VectorGuard(search, timeout_s=0.01)
    said: list = []
    for at in range(6):
        assert guard.begin(str(at))(said) is None
    assert len(started) == 4
    assert [one.message for one in said[4:]] == ["earlier questions are not answered yet"] * 2
    go.set()


def test_what_the_model_took_is_told_apart_from_words():
    def search(query):
        time.sleep(0.05)
        return FOUND

    stages = retrieve(CORPUS, "灯塔", sources=Sources(vectors=VectorGuard(search))).stages
    assert stages["vectors"] > 20 > stages["words"]
