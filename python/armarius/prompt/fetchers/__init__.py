"""Fetchers: the sources of candidates; one or more for each layer, each with one method.

layers.py (constraints, entities at `always`; style, memories; text around the cursor)   story.py (the story so far)
detected.py (cards of mentioned entities)   passages.py (paragraphs and relations)
doors.py (lorebook entries and symbols, by fetchers of the doors)   pins.py
entities.py (entities of a host; texts that describe hidden entities)

`armarius.types` has the protocol, its argument and its result. A new source is a file here and a line in
`engine/project.py`. A fetcher searches in its room (retrieval, graph, code) and makes candidates with content, score
and evidence.
Invariants: a fetcher knows neither the budget nor other fetchers; one that cannot look keeps what it has and adds a
warning of `warnings.py`; the same request at the same moment gives the same candidates.
"""
