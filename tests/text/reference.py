"""Reference counters: other implementations over the same vocabularies.

o200k_base and cl100k_base are `tiktoken`'s own encodings with the embedded ranks, whose SHA-256 in OpenAI's file
format is the published one. The others are `tiktoken`'s merging with the splitting pattern of the model's
`tokenizer.json`; DeepSeek's three nested splits need Hugging Face `tokenizers`.
"""

import base64
import hashlib
import itertools
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import tiktoken
import tiktoken_ext.openai_public as openai
import tokenizers
from tokenizers import pre_tokenizers

VOCAB = Path(__file__).parents[2] / "rust/tokens/vocab"
BASE = dict.fromkeys(("qwen2", "qwen35", "glm4"), "cl100k_base") | {"glm5": "glm4"}

_TAIL = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_GLM = rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_TAIL}"
_MARKS = rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_TAIL}"
_UP, _LOW = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"


def _cased(up: str, low: str, suffix: str, number: str, tail: str) -> str:
    first = r"[^\r\n\p{L}\p{N}]?"
    words = rf"{first}[{up}]*[{low}]+{suffix}|{first}[{up}]+[{low}]*{suffix}"
    return rf"{words}|{number}| ?[^\s\p{{L}}\p{{N}}]+[{tail}]*|{_TAIL}"


_NO_HAN = r"&&[^\p{Han}]"
PATTERNS = {
    "glm4": _GLM,
    "glm5": _GLM,
    "qwen2": _GLM.replace("{1,3}", ""),
    "qwen35": _MARKS,
    "mistral_v3": _cased(_UP, _LOW, "", r"\p{N}", r"\r\n/"),
    "kimi_k2": r"[\p{Han}]+|" + _cased(_UP + _NO_HAN, _LOW + _NO_HAN, _CONTRACTION + "?", r"\p{N}{1,3}", r"\r\n"),
}
_DEEPSEEK = (
    r"\p{N}{1,3}",
    "[一-龥\u3040-\u309f\u30a0-\u30ff]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"| ?[\p{P}\p{S}]+[\r\n]*|" + _TAIL,
)


def _read(name: str) -> list[bytes]:
    """The list of `vocab/build.py`: runs over a base, then the file's own tokens grouped by length."""
    data = (VOCAB / f"{name}.bin").read_bytes()
    at = 8

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte, at = data[at], at + 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    runs = [(number(), number(), number()) for _ in range(int.from_bytes(data[4:8], "little"))]
    lengths = [number() for _ in range(sum(own for _, _, own in runs))]
    sizes, cursor = Counter(lengths), {}
    for length in sorted(sizes):
        cursor[length], at = at, at + length * sizes[length]
    own = []
    for length in lengths:
        own.append(data[cursor[length] : cursor[length] + length])
        cursor[length] += length
    base = iter(_read(BASE[name]) if name in BASE else ())
    added, tokens = iter(own), []
    for skip, copy, new in runs:
        tokens += [*itertools.islice(base, skip, skip + copy), *itertools.islice(added, new)]
    return tokens


@cache
def vocabulary(name: str) -> tuple[bytes, ...]:
    """Tokens in rank order."""
    return tuple(_read(name))


def published_hash(name: str) -> str:
    """SHA-256 of the vocabulary in the format of OpenAI's `.tiktoken` files."""
    lines = (base64.b64encode(t) + b" %d\n" % i for i, t in enumerate(vocabulary(name)))
    return hashlib.sha256(b"".join(lines)).hexdigest()


def _deepseek(tokens: tuple[bytes, ...]) -> tokenizers.Tokenizer:
    ranks = {token: i for i, token in enumerate(tokens)}
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    letters = {b: chr(b) for b in printable} | {b: chr(256 + i) for i, b in enumerate(others)}

    def spell(token: bytes) -> str:
        return "".join(letters[b] for b in token)

    def halves(token: bytes) -> tuple[str, str]:
        parts = [token[i : i + 1] for i in range(len(token))]
        while len(parts) > 2:
            pairs = itertools.pairwise(parts)
            _, i = min((ranks.get(a + b, len(ranks)), i) for i, (a, b) in enumerate(pairs))
            parts[i : i + 2] = [parts[i] + parts[i + 1]]
        return spell(parts[0]), spell(parts[1])

    vocab = {spell(token): i for i, token in enumerate(tokens)}
    model = tokenizers.models.BPE(vocab=vocab, merges=[halves(t) for t in tokens if len(t) > 1])
    tokenizer = tokenizers.Tokenizer(model)
    splits = [pre_tokenizers.Split(tokenizers.Regex(p), "isolated") for p in _DEEPSEEK]
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*splits, byte_level])
    return tokenizer


@cache
def deepseek() -> tokenizers.Tokenizer:
    """DeepSeek V3 as a Hugging Face tokenizer."""
    return _deepseek(vocabulary("deepseek_v3"))


@cache
def reference(name: str) -> Callable[[str], int]:
    """Count with another implementation."""
    if name == "deepseek_v3":
        return lambda text: len(deepseek().encode(text).ids)
    ranks = {token: i for i, token in enumerate(vocabulary(name))}
    if name in PATTERNS:
        encoding = tiktoken.Encoding(name, pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={})
    else:
        load, openai.load_tiktoken_bpe = openai.load_tiktoken_bpe, lambda *_, **__: ranks
        try:
            encoding = tiktoken.Encoding(**getattr(openai, name)())
        finally:
            openai.load_tiktoken_bpe = load
    if name.startswith("qwen"):
        return lambda text: len(encoding.encode(unicodedata.normalize("NFC", text), disallowed_special=()))
    return lambda text: len(encoding.encode(text, disallowed_special=()))
