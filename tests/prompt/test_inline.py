"""Which fetchers answer on the thread of the request, and which in one of their own."""

import threading

import armarius
from armarius.code.fetcher import SubgraphFetcher
from armarius.prompt.fetch import fetch_all
from armarius.types import Fetched, FetchRequest


class Noted:
    """A fetcher that notes the thread it is asked on."""

    layer = "retrieved"

    def __init__(self, name, inline):
        self.name = name
        self.inline = inline
        self.thread = None

    def fetch(self, request, /):
        self.thread = threading.current_thread()
        return Fetched()


def asked(inline, query="灯塔"):
    fetcher = Noted("noted", inline)
    (answer,) = fetch_all([fetcher], FetchRequest(project_id="p", query=query), timeout=5)
    assert not answer.fetched.warnings
    return fetcher.thread is threading.current_thread()


def test_a_fetcher_that_answers_from_memory_is_asked_on_the_thread_of_the_request():
    assert asked(True)
    assert not asked(False)


def test_a_fetcher_may_say_for_each_request_whether_it_answers_from_memory():
    def short(request):
        return len(request.query) < 5

    assert asked(short)
    assert not asked(short, "谁看守灯塔？")


def test_a_fetcher_that_cannot_say_gets_a_thread():
    def broken(request):
        raise RuntimeError("no idea")

    assert not asked(broken)


def test_a_request_without_code_waits_for_no_thread(tmp_path):
    (tmp_path / "a.md").write_text("# 第1章\n\n灯塔。\n", encoding="utf-8")
    with armarius.open(tmp_path, watch=False, index_dir=tmp_path.parent / "index") as engine:
        fetcher = SubgraphFetcher(engine.code)
        assert fetcher.inline(FetchRequest(project_id="p", query="谁看守灯塔"))
        assert not fetcher.inline(FetchRequest(project_id="p", query="what does `read_file` do"))
        assert not fetcher.inline(FetchRequest(project_id="p", document="a.py", query="谁"))
        assert fetcher.inline(FetchRequest(project_id="p", document="a.py", query="谁", kinds=("chapter",)))
