# Written by scripts/write_reference.py from the table of __init__.py: what type checkers and editors see.
from armarius.search.hits import Outcome as Outcome
from armarius.search.query.query import Understanding as Understanding
from armarius.search.rerank import Reranking as Reranking
