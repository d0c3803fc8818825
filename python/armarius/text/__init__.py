"""Text utilities: find names, count and truncate tokens, search files.

matcher.py  `EntityMatcher`, over `rust/matching`; search of a folder, over `rust/files`
tokens.py   `TokenCounter` and truncation, over `rust/tokens`
chat.py     messages for a host's language model, and its reply
unicode.py  punctuation, scripts, folding, similar names

The rules are in the core, where they are tested without Python. The boundaries of a mention are in
`rust/matching/boundary.rs` with rows in tests/cases/matcher.json; an encoding of tokens is a row of
`rust/tokens/encodings.rs`, its models are in `rust/tokens/models.json`. What must hold: `text[m.start:m.end]` is the
alias as written; spans are in code points here, in bytes in Rust; nothing here depends on a project.
"""

from armarius.doors import lazy

TABLE = {
    "text.chat": "ModelCall",
    "text.matcher": "Match Matches Rejection ScanHit ScanHits ShortName",
}

__getattr__, __all__ = lazy(__name__, TABLE)
