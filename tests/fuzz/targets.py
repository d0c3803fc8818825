"""What is fuzzed, each with what must hold whatever the bytes are; a target raises when something does not."""

import os
import struct
import tempfile
from itertools import pairwise
from pathlib import Path
from unittest import mock

from tests.steps import steps

import armarius
import armarius._core as _core
from armarius import EntityMatcher, TokenCounter, truncate
from armarius.codex.codex_json import parse_codex_json
from armarius.codex.profile_fields import parse_page
from armarius.codex.profiles import parse_profiles
from armarius.codex.protocol import read_blocks
from armarius.corpus.part import parts_of
from armarius.documents.decode import Undecodable, decode
from armarius.documents.kinds import CARD_KINDS
from armarius.documents.manuscripts import extract
from armarius.documents.segments import split_code, split_prose
from armarius.errors import ArmariusError
from armarius.io.toml import settings_of
from armarius.lorebooks import read_book
from armarius.prompt.continuation import Continuation
from armarius.text.unicode import grapheme_floor

__all__ = ["SEEDS", "TARGETS"]

HERE = Path(__file__).parent
PEOPLE = [
    {"id": "bao", "name": "贾宝玉", "aliases": ["宝玉", "宝二爷", "Bao"], "type": "character"},
    {"id": "zhen", "name": "甄宝玉", "type": "character"},
    {"id": "eva", "name": "Éva O'Neill", "aliases": ["Eva", "e\u0301va", "ＥＶＡ"], "type": "character"},
    {"id": "min", "name": "민수", "type": "character"},
    {"id": "er", "name": "二姐", "type": "character"},
]
MATCHER = EntityMatcher(PEOPLE)
COUNTERS = [TokenCounter.for_encoding(name) for name in TokenCounter.encodings()] + [TokenCounter.estimate()]


def _text(data):
    return data.decode("utf-8", "surrogatepass" if data[:1] < b"\x20" else "replace")


def _loose(data):
    try:
        return _text(data)
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def matcher(data):
    text = _loose(data)
    found = MATCHER.find_all(text)
    spans = sorted({(one.start, one.end) for one in found})
    assert all(before[1] <= after[0] for before, after in pairwise(spans)), "mentions overlap"
    assert all(text[one.start : one.end] == one.term for one in found)
    assert {m.entity_id for m in MATCHER.detect(text)} == {m.entity_id for m in found}
    for one in (*MATCHER.find_overlapping(text), *MATCHER.explain(text)):
        assert text[one.start : one.end] == one.term
    assert MATCHER.find_batch([text])[0] == found
    assert len(MATCHER.find_packed([text])) == 16 * len(found)


def counters(data):
    text = data[1:].decode("utf-8", "replace")
    counter = COUNTERS[data[0] % len(COUNTERS)] if data else COUNTERS[0]
    count = counter.count(text)
    assert 0 <= count <= counter.upper_bound(text)
    assert counter.count_batch([text, text]) == [count, count]
    if counter.additive:
        half = len(text) // 2
        before, after = text[:half].rstrip() + "。\n\n", text[half:]
        if counter.starts_safely(after):
            assert counter.count(before + after) == counter.count(before) + counter.count(after)


def truncation(data):
    if len(data) < 4:
        return
    keep, boundary = ("head", "tail", "around")[data[0] % 3], ("sentence", "paragraph", "character")[data[1] % 3]
    text, limit = data[4:].decode("utf-8", "replace"), data[2]
    counter = COUNTERS[data[3] % len(COUNTERS)]
    anchor = len(text) * data[3] // 256
    piece = truncate(text, limit, keep=keep, anchor=anchor, boundary=boundary, counter=counter)
    assert piece.text == text[piece.start : piece.end]
    assert piece.tokens == counter.count(piece.text) <= limit
    assert grapheme_floor(text, piece.start) == piece.start
    assert grapheme_floor(text, piece.end) == piece.end


def grams(data):
    text = data.decode("utf-8", "replace")
    for term in _core.text_grams(text)[:50]:
        assert term
    _core.index_tokens([text])
    _core.terms(text)
    kept = "".join(text[start:end] for start, end in _core.pieces(text, 64))
    assert "".join(kept.split()) == "".join(text.split()), "a piece is lost"
    needle = text[len(text) // 3 : len(text) // 3 + 3]
    if _core.term_phrase(needle):
        for start, end in _core.find_terms([text], [needle])[0]:
            assert 0 <= start < end <= len(text)


def decoder(data):
    try:
        found = decode(data)
    except Undecodable:
        return
    found.text.encode()


def prose(data):
    text = data.decode("utf-8", "replace")
    for split in (split_prose, split_code):
        end = 0
        for one in split(text):
            assert end <= one.start < one.end <= len(text)
            end = one.end


def scanners(data):
    text = data.decode("utf-8", "replace")
    for one in (*_core.python_outline(text), *_core.brace_outline(text)):
        assert 0 <= one.first_line <= one.line <= one.last_line <= text.count("\n") + 1, one


def books(data):
    try:
        read_book(data, name=("a.json", "a.png", "a.charx", "a.risum", "a.md", "a.lorebook")[len(data) % 6])
    except ArmariusError:
        return


def manuscripts(data):
    kind = ("a.docx", "a.odt", "a.epub", "a.html", "a.rtf", "a.fountain")[len(data) % 6]
    try:
        extract(kind, data, limit=1 << 20)
    except (ArmariusError, Undecodable):
        return


def codex(data):
    parse_codex_json("codex.json", data.decode("utf-8", "replace")[:200_000])


def settings(data):
    text = data.decode("utf-8", "replace")
    for read in (lambda: settings_of(text, name="armarius.toml"), lambda: read_blocks(text)):
        try:
            read()
        except ArmariusError:
            continue


def continuations(data):
    try:
        Continuation.from_bytes(data)
    except ArmariusError:
        return


def parts(data):
    try:
        _core.CorpusPart.from_bytes(data)
    except ValueError:
        return


def patterns(data):
    text = data.decode("utf-8", "replace")
    pattern, _, body = text.partition("\n")
    try:
        _core.KeyPattern(pattern[:200], ignore_case=True).search(body)
    except ValueError:
        return


MOST = 200_000  # lines of Python for an input; one that does not move on passes any number


def profiles(data):
    text = data.decode("utf-8", "replace")
    kind = CARD_KINDS[len(data) % len(CARD_KINDS)]
    steps(lambda: parse_profiles("人物.md", text, kind), most=MOST)


def sections(data):
    text = data.decode("utf-8", "replace")
    steps(lambda: parse_page(text, lambda key: len(key) < 4), most=MOST)


TARGETS = {
    one.__name__: one
    for one in (
        matcher, counters, truncation, grams, decoder, prose, scanners, books, manuscripts, codex, settings,
        continuations, parts, patterns, profiles, sections,
    )
}  # fmt: skip

_WORDS = "甄宝玉见宝二爷，Eva said 宝玉! ＥＶＡ e\u0301va 민수는 二姐姐。\n\n第十二章 白鹭🇨🇳👨\u200d👩\u200d👧 "


def _made():
    """A continuation and a part as the package itself writes them."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, ARMARIUS_CACHE=f"{folder}/cache"):
        root = Path(folder, "p")
        root.mkdir()
        (root / "a.md").write_text("# 第一章\n\n" + _WORDS, "utf-8")
        with armarius.open(root, watch=False) as engine:
            continued = engine.assemble("宝玉见谁", document="a.md", budget=3000).continuation()
            part = parts_of(list(engine.documents()), EntityMatcher(PEOPLE))[0]
    return continued, part.part.to_bytes()


_CONTINUED, _PART = _made()
_PAGE = (
    "# 人物\n\n## 林默（主角）\n- 别名：阿默、小林\n### 关系\n- 小雨：妹妹\n\n"
    "| 姓名 | 年龄 |\n|---|---|\n| 小雨 | 16 |\n\n> # \n```\n"
)
SEEDS = {
    "matcher": [_WORDS.encode(), b"\x01" + "宝\ud800玉".encode("utf-8", "surrogatepass")],
    "counters": [bytes([n]) + _WORDS.encode() for n in range(9)],
    "truncation": [bytes([n, n, 20, n * 30]) + (_WORDS * 4).encode() for n in range(6)],
    "grams": [_WORDS.encode(), "“门，小雨”".encode()],
    "decoder": [_WORDS.encode(name, "replace") for name in ("utf-8", "gb18030", "big5", "utf-16", "shift_jis")],
    "prose": [b"---\ntitle: x\n---\n# A\n\nb\n\n```py\nx\n```\n\n- c\n  d\n", _WORDS.encode()],
    "scanners": [
        b"class A:\n    def f(self, x='''\n'''):\n        return {\n        }\n",
        b"function f(a) { /* } */ return `${'}'}`; }\nclass B { m() {} }",
    ],
    "books": [
        b'{"entries": {"0": {"uid": 0, "key": ["a"], "content": "b", "constant": true}}}',
        b'{"spec": "chara_card_v2", "data": {"name": "x", "character_book": {"entries": [{"keys": ["k"]}]}}}',
        b'{"lorebookVersion": 5, "entries": [{"text": "t", "keys": ["k"]}]}',
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + bytes(17) + b"\0\0\0\0tEXtchara\0e30=\0\0\0\0",
        b"PK\x03\x04" + bytes(26),
    ],
    "manuscripts": [
        b"<html><body><h1>A</h1><p>b</p></body></html>", b"{\\rtf1\\ansi a\\par \\u30333?b}",
        b"INT. HOUSE - DAY\n\nBOB\nHi.\n", b"PK\x03\x04" + bytes(26),
    ],
    "codex": [
        b'{"entities": [{"id": "a", "name": "A", "aliases": ["b"], "facts": [{"text": "t", "since": 3}]}]}',
        b'{"entities": [{"id": "a", "name": "A"}], "relations": [{"source": "a", "target": "a", "type": "x"}]}',
    ],
    "settings": [
        b'[documents]\nexclude = ["a/**"]\nmax_bytes = 10\n[kinds]\nchapter = ["x"]\n',
        b'[[entity]]\nid = "a"\nname = "A"\naliases = ["b"]\n\n[[relation]]\nid = "r"\n',
    ],
    "continuations": [_CONTINUED],
    "parts": [_PART],
    "profiles": [_PAGE.encode(), b"# \n\n- \n| |\n", _WORDS.encode()],
    "sections": [_PAGE.encode(), b"# \n\n- \n| |\n", b"---\ntitle: x\n---\n## ##\n[[\n"],
    "patterns": [b"(a|b)+c\naaabbbc", "(?i)宝.{0,3}玉\n宝二玉".encode()],
}  # fmt: skip
