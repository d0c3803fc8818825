"""Which texts get a vector, and exactly what is embedded for each."""

import hashlib

from armarius.documents.document import Document

__all__ = ["embedded_texts", "text_hash"]

_LETTERS_AT_LEAST = 4
_NAMED_BY_HEADING = frozenset({"setting", "outline", "note"})


def embedded_texts(document: Document) -> dict[int, str]:
    """The text to embed for each paragraph, by paragraph index.

    Only body paragraphs with at least four letters or digits: shorter ones ("好。") are similar to everything. In
    settings, outlines and notes the heading is prepended, because a line of a profile does not repeat the entity's
    name. Code is not embedded: the models are trained on prose, and symbol names find code better.
    """
    if document.kind == "code":
        return {}
    named = document.kind in _NAMED_BY_HEADING
    found = {}
    for paragraph in document.paragraphs:
        text = document.text[paragraph.start : paragraph.end]
        if paragraph.role != "body" or not _is_embeddable(text):
            continue
        heading = paragraph.heading_path[-1] if named and paragraph.heading_path else ""
        found[paragraph.index] = f"{heading}\n{text}" if heading else text
    return found


def text_hash(text: str) -> bytes:
    """BLAKE2b-128 of an embedded text: equal hash, equal vector."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _is_embeddable(text: str) -> bool:
    letters = 0
    for char in text:
        letters += char.isalnum()
        if letters >= _LETTERS_AT_LEAST:
            return True
    return False
