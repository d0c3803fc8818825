"""A field of a request is written once: Python, MCP and the command line have it as the table of verbs says."""

import inspect
import re
from operator import attrgetter
from pathlib import Path

import pytest
from pydantic import ValidationError
from pydantic_core import PydanticUndefined

import armarius
from armarius.cli import build_parser
from armarius.errors import ContractError
from armarius.requests import AssembleRequest, InspectRequest, Whole, Wire, wire_name
from armarius.verbs import VERBS
from armarius.verbs.table import SHELF, WRITES

OF = {one.name: one for one in VERBS}
KEYWORDS = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_ONLY}
# What only Python can hand over, and what Python says by other means.
PYTHON_ALONE = {"previous", "layers", "reword", "timeout_s", "timeout", "model", "model_name", "comment"}
OTHERWISE = {
    "project:understand:parse": {"reply", "model", "hash"},
    "project:understand:apply": {"reply", "model", "hash", "without", "declared"},
    "context:prompt:why": {"thing"},
    "context:prompt:whatif": {"other_budget"},
    "context:prompt:diff": {"other"},
    "context:prompt:messages": {"form"},
    "books:import": {"preview"},
    "books:export": {"to"},
    "books:update": {"id", "profile", "switched_off", "entries", "book"},
    "documents:list": {"chapters", "kinds", "limit", "offset"},
    "documents:get": {"paragraphs", "lines"},
    "documents:retrieve": {"excerpts", "chapter"},
    "entities:update": {"unset"},
    "summaries:parse": {"documents", "reply"},
    "entities:relations": {"id"},
    "code:subgraph": {"include_tree"},
    "index:wait": {"timeout_ms"},
}
NAMED = {
    "documents:search": {"text": "query"},
    "documents:get": {"path": "document"},
    "entities:get": {"name": "id"},
    "books:get": {"key": "id"},
    "books:import": {"source": "data"},
    "books:export": {"key": "id"},
    "books:delete": {"key": "id"},
    "entities:card": {"name": "id"},
}
# Fields of a request that `armarius assemble` has no option for: of a host that keeps the engine open.
NOT_AT_A_TERMINAL = {"project_id", "tokenizer_version", "include_content", "task"}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with armarius.open("examples/novel", watch=False, index_dir=tmp_path_factory.mktemp("index")) as engine:
        yield engine


@pytest.mark.parametrize("verb", VERBS, ids=lambda one: one.name)
def test_a_verb_in_python_takes_the_fields_of_its_request_with_their_defaults(engine, verb):
    call = attrgetter(verb.python)(engine)
    parameters = inspect.signature(call).parameters.values()
    names = {"id_": "id", **NAMED.get(verb.name, {})}
    python = {names.get(one.name, one.name): one for one in parameters if one.kind in KEYWORDS and one.name != "self"}
    fields = dict(verb.params.model_fields)
    skipped = PYTHON_ALONE | OTHERWISE.get(verb.name, set())
    if verb.params not in (AssembleRequest, InspectRequest):
        skipped |= {"project_id", "position_encoding"}
    missing = {name for name in fields if name not in python and name not in skipped}
    assert not missing or any(one.kind is one.VAR_KEYWORD for one in parameters)
    assert {name for name in python if name not in fields} <= skipped
    for name in python.keys() & fields.keys() - skipped:
        default = fields[name].default
        assert python[name].default == (inspect.Parameter.empty if default is PydanticUndefined else default), name


def test_help_of_assemble_describes_every_field():
    text = " ".join(inspect.getdoc(armarius.ContextEngine.assemble).split())
    for name, field in AssembleRequest.model_fields.items():
        assert f"{name}: {field.description}" in text


@pytest.mark.parametrize("kind", [AssembleRequest, InspectRequest])
def test_every_field_of_a_request_is_described(kind):
    assert [name for name, field in kind.model_fields.items() if not field.description] == []


def commands():
    return next(iter(build_parser()._subparsers._group_actions)).choices


def options(command):
    """Field to the action that gives it."""
    return {action.field: action for action in commands()[command]._actions if hasattr(action, "field")}


@pytest.mark.parametrize("command", ["assemble", "inspect", "ask"])
def test_a_request_at_a_terminal_has_an_option_for_every_field(command):
    assert {name for _, name in options(command)} == AssembleRequest.model_fields.keys() - NOT_AT_A_TERMINAL


@pytest.mark.parametrize("command", [one.command for one in VERBS if one.command])
def test_options_that_are_fields_have_the_help_of_the_field_and_its_default(command):
    assert command in commands()
    for (name, field), action in options(command).items():
        info = OF[name].params.model_fields[field]
        assert action.help
        if action.option_strings and type(action.default) is int:
            assert action.default == info.default


class Sample(Wire):
    """A request of every kind of field."""

    number: Whole = 0
    several: tuple[int, ...] = ()
    word: str = ""


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"number": "x"}, "Sample.number must be a whole number, got 'x'"),
        ({"several": 3}, "Sample.several must be a list, got 3"),
        ({"word": 3}, "Sample.word must be a text, got 3"),
        ({"nummer": 3}, "Sample.nummer is unknown; near it: number"),
    ],
)
def test_a_fault_is_said_in_one_way(sent, said):
    with pytest.raises(ContractError) as caught:
        Sample.from_wire(sent)
    assert str(caught.value).startswith(said)
    assert not isinstance(caught.value, ValidationError)


def test_the_page_of_the_channel_names_every_method_and_every_field_of_a_prompt():
    page = (Path(__file__).parents[2] / "docs" / "channel.md").read_text("utf-8")
    for verb in (*VERBS, *WRITES, *SHELF):
        room, _, rest = verb.name.partition(":")
        rows = " ".join(line for line in page.splitlines() if f"`{room}:" in line)
        assert rest.rpartition(":")[2] in re.findall(r"\w+", rows), verb.name
    fields = page.partition("A request for a prompt has `")[2].partition("`")[0].split()
    assert {*fields} == {wire_name(name) for name in AssembleRequest.model_fields} | {"taskId"}
