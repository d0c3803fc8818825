"""The namespaces: the root and its packages, whose names are loaded when they are asked for."""

import builtins
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
import types
import typing
from pathlib import Path

import pytest
from scripts.write_reference import homes

import armarius
from armarius import errors

NOVEL = Path(__file__).parents[1] / "examples" / "novel"
SLOW = {"numpy", "apsw", "pydantic", "rich", "watchdog", "platformdirs", "usearch", "sqlite_vec", "asyncio", "sqlite3"}


def run(*words, **environment):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_by(*argv, **environment):
    """Modules that a command of the command line loads beyond those of a bare interpreter."""
    code = (
        "import sys; before = set(sys.modules); from armarius.cli import main; import io, contextlib\n"
        f"with contextlib.redirect_stdout(io.StringIO()): status = main({list(argv)!r})\n"
        "print(*sorted(set(sys.modules) - before)); sys.exit(status)"
    )
    return run("-c", code, **environment).split()


def rooms():
    """Every module that can be imported here."""
    for found in pkgutil.walk_packages(armarius.__path__, "armarius."):
        if found.name not in ("armarius.__main__", "armarius._core") and not found.name.startswith(
            ("armarius.mcp", "armarius.frameworks")
        ):
            yield importlib.import_module(found.name)


def own(module):
    """The public classes that a module defines."""
    for name, value in vars(module).items():
        if not name.startswith("_") and isinstance(value, type) and value.__module__ == module.__name__:
            yield value


def test_version_is_the_version_of_the_native_core():
    assert armarius.__version__.count(".") == 2


def test_importing_the_package_loads_next_to_nothing():
    loaded = run("-c", "import sys; b = set(sys.modules); import armarius; print(*(set(sys.modules) - b))").split()
    assert set(loaded) <= {"armarius", "armarius._core", "armarius.doors"}


def test_a_name_loads_its_own_room_and_no_other():
    loaded = run("-c", "import sys, armarius; armarius.Evidence; armarius.StoreBusy; print(*sys.modules)").split()
    assert not SLOW.intersection(loaded)
    assert not [name for name in loaded if name.startswith(("armarius.engine", "armarius.index", "armarius.store"))]


def test_the_version_is_told_without_loading_any_command():
    loaded = loaded_by("--version")
    assert not SLOW.intersection(loaded)
    assert [name for name in loaded if name.startswith("armarius.")] == [
        "armarius._core",
        "armarius.cli",
        "armarius.cli.entry",
        "armarius.doors",
        "armarius.errors",
        "armarius.warnings",
    ]


def test_the_channel_builds_no_model_of_a_request_before_it_is_sent():
    code = (
        "import armarius.channel; from armarius.verbs import params; "
        "print(sum(getattr(one, '__pydantic_complete__', False) for one in vars(params).values()))"
    )
    assert run("-c", code).strip() == "0"


def test_the_program_collects_garbage_seldom_and_a_host_as_it_did():
    code = "import gc, sys; from armarius.__main__ import run; sys.argv = ['armarius', '--version']; "
    told = run("-c", code + "import atexit; atexit.register(lambda: print(gc.get_threshold()[0])); run()")
    assert int(told.split()[-1]) == 20_000
    code = "import gc; before = gc.get_threshold(); import armarius; armarius.open; print(before == gc.get_threshold())"
    assert run("-c", code) == "True\n"


def test_all_is_what_is_there_and_everything_in_it_can_be_had():
    assert len(armarius.__all__) == len(set(armarius.__all__)) <= 75
    assert dir(armarius) == sorted(armarius.__all__)
    for name in armarius.__all__:
        assert getattr(armarius, name) is not None
    for name, home in homes().items():
        assert getattr(importlib.import_module(f"armarius.{home}"), name) is not None


def test_a_star_import_brings_everything_and_open_among_it():
    namespace = {}
    exec("from armarius import *", namespace)
    assert set(armarius.__all__) <= namespace.keys()
    assert namespace["open"] is armarius.open is not builtins.open


def test_a_room_is_an_attribute_and_what_is_neither_is_an_attribute_error():
    code = "import armarius; print(armarius.embedders.lexical().fingerprint.name, armarius.testing.FakeGraph.__name__)"
    assert "FakeGraph" in run("-c", code)
    with pytest.raises(AttributeError, match="module 'armarius' has no attribute 'retriever'"):
        armarius.retriever  # noqa: B018
    assert not hasattr(armarius, "_nothing")


def test_every_exception_is_public():
    kinds = {kind for module in rooms() for kind in own(module) if issubclass(kind, armarius.ArmariusError)}
    assert len(kinds) > 20
    assert {kind.__name__ for kind in kinds} == set(errors.__all__) - {"ContextWarning", "SourceReason", "message_of"}


# What parts of the package ask of each other and give to each other, not a host.
INTERNAL = {
    *(
        "Shown",
        "CardPassage",
        "Lagging",
        "Names",
        "PassageStream",
        "RequestState",
        "Snapshot",
    ),
    *("SummarySource", "Unread"),
}
GIVEN_INSIDE = {"BookSearch", "Features", "VectorHits", "Passage", "Previous", "Snapshot"}


def test_every_protocol_that_a_host_may_implement_is_public():
    protocols = {kind.__name__ for module in rooms() for kind in own(module) if getattr(kind, "_is_protocol", False)}
    assert {"Fetcher", "Confirming", "Embedder", "GraphStore", "Store", "Counter"} <= protocols
    assert protocols - INTERNAL - set(homes()) == set()


def types_in(hint):
    if isinstance(hint, type) and not isinstance(hint, types.GenericAlias):
        yield hint
    for part in typing.get_args(hint):
        if isinstance(part, list):
            for one in part:
                yield from types_in(one)
        else:
            yield from types_in(part)


def verbs():
    for kind in (armarius.ContextEngine, armarius.Pack, armarius.ProjectIndex, armarius.vectors.ProjectRecall):
        for name, verb in inspect.getmembers(kind):
            if not name.startswith("_"):
                yield kind, name, verb.fget if isinstance(verb, property) else verb
    for name in ("open", "scan", "truncate"):
        yield armarius, name, getattr(armarius, name)
    yield armarius.codex, "short_names", armarius.codex.short_names


def test_every_type_that_a_verb_takes_or_gives_is_public():
    missing, names = (
        set(),
        {name: getattr(importlib.import_module(f"armarius.{home}"), name) for name, home in homes().items()},
    )
    for _, _, verb in verbs():
        verb = inspect.unwrap(verb)
        if not isinstance(verb, types.FunctionType):
            continue
        scope = vars(importlib.import_module(verb.__module__)) | names
        for hint in typing.get_type_hints(verb, scope).values():
            missing |= {
                kind.__name__
                for kind in types_in(hint)
                if kind.__module__.startswith("armarius")
                and kind.__name__ not in names
                and kind.__name__ not in errors.__all__
            }
    assert missing - GIVEN_INSIDE == set()


@pytest.mark.parametrize("verb", [verb for _, name, verb in verbs() if inspect.isfunction(verb)], ids=repr)
def test_every_verb_shows_its_keywords_and_says_what_it_does(verb):
    parameters = inspect.signature(verb).parameters.values()
    assert inspect.getdoc(verb)
    assert not [
        one for one in parameters if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL) and one.name != "documents"
    ]
    for one in parameters:
        assert one.annotation is not one.empty or one.name == "self", one


def test_every_exception_that_the_core_raises_is_where_the_core_looks_for_it():
    sources = "".join(path.read_text("utf-8") for path in (NOVEL.parents[1] / "rust" / "py").glob("*.rs"))
    named = re.findall(r"import_exception!\(([\w.]+), (\w+)\)", sources)
    assert len(named) > 5
    assert [one for one in named if not hasattr(importlib.import_module(one[0]), one[1])] == []
