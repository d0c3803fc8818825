"""What a host may ask: one table of verbs, from which the surfaces take names, fields, defaults and descriptions.

table.py (the table, and the call behind each verb)   params.py (requests)
schemas.py (a row of the table; shapes of answers)
wire.py (dataclasses, positions and errors as JSON; found text that is data)

A verb is a row: method of the channel, request (a pydantic model, which refuses what is wrong and names the field),
result, the call, and what it is called in Python and on the command line. Names on the wire are camelCase, but for
keys of the user's own; offsets are in units of the request's `positionEncoding`; another project's id is refused
(CONTEXT_SCOPE_VIOLATION).
"""

from armarius.verbs.schemas import Verb
from armarius.verbs.table import SHELF, VERBS, WRITES, methods_of, methods_of_shelf, verb
from armarius.verbs.wire import match_wire, wire

__all__ = ["SHELF", "VERBS", "WRITES", "Verb", "match_wire", "methods_of", "methods_of_shelf", "verb", "wire"]
