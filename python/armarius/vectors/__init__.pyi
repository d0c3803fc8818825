# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.vectors.project_vectors import EmbeddingProgress as EmbeddingProgress
from armarius.vectors.project_vectors import SemanticStatus as SemanticStatus
from armarius.vectors.project_vectors import SimilarEntity as SimilarEntity
from armarius.vectors.recall import ProjectRecall as ProjectRecall
