# Written by scripts/write_reference.py from the table of __init__.py: what type checkers and editors see.
from armarius.vectors.queue import EmbeddingProgress as EmbeddingProgress
from armarius.vectors.queue import SemanticStatus as SemanticStatus
from armarius.vectors.queue import SimilarEntity as SimilarEntity
from armarius.vectors.recall import ProjectRecall as ProjectRecall
