"""Write the pages of docs/ that say what the code says: `python scripts/write_reference.py`.

`docs/cli.md` from the command line's own parser, `docs/warnings.md` from the tables of warnings and errors,
`docs/decisions.md` from the pages under docs/decisions/, `docs/api.md` from the names of the package, `docs/wire.md`
`docs/schemas/` and the types of `examples/javascript/` from the table of verbs. And what the shells complete, by shtab,
into `python/armarius/cli/completions/`, and the stubs `__init__.pyi` of packages whose names are loaded on first use.
They are committed; a test holds them to the code.
"""

import argparse
import ast
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from runpy import run_path
from typing import Any

import griffe
import shtab
from pydantic import TypeAdapter, create_model

import armarius
from armarius import doors, errors
from armarius.cli import build_parser
from armarius.engine import ContextEngine
from armarius.requests import AssembleRequest, wire_name
from armarius.verbs import SHELF, VERBS, WRITES, Verb
from armarius.warnings import TABLE
from armarius.workspace.engines import ASKED

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PACKAGE = ROOT / "python" / "armarius"
COMPLETIONS = PACKAGE / "cli" / "completions"

_COMMANDS = """# The command line, whole

`armarius FOLDER` opens a book in [the studio](studio.md), `armarius FILE` the book that a file is of.

Status: 0 done, 1 failed, 2 bad input, 130 interrupted. `armarius COMMAND --help` says the same.
"""
_WARNINGS = """# Warnings and errors

A source that fails never fails the call: it becomes a warning beside the answer, `CODE: message`. Branch on the
code; several situations may share one.

| code | given when | text |
|---|---|---|
"""
_WIRE = """# The wire, method by method

What `armarius channel` ([the channel](channel.md)) takes and answers: a JSON Schema (draft 2020-12) for each
method, with `params` and `result`, made from the code that checks them. Generate the types of your language from them.

Names are camelCase, but for keys of your own (`attributes`). An optional param that is null is absent; one that nobody
knows is refused, and so is `"5"`, `true` or `1.0` where a whole number belongs. Every offset, in or out, is in units of
the request's `positionEncoding`: `code-point` (the default), `utf-16` (JavaScript, Java, LSP) or `utf-8`. Every method
takes `projectId`; where it is left out it is `""`, this project. `armarius channel --workspace` and `--store` require
it everywhere.

| method | params (`?`: may be left out) | |
|---|---|---|
"""
_API = """# Python API

What most programs need is in the namespace `armarius`, as `armarius.open`; the rest is in its packages, as
`armarius.lorebooks.Entry`. A name is loaded when it is first used. What follows is made from the docstrings, by
subject.
"""
# Subjects of the reference: the room that a name lives in, in the order of the page.
_SUBJECTS = {
    "engine": "Opening a project",
    "prompt": "Prompts and their accounts, fetchers",
    "requests": "Requests and results as they travel",
    "types": "Candidates, evidence, layers, hits",
    "search": "Retrieval",
    "evaluation": "Measuring on a book of your own",
    "text": "Texts: matching, counting, cutting",
    "documents": "Documents",
    "trust": "Configuration",
    "codex": "Codex: who and what there is",
    "index": "The index",
    "store": "Stores",
    "graph": "Graphs",
    "vectors": "Vectors",
    "rewording": "Other wordings",
    "code": "Code",
    "lorebooks": "Lorebooks and files of other programs",
    "workspace": "Many projects at once",
    "deadline": "Calls, observed",
}
# Public names of modules that are no packages.
_OF_MODULES = {
    "vectors.embedder": "AnyEmbedder Fingerprint OneKindEmbedder",
    "deadline": "Call Observer observe request_id",
    "evaluation": "Evaluation Miss Question read_questions",
    "rewording": "Model Reworded Reworder RewordingRequest parse request",
    "requests": (
        "InspectMeta InspectRequest InspectResult InspectTotals LayerDetail LayerDetails LayerResult LayerResults "
        "PositionEncoding RequestFields code_points"
    ),
    "text.chat": "ChatModel Message",
    "types": "LAYERS Confirming LayerName OmitReason Omission",
}
# Classes that lend an engine its verbs.
_BESIDE = {"engine": ["engine.prompts.Prompts", "engine.questions.Questions"]}
# Modules whose every name is public.
_WHOLE = {"embedders": "Embedders", "testing": "Fakes and conformance suites", "errors": "Errors"}
_ERRORS = """
An unrecoverable request raises. Every exception is an `armarius.ArmariusError` with a stable `code`.

| exception | code | |
|---|---|---|
"""


def pages() -> dict[Path, str]:
    """Place of each generated file to its text."""
    of_docs = {
        "api.md": api(),
        "cli.md": commands(),
        "warnings.md": warnings(),
        "decisions.md": decisions(),
        "wire.md": wire(),
    }
    shells = {f"armarius.{shell}": completion(shell) for shell in ("bash", "zsh", "fish")}
    schemas = {DOCS / "schemas" / file_name(one.name): _json(schema_of(one)) for one in (*VERBS, *WRITES, *SHELF)}
    types = run_path(str(ROOT / "scripts" / "javascript_types.py"))
    client = {"armarius.d.ts": types["declarations"](schema_of), "positions.js": types["positions"]()}
    return (
        {DOCS / name: text for name, text in of_docs.items()}
        | {ROOT / "examples" / "javascript" / name: text for name, text in client.items()}
        | schemas
        | {PACKAGE / room / "__init__.pyi": stub(table, room) for room, table in tables().items()}
        | {PACKAGE / "doors.pyi": stub(doors.TABLE, "doors"), PACKAGE / "workspace" / "verbs.pyi": shelved()}
        | {COMPLETIONS / n: text for n, text in shells.items()}
    )


def tables() -> dict[str, dict[str, str]]:
    """Package, "" for the root, to its table of names that are loaded on first use."""
    found = {"": armarius.TABLE}
    for folder in sorted(PACKAGE.iterdir()):
        if (folder / "__init__.py").is_file():
            table = getattr(import_module(f"armarius.{folder.name}"), "TABLE", None)
            if isinstance(table, dict):
                found[folder.name] = table
    return found


def homes() -> dict[str, str]:
    """Every public name to the module that it is defined in."""
    found = {name: module for table in tables().values() for module, names in table.items() for name in names.split()}
    return found | {name: module for module, names in _OF_MODULES.items() for name in names.split()}


def stub(table: dict[str, str], room: str) -> str:
    """The names of a package, or of `doors`, for type checkers, as a stub of the file with its table."""
    file = "doors.py" if room == "doors" else "__init__.py"
    lines = [f"# Written by scripts/write_reference.py from the table in {file}."]
    if not room:
        lines += [f"from armarius import {name} as {name}" for name in sorted(armarius.MODULES)]
    for module, names in sorted(table.items()):
        lines += [f"from armarius.{module} import {name} as {name}" for name in sorted(names.split())]
    if not room:
        lines += ["", "TABLE: dict[str, str]", "MODULES: tuple[str, ...]", "__version__: str"]
    return "\n".join([*lines, ""])


def shelved() -> str:
    """The verbs of a project of a shelf for type checkers: those of an engine, each with `at_least`."""
    methods, needed = [], {"from armarius.engine import ContextEngine"}
    for name in ASKED.split():
        verb = inspect.unwrap(getattr(ContextEngine, name))
        module = sys.modules[verb.__module__]
        origin = {
            alias.asname or alias.name: ast.unparse(type(one)(**{**vars(one), "names": [alias]}))
            for one in ast.walk(ast.parse(inspect.getsource(module)))
            if isinstance(one, ast.Import | ast.ImportFrom)
            for alias in one.names
        }
        method = ast.parse(textwrap.dedent(inspect.getsource(verb))).body[0]
        assert isinstance(method, ast.FunctionDef)
        method.args.args[0] = ast.arg("self")
        method.args.defaults = [ast.Constant(...) for _ in method.args.defaults]
        method.args.kw_defaults = [one and ast.Constant(...) for one in method.args.kw_defaults]
        kinds = [one.annotation for one in ast.walk(method.args) if isinstance(one, ast.arg)] + [method.returns]
        used = " ".join(ast.unparse(one) for one in kinds if one).replace("'", "")
        for word in set(re.findall(r"(?<![\w.])[A-Za-z]\w*", used)):
            if word in origin or hasattr(module, word):
                needed.add(origin.get(word, f"from {module.__name__} import {word}"))
        method.args.kwonlyargs.append(ast.arg("at_least", ast.Name("int | None")))
        method.args.kw_defaults.append(ast.Constant(...))
        returns = ast.unparse(method.returns).strip("'") if method.returns else "None"
        signed = ast.unparse(method.args)
        methods.append(f"    def {name}({signed}) -> {returns}: ...")
        if hasattr(ContextEngine, f"a{name}"):
            methods.append(f"    async def a{name}({signed}) -> {returns}: ...")
    lines = ["# Written by scripts/write_reference.py from the verbs of ContextEngine.", *sorted(needed)]
    return "\n".join([*lines, "", "class ShelvedVerbs(ContextEngine):", *methods, ""])


def api() -> str:
    """Every public name under its subject, with signature and docstring; SystemExit when a room has no subject."""
    package = griffe.load("armarius", search_paths=[str(PACKAGE.parent)], docstring_parser="google")
    named: dict[str, list[str]] = {}
    for name, module in sorted(homes().items()):
        room = module.split(".")[0]
        if room not in _WHOLE:
            named.setdefault(room, []).append(f"{module}.{name}")
    if unknown := sorted(named.keys() ^ _SUBJECTS.keys()):
        raise SystemExit(f"_SUBJECTS is not the list of rooms with public names: {', '.join(unknown)}")
    parts = [_API]
    for room, title in _SUBJECTS.items():
        paths = named.get(room, []) + _BESIDE.get(room, [])
        parts.append(f"\n## {title}\n" + "".join(_entry(package[path], f"armarius.{path}") for path in paths))
    for room, title in _WHOLE.items():
        module = package[room]
        public = [member for name, member in module.members.items() if name in (module.exports or ())]
        parts.append(f"\n## {title}\n" + "".join(_entry(one, f"armarius.{room}.{one.name}") for one in public))
    return "".join(parts).rstrip() + "\n"


def _entry(thing: griffe.Object | griffe.Alias, path: str) -> str:
    """One public name: heading, signature, docstring, and its public members."""
    thing = thing.final_target if isinstance(thing, griffe.Alias) else thing
    text = f"\n### `{path}`\n\n{_signed(thing)}{_said(thing)}"
    if not isinstance(thing, griffe.Class):
        return text
    listed = text.partition("Attributes:")[2]
    members = [one for name, one in thing.members.items() if not name.startswith("_")]
    fields = "".join(
        f"- `{one.name}`: {' '.join(one.docstring.value.partition(chr(10) * 2)[0].split())}\n"
        for one in members
        if isinstance(one, griffe.Attribute) and one.docstring and f"\n- `{one.name}`:" not in listed
    )
    methods = "".join(f"\n{_signed(one)}{_said(one)}" for one in members if isinstance(one, griffe.Function))
    return text + (f"\n{fields}" if fields else "") + methods


def _signed(thing: griffe.Object) -> str:
    """The signature of a function, a class with its bases, the type of an attribute, as a block of code."""
    shown = thing.name
    if isinstance(thing, griffe.Function):
        shown = f"{'async def' if 'async' in thing.labels else 'def'} {_with_fields(thing)}"
    elif isinstance(thing, griffe.Class):
        bases = ", ".join(str(base).rpartition(".")[2] for base in thing.bases)
        shown = f"class {thing.name}{f'({bases})' if bases else ''}"
    elif isinstance(thing, griffe.Attribute):
        shown += f": {thing.annotation}" if thing.annotation else f" = {thing.value}"
    return f"```text\n{shown.replace('doors.', '')}\n```\n"  # where the core has the type from


def _with_fields(function: griffe.Function) -> str:
    """The signature of a function; the fields of a request, which it takes as keywords, one by one."""
    signed, rest = function.signature(), ", **fields: Unpack[RequestFields]"
    if rest not in signed:
        return signed
    kinds, of = function.package["requests.RequestFields"].attributes.values(), AssembleRequest.model_fields
    fields = ", ".join(f"{one.name}: {one.annotation} = {of[one.name].default!r}" for one in kinds)
    return signed.replace(rest, "").replace("*, ", f"*, {fields}, ", 1)


def _said(thing: griffe.Object) -> str:
    """A docstring as Markdown: its text, then a list for arguments, fields, results and errors."""
    if not thing.docstring:
        return ""
    text = ""
    for section in thing.docstring.parse("google", warnings=False, returns_multiple_items=False):
        if section.kind.value in ("text", "admonition", "examples"):
            said = section.value if section.kind.value == "text" else thing.docstring.value.partition("Example")[2]
            text += f"\n{said}\n"
            continue
        text += f"\n{section.kind.value.capitalize()}:\n\n"
        for row in section.value:
            name = getattr(row, "name", "") or str(getattr(row, "annotation", "") or "")
            about = " ".join(row.description.split())
            text += f"- `{name}`: {about}\n" if name else f"- {about}\n"
    return text


def _json(schema: dict[str, object]) -> str:
    return json.dumps(schema, ensure_ascii=False, indent=1) + "\n"


def completion(shell: str) -> str:
    """What a shell reads to complete commands, options and files."""
    parser = build_parser()
    for _, one in _subparsers(parser):
        for action in one._actions:
            if action.type is Path:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    text: str = shtab.complete(parser, shell=shell)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def commands() -> str:
    """Every command with its options."""
    text = _COMMANDS
    for name, parser in _subparsers(build_parser()):
        about = parser.description or ""
        text += f"\n## armarius {name}\n\n{about}\n" if about else f"\n## armarius {name}\n"
        for row in _arguments(parser):
            text += row
    return text


def _subparsers(parser: argparse.ArgumentParser, before: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help for choice in action._choices_actions}
            for name, one in action.choices.items():
                one.description = one.description or (helps.get(name) or "").capitalize() or None
                yield f"{before}{name}", one
                yield from _subparsers(one, f"{before}{name} ")


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    rows = [action for action in parser._actions if action.help != argparse.SUPPRESS and action.dest != "help"]
    rows = [action for action in rows if not isinstance(action, argparse._SubParsersAction)]
    if rows:
        yield "\n| argument | |\n|---|---|\n"
    for action in rows:
        shown = ", ".join(action.option_strings) or str(action.metavar or action.dest)
        if action.option_strings and action.nargs != 0:
            choices = "\\|".join(map(str, action.choices)) if action.choices else ""
            shown += " " + (choices or str(action.metavar or action.dest.upper()))
        said = (action.help or "").replace("|", "\\|").replace("%%", "%")
        said = said.replace("%(default)s", str(action.default))
        yield f"| `{shown}` | {said} |\n"


def warnings() -> str:
    """Every code of a warning and of an error."""
    text = _WARNINGS
    for row in sorted(TABLE, key=lambda one: one.code):
        code = f"`{row.code}`" + (" (the text alone)" if row.bare else "")
        text += f"| {code} | {row.when} | {row.text.replace('|', chr(92) + '|')} |\n"
    text += _ERRORS
    for name, kind in sorted(vars(errors).items()):
        if isinstance(kind, type) and issubclass(kind, errors.ArmariusError):
            about = (kind.__doc__ or "").partition("\n")[0]
            text += f"| `{name}` | `{kind.code}` | {about} |\n"
    return text


def file_name(verb: str) -> str:
    """`context:prompt:assemble` is `context-prompt-assemble.json`."""
    return f"{verb.replace(':', '-')}.json"


def schema_of(verb: Verb) -> dict[str, Any]:
    """One schema with `params` and `result` under `$defs`; it matches an object that has one of them or both."""
    definitions: dict[str, Any] = {}
    params = _schema(verb.params, definitions, "params", optional_null=True)
    result = _schema(_answer(verb), definitions, "result", optional_null=False)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": verb.name,
        "description": verb.about,
        "type": "object",
        "properties": {"params": params, "result": result},
        "additionalProperties": False,
        "$defs": dict(sorted(definitions.items())),
    }


def _answer(verb: Verb) -> Any:  # noqa: ANN401 - a type
    if not isinstance(verb.result, dict):
        return verb.result
    fields: dict[str, Any] = {name: (kind, ...) for name, kind in verb.result.items()}
    return create_model("Result", **fields)


def _schema(kind: Any, definitions: dict[str, Any], name: str, *, optional_null: bool) -> dict[str, Any]:  # noqa: ANN401
    """The schema of a type, its parts among `definitions` as `<name>.<part>`."""
    schema = TypeAdapter(kind).json_schema(by_alias=True, ref_template=f"#/$defs/{name}.{{model}}")
    parts = schema.pop("$defs", {})
    for part, body in parts.items():
        definitions[f"{name}.{part}"] = _camel(body, optional_null=optional_null)
    result: dict[str, Any] = _camel(schema, optional_null=optional_null)
    return result


def _camel(schema: Any, *, optional_null: bool) -> Any:  # noqa: ANN401 - JSON
    """Names of properties as they travel; where something is sent, an optional property may be null."""
    if isinstance(schema, list):
        return [_camel(item, optional_null=optional_null) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: _camel(value, optional_null=optional_null) for key, value in schema.items() if key != "properties"}
    if not isinstance(schema.get("properties"), Mapping):
        return result
    required = {_name(name) for name in schema.get("required", ())}
    properties = {
        _name(name): {key: value for key, value in _camel(body, optional_null=optional_null).items() if key != "title"}
        for name, body in schema["properties"].items()
    }
    if optional_null:
        properties = {name: body if name in required else _allow_null(body) for name, body in properties.items()}
    return {**result, "properties": properties, **({"required": sorted(required)} if required else {})}


def _name(name: str) -> str:
    """As it travels: an alias already does, a field of a dataclass has none; no dataclass here has a cursor."""
    return name if name == "cursor" else wire_name(name)


def _allow_null(body: dict[str, Any]) -> dict[str, Any]:
    """What may lack may be null too."""
    choices = body.get("anyOf", ())
    if body.get("type") == "null" or {"type": "null"} in choices:
        return body
    outside: dict[str, Any] = {key: body[key] for key in ("default", "title", "description") if key in body}
    inside = {key: value for key, value in body.items() if key not in outside}
    both = [*inside["anyOf"], {"type": "null"}] if set(inside) == {"anyOf"} else [inside, {"type": "null"}]
    return {**outside, "anyOf": both}


def wire() -> str:
    """Every method with its params, and where its schema is."""
    text = _WIRE
    for one in (*VERBS, *WRITES, *SHELF):
        params = schema_of(one)["properties"]["params"]
        required = params.get("required", [])
        names = [n if n in required else f"{n}?" for n in params["properties"] if n != "projectId" or n in required]
        shown = " ".join(f"`{name}`" for name in names)
        text += f"| [`{one.name}`](schemas/{file_name(one.name)}) | {shown} | {one.about} |\n"
    return text


def decisions() -> str:
    """The pages under docs/decisions/, by number."""
    text = "# Decisions\n\nWhy it is so: one page each, with what was measured and what was weighed.\n\n"
    for page in sorted((DOCS / "decisions").glob("*.md")):
        title = page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ").strip()
        text += f"- [{title}](decisions/{page.name})\n"
    return text


if __name__ == "__main__":
    found = pages()
    if "--check" in sys.argv:
        wrong = [one.name for one, text in found.items() if not one.exists() or one.read_text(encoding="utf-8") != text]
        if wrong:
            raise SystemExit(f"{', '.join(wrong)}: run scripts/write_reference.py")
    else:
        COMPLETIONS.mkdir(exist_ok=True)
        for one, text in found.items():
            one.write_text(text, encoding="utf-8")
