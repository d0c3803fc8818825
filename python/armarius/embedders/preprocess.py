"""Tokenization, batching, pooling and prompts.

As sentence-transformers: special tokens are added, texts are truncated to `max_length` tokens (special tokens
included), and token vectors are pooled over the attention mask. Only batching differs (by token count); padding is
masked, so results do not depend on it.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from armarius.embedders.folder import ModelFolder
from armarius.errors import EmbeddingError, MissingExtra
from armarius.store.vectors_protocol import Fingerprint, Vectors
from armarius.validation import cleaned

Pooling = Literal["mean", "cls", "max", "lasttoken"]

BATCH_TOKENS = 1024
"""Tokens of one forward pass. Measured with MiniLM on two cores: with 512 to 1,024 the activations stay in the CPU
cache; 4,096 (32 texts of 128) takes 20 % more time and four times the memory."""

MOST_TOKENS = 1_000_000
"""Upper bound of `max_seq_length` in a model's settings."""

_CHARS_PER_TOKEN = 64
_ENCODE_TEXTS = 64


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts of similar length, padded to the longest. ids and mask: int64, shape (n, length)."""

    rows: NDArray[np.intp]
    ids: NDArray[np.int64]
    mask: NDArray[np.int64]


class Tokens:
    """A tokenizer. Truncation and padding settings in `tokenizer.json` are overridden.

    Args:
        tokenizer: A `tokenizers.Tokenizer`.
        max_length: Tokens kept of each text, special tokens included; 0 keeps all.
        settings: Those of `tokenizer_config.json` that are followed: padding side, `add_eos_token`.

    Attributes:
        path: The tokenizer's file, part of the fingerprint.
    """

    def __init__(
        self,
        tokenizer: Any,  # noqa: ANN401 - it has no types
        max_length: int,
        settings: Mapping[str, Any] = MappingProxyType({}),
        path: Path = Path(),
    ) -> None:
        self.path, self._tokenizer = path, tokenizer
        self._max_length = max_length
        self._left = settings.get("padding_side") == "left"
        self._end = self._token(settings.get("eos_token")) if settings.get("add_eos_token") is True else None
        self._tokenizer.no_padding()
        if max_length:
            self._tokenizer.enable_truncation(max_length=max_length)
        else:
            self._tokenizer.no_truncation()

    @classmethod
    def read(
        cls, folder: ModelFolder, max_length: int, *, inside: Path | None = None, pooling: Pooling = "mean"
    ) -> "Tokens":
        """The tokenizer of a model folder.

        Args:
            folder: The model's folder.
            max_length: As for the class.
            inside: Subfolder that is searched for a tokenizer first.
            pooling: With `lasttoken` the settings of `tokenizer_config.json` count, because the result is read from
                the last token.
        """
        path, tokenizer = _load(folder, inside)
        settings = folder.json("tokenizer_config.json", "onnx/tokenizer_config.json") if pooling == "lasttoken" else {}
        return cls(tokenizer, max_length, settings, path)

    @property
    def vocabulary(self) -> int:
        """One more than the largest token id."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1

    @property
    def unknown(self) -> int | None:
        """The id of the unknown token, or None."""
        model = json.loads(self._tokenizer.to_str())["model"]
        if model.get("unk_id") is not None:
            return int(model["unk_id"])
        token = model.get("unk_token")
        token_id: int | None = None if token is None else self._tokenizer.token_to_id(token)
        return token_id

    @property
    def median_length(self) -> int:
        """Median length of the vocabulary's tokens, in characters."""
        return int(np.median([len(token) for token in self._tokenizer.get_vocab(with_added_tokens=True)] or [0]))

    def encode(self, texts: Sequence[str], *, special: bool = True) -> list[list[int]]:
        """Token ids of each text; lone surrogates become U+FFFD.

        Before tokenization a text is truncated to 64 characters per kept token, so that the cost depends on
        `max_length`, not on the length of the text.
        """
        limit = self._max_length * _CHARS_PER_TOKEN or None
        out: list[list[int]] = []
        for start in range(0, len(texts), _ENCODE_TEXTS):
            clean = [cleaned(text[:limit]) for text in texts[start : start + _ENCODE_TEXTS]]
            out += [encoding.ids for encoding in self._tokenizer.encode_batch_fast(clean, add_special_tokens=special)]
        return out if self._end is None else [self._add_end(ids, self._end) for ids in out]

    def _add_end(self, ids: list[int], end: int) -> list[int]:
        if ids and ids[-1] == end:
            return ids
        return [*(ids[: self._max_length - 1] if self._max_length else ids), end]

    def _token(self, named: object) -> int | None:
        content = named.get("content") if isinstance(named, dict) else named
        token_id: int | None = self._tokenizer.token_to_id(content) if isinstance(content, str) else None
        return token_id

    def batches(self, texts: Sequence[str], batch_tokens: int = BATCH_TOKENS) -> Iterator[Batch]:
        """Batches of at most `batch_tokens` tokens (at least one text), longest first, ties by position."""
        encoded = self.encode(texts)
        order = sorted(range(len(encoded)), key=lambda row: -len(encoded[row]))
        start = 0
        while start < len(order):
            length = max(1, len(encoded[order[start]]))
            rows = order[start : start + max(1, batch_tokens // length)]
            start += len(rows)
            ids = np.zeros((len(rows), length), np.int64)
            mask = np.zeros((len(rows), length), np.int64)
            for place, row in enumerate(rows):
                count = len(encoded[row])
                there = slice(length - count, length) if self._left else slice(0, count)
                ids[place, there] = encoded[row]
                mask[place, there] = 1
            yield Batch(np.asarray(rows, np.intp), ids, mask)


def pool(hidden: Vectors, mask: NDArray[np.int64], pooling: str) -> Vectors:
    """One vector per text from token vectors.

    Args:
        hidden: float32, shape (n, length, d).
        mask: 1 for a token, 0 for padding, shape (n, length).
        pooling: mean over the tokens (special tokens included), the first token, the maximum, or the last token.

    Returns:
        float32, shape (n, d), not normalised.
    """
    rows = np.arange(len(hidden))
    if pooling == "cls":
        return np.ascontiguousarray(hidden[rows, mask.argmax(axis=1)])
    if pooling == "lasttoken":
        return np.ascontiguousarray(hidden[rows, mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)])
    if pooling == "max":
        largest: Vectors = np.where(mask[:, :, None] > 0, hidden, np.float32(-1e9)).max(axis=1)
        return largest
    weights = mask.astype(np.float32)
    total = np.matmul(weights[:, None, :], hidden)[:, 0]
    mean: Vectors = total / np.maximum(weights.sum(axis=1, keepdims=True), np.float32(1e-9))
    return mean


def pooling_of(folder: ModelFolder, silent: Pooling = "mean") -> Pooling:
    """The pooling in `1_Pooling/config.json`; `silent` if there is none.

    Raises:
        EmbeddingError: An unsupported pooling, several at once, or one that excludes the prompt's tokens.
    """
    settings = folder.json("1_Pooling/config.json")
    if isinstance(settings.get("pooling_mode"), str):
        wanted = [settings["pooling_mode"]]
    else:
        names = {
            "pooling_mode_mean_tokens": "mean",
            "pooling_mode_cls_token": "cls",
            "pooling_mode_max_tokens": "max",
            "pooling_mode_lasttoken": "lasttoken",
        }
        wanted = [
            names.get(key, key) for key, value in settings.items() if key.startswith("pooling_mode") and value is True
        ]
    if not wanted:
        return silent
    for pooling in get_args(Pooling):
        if wanted == [pooling]:
            if pooling in ("mean", "max") and settings.get("include_prompt") is False:
                raise folder.unsupported("its pooling leaves prompts out", "Supported: include_prompt true")
            chosen: Pooling = pooling
            return chosen
    raise folder.unsupported(f"its pooling is {' + '.join(wanted)}", f"Supported: {', '.join(get_args(Pooling))}")


def _load(folder: ModelFolder, inside: Path | None) -> tuple[Path, Any]:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtra("an embedding model", "semantic") from error
    preferred = [] if inside is None else [str((inside / "tokenizer.json").relative_to(folder.path))]
    path = folder.require(*preferred, "tokenizer.json", "onnx/tokenizer.json", "vocab.txt")
    try:
        if path.name == "tokenizer.json":
            return path, Tokenizer.from_buffer(folder.read(path))
        lowercase = bool(folder.json("tokenizer_config.json").get("do_lower_case", True))
        return path, _word_pieces(folder.read(path).decode("utf-8"), lowercase)
    except EmbeddingError:
        raise
    except Exception as error:  # the tokenizers package raises bare Exception
        raise folder.broken(path, f"is not a tokenizer ({error})") from error


def _word_pieces(vocabulary: str, lowercase: bool) -> Any:  # noqa: ANN401
    """BERT's tokenizer from `vocab.txt`, as transformers builds it."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import BertProcessing

    lines = vocabulary.removesuffix("\n").split("\n")
    tokens = {line.rstrip(): number for number, line in enumerate(lines)}
    model = WordPiece(tokens, unk_token="[UNK]", max_input_chars_per_word=100)  # noqa: S106
    tokenizer = Tokenizer(model)
    ids: dict[str, int] = {}
    for token in ("[CLS]", "[SEP]", "[UNK]"):
        token_id = tokenizer.token_to_id(token)
        if token_id is None:
            raise ValueError(f"it lacks {token}")
        ids[token] = token_id
    tokenizer.normalizer = BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    return tokenizer


_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_BGE_ZH = "为这个句子生成表示以用于检索相关文章："
_BGE_EN = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class Family:
    """Models with the same default settings.

    Attributes:
        name: Regular expression, searched in the lower-case name of the model.
        pooling: Default pooling. All families normalise.
        query: Prefix of each query.
        document: Prefix of each paragraph.
    """

    name: str
    pooling: Pooling
    query: str = ""
    document: str = ""


FAMILIES = (
    Family(r"\be5\b.*\binstruct", "mean", f"{_INSTRUCT} "),
    Family(r"\be5\b", "mean", "query: ", "passage: "),
    Family(r"\bbge (small|base|large) zh", "cls", _BGE_ZH),
    Family(r"\bbge (small|base|large) en", "cls", _BGE_EN),
    Family(r"\bbge m3\b", "cls"),
    Family(r"\bqwen3 embedding", "lasttoken", _INSTRUCT),
    Family(r"\bgte qwen2\b", "lasttoken", f"{_INSTRUCT} "),
    Family(r"\bgte (multilingual|(base|large) en v1 5|(small|base|large) zh)", "cls"),
    Family(r"\bgte (small|base|large)", "mean"),
)
"""The first match is used. Source: the model cards of intfloat, BAAI, Qwen, thenlper and Alibaba-NLP."""


def family_of(folder: ModelFolder) -> Family | None:
    """The family of a model, by its folder's name or `config.json`; None if it is unknown."""
    path = folder.path.resolve()
    names = [path.name]
    if path.parent.name == "snapshots":  # a model cache: models--intfloat--e5-base/snapshots/1c644c…
        names.append(path.parent.parent.name)
    original = folder.json("config.json").get("_name_or_path")
    if isinstance(original, str):
        names.append(original.rstrip("/").rpartition("/")[2])
    words = " / ".join(re.sub(r"[^a-z0-9]+", " ", name.lower()) for name in names)
    return next((family for family in FAMILIES if re.search(family.name, words)), None)


_FILE = "config_sentence_transformers.json"
_QUERY = ("query",)
_DOCUMENT = ("document", "passage", "corpus")
_LONGEST = 4_000


@dataclass(frozen=True, slots=True)
class EmbeddingPrompts:
    """Prefixes of queries and documents; "" is none."""

    query: str = ""
    document: str = ""


def prompts_of(folder: ModelFolder, *, query: str | None = None, document: str | None = None) -> EmbeddingPrompts:
    """The prompts of a model: the caller's, else the folder's, else those of its family.

    The folder's are in `config_sentence_transformers.json`: `prompts` by name (query; document, passage or corpus), and
    `default_prompt_name` as the fallback. If all are empty those of the family are used, because E5 and BGE were
    published before that file could contain prompts.

    Raises:
        EmbeddingError: Prompts that are not strings, or a default name that is not among them.
    """
    settings = folder.json(_FILE)
    texts, default = settings.get("prompts") or {}, settings.get("default_prompt_name")
    path = folder.first(_FILE) or folder.path
    if not isinstance(texts, dict) or not all(
        isinstance(text, str) and len(text) <= _LONGEST for text in texts.values()
    ):
        raise folder.broken(
            path, f"says prompts {str(texts)[:80]!r}, expected texts of at most {_LONGEST:,} characters"
        )
    if default is not None and default not in texts:
        raise folder.broken(path, f"says default_prompt_name {str(default)[:80]!r}, which none of its prompts has")
    if any(texts.values()):
        result = EmbeddingPrompts(_first_prompt(texts, _QUERY, default), _first_prompt(texts, _DOCUMENT, default))
    else:
        family = family_of(folder)
        result = EmbeddingPrompts(family.query, family.document) if family else EmbeddingPrompts()
    return EmbeddingPrompts(result.query if query is None else query, result.document if document is None else document)


def prompted(prompt: str, texts: Sequence[str]) -> Sequence[str]:
    """Prefix each text with `prompt`."""
    return [prompt + text for text in texts] if prompt else texts


@dataclass(frozen=True, slots=True)
class Settings:
    """How texts become vectors around a model's forward pass; see `armarius.embedders.safetensors`."""

    max_length: int
    pooling: Pooling
    normalise: bool
    prompts: EmbeddingPrompts


class PromptedEmbedder:
    """An `Embedder` with one method `embed`, and prompts before queries and documents."""

    __slots__ = ()

    fingerprint: Fingerprint
    query_prompt: str

    def embed_queries(self, texts: Sequence[str], /) -> Vectors:
        """As `embed`, with the query prompt before each text."""
        return self.embed(prompted(self.query_prompt, texts))

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """As `embed`, with the document prompt before each text."""
        return self.embed(prompted(self.fingerprint.document_prompt, texts))

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """One vector per text, without a prompt: float32, shape (n, dimension)."""
        raise NotImplementedError


def _first_prompt(texts: dict[str, str], names: tuple[str, ...], default: str | None) -> str:
    """The first prompt of `names` that is not empty; the default only if none of `names` is there at all."""
    there = [texts[name] for name in names if name in texts]
    if there:
        return next((prompt for prompt in there if prompt), "")
    return texts[default] if default is not None else ""
