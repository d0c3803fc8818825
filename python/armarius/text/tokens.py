"""Count the tokens of a text for a model.

>>> TokenCounter.for_model("deepseek-chat")
TokenCounter('deepseek_v3', exact)
>>> TokenCounter.for_model("gpt-4o").count("林黛玉推开门走了进来。")
12
>>> TokenCounter.for_model("claude-opus-4").note
'estimate: Anthropic publishes no tokenizer for its current models'
"""

import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from typing import Final, Literal

import armarius._core as _core
from armarius.errors import ContractError, CounterError
from armarius.text.unicode import grapheme_floor
from armarius.validation import near, shown, suggestion, valid_text, whole

_LONGEST = 64  # characters of a model's name that are varied
_LETTERS = string.ascii_lowercase
_HALF_A_VERSION = re.compile(r"\d\.(?!\d)")


class TokenCounter:
    """Counts tokens; immutable and safe to share between threads.

    Made by one of the constructors below. Control tokens that are written out in a text
    (`<|endoftext|>`, `[INST]`) count as the ordinary text they are. Nothing is downloaded: the
    vocabularies are part of the package, and the tables of an encoding are built when it is first
    asked for.

    Exactness, proved in tests/text: o200k_base and cl100k_base equal `tiktoken` (and their
    vocabularies hash to the files OpenAI publishes); the others equal `tiktoken`'s merging, DeepSeek's
    equals Hugging Face `tokenizers`, over the same vocabulary with the published splitting pattern.

    Cost: linear in the text for any content; see benches/results for speeds. Texts over 16 KiB are counted without the
    GIL.
    Source: byte pair encoding after Sennrich et al. 2016, merging by rank as `tiktoken` does.
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.TokenCounter) -> None:
        if not isinstance(core, _core.TokenCounter):
            raise _counter_error(core)
        self._core: Final = core

    @classmethod
    def for_model(cls, model: str) -> "TokenCounter":
        """The counter for a model, by the name its provider gives it.

        Provider paths, dates and sizes are read past: `openai/gpt-5.6`, `gpt-4o-2024-08-06`,
        `us.anthropic.claude-sonnet-4-20250514-v1:0`. Which family uses what is dated data in
        rust/tokens/models.json. An unknown model, or one without a published tokenizer (Claude, Gemini), gets the
        estimate; an alias that moves between generations gets the nearest encoding, its name prefixed with `~`. Both
        are not `exact`, and `note` says why.

        Args:
            model: Any text, in any case.

        Raises:
            ContractError: `model` is no str, holds a lone surrogate, or has more than 4,096 code points.
        """
        return cls(_core.TokenCounter.for_model(valid_text("model", model)))

    @classmethod
    def for_encoding(cls, encoding: str) -> "TokenCounter":
        """The counter of an embedded encoding, by name (`TokenCounter.encodings()`) or short name.

        Short names: o200k, cl100k, deepseek, qwen (Qwen 2 to 3), qwen3.5, glm (GLM 4), kimi, mistral (Tekken).

        Raises:
            CounterError: No such encoding; the message lists those there are, `near` holds the closest.
            ContractError: `encoding` is no text, or holds a lone surrogate.
        """
        try:
            return cls(_core.TokenCounter.for_encoding(valid_text("encoding", encoding)))
        except CounterError as error:
            close = near(encoding, cls.encodings())
            raise CounterError(f"{error.message}{suggestion(close)}", close) from None

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> "TokenCounter":
        """The counter of a Hugging Face `tokenizer.json`, through the `tokenizers` crate.

        Counts are those of `encode(text, add_special_tokens=False)`, control tokens as ordinary text.
        Such a counter is exact for its file, slower than the embedded ones, and not `additive`.

        Raises:
            CounterError: The file is missing or is no tokenizer; the message names it.
        """
        return cls(_core.TokenCounter.from_file(path))

    @classmethod
    def estimate(cls) -> "TokenCounter":
        """The estimate of last resort: 1.5 tokens a CJK character, 0.25 every other byte, rounded up."""
        return cls(_core.TokenCounter.estimate())

    @staticmethod
    def knows(model: str) -> bool:
        """Whether the family of `model` is in the data; a known one may still have no published tokenizer."""
        return _core.TokenCounter.knows(valid_text("model", model))

    @classmethod
    def near(cls, model: str) -> tuple[str, ...]:
        """Names of known models, at most three, that `model` becomes by changing one character; best first.

        A missing hyphen (`gpt4`) and two characters in the wrong order (`gtp-4o`) before the others.

        Cost: about 55 look-ups per character of a name that has no such neighbour.
        Source: candidates at edit distance one, Norvig, How to Write a Spelling Corrector, 2007.
        """
        path, slash, name = model.strip().lower().rpartition("/")
        edits = (edit for edit in _edits(name[:_LONGEST]) if not _HALF_A_VERSION.search(edit))
        names = (path + slash + edit for edit in edits if cls.knows(edit))
        return tuple(islice(dict.fromkeys(names), 3))

    @staticmethod
    def encodings() -> list[str]:
        """Names of the embedded encodings."""
        return _core.TokenCounter.encodings()

    @property
    def name(self) -> str:
        """What results carry: an encoding (`o200k_base`), a file name, `estimate`, or `~` and a related encoding."""
        return self._core.name

    @property
    def encoding(self) -> str | None:
        """The embedded encoding behind this counter; None for files and the estimate."""
        return self._core.encoding

    @property
    def exact(self) -> bool:
        """Whether counts equal those of the model's own tokenizer."""
        return self._core.exact

    @property
    def note(self) -> str:
        """In a sentence, why this counter, and why not an exact one."""
        return self._core.note

    @property
    def additive(self) -> bool:
        r"""Whether counts of joined sections add up.

        When true, for every `a` and every `b` with `starts_safely(b)`:

            count(a + "\n\n" + b) == count(a + "\n\n") + count(b)

        The separator is counted with what stands before it, because most encodings have tokens such as
        `".\n\n"`; any separator that ends with a line end will do. False for files and the
        estimate; the estimate of a whole is never more than the sum over its parts.
        """
        return self._core.additive

    def count(self, text: str) -> int:
        """Number of tokens of `text`, >= 0.

        Raises:
            ContractError: `text` is no str, or holds a lone surrogate.
            CounterError: A tokenizer file that cannot encode this text.
        """
        try:
            return self._core.count(text)
        except (TypeError, UnicodeEncodeError):
            valid_text("text", text)
            raise

    def count_batch(self, texts: Iterable[str]) -> list[int]:
        """`count` of each text, in the order given; one crossing, in parallel over 16 KiB in all."""
        batch = list(texts)
        try:
            return self._core.count_batch(batch)
        except (TypeError, UnicodeEncodeError):
            for at, item in enumerate(batch):
                valid_text(f"texts[{at}]", item)
            raise

    def upper_bound(self, text: str) -> int:
        """A number that the model's own count cannot exceed; equal to `count` when that is exact.

        Otherwise the bytes of the text, in the longer of its own and its NFKC form, plus one: a token stands
        for at least one byte of what the tokenizer sees. That is a proof, not a forecast: English usually
        needs a quarter of it, Chinese half.
        """
        return self._core.upper_bound(text)

    def join_cost(self, text: str, separator: str = "\n\n") -> int:
        """Tokens that `separator` adds when it follows `text`: 0 when it merges with the end of the text."""
        before, after = self._core.count_batch([text, text + separator])
        return after - before

    def starts_safely(self, text: str) -> bool:
        """Whether `text` may follow a line end without changing how either side is counted.

        True unless it starts with white space or, in o200k and Mistral, with `/`; always false when the
        counter is not `additive`.
        """
        return self._core.starts_safely(text)

    def __repr__(self) -> str:
        return f"TokenCounter({self.name!r}, {'exact' if self.exact else 'approximate'})"


def _counter_error(value: object) -> CounterError:
    """A name given to the constructor is answered with the constructor that takes it."""
    if not isinstance(value, str):
        return CounterError(f"TokenCounter takes no {type(value).__name__}; use for_model, for_encoding or from_file")
    if TokenCounter.knows(value):
        return CounterError(f"{value!r} is a model: use TokenCounter.for_model({value!r})", (value,))
    close = near(value, TokenCounter.encodings()) or TokenCounter.near(value)
    what = f"{value!r} is not a counter: use TokenCounter.for_model(name) or TokenCounter.for_encoding(name)"
    return CounterError(f"{what}{suggestion(close)}", close)


def _edits(name: str) -> Iterator[str]:
    """Names one change away from `name`: a hyphen more, two characters swapped, one less, a letter more or another.

    No digit is put in, since that would make up a version.
    """
    cuts = [(name[:at], name[at:]) for at in range(len(name) + 1)]
    yield from (f"{left}-{right}" for left, right in cuts if right and left[-1:].isalpha())
    yield from (left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1)
    yield from (left + right[1:] for left, right in cuts if right)
    yield from (left + letter + right for left, right in cuts for letter in _LETTERS)
    yield from (left + letter + right[1:] for left, right in cuts if right for letter in _LETTERS)


# A token rarely stands for more than this many characters; where it does (blanks, rules of `=`), the window
# that was looked at turns out not to settle the answer and the whole text is looked at.
_CHARACTERS_PER_TOKEN = 16
_SLACK = 64


@dataclass(frozen=True, slots=True)
class Truncated:
    """What stays of a text.

    Attributes:
        text: The piece; equals the original's `[start:end]`.
        start: Offset of its first code point in the original.
        end: Offset behind its last code point.
        tokens: Its exact count by the counter used, at most what was allowed.
        truncated: Whether anything is missing.
    """

    text: str
    start: int
    end: int
    tokens: int
    truncated: bool


def truncate(
    text: str,
    max_tokens: int,
    *,
    keep: Literal["head", "tail", "around"] = "head",
    anchor: int | None = None,
    boundary: Literal["sentence", "paragraph", "character"] = "sentence",
    counter: TokenCounter | None = None,
) -> Truncated:
    r"""The longest piece of `text` of at most `max_tokens` tokens that is cut at a `boundary`.

    Never inside a user-perceived character. A sentence ends behind 。！？… and . ! ? with the quotes and
    brackets that close it, and where a line ends; not behind abbreviations, initials, decimals or dots
    in names. When not even one sentence (or paragraph) fits, the next finer boundary is used. A head ends
    before the blanks that follow its last sentence, a tail starts behind those that precede its first.

    Args:
        text: Any str; a text that fits is returned whole.
        max_tokens: At least 0; with 0, or when no character fits, the piece is empty.
        keep: `head`, `tail`, or `around`: what stands around `anchor`. There the text before it gets up to
            half of the budget, the text behind it the rest; when that reaches the end of the text,
            the start moves back as far as the budget allows.
        anchor: Offset in code points, required with `keep="around"` and ignored otherwise.
        boundary: Where the cut may be made.
        counter: What counts; o200k_base when None.

    Raises:
        ContractError: `max_tokens` is negative; `keep` or `boundary` is another word; `anchor` is missing or
            outside the text.
        ContractError: A lone surrogate.

    Cost: follows the budget, not the text: only a window around the piece is read and counted. Counters of
    tokenizer files count that window some twenty times.
    """
    max_tokens = whole("max_tokens", max_tokens)
    if not isinstance(text, str):
        raise ContractError(f"text must be a text, got {shown(text)}")
    if not isinstance(counter, TokenCounter | None):
        raise ContractError(f"counter must be a TokenCounter, got {shown(counter)}")
    try:
        return _truncate_text(
            text, max_tokens, keep, anchor, boundary, counter or TokenCounter.for_encoding("o200k_base")
        )
    except UnicodeEncodeError as problem:
        raise ContractError(f"text: {problem.object[problem.start]!a} is a lone surrogate, which is no text") from None


def _truncate_text(
    text: str, max_tokens: int, keep: str, anchor: int | None, boundary: str, counter: TokenCounter
) -> Truncated:
    length = len(text)
    if keep == "around" and (type(anchor) is not int or not 0 <= anchor <= length):
        raise ContractError(f"keep='around' needs an anchor between 0 and {length}, got {shown(anchor)}")
    core = counter._core
    middle = {"head": 0, "tail": length}.get(keep, anchor or 0)
    reach = (max_tokens + _SLACK) * _CHARACTERS_PER_TOKEN
    low, high = grapheme_floor(text, max(0, middle - reach)), min(length, middle + reach)
    window = text if (low, high) == (0, length) else text[low:high]
    cut = _core.truncate(window, max_tokens, keep, middle - low, boundary, core)
    inside = cut.settled and (low == 0 or cut.start > 0) and (high == length or cut.end < high - low)
    if not inside and window is not text:
        low = 0
        cut = _core.truncate(text, max_tokens, keep, middle, boundary, core)
    start, end = low + cut.start, low + cut.end
    return Truncated(text[start:end], start, end, cut.tokens, (start, end) != (0, length))
