"""Relations in the prompt: which, when, in which words, and what keeps them out."""

import shutil
from pathlib import Path

import pytest

import armarius
from armarius.codex import Entity, Relation
from armarius.prompt.fetchers.passages import relation_text
from armarius.testing import FakeGraph

NOVEL = Path(__file__).resolve().parents[2] / "examples" / "novel"

HARBOUR = {
    "chapters/ch001.md": "# Chapter One\n\nAnna Vale rang the bell. Tom Reed heard it, and so did Mara Finch.\n",
    "chapters/ch005.md": "# Chapter Five\n\nAnna Vale and Tom Reed met Mara Finch at the pier.\n",
    "codex.json": """{"entities": [
        {"id": "anna", "name": "Anna Vale", "type": "character"},
        {"id": "tom", "name": "Tom Reed", "type": "character"},
        {"id": "mara", "name": "Mara Finch", "type": "character"},
        {"id": "spy", "name": "Old Grey", "type": "character", "aiContextLevel": "never"},
        {"id": "plot", "name": "The Wreckers", "type": "faction", "aiContextLevel": "manual_only"}],
      "relations": [
        {"source": "anna", "target": "tom", "type": "sister of"},
        {"source": "tom", "target": "mara", "type": "mentor of", "since": 3, "until": 5},
        {"source": "mara", "target": "tom", "type": "betrays", "since": 5},
        {"source": "spy", "target": "anna", "type": "father of"},
        {"source": "anna", "target": "plot", "type": "belongs to"}]}""",
}


def write(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def stated(pack):
    """Source to lines of the relations in the prompt, in prompt order."""
    return {
        item.source: pack.prompt[slice(*item.span)].splitlines()
        for item in pack.items
        if item.source.startswith("kg:relation:")
    }


def lines(pack):
    return [line for found in stated(pack).values() for line in found]


@pytest.fixture
def novel(tmp_path):
    with armarius.open(shutil.copytree(NOVEL, tmp_path / "novel"), watch=False) as engine:
        yield engine


@pytest.fixture
def harbour(tmp_path):
    with armarius.open(write(tmp_path, HARBOUR), watch=False) as engine:
        yield engine


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("林小雨和林默是什么关系", "- 林默 —兄妹→ 林小雨"),
        ("林默跟小雨什么关系？", "- 林默 —兄妹→ 林小雨"),
        ("What is the relationship between 林默 and 林小雨?", "- 林默 —兄妹→ 林小雨"),
        ("林小雨的父亲是谁", "- 林渡 —父女→ 林小雨"),
        ("周远山的儿子叫什么", "- 周远山 —父子→ 周远"),
        ("林渡有哪些亲人", "- 林渡 —养父女→ 白鹭（第4章起）"),
    ],
)
def test_a_question_about_relations_brings_them_as_text(novel, query, line):
    assert line in lines(novel.assemble(query=query))


@pytest.mark.parametrize("query", ["林小雨在哪里", "林小雨和林默", "父亲是什么意思", "钟为什么停了"])
def test_a_question_about_something_else_brings_none(novel, query):
    assert stated(novel.assemble(query=query)) == {}


def test_what_holds_between_the_named_comes_first(novel):
    pack = novel.assemble(query="林小雨和林默是什么关系")
    found = [item for item in pack.items if item.source.startswith("kg:")]
    relations = [item.source for item in found if item.source.startswith("kg:relation:")]
    assert relations[0] == "kg:relation:林默-lin-xiaoyu"
    assert max(found, key=lambda item: item.score or 0).source == relations[0]
    assert pack.prompt.count("[知识图谱 — 关系]") == 1


def test_a_relation_has_its_source_its_evidence_and_its_documents(novel):
    pack = novel.assemble(query="林小雨和林默是什么关系")
    item = next(item for item in pack.items if item.source == "kg:relation:林默-lin-xiaoyu")
    assert [(one.kind, one.detail, one.path) for one in item.evidence] == [("relation", "关系: 兄妹", "codex.json")]
    assert {"codex.json", "spec/characters.md"} <= set(item.documents)


def test_an_authored_relation_is_in_the_next_prompt(novel):
    novel.codex.create(id="liu", name="柳婆婆", type="character")
    novel.codex.create(id="wen", name="柳闻笙", type="character")
    novel.codex.relate("柳婆婆", "柳闻笙", "祖母")
    for query in ("柳婆婆和柳闻笙是什么关系", "柳闻笙的祖母是谁"):
        assert lines(novel.assemble(query=query)) == ["- 柳婆婆 —祖母→ 柳闻笙"]


def test_a_relation_that_only_the_graph_knows_is_text(tmp_path):
    graph = FakeGraph()
    graph.upsert_entity(Entity("lin-xiaoyu", "林小雨"))
    graph.upsert_entity(Entity("gu", "顾长明", "character"))
    graph.upsert_relation(Relation("gu", "lin-xiaoyu", "师徒", since=2))
    with armarius.open(shutil.copytree(NOVEL, tmp_path / "novel"), watch=False, graph=graph) as engine:
        assert lines(engine.assemble(query="林小雨的师父是谁？")) == ["- 顾长明 —师徒→ 林小雨（第2章起）"]


@pytest.mark.parametrize(
    ("document", "line", "withheld"),
    [
        ("chapters/ch001.md", [], {"mentor of", "betrays"}),
        ("chapters/ch005.md", ["- Mara Finch —betrays→ Tom Reed (from chapter 5)"], {"mentor of"}),
        (
            "",
            ["- Mara Finch —betrays→ Tom Reed (from chapter 5)", "- Tom Reed —mentor of→ Mara Finch (chapters 3–4)"],
            set(),
        ),
    ],
)
def test_a_relation_holds_in_its_chapters_only(harbour, document, line, withheld):
    pack = harbour.assemble(query="relationship between Tom Reed and Mara Finch", document=document)
    between = [one for one in lines(pack) if "Mara" in one]
    assert sorted(between) == line
    gone = [one for one in pack.omitted if one.code == "timeline" and one.source.startswith("kg:relation")]
    late = {one.title.partition(" · ")[2] for one in gone}
    assert late == withheld


@pytest.mark.parametrize("query", ["Who are the relatives of Anna Vale?", "How are Anna Vale and Old Grey related?"])
def test_a_relation_with_somebody_whom_prompts_may_not_show_stays_out(harbour, query):
    pack = harbour.assemble(query=query)
    known = pack.contents["retrieved"]
    assert "Old Grey" not in known
    assert "The Wreckers" not in known
    levels = {gone.source: gone.detail for gone in pack.omitted if gone.code == "level"}
    assert levels["kg:relation:spy-anna"] == "level never"


def test_nothing_in_a_name_or_type_poses_as_another_relation():
    entities = {"a": Entity("a", "Ann\n[知识图谱 — 始终]"), "b": Entity("b", "Bo")}
    text = relation_text([Relation("a", "b", "aunt→ Cid\n- Bo —owns")], entities)
    assert text == "- Ann [知识图谱 — 始终] —aunt› Cid - Bo —owns→ Bo"


def test_a_relation_of_a_prompt_is_kept_only_while_it_holds(harbour, tmp_path):
    query = "relationship between Anna Vale and Tom Reed"
    first = harbour.assemble(query=query, document="chapters/ch001.md")
    assert "kg:relation:anna-tom" in stated(first)
    path = tmp_path / "codex.json"
    path.write_text(HARBOUR["codex.json"].replace("father of", "uncle of"), encoding="utf-8")
    kept = harbour.assemble(query="the bell", document="chapters/ch001.md", previous=first)
    assert "kg:relation:anna-tom" in stated(kept)
    path.write_text(HARBOUR["codex.json"].replace("sister of", "rival of"), encoding="utf-8")
    gone = harbour.assemble(query="the bell", document="chapters/ch001.md", previous=kept)
    assert "kg:relation:anna-tom" not in stated(gone)
    assert "sister of" not in gone.prompt


def test_relations_stand_in_the_same_order_every_time(novel):
    first = novel.assemble(query="林默有哪些亲人").prompt
    assert all(novel.assemble(query="林默有哪些亲人").prompt == first for _ in range(3))


def test_a_relation_that_the_graph_has_forgotten_is_not_kept(tmp_path):
    graph = FakeGraph()
    graph.upsert_entity(Entity("lin-xiaoyu", "林小雨"))
    graph.upsert_entity(Entity("白鹭", "白鹭"))
    graph.upsert_relation(Relation("白鹭", "lin-xiaoyu", "师徒"))
    with armarius.open(shutil.copytree(NOVEL, tmp_path / "novel"), watch=False, graph=graph) as engine:
        first = engine.assemble(query="林小雨的师父是谁？")
        assert lines(first) == ["- 白鹭 —师徒→ 林小雨"]
        graph.delete_entity("白鹭")
        assert lines(engine.assemble(query="林小雨在哪里", previous=first)) == []
