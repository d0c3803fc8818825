"""What of a project answers a question: paragraphs for a prompt, documents for a reader, and why.

understand/ (names, chapters, relations, families of words)   corpus/ (the tables of a project)   thesaurus/ (synonyms)
rank.py (scores of all paragraphs)   passages.py rerank.py (rows for a prompt)
order.py retrieve.py hits.py (documents and sections)   signals/ (quoted words, vectors, the reasons of a hit)
contradictions/ (sentences that say different things)

The arithmetic is the core's (`rust/corpus`); here stands what is asked of it and with which weights. What must hold:
deterministic; no word list but closed classes and dictionaries of others; a constant is chosen leave one book out, and
its page says what it moves (docs/decisions/0064); each hit says why; nothing outside the bounds of a request.
"""

from armarius.lazy import lazy

TABLE = {
    "search.hits": "Outcome",
    "search.query.query": "Understanding",
    "search.rerank": "Reranking",
}

__getattr__, __all__ = lazy(__name__, TABLE)
