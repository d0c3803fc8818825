"""What may stand in a file: by format, hostile content of a kind. Everything is made by rule, nothing is random.

What is merely large is a few times the size of a book's: linear work on it is short, anything worse shows.
"""

import functools
import json
import struct
from collections.abc import Callable

from tests.hostile.place import foreign_database, safetensors, scip

Make = Callable[[], str | bytes]

_DEEP = 100_000
_DIGITS = "9" * 10_000
_LONG = "长" * 1_700_000  # five megabytes

_ANY: dict[str, Make] = {
    "empty": lambda: b"",
    "NUL": lambda: b"a = \0\0\0\n{\0}\n",
    "not Unicode": lambda: b"\xff\xfe\xfa\x80\x81 = [[\xc3\x28\n" * 50,
    "UTF-16": lambda: '[style]\ntext = "短"\n{"a": 1}\n'.encode("utf-16"),
    "one line of a megabyte": lambda: "长" * 340_000,
}

_TOML: dict[str, Make] = {
    "deep arrays": lambda: f"a = {'[' * _DEEP}{']' * _DEEP}\n",
    "deep tables": lambda: f"a = {'{b = ' * 5_000}1{'}' * 5_000}\n",
    "a long dotted key": lambda: f"{'a.' * 60_000}a = 1\n",
    "a long dotted header": lambda: f"[{'a.' * 60_000}a]\nb = 1\n",
    "a number of 10,000 digits": lambda: f"a = {_DIGITS}\n",
    "a hexadecimal number of 10,000 digits": lambda: f"a = 0x{_DIGITS}\n",
    "an impossible date": lambda: "a = 2024-02-31T25:61:61Z\n",
    "a lone surrogate": lambda: '[style]\ntext = "\\ud800"\n',
    "a key twice": lambda: "[style]\ntext = 'a'\ntext = 'b'\n",
    "a name of five megabytes": lambda: f"{'a' * 5_000_000} = 1\n",
}

_JSON: dict[str, Make] = {
    "deep lists": lambda: "[" * _DEEP + "]" * _DEEP,
    "deep objects": lambda: '{"a":' * _DEEP + "1" + "}" * _DEEP,
    "a number of 10,000 digits": lambda: f'{{"version": {_DIGITS}, "vocab_size": {_DIGITS}}}',
    "no number": lambda: '{"version": NaN, "budget": Infinity, "max_length": -1e999}',
    "null": lambda: "null",
    "a list": lambda: "[1, [2], {}]",
    "a lone surrogate": lambda: (
        '{"entities": [{"id": "\\ud800", "name": "\\udfff", "aliases": ["\\ud800"]}], "\\ud800": 1}'
    ),
    "a string of five megabytes": lambda: json.dumps(
        {"title": _LONG, "entities": [{"name": _LONG}]}, ensure_ascii=False
    ),
}

_RECORDS: dict[str, Make] = {
    "wrong types": lambda: "".join(
        f"[[{table}]]\nid = {value}\nname = {value}\ntext = {value}\n\n"
        for table in ("entity", "relation", "constraint", "memory", "nonsense")
        for value in ("1", "nan", "[]", "{}", "true", "1979-05-27", '""', '"a\\u0000b"')
    ),
    "huge numbers": lambda: (
        '[[entity]]\nid = "e"\nname = "e"\n[[entity.facts]]\ntext = "x"\nsince = 99999999999999999999\n\n'
        '[[relation]]\nid = "r"\nsource = "e"\ntarget = "e"\ntype = "x"\nsince = 1' + "0" * 400 + "\n\n"
        '[[constraint]]\nid = "c"\ntext = "x"\npriority = 1' + "0" * 400 + "\n\n"
        '[[memory]]\nid = "m"\ntext = "x"\nconfidence = 1e400\n'
    ),
    "5,000 records": lambda: "".join(f'[[entity]]\nid = "e{n}"\nname = "名{n}"\n\n' for n in range(5_000)),
}

_CODEX: dict[str, Make] = {
    "wrong types": lambda: json.dumps(
        {
            "title": 1,
            "language": [],
            "entities": [
                None,
                [],
                "x",
                1e308,
                {"name": []},
                {"name": "a", "id": {}, "aliases": 5, "attributes": [], "facts": {"a": 1}, "aiContextLevel": []},
                {"name": "b", "facts": [{"text": "x", "since": 10**400}, None, 5]},
            ],
            "relations": [
                None,
                {"source": [], "target": 5, "type": None},
                {"source": "b", "target": "b", "type": "x", "since": 10**30},
            ],
        }
    ),
    "10,000 aliases": lambda: json.dumps({"entities": [{"name": "a", "aliases": [f"名{n}" for n in range(10_000)]}]}),
}

_BUDGET: dict[str, Make] = {
    f"{key} of {name}": functools.partial(json.dumps, {"version": 1, **dict([value(number)])})
    for name, number in (
        ("10^30", 10**30),
        ("2^63", 2**63),
        ("1e308", 1e308),
        ("-1", -1),
        ("a string", "9"),
        ("true", True),
    )
    for key, value in {
        "a version": lambda number: ("version", number),
        "a budget": lambda number: ("budget", number),
        "a share": lambda number: ("layers", {"retrieved": {"ratio": number}}),
        "a minimum": lambda number: ("layers", {"immediate": {"min": number}}),
        "a maximum": lambda number: ("layers", {"rules": {"max": number}}),
        "a threshold": lambda number: ("warn_percent", number),
    }.items()
}

_PROSE: dict[str, Make] = {
    "10,000 headings": lambda: "# 题\n" * 10_000,
    "deep quotes": lambda: "> " * 50_000 + "林默\n",
    "deep lists": lambda: "".join(f"{' ' * (2 * n)}- 林默\n" for n in range(1_500)),
    "brackets": lambda: "[(（「" * 10_000,
    "combining marks": lambda: "e" + "\u0301" * 200_000,
    "deep front matter": lambda: f"---\na: {'[' * _DEEP}\n---\n# 题\n",
    "front matter with a number of 10,000 digits": lambda: (
        f"---\nchapter: {_DIGITS}\ntitle: {_DIGITS}\n---\n# 第{_DIGITS}章\n"
    ),
    "a chapter of 10,000 characters": lambda: f"# 第{'九' * 10_000}章\n\n林默。\n",
    "1,000 profiles": lambda: "".join(f"## 名{n}\n\n- 类型：人物\n- 别名：号{n}\n\n" for n in range(1_000)),
    "emphasis": lambda: "**林默_" * 20_000,
}

_CODE: dict[str, Make] = {
    "deep parentheses": lambda: "x = " + "(" * _DEEP + "\n",
    "deep functions": lambda: "".join(f"{' ' * n}def f{n}():\n" for n in range(1_500)),
    "10,000 functions": lambda: "".join(f"def f{n}(): pass\n" for n in range(10_000)),
    "an open string": lambda: 's = """' + "x\n" * 50_000,
}

_IGNORE: dict[str, Make] = {
    "10,000 stars": lambda: "*" * 10_000 + "x\n" + "**/" * 5_000 + "x\n",
    "an open class": lambda: "[" * 20_000 + "\n[z-a]\n\\\n!\n",
    "5,000 patterns": lambda: "".join(f"a{n}*/**/b?\n" for n in range(5_000)),
    "braces": lambda: "{a,b}" * 200 + "\n" + "{" * 20_000 + "\n",
    "what lies outside": lambda: "!../outside/**\n!/../../*\n",
}

_SCIP: dict[str, Make] = {
    "random bytes": lambda: bytes(range(256)) * 500,
    "cut short": lambda: scip()[:-7],
    "a length of 2^63": lambda: b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + b"x" * 20,
    "a path outside": lambda: scip("../outside/secret.py"),
    "a path up and out": lambda: scip("src/../../outside/secret.py"),
    "a path to a device": lambda: scip("/dev/zero"),
    "an empty path": lambda: scip(""),
    "a path with NUL": lambda: scip("a\0b.py"),
}

_DATABASE: dict[str, Make] = {
    "somebody's database": foreign_database,
    "a header only": lambda: foreign_database()[:100],
    "random bytes": lambda: bytes(range(256)) * 64,
    "empty": lambda: b"",
}

_WEIGHTS: dict[str, Make] = {
    "a header of 2^63 bytes": lambda: safetensors({}, length=2**63 - 1),
    "a header of 4 GiB": lambda: safetensors({}, length=2**32),
    "a deep header": lambda: struct.pack("<Q", 100_000) + b"[" * 100_000,
    "a tensor of 2^60": lambda: safetensors(
        {"embeddings": {"dtype": "F32", "shape": [2**30, 2**30], "data_offsets": [0, 2**62]}}
    ),
    "a tensor without rows": lambda: safetensors(
        {"embeddings": {"dtype": "F32", "shape": [0, 0], "data_offsets": [0, 0]}}
    ),
}

_MODEL: dict[str, Make] = {
    "wrong types": lambda: json.dumps(
        dict.fromkeys(("model_type", "max_length", "normalize", "hidden_size", "num_hidden_layers", "vocab_size"), ())
        | dict.fromkeys(
            ("num_attention_heads", "max_seq_length", "pooling_mode", "do_lower_case", "architectures"), 1e308
        )
    ),
    "huge numbers": lambda: json.dumps(
        dict.fromkeys(("max_length", "hidden_size", "num_hidden_layers", "vocab_size", "max_seq_length"), 10**30)
        | {"model_type": "bert", "num_attention_heads": 1, "intermediate_size": 2**62, "max_position_embeddings": 2**62}
    ),
}

_GRAPH: dict[str, Make] = {
    "random bytes": lambda: bytes(range(256)) * 500,
    "a length of 2^63": lambda: b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + b"x" * 20,
}

CONTENTS: dict[str, dict[str, Make]] = {
    "toml": _ANY | _TOML,
    "records": _ANY | _TOML | _RECORDS,
    "codex": _ANY | _JSON | _CODEX,
    "budget": _ANY | _JSON | _BUDGET,
    "json": _ANY | _JSON | _MODEL,
    "prose": _ANY | _PROSE,
    "code": _ANY | _CODE,
    "ignore": _ANY | _IGNORE,
    "scip": _ANY | _SCIP,
    "database": _DATABASE,
    "weights": _ANY | _WEIGHTS,
    "onnx": _ANY | _GRAPH,
    "text": _ANY,
}
"""Format of a file to what may stand in it."""

OFTEN = frozenset(
    {
        *(
            "NUL",
            "deep arrays",
            "deep lists",
            "deep objects",
            "a number of 10,000 digits",
            "a long dotted header",
            "wrong types",
        ),
        *(
            "a lone surrogate",
            "a budget of 10^30",
            "a share of 1e308",
            "huge numbers",
            "10,000 aliases",
            "deep quotes",
            "brackets",
            "10,000 headings",
        ),
        *("front matter with a number of 10,000 digits", "deep parentheses", "an open class", "a path outside"),
        *("a length of 2^63", "somebody's database", "a header of 2^63 bytes", "not Unicode"),
    }
)
"""In the quick suite for every target; the whole product is run by `make test-slow`."""
