"""Requests to candidates: one fetcher or more for each layer; each a file, each with one method.

rules.py (what always holds)   settings.py style.py (how it is written)   immediate.py (around the cursor)
detected.py (cards of who is named)   passages.py relations.py (what the project says)   code.py (symbols)
entities.py (entities from wherever a host keeps them)

`armarius.types` has the protocol and what goes in and out. A new source is a file here and a line in `project.py`;
what it finds is found elsewhere (retrieval, graph, code), here it becomes a candidate with content, score and
evidence. What must hold: a fetcher never knows the budget nor the other fetchers; one that cannot look says so with a
warning of `warnings.py` and keeps what it has; the same request of the same moment gives the same candidates.
"""
