"""JSON Schemas of every verb, for hosts that generate their types: `docs/schemas/`, one file a verb."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter, create_model

from armarius.requests import wire_name
from armarius.verbs.table import Verb

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def file_name(verb: str) -> str:
    """`context:prompt:assemble` is `context-prompt-assemble.json`."""
    return f"{verb.replace(':', '-')}.json"


def schema_of(verb: Verb) -> dict[str, Any]:
    """One schema with `params` and `result` under `$defs`; it matches an object that has one of them or both."""
    definitions: dict[str, Any] = {}
    params = _parts(verb.params, definitions, "params", optional_null=True)
    result = _parts(_type(verb), definitions, "result", optional_null=False)
    return {
        "$schema": _DIALECT,
        "title": verb.name,
        "description": verb.about,
        "type": "object",
        "properties": {"params": params, "result": result},
        "additionalProperties": False,
        "$defs": dict(sorted(definitions.items())),
    }


def _type(verb: Verb) -> Any:  # noqa: ANN401 - a type
    if not isinstance(verb.result, dict):
        return verb.result
    fields: dict[str, Any] = {name: (kind, ...) for name, kind in verb.result.items()}
    return create_model("Result", **fields)


def _parts(kind: Any, definitions: dict[str, Any], name: str, *, optional_null: bool) -> dict[str, Any]:  # noqa: ANN401
    """The schema of a type, its parts among `definitions` as `<name>.<part>`."""
    schema = TypeAdapter(kind).json_schema(by_alias=True, ref_template=f"#/$defs/{name}.{{model}}")
    parts = schema.pop("$defs", {})
    for part, body in parts.items():
        definitions[f"{name}.{part}"] = _camel(body, optional_null=optional_null)
    found: dict[str, Any] = _camel(schema, optional_null=optional_null)
    return found


def _camel(schema: Any, *, optional_null: bool) -> Any:  # noqa: ANN401 - JSON
    """Names of properties as they travel; where something is sent, an optional property may be null."""
    if isinstance(schema, list):
        return [_camel(one, optional_null=optional_null) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _camel(value, optional_null=optional_null) for key, value in schema.items() if key != "properties"}
    if not isinstance(schema.get("properties"), Mapping):
        return found
    required = {wire_name(name) for name in schema.get("required", ())}
    properties = {
        wire_name(name): {
            key: value for key, value in _camel(body, optional_null=optional_null).items() if key != "title"
        }
        for name, body in schema["properties"].items()
    }
    if optional_null:
        properties = {name: body if name in required else _or_null(body) for name, body in properties.items()}
    return {**found, "properties": properties, **({"required": sorted(required)} if required else {})}


def _or_null(body: dict[str, Any]) -> dict[str, Any]:
    """What may lack may be null too."""
    choices = body.get("anyOf", ())
    if body.get("type") == "null" or {"type": "null"} in choices:
        return body
    outside: dict[str, Any] = {key: body[key] for key in ("default", "title", "description") if key in body}
    inside = {key: value for key, value in body.items() if key not in outside}
    both = [*inside["anyOf"], {"type": "null"}] if set(inside) == {"anyOf"} else [inside, {"type": "null"}]
    return {**outside, "anyOf": both}
