# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.store.vectors_protocol import Leasing as Leasing
