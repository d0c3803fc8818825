"""The tree of exceptions that is drawn is the one in the code; what nobody knows is answered with near ones."""

import importlib
import inspect
import pickle
import pkgutil
import re
from pathlib import Path

import pytest

import armarius
from armarius import errors
from armarius.cli import main
from armarius.errors import (
    ArmariusError,
    ContractError,
    CounterError,
    EmbeddingError,
    ScopeViolation,
    UnknownDocument,
    UnknownId,
)
from armarius.text.tokens import TokenCounter
from armarius.validation import near, near_paths

DRAWN = re.compile(r"^    (?P<indent>[│ ]*)(?:[├└]── )?(?P<name>[A-Z]\w+)(?: \((?P<beside>\w+)\))?(?P<rest>.*)$")


def drawn():
    """Name to (base, builtin base, code at the end of the line), as the docstring draws them."""
    tree, above = {}, []
    for line in errors.__doc__.splitlines():
        if not (found := DRAWN.match(line)):
            continue
        depth = 0 if found["name"] == "ArmariusError" else 1 + len(found["indent"]) // 4
        above[depth:] = [found["name"]]
        code = re.search(r"\b([A-Z]+(?:_[A-Z]+)+)$", found["rest"])
        tree[found["name"]] = (above[depth - 1] if depth else "Exception", found["beside"], code and code[1])
    return tree


def coded():
    """The same of the classes."""
    tree = {}
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, ArmariusError):
            base, *beside = [one.__name__ for one in kind.__bases__]
            assert len(beside) < 2
            tree[name] = (base, beside[0] if beside else None, kind.code if kind.says_code else None)
    return tree


def test_tree_that_is_drawn_is_the_one_in_the_code():
    assert drawn() == coded()


def test_every_exception_of_the_package_stands_in_the_tree():
    for module in pkgutil.walk_packages(armarius.__path__, "armarius."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)

    def below(kind):
        return {kind, *(each for sub in kind.__subclasses__() for each in below(sub))}

    ours = {
        kind.__name__
        for kind in below(ArmariusError)
        if kind.__module__.startswith("armarius") and kind.__name__[0] != "_"
    }
    assert ours == set(drawn())
    assert ours | {"ContextWarning", "SourceReason", "message_of"} == set(errors.__all__)


@pytest.mark.parametrize("kind", [ScopeViolation, EmbeddingError, errors.BudgetConflict, errors.Backpressure])
def test_an_error_with_a_fixed_code_says_it_once(kind):
    error = kind("no")
    assert (str(error), error.message) == (f"{kind.code}: no", "no")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (kind, str(error))


def test_a_key_error_of_ours_reads_as_a_sentence():
    for kind in (UnknownId, UnknownDocument):
        error = kind("no such thing; near it: a", ["a"])
        assert isinstance(error, KeyError)
        assert isinstance(error, ContractError)
        assert (str(error), error.near) == ("no such thing; near it: a", ("a",))
        assert pickle.loads(pickle.dumps(error)).near == ("a",)


@pytest.mark.parametrize(
    ("wanted", "names", "expected"),
    [
        ("E1", ["e2", "e1"], ("e1",)),
        ("zzz", ["abc", "def"], ()),
        ("lin", ["lin-xiaoyu", "bai", "lin-mo"], ("lin-mo", "lin-xiaoyu")),
        ("小雨", ["林小雨", "白鹭"], ("林小雨",)),
        ("  ", ["a"], ()),
        ("memroy", ["memory", "rules"], ("memory",)),
        ("a", ["a1", "a2", "a3", "a4"], ("a1", "a2", "a3")),
        ("ch03", [f"ch{number:03}" for number in range(1, 100)], ("ch003", "ch030", "ch031")),
        ("第12章", ["第21章", "第13章", "第11章", "第012章"], ("第012章", "第13章", "第11章")),
        ("ch" + "1" * 5000, ["ch001"], ()),
    ],
)
def test_near_names_are_those_that_a_person_would_have_meant(wanted, names, expected):
    assert near(wanted, names) == expected


def test_errors_take_near_names_from_one_function():
    package = Path(armarius.__file__).parent
    own = {path.name for path in package.rglob("*.py") if "get_close_matches" in path.read_text("utf-8")}
    assert own == {"authored.py"}  # whether a type is a slip of the pen


@pytest.mark.parametrize("wanted", ["ch018", "ch018.md", "CH018", "chapter/ch018.md", "chapters\\ch018.md", "ch0018"])
def test_near_paths_are_found_by_the_name_of_their_file(wanted):
    paths = [f"chapters/ch{number:03}.md" for number in range(1, 30)]
    assert near_paths(wanted, paths)[0] == "chapters/ch018.md"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "chapters").mkdir()
    for number in range(1, 4):
        (tmp_path / "chapters" / f"ch{number:03}.md").write_text(f"# 第{number}章\n\n钟停了。\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def engine(folder):
    with armarius.open(folder, watch=False) as engine:
        yield engine


@pytest.mark.parametrize("records", ["constraints", "memories"])
def test_an_unknown_record_is_answered_with_near_ids(engine, records):
    collection = getattr(engine, records)
    collection.create("钟不走", id="c-clock")
    for act in (collection.get, collection.delete, lambda id_: collection.update(id_, text="x")):
        with pytest.raises(UnknownId, match=r"has the id 'c-clok'; near it: c-clock") as caught:
            act("c-clok")
        assert caught.value.near == ("c-clock",)
        with pytest.raises(KeyError):
            act("zzz")


def test_an_unknown_entity_is_answered_with_near_ids(engine):
    engine.codex.create("林小雨", id="lin-xiaoyu")
    for act in (engine.codex.get, engine.codex.delete, lambda id_: engine.codex.update(id_, type="character")):
        with pytest.raises(UnknownId) as caught:
            act("lin-xiayu")
        assert caught.value.near == ("lin-xiaoyu",)
    with pytest.raises(UnknownId, match="no authored relation 'a' -b-> 'c'"):
        engine.codex.unrelate("a", "c", "b")
    with pytest.raises(UnknownId, match="no entity is called '林晓雨'; near it: 林小雨"):
        engine.evidence("林晓雨")


def test_what_was_not_considered_is_answered_with_what_was(engine):
    engine.constraints.create("钟不走", id="c-clock")
    pack = engine.assemble(query="钟")
    with pytest.raises(UnknownId) as caught:
        pack.why("c_clock")
    assert any("c-clock" in name for name in caught.value.near)
    with pytest.raises(KeyError, match="nothing with the id or source 'c_nobody' was considered"):
        pack.why("c_nobody")


def test_a_document_that_is_not_there_is_answered_with_near_paths(folder, capsys):
    assert main(["assemble", str(folder), "--query", "x", "--document", "ch002"]) == 2
    assert capsys.readouterr().err.rstrip().endswith("; near it: chapters/ch002.md")


@pytest.mark.parametrize("wanted", ["正文/第二章.md", "第二章", "Chapter Two.txt", "ep2"])
def test_a_chapter_that_is_called_otherwise_here_is_near(folder, wanted):
    with armarius.open(folder, watch=False) as engine, pytest.raises(UnknownDocument) as caught:
        engine.assemble("x", document=wanted)
    assert caught.value.near[0] == "chapters/ch002.md"


def test_a_name_given_to_the_counters_constructor_is_answered_with_the_right_one():
    with pytest.raises(CounterError, match=r"use TokenCounter\.for_model\('gpt-4o'\)"):
        TokenCounter("gpt-4o")
    with pytest.raises(CounterError, match="near it: o200k_base") as caught:
        TokenCounter("o200k")
    assert caught.value.near == ("o200k_base",)
    with pytest.raises(CounterError, match=r"near it: gpt-4$"):
        TokenCounter("gpt4")
    with pytest.raises(CounterError, match="takes no int"):
        TokenCounter(7)
    with pytest.raises(CounterError, match="near it: o200k_base") as caught:
        TokenCounter.for_encoding("o200")
    assert caught.value.near == ("o200k_base",)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt4", ("gpt-4",)),
        ("gtp-4o", ("gpt-4o",)),
        ("azure/gpt4", ("azure/gpt-4",)),
        ("cluade-opus-4", ("claude-opus-4",)),
        ("my-own-model", ()),
        ("", ()),
    ],
)
def test_models_near_a_misspelt_one_are_known_ones(model, expected):
    assert TokenCounter.near(model) == expected
    assert all(TokenCounter.knows(name) for name in expected)


def test_a_model_nobody_knows_is_an_estimate_with_a_warning_that_names_near_ones(engine):
    pack = engine.assemble(query="钟", model="gpt4")
    assert pack.counter == "estimate"
    assert pack.warnings == ("MODEL_UNKNOWN: no model 'gpt4' is known; near it: gpt-4; counted by estimate",)
    assert engine.assemble(query="钟", model="gpt-4o").warnings == ()


def test_an_extra_that_is_too_old_is_named_with_both_versions(tmp_path, monkeypatch):
    (tmp_path / "mcp-1.30.0.dist-info").mkdir()
    (tmp_path / "mcp-1.30.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: mcp\nVersion: 1.30.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    old = re.escape("pip install 'armarius[mcp]'; mcp 1.30.0 is installed and 2.3 or later is needed")
    assert re.search(old, str(errors.MissingExtra("armarius.mcp", "mcp")))
    assert str(errors.MissingExtra("asking CKB", "code")).endswith("pip install 'armarius[code]'")
