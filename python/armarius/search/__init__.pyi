# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.search.hits import Outcome as Outcome
from armarius.search.hits import Stretches as Stretches
from armarius.search.models import Reranking as Reranking
from armarius.search.query.query import Understanding as Understanding
