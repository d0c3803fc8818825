"""How long a verb may take, what becomes of it when nobody waits, and where its time went."""

import asyncio
import threading
import time

import pytest

import armarius
from armarius import deadline as calls
from armarius.testing import FakeFetcher, FakeGraph


def put(folder, path, text):
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.fixture
def novel(tmp_path):
    put(tmp_path, "novel/chapters/ch001.md", "# 第一章\n\n林默走进钟楼。\n\n钟停在十二点。\n")
    put(tmp_path, "novel/characters/林默.md", "# 林默\n\n- 类型：character\n- 描述：钟匠\n")
    return tmp_path / "novel"


class Never:
    """Answers when the test is over."""

    def __init__(self):
        self.over = threading.Event()
        self.asked = threading.Event()

    def __call__(self, *_):
        self.asked.set()
        self.over.wait(60)
        raise TimeoutError


@pytest.fixture
def never():
    late = Never()
    yield late
    late.over.set()


class SlowFetcher(FakeFetcher):
    def __init__(self, never, **given):
        super().__init__(**given)
        self.never = never

    def fetch(self, request):
        self.never(request)


def codes(warnings):
    return {str(one).split(":", 1)[0] for one in warnings}


class SlowEmbedder:
    dimension = 4

    def __init__(self, never):
        self.never = never

    def embed(self, texts):
        if self.never.asked.is_set() or any("钟" in one and len(one) < 5 for one in texts):
            self.never()
        return [[1.0, 0.0, 0.0, 0.0] for _ in texts]


class TestTimeout:
    def test_whoever_is_late_is_left_out_with_its_warning_and_the_rest_is_there(self, novel, never):
        slow = SlowFetcher(never, name="slow", layer="retrieved")
        started = time.monotonic()
        with armarius.ContextEngine(
            novel, watch=False, more_fetchers=[slow], reword=lambda _: never(), rerank=lambda *_: never()
        ) as engine:
            pack = engine.assemble("林默在哪里？", document="chapters/ch001.md", timeout_s=2.0)
        assert time.monotonic() - started < 30
        assert {"RAG_UNAVAILABLE", "REWORDING_UNAVAILABLE"} <= codes(pack.warnings)
        assert "走进钟楼" in pack.prompt
        assert "## 角色：林默" in pack.prompt

    def test_a_graph_that_is_late_leaves_what_the_files_say(self, novel, never):
        graph = FakeGraph()
        graph.snapshot = graph.subgraph = lambda *_, **__: never()
        graph.stamp = lambda: never()
        with armarius.open(novel, watch=False, graph=graph) as engine:
            for ask in (engine.retrieve, engine.search):
                started = time.monotonic()
                found = ask("林默的父亲", timeout_s=1.0) if ask == engine.retrieve else ask("钟楼", timeout_s=1.0)
                assert time.monotonic() - started < 30
                assert len(found)

    def test_a_question_whose_embedder_is_late_fails_where_nothing_else_can_answer(self, novel, never):
        embedder = SlowEmbedder(never)
        with armarius.open(novel, watch=False, embedder=embedder) as engine:
            engine.recall.embed()
            with pytest.raises(armarius.errors.EmbeddingError, match=r"no answer within [\d.]+ s"):
                engine.similar("钟", timeout_s=1.0)
            assert "EMBEDDING_UNAVAILABLE" in codes(engine.retrieve("钟", timeout_s=1.0).warnings)
            never.over.set()

    def test_without_a_timeout_each_source_has_its_own_limit(self, novel, never):
        with armarius.open(novel, watch=False, reword=armarius.Reworder(lambda _: never(), timeout_s=0.1)) as engine:
            (warning,) = engine.retrieve("林默在哪里？").warnings
            assert warning.message == "no reply within 0.1 s"

    def test_what_comes_first_leaves_time_for_what_comes_after(self, novel, never):
        told = []
        with armarius.ContextEngine(
            novel, watch=False, reword=lambda _: never(), more_fetchers=[FakeFetcher(name="host", layer="settings")]
        ) as engine:
            told = engine.assemble("林默在哪里？", document="chapters/ch001.md", timeout_s=2.0).warnings
        assert codes(told) == {"REWORDING_UNAVAILABLE"}


class TestCancel:
    async def test_a_cancelled_verb_gives_back_its_thread_and_its_turn(self, novel, never):
        (novel / "armarius.toml").write_text("[assembly]\nmax_concurrent = 1\n", encoding="utf-8")
        slow = SlowFetcher(never, name="slow", layer="retrieved")
        with armarius.ContextEngine(novel, watch=False, more_fetchers=[slow]) as engine:
            task = asyncio.create_task(engine.aassemble("林默", document="chapters/ch001.md"))
            await asyncio.to_thread(never.asked.wait, 10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            started = time.monotonic()
            pack = await engine.aassemble("钟楼", document="chapters/ch001.md", timeout_s=0.3)
            assert time.monotonic() - started < 30
            assert "RAG_UNAVAILABLE" in codes(pack.warnings)

    async def test_others_that_ask_the_same_still_get_their_answer(self, novel, never):
        slow = SlowFetcher(never, name="slow", layer="retrieved")
        with armarius.ContextEngine(novel, watch=False, more_fetchers=[slow]) as engine:
            one, other = (asyncio.create_task(engine.aassemble("林默", document="chapters/ch001.md")) for _ in range(2))
            await asyncio.to_thread(never.asked.wait, 10)
            one.cancel()
            await asyncio.sleep(0.2)
            never.over.set()
            assert "走进钟楼" in (await other).prompt

    async def test_a_cancelled_write_of_an_index_is_not_cut_in_two(self, novel):
        with armarius.open(novel, watch=False) as engine:
            put(novel, "chapters/ch002.md", "# 第二章\n\n白鹭来了。\n")
            task = asyncio.create_task(engine.asearch("白鹭"))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert [hit.path for hit in engine.search("白鹭")] == ["chapters/ch002.md"]
            assert engine.status().warnings == ()


class TestTimings:
    def test_a_pack_says_where_its_time_went_and_that_is_no_part_of_it(self, novel):
        with armarius.open(novel, watch=False) as engine:
            for _ in range(20):  # a busy machine may take its time between two stages
                started = time.perf_counter()
                pack = engine.assemble("林默在哪里？", document="chapters/ch001.md")
                took = 1000 * (time.perf_counter() - started)
                if 0.5 * took < sum(pack.timings.values()):
                    break
            again = engine.assemble("林默在哪里？", document="chapters/ch001.md")
        assert set(pack.timings) == {"look", "understand", "fetch", "admit", "fit", "render", "account"}
        assert all(one >= 0 for one in pack.timings.values())
        assert 0.5 * took < sum(pack.timings.values()) <= took
        assert "timings" not in pack.to_wire()
        assert pack.timings != again.timings
        assert pack.prompt == again.prompt

    def test_a_stage_does_not_count_what_is_inside_it(self):
        with calls.calling("verb") as call, calls.stage("outer"):
            with calls.stage("inner"):
                time.sleep(0.2)
            with calls.stage("inner"):
                time.sleep(0.2)
        assert call.stages["inner"] >= 400
        assert call.stages["outer"] < 200

    def test_a_call_is_of_one_thread(self):
        with calls.calling("verb", 5):
            seen = []
            context = __import__("contextvars").copy_context()
            thread = threading.Thread(target=lambda: seen.append(context.run(calls.current)))
            thread.start()
            thread.join()
            assert seen == [None]
            assert calls.remaining(100) <= 5
        assert calls.remaining(100) == 100

    def test_an_inner_verb_has_no_more_time_than_the_outer_one(self):
        with calls.calling("outer", 1):
            with calls.calling("inner", 100):
                assert calls.remaining(1000) <= 1
            with calls.calling("inner", 0.1):
                assert calls.remaining(1000) <= 0.1
            assert calls.remaining(1000) > 0.5
