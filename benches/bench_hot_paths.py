"""Every hot path once, under pytest-benchmark, on the shipped novel: small enough for every CI run.

Peers stand in the same group where they do the same thing, and give the same answer. The other benchmarks go deeper:
real corpora, sizes, distributions.

make bench-smoke
"""

import random
from pathlib import Path

import ahocorasick_rs
import pytest
from tests.text.reference import deepseek

import armarius
import armarius._core as _core
from armarius import TokenCounter, truncate

NOVEL = Path(__file__).parents[1] / "examples" / "novel"
QUERY = "检查第3章的角色一致性"


@pytest.fixture(scope="module", autouse=True)
def optimised():
    if not _core.optimised:
        pytest.skip("an unoptimised build: figures would mislead; run `make bench-smoke`")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("hot") / "novel"
    for path in NOVEL.rglob("*"):
        if path.is_file():
            (root / path.relative_to(NOVEL)).parent.mkdir(parents=True, exist_ok=True)
            (root / path.relative_to(NOVEL)).write_bytes(path.read_bytes())
    return root


@pytest.fixture(scope="module")
def engine(folder):
    with armarius.open(folder, watch=False) as engine:
        yield engine


@pytest.fixture(scope="module")
def text(engine):
    return "\n".join(document.text for document in engine.documents() if document.kind == "chapter")


@pytest.fixture(scope="module")
def aliases(engine):
    return sorted({name for entity in engine.entities() for name in (entity.name, *entity.aliases)})


@pytest.mark.benchmark(group="mentions of a novel")
class TestMatching:
    def test_armarius(self, benchmark, aliases, text):
        matcher = armarius.EntityMatcher({"id": str(n), "name": alias} for n, alias in enumerate(aliases))
        found = benchmark(matcher.find_all, text)
        assert all(text[one.start : one.end] == one.term for one in found)

    def test_ahocorasick_rs(self, benchmark, aliases, text):
        peer = ahocorasick_rs.AhoCorasick(aliases, matchkind=ahocorasick_rs.MatchKind.LeftmostLongest)
        found = benchmark(peer.find_matches_as_indexes, text)
        assert all(text[start:end] == aliases[which] for which, start, end in found)


@pytest.mark.benchmark(group="counting a novel, warm")
class TestCounting:
    def test_armarius(self, benchmark, text):
        counter = TokenCounter.for_encoding("deepseek_v3")
        assert benchmark(counter.count, text) == len(deepseek().encode(text, add_special_tokens=False).ids)

    def test_tokenizers(self, benchmark, text):
        peer = deepseek()
        tokens = benchmark(lambda: len(peer.encode(text, add_special_tokens=False).ids))
        assert tokens == TokenCounter.for_encoding("deepseek_v3").count(text)


@pytest.mark.benchmark(group="a novel to 500 tokens")
def test_truncating(benchmark, text):
    counter = TokenCounter.for_encoding("deepseek_v3")
    cut = benchmark(truncate, text, 500, counter=counter)
    assert cut.tokens == counter.count(cut.text) <= 500


@pytest.mark.benchmark(group="engine")
class TestEngine:
    def test_assemble(self, benchmark, engine):
        document = next(one for one in engine.documents() if one.path == "chapters/ch003.md")
        places = random.Random(1)

        def request():
            at = places.randrange(len(document.text))
            return engine.assemble(query=QUERY, document=document.path, cursor=at, model="deepseek-chat", budget=4000)

        pack = benchmark(request)
        assert pack.token_count == TokenCounter.for_model("deepseek-chat").count(pack.prompt) <= 4000

    def test_retrieve(self, benchmark, engine):
        hits = benchmark(engine.retrieve, QUERY, limit=5)
        assert hits[0].path == "chapters/ch003.md"

    def test_search(self, benchmark, engine):
        assert benchmark(engine.search, "七点四十分", limit=5)[0].path == "chapters/ch001.md"

    def test_detect(self, benchmark, engine):
        assert [one.matched_term for one in benchmark(engine.detect, "小雨推开门走了进来")] == ["小雨"]

    def test_save(self, benchmark, engine, folder):
        path, number = folder / "chapters" / "ch004.md", iter(range(10**9))
        before = path.read_text("utf-8")

        def save():
            path.write_text(f"{before}\n\n第{next(number)}次保存。\n", "utf-8")
            engine.refresh()

        benchmark.pedantic(save, rounds=30, warmup_rounds=3)
        assert engine.search("次保存", limit=1)[0].path == "chapters/ch004.md"
