"""Types of the JavaScript client, from the JSON Schemas of the verbs: `armarius.d.ts`, and who takes positions."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from textwrap import wrap
from typing import Any

from armarius.requests import wire_name
from armarius.verbs import SHELF, VERBS, WRITES, Verb

_HEAD = """// Written by scripts/write_reference.py from the table of verbs.

/** An error that the channel answered, or why it could not answer. Branch on `code`. */
export class ArmariusError extends Error {
  constructor(code: string, message: string, method?: string);
  /**
   * One of docs/channel.md and docs/warnings.md, such as `UNKNOWN_DOCUMENT`; of this client:
   * `PROCESS_ENDED`, `REQUEST_TOO_LARGE`, `CLOSED`.
   */
  code: string;
  /** The method that was called. */
  method?: string;
}

export interface Progress {
  /** Files done, and files to do. */
  done: number;
  total: number;
  /** The last one. */
  path: string;
  /** With `workspace`: whose index is built. */
  projectId?: string;
}

export interface Options {
  /** A project folder. */
  project?: string;
  /** Instead: a folder of project folders. Every call then names one by `projectId`, see `of`. */
  workspace?: string;
  /** Instead: a connection string of PostgreSQL, and whose projects. Calls name a project by `projectId`, see `of`. */
  store?: string;
  tenant?: string;
  /** Instead: projects that the app writes with `documents:write`, gone when the client is closed. */
  memory?: boolean;
  /** Of folders: offer `documents:write`, `:rename` and `:delete` too. */
  allowWrite?: boolean;
  /** The program, with arguments before `channel` if it is an array; `armarius` on the PATH when not given. */
  command?: string | readonly string[];
  /** Its environment; that of this process when not given. */
  env?: Record<string, string | undefined>;
  /** Called while an index is built. */
  onProgress?: (progress: Progress) => void;
  /** Called with each line that the program writes to its standard error. */
  onLog?: (line: string) => void;
}

export interface CallOptions {
  /** Cancels the call: it is rejected with the signal's reason, and its work stops. */
  signal?: AbortSignal;
  /** Milliseconds after which what is late is left out of the answer, with a warning. */
  timeoutMs?: number;
}

/** A method with required params needs them; others may be called without. */
export type Arguments<M extends Method> = {} extends Methods[M]["params"]
  ? [params?: Methods[M]["params"], options?: CallOptions]
  : [params: Methods[M]["params"], options?: CallOptions];

export interface Project {
  call<M extends Method>(method: M, ...args: Arguments<M>): Promise<Methods[M]["result"]>;
}

/** A process of `armarius channel`, started by the first call and again by the first call after it died. */
export class Armarius implements Project {
  constructor(options: Options);
  /** Asks a method. Offsets, given and answered, count as JavaScript does, unless `positionEncoding` says otherwise. */
  call<M extends Method>(method: M, ...args: Arguments<M>): Promise<Methods[M]["result"]>;
  /** The same calls for one project of the workspace. */
  of(projectId: string): Project;
  /** Id of the process; undefined while there is none. */
  readonly pid: number | undefined;
  /** Ends the process after the calls under way are answered. */
  close(): Promise<void>;
}

export type Method = keyof Methods;
"""
_ENDS = {"chapters": ("first", "last"), "selection": ("from", "to"), "story": ("opening", "actions")}
_WORDS = {"`engine.pins`": "`pins:add`", "`engine.assemble`": "`context:prompt:assemble`"}
_ENCODING = "Unit of every offset, given and answered: `utf-16` (default of this client), `code-point` or `utf-8`."


def positions() -> str:
    """The methods with positions, for which the client says how JavaScript counts."""
    names = [one.name for one in VERBS if "position_encoding" in one.params.model_fields]
    rows = "".join(f'  "{name}",\n' for name in names)
    about = "// Written by scripts/write_reference.py: the methods that take `positionEncoding`."
    return f"{about}\nexport const WITH_POSITIONS = new Set([\n{rows}]);\n"


def declarations(schema_of: Callable[[Verb], dict[str, Any]]) -> str:
    """The types of the client, and of the params and the result of every method, from its JSON Schema."""
    made: dict[str, str] = {}
    rows = []
    for verb in (*VERBS, *WRITES, *SHELF):
        schema = schema_of(verb)
        names = {key: _interface(key, body, schema["$defs"], made) for key, body in schema["$defs"].items()}
        parts = {
            side: _interface(f"{side}.{body['title']}", body, schema["$defs"], made)
            if "title" in body and body["title"] != "Result"
            else _type(body, names, side)
            for side, body in schema["properties"].items()
        }
        sides = f"{{ params: {parts['params']}; result: {parts['result']} }}"
        rows.append(f'{_comment(verb.about, "  ")}  "{verb.name}": {sides};\n')
    types = "\n".join(made[name] for name in sorted(made))
    return f"{_HEAD}\nexport interface Methods {{\n{''.join(rows)}}}\n\n{types}"


def _interface(key: str, body: Mapping[str, Any], defs: Mapping[str, Any], made: dict[str, str]) -> str:
    """The name of a type, which is added to `made`; what is sent and what is answered may differ."""
    side, _, name = re.sub(r"[^\w.]", "", key).partition(".")
    if "properties" not in body:
        return _type(body, {}, name)
    for called in (name, f"{name}Sent" if side == "params" else f"{name}Answered"):
        names = {one: one.partition(".")[2] for one in defs}
        about, fields = _split(body.get("description", ""))
        text = f"{_comment(about)}export interface {called} {{\n{''.join(_fields(body, names, fields, side))}}}\n"
        if made.setdefault(called, text) == text:
            return called
    raise SystemExit(f"armarius.d.ts: three types are called {name}")


def _fields(body: Mapping[str, Any], names: Mapping[str, str], about: Mapping[str, str], side: str) -> Iterator[str]:
    required = body.get("required", ())
    for name, one in body["properties"].items():
        always = name in required or (side == "result" and one.get("default") is not None)
        said = _ENCODING if name == "positionEncoding" else one.get("description") or about.get(name, "")
        yield f"{_comment(said, '  ')}  {name}{'' if always else '?'}: {_type(one, names, name)};\n"


def _type(schema: Any, names: Mapping[str, str], field: str) -> str:  # noqa: ANN401 - JSON
    """A JSON Schema as a type of TypeScript."""
    if not isinstance(schema, Mapping):
        return "unknown"
    if "$ref" in schema:
        return names[schema["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in schema:
        parts = [_type(one, names, field) for one in schema["anyOf"]]
        bare = dict.fromkeys(part.removesuffix(" | null") for part in parts if part != "null")
        return " | ".join([*bare, *(["null"] if any(part.endswith("null") for part in parts) else [])])
    if "enum" in schema or "const" in schema:
        return " | ".join(json.dumps(one) for one in schema.get("enum", [schema.get("const")]))
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return " | ".join(_type({**schema, "type": kind}, names, field) for kind in kinds)
    if kinds == "array" and "prefixItems" in schema:
        ends = _ENDS.get(field, ("start", "end"))
        parts = [_type(one, names, field) for one in schema["prefixItems"]]
        return f"[{', '.join(f'{end}: {part}' for end, part in zip(ends, parts, strict=True))}]"
    if kinds == "array":
        inside = _type(schema.get("items"), names, field)
        return f"({inside})[]" if " | " in inside else f"{inside}[]"
    if kinds == "object" and "properties" in schema:
        return f"{{ {' '.join(line.strip() for line in _fields(schema, names, {}, 'result'))} }}"
    if kinds == "object":
        return f"Record<string, {_type(schema.get('additionalProperties'), names, field)}>"
    return {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}.get(
        str(kinds), "unknown"
    )


def _split(text: str) -> tuple[str, dict[str, str]]:
    """A docstring without its attributes, and what it says of each, by its name on the wire."""
    about, _, rest = text.partition("Attributes:\n")
    about = about.partition("\n\n")[0]
    fields: dict[str, str] = {}
    for row in re.findall(r"^ {4}(?! )(.+?: .*(?:\n {8}.*)*)", rest, re.MULTILINE):
        names, _, said = row.partition(": ")
        fields |= {wire_name(name.strip()): said for name in names.split(",")}
    return about, fields


def _comment(text: str, indent: str = "") -> str:
    """A comment in the words of JavaScript; none where there is nothing to say."""
    said = " ".join(text.split()).replace("*/", "* /")
    for ours, theirs in _WORDS.items():
        said = said.replace(ours, theirs)
    said = re.sub(r"`([a-z]+(?:_[a-z]+)+)`", lambda found: f"`{wire_name(found[1])}`", said)
    said = re.sub(r"\b(None|True|False)\b", lambda found: {"None": "null"}.get(found[1], found[1].lower()), said)
    if not said:
        return ""
    lines = wrap(said[:1].upper() + said[1:], 112)
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return "".join(f"{indent}{line}\n" for line in ("/**", *(f" * {line}" for line in lines), " */"))
