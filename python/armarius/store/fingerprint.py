"""The fingerprint that keeps vectors of different models apart."""

import json
from dataclasses import asdict, dataclass, field, fields

from armarius.errors import DimensionMismatch, EmbeddingError

__all__ = ["Fingerprint", "require_same"]

_SHA256 = 64


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Everything that decides which vector a text gets; vectors mix only when fingerprints are equal.

    Attributes:
        name: The model folder's name or the built-in embedder's; for people, not compared.
        model: SHA-256 (hex) over weights and tokenizer files, or the built-in scheme with its version.
        dimension: Length of a vector.
        max_length: Tokens kept of each text, special tokens included; 0 is unlimited.
        pooling: mean, cls, max, or what the embedder does instead.
        normalise: Whether vectors are L2-normalised.
        dtype: Precision of the forward pass.
        document_prompt: Prefix of each text. Stored vectors do not depend on the prefix of queries.
    """

    name: str = field(compare=False)
    model: str
    dimension: int
    max_length: int = 0
    pooling: str = "mean"
    normalise: bool = False
    dtype: str = "float32"
    document_prompt: str = ""

    def to_json(self) -> str:
        """One line of JSON with sorted keys, as recorded in the index."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Fingerprint":
        """The fingerprint that `to_json` wrote.

        Raises:
            EmbeddingError: The text is not a fingerprint.
        """
        try:
            raw = json.loads(text)
            raw.setdefault("document_prompt", "")  # of before there were prompts
            return cls(**{item.name: raw[item.name] for item in fields(cls)})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise EmbeddingError(
                f"the index holds an unreadable fingerprint {text[:80]!r}; run `armarius embed`"
            ) from error

    def __str__(self) -> str:
        limit = f", {self.max_length} tokens" if self.max_length else ""
        scale = "normalised" if self.normalise else "not normalised"
        model = self.model[:12] if len(self.model) == _SHA256 else self.model
        prompt = f", before documents {self.document_prompt!r}" if self.document_prompt else ""
        return f"{self.name} ({self.dimension} dimensions, {self.pooling}{limit}, {scale}{prompt}, {model})"


def require_same(stored: Fingerprint, given: Fingerprint) -> None:
    """Refuse to mix vectors of two models.

    Raises:
        DimensionMismatch: Names both fingerprints, what differs, and the way out.
    """
    if stored == given:
        return
    differing = [
        item.name
        for item in fields(Fingerprint)
        if item.compare and getattr(stored, item.name) != getattr(given, item.name)
    ]
    raise DimensionMismatch(
        f"the index holds vectors of {stored}, the embedder is {given}; different: {', '.join(differing)}. "
        "engine.reembed() (or `armarius embed --reembed`) replaces them while the old ones keep answering"
    )
