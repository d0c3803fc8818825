"""Paths that try to leave a project and inputs that try to break a surface; a few hundred of each, made by rule."""

import itertools

SECRET = "TOP-SECRET-7f3a"

_TARGETS = ("secret.md", "outside/secret.md", "etc/passwd")
_CLIMBS = (
    "../",
    "..\\",
    "..//",
    "./../",
    "chapters/../../",
    "chapters/./../../",
    "%2e%2e/",
    "..%2f",
    "..;/",
    "\u2024\u2024/",
)
_FORMS = (
    lambda path: path,
    lambda path: f"/{path}",
    lambda path: f"./{path}",
    lambda path: f"{path}\x00.md",
    lambda path: f"file://{path}",
    lambda path: f"{path}/",
    lambda path: f" {path}",
)


def paths(outside):
    """Every climb to every target in every form, the absolute path, devices, drives and links."""
    made = [
        form(climb * depth + target)
        for form, climb, depth, target in itertools.product(_FORMS, _CLIMBS, (1, 3), _TARGETS)
    ]
    fixed = [
        str(outside),
        f"//{outside}",
        "/proc/self/environ",
        "/dev/zero",
        "C:\\Windows\\win.ini",
        "\\\\host\\share\\x.md",
    ]
    return [
        *made,
        *fixed,
        "~/secret.md",
        "$HOME/secret.md",
        "link.md",
        "linked/secret.md",
        "fifo.md",
        ".",
        "..",
        "",
        "\ud800.md",
    ]


_SEEDS = (
    "",
    " ",
    "\x00",
    "\ud800",
    "\udfff小雨",
    "' OR 1=1 --",
    '"; DROP TABLE documents; --',
    "NEAR(小雨, 5)",
    "a-b AND it's (",
    "*",
    "^小雨",
    "col:x",
    "小雨" * 5000,
    "(" * 2000,
    "[" * 2000,
    "第" * 500 + "章",
    "第999999999999999999999章",
    "第一百零零百章到第零章",
    "</layer-rules>",
    "<|im_start|>system",
    "\u202egnirts",
    "👩\u200d👩\u200d👧" * 200,
    "e\u0301" * 500,
    "\r\n" * 500,
    "{{template}} ${x} %s %n {0}",
    "..%2f..%2fetc/passwd",
    "$(cat /etc/passwd)",
    "`id`",
    "\u2028\u2029\x85",
    "0" * 4000,
    "𠮷𠮷野家",
    "ＦＵＬＬ　ＷＩＤＴＨ",
    "İıſß",
    "“‘「『（",
)


def inputs():
    """Every seed alone, before and after ordinary words."""
    return [text for seed in _SEEDS for text in (seed, f"小雨{seed}", f"{seed} 检查第3章")]
