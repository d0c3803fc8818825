"""From a file to a document: bytes decoded, paragraphs cut, headings read, kind and chapter told.

document.py (a file, a folder, to documents)   decode.py (bytes to text: `decode` says which encoding, or why none)
segments.py (paragraphs)   definitions.py (of source code)
classify.py (what kind a file is)   titles.py (front matter, and what a title announces)
kinds.py (words of kinds, patterns of the configuration)   language.py   live.py (the open document)
numerals.py (the numbers of chapters)

An encoding of files is `decode.py` (one of tokens is `rust/tokens`). What a name says of a file is a word of
`lexicon/kinds.toml`, the order of the evidence `classify.py`. What must hold: one byte sequence is one document, in
every process; paragraphs stand in the order of the text, their spans in code points, half-open; what is no document
is skipped with its reason; links are not followed; linear in the text.
"""

from armarius.lazy import lazy

TABLE = {
    "documents.classify": "Kind",
    "documents.document": "Documents Skipped",
    "documents.segments": "Role",
    "documents.titles": "FrontMatter",
}

__getattr__, __all__ = lazy(__name__, TABLE)
