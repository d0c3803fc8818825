"""Retrieval: paragraphs for a prompt, documents for a reader, and the reasons for each.

query/ (names, chapters, relations, words of a question)   corpus.py (texts and indexes of a project)
thesaurus.py (synonyms; WordNet is in thesaurus/)   rank.py (scores of all paragraphs)   scope.py (what is no candidate)
models.py (nearest texts by meaning, rerankers)   passages.py (paragraphs for a prompt)
order.py retrieve.py hits.py (documents and sections)   explain.py (reasons of a hit)
reading.py (requests that read chapters)   signals.py (callers and called code; what sums chapters up)
contradictions/ (statements that disagree)

The core (`rust/corpus`) computes the scores. Invariants: deterministic; no word list but closed classes and
dictionaries of others; a constant is chosen leave one book out, and its page says what it moves
(docs/decisions/0064); each hit says why; nothing outside the bounds of a request.
"""

from armarius.doors import lazy

TABLE = {
    "search.hits": "Outcome Stretches",
    "search.query.query": "Understanding",
    "search.models": "Reranking",
}

__getattr__, __all__ = lazy(__name__, TABLE)
