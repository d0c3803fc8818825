from dataclasses import replace

import pytest

from armarius.documents.document import list_documents
from armarius.errors import ContractError
from armarius.prompt.fetchers.passages import PassageFetcher
from armarius.search.contradictions.statements import statements
from armarius.search.query.recipe import understand
from armarius.search.retrieve import find, retrieve
from armarius.search.scope import ProjectCorpus
from armarius.search.signals import calls
from armarius.types import FetchRequest, Recipe

from .conftest import EXAMPLE, corpus_of, write

HOUSE = {
    "chapters/ch001.md": (
        "# 第一章\n\n李纨搬进稻香村住下。" + "风吹过竹林，没有人说话。" * 80 + "\n\n夜里，李纨在灯下教儿子念书。\n"
    ),
    "chapters/ch002.md": "# 第二章\n\n王青左手有一道疤。\n\n王青说：“她比我小三岁。”\n",
    "spec/characters.md": (
        "# 人物档案\n\n## 李纨\n\n- 类型：人物\n- 描述：寡居，住在秋爽斋。\n\n"
        "## 王青\n\n- 类型：人物\n- 描述：铁匠，右手有一道疤。\n"
    ),
    "spec/locations.md": (
        "# 地点设定\n\n## 稻香村\n\n- 类型：地点\n- 描述：李纨的住处。\n\n"
        "## 秋爽斋\n\n- 类型：地点\n- 描述：探春的书斋。\n"
    ),
}


@pytest.fixture
def house(tmp_path):
    return corpus_of(write(tmp_path, HOUSE))


def fetch(asked, query, **keywords):
    fetcher = PassageFetcher(asked.corpus, asked.sources)
    return fetcher.fetch(FetchRequest("p", query=query, recipe=understand(query), **keywords))


def test_a_passage_says_where_it_stands(novel):
    fetched = fetch(novel, "谁裁掉了卷宗的第十八页")
    first = next(fetched.offer.rows)
    assert first.source == f"rag:passage:{first.path}#{first.paragraph}"
    assert novel.opened.document(first.path) is not None
    (evidence,) = fetched.offer.explain(first)
    assert evidence.path == first.path
    assert evidence.span is not None
    assert evidence.detail.parts["words"][:2] == ("卷宗", "第十八页")


def test_a_relation_word_brings_the_card_of_whom_it_means(novel):
    fetched = fetch(novel, "林小雨的父亲是谁")
    assert any(c.id.startswith("entity:") and "林渡" in c.content for c in fetched.candidates)


def test_of_the_open_document_only_what_stands_there_now_is_on_offer(small):
    text = small.opened.document("chapters/ch003.md").text
    now = text.replace("burned", "stood")
    open_now = fetch(small, "the chandlery burned", document="chapters/ch003.md", text=now, cursor=10)
    before = fetch(small, "the chandlery burned")

    def holds(fetched):
        return any(row.path == "chapters/ch003.md" and "burned" in row.text for row in fetched.offer.rows)

    assert holds(before)
    assert not holds(open_now)


def test_a_related_card_is_confirmed_while_it_reads_the_same(tmp_path):
    asked = corpus_of(EXAMPLE)
    offered = [c for c in fetch(asked, "林小雨的父亲是谁").candidates if c.source.startswith("kg:related:")]
    fetcher = PassageFetcher(asked.corpus)
    assert offered
    assert fetcher.confirm(offered, FetchRequest("p")) == {c.id for c in offered}
    changed = [replace(c, content=c.content + "，改过") for c in offered]
    assert fetcher.confirm(changed, FetchRequest("p")) == set()


def test_no_question_brings_nothing(small):
    fetched = fetch(small, "  ")
    assert (fetched.candidates, fetched.omitted, fetched.warnings) == ((), (), ())


def test_later_chapters_are_omitted_with_the_reason_timeline(small):
    fetched = fetch(small, "the ledger in the ash", chapter=2)
    assert all("ch003" not in c.source for c in fetched.candidates)
    assert any(o.reason == "timeline" for o in fetched.omitted)


def test_both_sides_of_a_dispute_stay_in_the_pack(house):
    fetched = fetch(house, "王青的疤到底在左手还是右手，前后一致吗")
    disputed = [c for c in fetched.candidates for e in c.evidence if e.detail.startswith("competes with")]
    assert disputed
    assert "spec/characters.md#王青" in str([c.evidence for c in disputed])


def entity(asked, name):
    return next(e.id for e in asked.opened.entities.values() if e.name == name)


@pytest.mark.parametrize(
    ("name", "attribute", "first", "second"),
    [
        ("李纨", "住处", "spec/characters.md#李纨", "spec/locations.md#稻香村"),
        ("王青", "疤痕", "spec/characters.md#王青", "chapters/ch002.md"),
    ],
)
def test_sources_that_say_different_things_compete(house, name, attribute, first, second):
    found = statements(house.opened, entity(house, name), attribute)
    said = {one.reference: one for one in found}
    assert second in said[first].competes_with
    assert first in said[second].competes_with


def test_statements_are_quoted_as_written(house):
    for one in statements(house.opened, entity(house, "王青"), "疤痕"):
        assert house.opened.document(one.path).text[slice(*one.span)] == one.text


def test_sources_that_agree_do_not_compete(tmp_path):
    files = HOUSE | {"chapters/ch002.md": "# 第二章\n\n王青右手有一道疤。\n"}
    asked = corpus_of(write(tmp_path, files))
    assert not any(one.competes_with for one in statements(asked.opened, entity(asked, "王青"), "疤痕"))


def test_later_chapters_are_no_evidence_in_an_earlier_one(house):
    found = statements(house.opened, entity(house, "王青"), "疤痕", chapter=1)
    assert {one.chapter for one in found} == {None}


def test_the_engine_retrieves_and_gathers_evidence():
    import armarius

    with armarius.open(EXAMPLE, watch=False) as engine:
        answer = engine.retrieve("检查这一章的角色一致性", document="chapters/ch003.md")
        assert answer[0].path == "chapters/ch003.md"
        assert answer.understanding.chapters == (3,)
        assert all(omission.reason == "timeline" for omission in answer.omitted)
        assert next(one.reference for one in engine.evidence("小雨")) == "spec/characters.md#林小雨"
        with pytest.raises(ContractError, match="no entity is called"):
            engine.evidence("nobody")
        pack = engine.assemble(query="谁裁掉了卷宗的第十八页", budget=6000)
        assert any(path.startswith("chapters/") for path in pack.documents)
        assert any(source.startswith("rag:passage:") for source in pack.result.layers.retrieved.source)


def test_each_corpus_of_a_project_answers_for_its_own_documents_whichever_was_asked_before(small):
    documents = small.corpus.documents
    fewer = {path: document for path, document in documents.items() if path != "chapters/ch003.md"}
    without = ProjectCorpus(fewer, small.corpus.codex, before=small.corpus)
    for _ in range(2):
        assert small.retrieve("the chandlery burned")[0].path == "chapters/ch003.md"
        assert all(hit.path != "chapters/ch003.md" for hit in retrieve(without, "the chandlery burned"))


def test_a_prompt_has_no_documents_put_in_order_unless_the_question_is_one_of_consistency(small):
    for query, some in (("who read the ledger", False), ("check the consistency of chapter 4", True)):
        whole, plain = small.find(query), small.find(query, listed=False)
        assert whole.ordered
        assert plain.ordered == (whole.ordered if some else [])
        assert plain.answer.hits == ()
        assert plain.answer.outcome == "found"
        scores = [each.ranked.scores.paragraphs(9) for each in (whole, plain)]
        assert scores[0] == scores[1]


def test_code_that_comes_later_is_followed_to_what_it_calls(tmp_path):
    files = {"notes/a.md": "# A\n\nThe ledger is read by a tool.\n"}
    code = "def read_ledger(path):\n    return parse_rows(path)\n\n\ndef parse_rows(path):\n    return []\n"
    corpus = corpus_of(write(tmp_path, files)).corpus
    documents = {one.path: one for one in list_documents(write(tmp_path, {"tool.py": code})).documents}
    told = []
    for one in (corpus, ProjectCorpus(documents, corpus.codex, before=corpus)):
        with one.acquire() as tables:
            found = find(tables, "read_ledger", Recipe(), listed=False)
            told.append(bool(calls(tables, found.ranked.scores)))
    assert told == [False, True]
