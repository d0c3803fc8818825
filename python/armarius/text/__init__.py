"""Text and nothing else: names found in it, tokens counted, cut to a number of tokens, searched on disk.

matcher.py (`EntityMatcher`, over `rust/matching`)   name_model.py (what it heeds beside the aliases)
tokens.py (`TokenCounter`, over `rust/tokens`)   tokens.py   grep.py (over `rust/files`)
unicode.py (the one set of marks)   unicode.py (the ranges of scripts)   unicode.py (two spellings of one word)
unicode.py (which name was probably meant)

Thin: the rules are in the core, where they are tested without Python. Where a mention begins and ends is
`rust/matching/boundary.rs` and a row of tests/cases/matcher.json; an encoding of tokens is a row of
`rust/tokens/encodings.rs` and its models of `rust/tokens/models.json`. What must hold: `text[m.start:m.end]` is the
alias as written; spans are code points here, bytes in Rust; nothing here knows a project.
"""

from armarius.lazy import lazy

TABLE = {
    "text.grep": "ScanHit ScanHits",
    "text.matcher": "Match Matches Rejection",
    "text.name_model": "DoubtfulAlias LongerName NameModel RefusedName ShortName",
}

__getattr__, __all__ = lazy(__name__, TABLE)
