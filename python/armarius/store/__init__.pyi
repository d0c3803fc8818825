# Written by scripts/write_reference.py from the table of __init__.py: what type checkers and editors see.
from armarius.store.vectors_protocol import Leasing as Leasing
