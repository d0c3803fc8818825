"""Each row of the table of warnings is brought about by a real situation, and no code stands anywhere else."""

import ast
import json
import shutil
import threading
from pathlib import Path

import pytest
from tests.code.support import EXAMPLE, EXAMPLE_INDEX
from tests.prompt.support import assemble, candidate

import armarius
from armarius import errors
from armarius import warnings as warnings_table
from armarius.code import CodeIndex, CodeOptions
from armarius.codex.model import Codex, Entity, Relation
from armarius.index import project_index
from armarius.index.project_index import ProjectIndex
from armarius.lorebooks.fetcher import LoreFetcher
from armarius.prompt.assembler import Assembler
from armarius.prompt.fetchers.detected import RetrievedFetcher
from armarius.prompt.fetchers.entities import CodexSource
from armarius.prompt.fetchers.layers import RulesFetcher, SettingsFetcher
from armarius.prompt.fetchers.passages import PassageFetcher
from armarius.search.retrieve import retrieve
from armarius.search.scope import ProjectCorpus
from armarius.store.sqlite.location import IndexPlace
from armarius.store.sqlite.store import SqliteStore
from armarius.testing import FakeAuthored, FakeFetcher, FakeGraph, FakeSource, FixedCounter
from armarius.types import LAYERS, FetchRequest
from armarius.warnings import CODES, TABLE, WarningRow

PACKAGE = Path(armarius.__file__).parent
ROWS = {name: row for name, row in vars(warnings_table).items() if isinstance(row, WarningRow)}
ASKED = FetchRequest(project_id="p", query="小雨在哪里？")


class Broken:
    """A source whose every list fails, and a matcher that cannot be made."""

    def __getattr__(self, name):
        def fail(*_):
            raise OSError("the disk is gone")

        return fail


def put(folder, path, text):
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())


def novel(folder):
    put(folder, "chapters/ch001.md", "# 第一章\n\n小雨推开门，“钟停在十二点”，她说。\n")
    put(folder, "codex.json", json.dumps({"entities": [{"id": "e1", "name": "小雨", "type": "character"}]}))


def told(folder, *, query="小雨在哪里？", **options):
    request = {key: options.pop(key) for key in ("model", "document", "cursor") if key in options}
    with armarius.open(folder, watch=False, **options) as engine:
        return engine.assemble(query=query, **request).warnings


def building(folder):
    started, go_on = threading.Event(), threading.Event()
    with ProjectIndex.open(folder, wait=False, progress=lambda _: (started.set(), go_on.wait(60))) as index:
        assert started.wait(60)
        said = index.freshen()
        go_on.set()
        assert index.wait(60)
    return said


def uncompared(folder):
    goes_on = threading.Event()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(project_index, "is_local", lambda _: False)
        with ProjectIndex.open(folder) as index:
            patch.setattr(type(index.source), "stamp", lambda _: str(goes_on.wait(60)))
            said = index.freshen()
            goes_on.set()
        return said


def not_followed(folder):
    def exhausted(*_):
        raise OSError(24, "inotify instance limit reached")

    novel(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("watchdog.observers.Observer", exhausted)
        with armarius.open(folder) as engine:
            return engine.status().warnings


def cancelled(folder):
    for number in range(100):
        put(folder, f"notes/{number:03}.md", f"第{number}条")
    started, go_on = threading.Event(), threading.Event()
    with ProjectIndex.open(folder, wait=False, progress=lambda _: (started.set(), go_on.wait(60))) as index:
        assert started.wait(60)
        index.cancel()
        go_on.set()
        assert index.wait(60)
        return index.freshen()


def index_failed(folder):
    def stop(_):
        raise ZeroDivisionError("the host's own progress bar")

    with ProjectIndex.open(folder) as index:
        put(folder, "chapters/ch002.md", "# 第二章")
        with pytest.raises(ZeroDivisionError):
            index.refresh(progress=stop)
        return index.status().warnings


def away(folder, monkeypatch):
    def gone(_):
        raise armarius.StoreUnavailable("the server has been away for 3.0 s", seconds=3.0)

    with armarius.open(folder, watch=False) as engine:
        engine.assemble("小雨在哪里？")
        monkeypatch.setattr(type(engine.index.store), "generation", gone)
        said = engine.assemble("小雨在哪里？").warnings
        monkeypatch.undo()
        return said


def config_kept(folder):
    with ProjectIndex.open(folder) as index:
        put(folder, "armarius.toml", "[kinds\n")
        index.refresh()
        return index.freshen()


def snapshot_ignored(folder):
    with armarius.open(None, snapshot=b"no snapshot") as engine:
        return engine.status().warnings


def setting_ignored(folder):
    put(folder, "armarius.toml", '[documents]\nindex_dir = "idx"\n')
    return told(folder)


def skipped(folder):
    put(folder, "notes/picture.md", b"\x00\x01\x02" * 100)
    return told(folder, query="小雨在 picture.md 里吗？")


def empty(folder):
    shutil.rmtree(folder / "chapters")
    (folder / "codex.json").unlink()
    return told(folder)


def gone(folder):
    with armarius.open(folder, watch=False) as engine:
        shutil.rmtree(folder)
        return engine.assemble(query="小雨").warnings


def empty_source(folder):
    def opened():
        return SqliteStore.open_repaired(IndexPlace(folder / "index"), project_id="p")

    index = ProjectIndex.over(FakeSource(), FakeAuthored(), opened, project_id="p")
    with armarius.ContextEngine(index) as engine:
        return engine.assemble("谁").warnings


def codex_invalid(folder):
    put(folder, "codex.json", json.dumps({"entities": [], "relations": [{"source": "甲", "target": "乙"}]}))
    return told(folder)


def profile_invalid(folder):
    put(folder, ".armarius/budget.json", '{"x"')
    return told(folder)


def broken_book(folder):
    with armarius.open(folder, watch=False) as engine:
        engine.importing.add(b'{"entries": {"0": {"uid": 0, "key": ["a"], "content": "b"}}}', name="lore.json")
        put(folder, ".armarius/books/lore/book.json", "{")
        return engine.assemble("a").warnings


def failing_fetcher(layer):
    return lambda _: assemble([FakeFetcher(layer=layer, error=OSError("gone"))]).warnings


def scan_failed(folder):
    with armarius.open(folder, watch=False) as engine:
        view = engine._parts.project.view()
        shutil.rmtree(folder)
        return retrieve(view.corpus, "“独角兽走过”在哪里？", sources=view.sources).warnings


def not_ready(_):
    return PassageFetcher(ProjectCorpus({}, Codex(), ready=False)).fetch(ASKED).warnings


def name_unusable(folder):
    graph = FakeGraph()
    graph.upsert_entity(Entity("ghost", "\u200b"))
    return told(folder, graph=graph)


def truncated_graph(folder):
    graph = FakeGraph()
    graph.upsert_entity(Entity("e1", "小雨"))
    for number in range(9):
        graph.upsert_entity(Entity(f"p{number}", f"路人{number}"))
        graph.upsert_relation(Relation(f"p{number}", "e1", "师徒"))
    put(folder, "armarius.toml", "[graph]\nmax_entities = 4\n")
    return told(folder, query="小雨的师父是谁？", graph=graph)


def no_model(folder):
    put(folder, "armarius.toml", '[embedding]\nmodel = "models/nowhere"\n')
    return told(folder)


def broken_reranker(folder):
    put(folder, "chapters/ch002.md", "# 第二章\n\n小雨在哪里？没有人知道小雨在哪里。\n\n小雨在钟楼里。\n")
    return told(folder, rerank=lambda _, texts: texts[:1])


def code_project(folder):
    shutil.copytree(EXAMPLE, folder / "code", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "code"


def indexed(folder, **options):
    root = code_project(folder)
    shutil.copy(EXAMPLE_INDEX, root / "index.scip")
    return root, CodeIndex(root, cache_dir=folder / "cache", options=CodeOptions(**options))


def code_stale(folder):
    root, index = indexed(folder)
    assert index.subgraph("clean").warnings == ()
    lights = root / "lantern" / "lights.py"
    lights.write_text(lights.read_text() + "\n\ndef snuff() -> None:\n    pass\n")
    return index.subgraph("clean").warnings


def no_code_index(folder, monkeypatch):
    for name in ("PATH", "CKB_BIN", "SCIP_PYTHON_BIN", "SCIP_TYPESCRIPT_BIN", "ARMARIUS_TOOLS"):
        monkeypatch.setenv(name, str(folder / "no-programs"))
    return CodeIndex(code_project(folder), cache_dir=folder / "cache").subgraph("clean").warnings


def code_depth(folder):
    return indexed(folder, max_depth=1)[1].subgraph("burning_time", direction="callers").warnings


def counter_failed(_):
    assembler = Assembler(fallback=FixedCounter("word", name="estimate"))
    counter = FixedCounter(error=OSError("no vocabulary"))
    return assemble([FakeFetcher([candidate("a")])], assembler=assembler, counter=counter).warnings


def counter_missing(folder):
    def none(model, version):
        raise errors.CounterError("no vocabulary")

    with armarius.engine.ContextEngine(folder, watch=False, counters=none) as engine:
        return engine.assemble(query="小雨").warnings


def pin_unknown(folder):
    with armarius.open(folder, watch=False) as engine:
        gone = folder / "chapters" / "gone.md"
        gone.write_text("旧稿。", encoding="utf-8")
        engine.pins.add("chapters/gone.md")
        gone.unlink()
        return engine.assemble("小雨").warnings


FULL = [candidate(f"c{number:03}", size=20, score=number, pinned=True) for number in range(100)]


def series_unavailable(folder):
    with armarius.open(folder, with_=[folder.parent / "book0"], watch=False) as engine:
        return engine.assemble(query="铜钥匙").warnings


SITUATIONS = {
    "INDEX_BUILDING": building,
    "INDEX_AWAY": away,
    "INDEX_CANCELLED": cancelled,
    "INDEX_FAILED": index_failed,
    "INDEX_UNCOMPARED": uncompared,
    "WATCH_UNAVAILABLE": not_followed,
    "SNAPSHOT_IGNORED": snapshot_ignored,
    "CONFIG_KEPT": config_kept,
    "SETTING_IGNORED": setting_ignored,
    "CODE_INDEX_STALE": code_stale,
    "DOCUMENT_SKIPPED": skipped,
    "PROJECT_EMPTY": empty,
    "PROJECT_GONE": gone,
    "SOURCE_EMPTY": empty_source,
    "CODEX_INVALID": codex_invalid,
    "PROFILE_INVALID": profile_invalid,
    "CHAPTER_UNKNOWN": lambda folder: told(folder, query="检查第99章的角色一致性"),
    "CHAPTER_UNWRITTEN": lambda folder: told(folder, query="写第99章"),
    "RULES_UNAVAILABLE": lambda _: RulesFetcher(constraints=Broken()).fetch(ASKED).warnings,
    "STYLE_UNAVAILABLE": lambda _: SettingsFetcher(style=Broken()).fetch(ASKED).warnings,
    "MEMORY_UNAVAILABLE": lambda _: SettingsFetcher(Broken()).fetch(ASKED).warnings,
    "SCAN_FAILED": scan_failed,
    "INDEX_NOT_READY": not_ready,
    "RULES_FAILED": failing_fetcher("rules"),
    "SETTINGS_FAILED": failing_fetcher("settings"),
    "RETRIEVED_FAILED": failing_fetcher("retrieved"),
    "IMMEDIATE_FAILED": failing_fetcher("immediate"),
    "LORE_FAILED": lambda _: LoreFetcher(Broken(), "retrieved").fetch(ASKED).warnings,
    "LORE_INVALID": broken_book,
    "ENTITY_MATCH_FAILED": lambda _: (
        RetrievedFetcher(CodexSource(Codex((Entity("e1", "小雨"),))), matcher=Broken().make).fetch(ASKED).warnings
    ),
    "NAME_UNUSABLE": name_unusable,
    "KG_UNAVAILABLE": lambda _: RulesFetcher(Broken()).fetch(ASKED).warnings,
    "KG_TRUNCATED": truncated_graph,
    "EMBEDDING_UNAVAILABLE": no_model,
    "REWORDING_UNAVAILABLE": lambda folder: told(folder, reword=Broken().model),
    "RERANK_UNAVAILABLE": broken_reranker,
    "CODE_GRAPH_UNAVAILABLE": no_code_index,
    "CODE_GRAPH_REASON": no_code_index,
    "CODE_DEPTH_LIMIT": code_depth,
    "CONTEXT_RULES_OVERBUDGET": lambda _: assemble([candidate("r", "rules", size=400)], budget=1000).warnings,
    "CONTEXT_CAPACITY_WARNING": lambda _: assemble(FULL, budget=1000).warnings,
    "CONTEXT_CAPACITY_FORCE_TRIM": lambda _: assemble(FULL, budget=1000).warnings,
    "CONTEXT_SHARE_TRIMMED": lambda _: (
        assemble([candidate("entity:a", content="## 角色：甲\n- 描述：" + "他走了一步。" * 300)], budget=1000).warnings
    ),
    "CONTEXT_QUERY_TRUNCATED": lambda _: (
        assemble(
            [candidate("w", "immediate", content="字" * 400, keep="around")], budget=600, query="问" * 900
        ).warnings
    ),
    "PIN_UNKNOWN": pin_unknown,
    "SERIES_UNAVAILABLE": series_unavailable,
    "CONTEXT_CURSOR_CLAMPED": lambda folder: told(folder, document="chapters/ch001.md", cursor=10**6),
    "CONTEXT_SCOPE_VIOLATION": lambda _: assemble([candidate("b", project_id="theirs")], project_id="mine").warnings,
    "COUNTER_MISSING": counter_missing,
    "COUNTER_FAILED": counter_failed,
    "MODEL_UNKNOWN": lambda folder: told(folder, model="gpt4"),
}


def test_every_row_has_its_situation():
    assert set(SITUATIONS) == set(ROWS)
    assert tuple(ROWS.values()) == TABLE
    assert all(row.when and row.text for row in TABLE)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_situation_brings_its_warning_about(name, tmp_path, monkeypatch):
    folder = tmp_path / "novel"
    novel(folder)
    made = []
    make = WarningRow.__call__

    def noted(row, **parts):
        warning = make(row, **parts)
        made.append((row, str(warning)))
        return warning

    monkeypatch.setattr(WarningRow, "__call__", noted)
    situation = SITUATIONS[name]
    needs_patching = situation.__code__.co_argcount == 2
    said = {str(warning) for warning in (situation(folder, monkeypatch) if needs_patching else situation(folder))}
    assert [text for row, text in made if row == ROWS[name] and text in said], (made, said)


def test_texts_that_callers_match_on_stand_verbatim():
    assert [
        str(warnings_table.KG_UNAVAILABLE()),
        str(warnings_table.ENTITY_MATCH_FAILED()),
        str(warnings_table.CODE_DEPTH_LIMIT(maximum=5)),
        str(warnings_table.CODE_GRAPH_UNAVAILABLE()),
    ] == [
        "KG_UNAVAILABLE: 知识图谱数据未注入",
        "ENTITY_MATCH_FAILED: 实体匹配异常",
        "深度已达最大值 5，结果可能不完整",
        "CKB 不可用，降级为文本搜索",
    ]


def test_every_layer_has_a_warning_for_a_fetcher_that_fails():
    for layer in LAYERS:
        (warning,) = assemble([FakeFetcher(layer=layer, error=OSError("gone"))]).warnings
        assert warning.partition(": ")[0] in CODES


def _strings(tree):
    """String constants of a module that are no docstrings."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node


def strays(source):
    tree = ast.parse(source)
    exported = {
        id(part)
        for node in tree.body
        if isinstance(node, ast.Assign) and [getattr(one, "id", "") for one in node.targets] == ["__all__"]
        for part in ast.walk(node.value)
    }
    codes = [
        f"line {node.lineno}: {node.value}"
        for node in _strings(tree)
        if id(node) not in exported and node.value.partition(":")[0] in CODES
    ]
    made = [
        f"line {node.lineno}: ContextWarning(…)"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ContextWarning"
    ]
    return codes + made


def test_no_code_is_written_and_no_warning_made_outside_of_the_table():
    found = {
        str(path.relative_to(PACKAGE)): stray
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name != "warnings.py" and (stray := strays(path.read_text(encoding="utf-8")))
    }
    assert found == {}
    assert len(strays('x = "KG_UNAVAILABLE: no"\ny = ContextWarning("A", "b")\n')) == 2
