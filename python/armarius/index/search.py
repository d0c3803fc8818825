"""Full-text search: paragraphs that contain the terms, with the positions of the matches.

The full-text index of the store finds the paragraphs; the corpus ranks them (docs/decisions/0061).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import armarius._core as _core
from armarius._core import Corpus
from armarius.arguments import Kind, joined_scores
from armarius.corpus.part import by_words
from armarius.store.protocol import Passage, Store, TextQuery
from armarius.types import Evidence, Hit, Hits, PassageKey
from armarius.validation import whole

_SNIPPET = 80  # code points
_QUOTED = re.compile(r"[\"“「『«]([^\"“”「」『』«»]+)[\"”」』»]")


def terms_of(text: str) -> list[str]:
    """The terms of a search: quoted phrases whole, the rest parted at white space and punctuation."""
    quoted = _QUOTED.findall(text)
    rest = re.split(r"[\s,，、。；;！!？?：:…]+", _QUOTED.sub(" ", text))
    return list(dict.fromkeys(term for term in (*quoted, *rest) if _core.term_phrase(term)))


def is_quoted(text: str) -> bool:
    """Whether there is nothing but phrases in quotation marks: what is looked up word for word."""
    return bool(_QUOTED.search(text)) and not _QUOTED.sub("", text).strip()


def search(
    store: Store,
    corpus: Corpus,
    text: str,
    *,
    limit: int = 10,
    kinds: Sequence[Kind] = (),
    chapters: tuple[int | None, int | None] = (None, None),
    match: Literal["all", "any"] = "all",
    also: Sequence[str] = (),
    shown: Callable[[Passage], str] | None = None,
) -> Hits:
    """Paragraphs that contain every term of `text` (with `match="any"`, its rarest n-grams), best first.

    Args:
        store: The index.
        corpus: The corpus of the same texts.
        text: Plain text; there is no query syntax.
        limit: Maximum number of hits.
        kinds: Only documents of these kinds.
        chapters: Inclusive bounds on the chapter.
        match: "all" requires every term; "any" ranks by the terms that are present.
        also: Query variants. A paragraph that matches any of them is a hit; one that matches several ranks higher.
        shown: Returns the visible text of a paragraph, with hidden parts replaced by spaces.

    Raises:
        ContractError: `limit` is not an integer of at least 1.

    Cost: a full-text query per variant, a score of each matching paragraph, `limit` texts.
    """
    limit = whole("limit", limit, least=1)
    asked = (one.encode("utf-8", "replace").decode() for one in (text, *also))  # no text holds a lone surrogate
    query = TextQuery((), match, tuple(kinds), chapters, None)
    answers = [_search(store, corpus, one, query, limit, shown) for one in asked]
    if not also:
        return answers[0]
    first = {(hit.path, hit.paragraph): hit for hits in reversed(answers) for hit in hits}
    scores = [{(hit.path, hit.paragraph): hit.score for hit in hits} for hits in answers]
    found = [replace(first[key], score=score) for key, score in joined_scores(scores[0], scores[1:]).items()]
    return Hits(sorted(found, key=lambda hit: (-hit.score, hit.path, hit.start))[:limit])


def _search(
    store: Store,
    corpus: Corpus,
    text: str,
    query: TextQuery,
    limit: int,
    shown: Callable[[Passage], str] | None,
) -> Hits:
    terms = terms_of(text)
    if not terms:
        return Hits()
    words = terms if query.match == "all" else _core.text_grams(text)
    found = store.search(replace(query, terms=tuple(terms)))
    ordered = _ordered(corpus, words, [(hit.path, hit.paragraph) for hit in found])
    hits: list[Hit] = []
    at, wanted = 0, limit
    # A phrase of pairs may match across punctuation; such hits fall away, and more are looked at in their place.
    while len(hits) < limit and at < len(ordered):
        part = ordered[at : at + wanted]
        passages = {passage.key: passage for passage in store.passages([key for key, _ in part])}
        if shown is not None:
            passages = {key: replace(one, text=shown(one)) for key, one in passages.items()}
        read = [(passages[key], score) for key, score in part if key in passages]
        hits += _located(read, words, exact=query.match == "all")
        at, wanted = at + wanted, 4 * wanted
    return Hits(hits[:limit])


def _ordered(corpus: Corpus, words: Sequence[str], keys: Sequence[PassageKey]) -> list[tuple[PassageKey, float]]:
    """Best first, ties in project order; paragraphs that the corpus does not score (function words) last."""
    if not keys:
        return []
    scores = by_words(corpus, words)
    best = scores.strongest["paragraph"]
    scored = [(key, best * (scores.score_of(*key) or 0.0)) for key in keys]
    return sorted(scored, key=lambda one: (-one[1], one[0]))


def _located(hits: list[tuple[Passage, float]], terms: list[str], *, exact: bool) -> list[Hit]:
    texts = [passage.text for passage, _ in hits]
    missing = {i for i, text in enumerate(texts) if not text.strip()}
    if exact:
        for term in terms:
            missing |= {i for i, spans in enumerate(_core.find_terms(texts, [term])) if not spans}
    found = []
    for i, ((p, score), spans) in enumerate(zip(hits, _core.find_terms(texts, terms), strict=True)):
        if i not in missing:
            words = tuple(Evidence("fulltext", p.text[a:b], p.path, (p.start + a, p.start + b)) for a, b in spans)
            found.append(p.hit(score, words, _snippet(p.text, spans[0] if spans else (0, 0))))
    return found


def _snippet(text: str, span: tuple[int, int]) -> str:
    """One line around the span."""
    start = max(0, min((span[0] + span[1] - _SNIPPET) // 2, len(text) - _SNIPPET))
    return re.sub(r"\s+", " ", text[start : start + _SNIPPET])
