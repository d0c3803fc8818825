# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.names.people import short_names as short_names
from armarius.names.proposals import ProposedName as ProposedName
from armarius.names.proposals import propose_names as propose_names
from armarius.text.matcher import ShortName as ShortName
