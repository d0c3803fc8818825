# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.documents.classify import Kind as Kind
from armarius.documents.document import Documents as Documents
from armarius.documents.document import Skipped as Skipped
from armarius.documents.project_map import DocumentState as DocumentState
from armarius.documents.project_map import Doubt as Doubt
from armarius.documents.project_map import Edition as Edition
from armarius.documents.project_map import MappedFile as MappedFile
from armarius.documents.project_map import ProjectMap as ProjectMap
from armarius.documents.project_map import ShownMap as ShownMap
from armarius.documents.segments import Role as Role
from armarius.documents.titles import FrontMatter as FrontMatter
