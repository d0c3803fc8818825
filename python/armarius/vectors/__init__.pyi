# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.vectors.queue import EmbeddingProgress as EmbeddingProgress
from armarius.vectors.queue import SemanticStatus as SemanticStatus
from armarius.vectors.queue import SimilarEntity as SimilarEntity
from armarius.vectors.recall import ProjectRecall as ProjectRecall
