# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.text.chat import ModelCall as ModelCall
from armarius.text.matcher import Match as Match
from armarius.text.matcher import Matches as Matches
from armarius.text.matcher import Rejection as Rejection
from armarius.text.matcher import ScanHit as ScanHit
from armarius.text.matcher import ScanHits as ScanHits
from armarius.text.matcher import ShortName as ShortName
