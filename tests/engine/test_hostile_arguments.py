"""Whatever is handed to a verb, it answers or says in brief, in printable words, which argument is wrong."""

import os
from pathlib import Path

import pytest

import armarius
from armarius.errors import ArmariusError, ContractError, ProjectError

NESTED: list[object] = []
for _ in range(50_000):
    NESTED = [NESTED]
VALUES = {
    "a number of 5,000 digits": 10**5000,
    "a text of 5,000 characters": "x" * 5000,
    "a lone surrogate": "\ud800",
    "lists without end": NESTED,
    "a list of them": [NESTED],
    "nothing": None,
    "true": True,
    "a number": 5,
    "not a number": float("nan"),
    "bytes": b"x",
    "a name for a surrogate": {"\ud800": {}},
    "a list of numbers": [1, 2, 3],
    "a large range": range(10**12),
    "an object": object(),
}
CALLS = {
    "assemble.kinds": lambda engine, value: engine.assemble("白鹭", budget=4000, kinds=value),
    "assemble.layers": lambda engine, value: engine.assemble("白鹭", budget=4000, layers=value),
    "search.kinds": lambda engine, value: engine.search("白鹭", kinds=value),
    "locate.quote": lambda engine, value: engine.locate(value),
    "locate.document": lambda engine, value: engine.locate("白鹭", document=value),
    "locate.text": lambda engine, value: engine.locate("白鹭", text=value),
    "evidence.attribute": lambda engine, value: engine.evidence("白鹭", attribute=value),
    "entity": lambda engine, value: engine.entity(value),
    "subgraph": lambda engine, value: engine.subgraph(value),
    "active.story": lambda engine, value: engine.active(text="白鹭", story=value),
    "active.books": lambda engine, value: engine.active(text="白鹭", books=value),
    "active.settings": lambda engine, value: engine.active(text="白鹭", settings=value),
    "active.turn": lambda engine, value: engine.active(text="白鹭", turn=value),
    "active.tags": lambda engine, value: engine.active(text="白鹭", tags=value),
    "active.sources": lambda engine, value: engine.active(text="白鹭", sources=value),
    "active.messages": lambda engine, value: engine.active(messages=value),
    "active.rolls": lambda engine, value: engine.active(text="白鹭", rolls=value),
    "graph.neighbors": lambda engine, value: engine.graph.neighbors(value),
    "graph.subgraph": lambda engine, value: engine.graph.subgraph(value),
    "graph.upsert_entity": lambda engine, value: engine.graph.upsert_entity(value),
    "graph.upsert_relation": lambda engine, value: engine.graph.upsert_relation(value),
    "index.search": lambda engine, value: engine.index.search(value),
    "index.search.kinds": lambda engine, value: engine.index.search("白鹭", kinds=value),
    "index.search.chapters": lambda engine, value: engine.index.search("白鹭", chapters=value),
    "index.search.match": lambda engine, value: engine.index.search("白鹭", match=value),
    "books": lambda engine, value: engine.books[value] if isinstance(value, str) else engine.active(books=[value]),
    "importing.source": lambda engine, value: engine.importing.preview(value),
    "open": lambda _, value: armarius.open(value).close(),
    "open.index_dir": lambda engine, value: value is not None and armarius.open(engine.root, index_dir=value).close(),
    "Reranking": lambda _, value: armarius.search.Reranking(len, timeout_s=value),
    "Reworder": lambda _, value: armarius.Reworder(len, n=value, remembered=value),
    "ImmediateFetcher": lambda _, value: armarius.prompt.ImmediateFetcher(before=value),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    root = tmp_path_factory.mktemp("hostile") / "novel"
    root.mkdir()
    (root / "a.md").write_text("# 第一章\n\n白鹭来了。\n", encoding="utf-8")
    (root / "codex.json").write_text('{"entities": [{"id": "bai", "name": "白鹭"}]}', encoding="utf-8")
    with armarius.open(root, watch=False) as engine:
        yield engine


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_wrong_argument_is_an_answer_or_an_error_of_ours_in_few_printable_words(engine, call):
    for named, value in VALUES.items():
        try:
            call(engine, value)
        except ArmariusError as error:
            said = str(error)
            said.encode()
            assert 0 < len(said) < 2500, named


@pytest.mark.parametrize(
    "call",
    [
        lambda engine: engine.graph.subgraph("bai"),
        lambda engine: engine.graph.subgraph([5]),
        lambda engine: engine.graph.neighbors(None),
        lambda engine: engine.index.search("白鹭", kinds=["nonsense"]),
        lambda engine: engine.index.search("白鹭", chapters=("a", "b")),
        lambda engine: engine.index.search("白鹭", match="nonsense"),
        lambda engine: engine.active(text="白鹭", tags="abc"),
    ],
)
def test_nothing_found_is_not_the_answer_to_a_wrong_question(engine, call):
    with pytest.raises(ContractError):
        call(engine)


@pytest.mark.skipif(os.name == "nt", reason="a working directory in use cannot be deleted there")
def test_a_working_directory_that_has_gone_is_a_project_error(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for call in (armarius.open, armarius.shelf, armarius.codex.load_codex):
        with pytest.raises(ProjectError):
            call(".")


@pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
def test_a_project_whose_folder_has_no_name_in_unicode_opens(tmp_path):
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/novel\xff"))
    try:
        root.mkdir()
    except OSError:
        pytest.skip("the file system takes no such name")
    (root / "a.md").write_text("# 第一章\n\n白鹭来了。\n", encoding="utf-8")
    with armarius.open(root, watch=False) as engine:
        assert len(engine.search("白鹭")) == 1
        assert engine.assemble("白鹭", budget=4000).warnings == ()
        engine.project_id.encode()
