# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.names.counts import Counts as Counts
from armarius.names.counts import NameCounts as NameCounts
from armarius.names.learn import Lessons as Lessons
from armarius.names.learn import learn_names as learn_names
from armarius.names.learn import model_of as model_of
from armarius.names.proposals import ProposedName as ProposedName
from armarius.names.proposals import propose_names as propose_names
from armarius.text.name_model import DoubtfulAlias as DoubtfulAlias
from armarius.text.name_model import LongerName as LongerName
from armarius.text.name_model import NameModel as NameModel
from armarius.text.name_model import RefusedName as RefusedName
from armarius.text.name_model import ShortName as ShortName
