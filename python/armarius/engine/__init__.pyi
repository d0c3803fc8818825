# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.engine.engine import ContextEngine as ContextEngine
from armarius.engine.engine import open as open
from armarius.engine.maps import UnderstandingRequest as UnderstandingRequest
from armarius.engine.replies import Proposal as Proposal
from armarius.engine.replies import Proposals as Proposals
from armarius.engine.summaries import ProjectSummaries as ProjectSummaries
from armarius.engine.summaries import RefreshCost as RefreshCost
from armarius.engine.summaries import SummaryReply as SummaryReply
from armarius.engine.summaries import SummaryRequest as SummaryRequest
