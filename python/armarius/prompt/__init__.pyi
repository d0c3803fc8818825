# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.code.fetcher import SubgraphFetcher as SubgraphFetcher
from armarius.lorebooks.fetcher import LoreFetcher as LoreFetcher
from armarius.prompt.counter import PrefixReport as PrefixReport
from armarius.prompt.fetchers.detected import RetrievedFetcher as RetrievedFetcher
from armarius.prompt.fetchers.entities import EntitySource as EntitySource
from armarius.prompt.fetchers.layers import ConstraintSource as ConstraintSource
from armarius.prompt.fetchers.layers import ImmediateFetcher as ImmediateFetcher
from armarius.prompt.fetchers.layers import MemorySource as MemorySource
from armarius.prompt.fetchers.layers import RulesFetcher as RulesFetcher
from armarius.prompt.fetchers.layers import SettingsFetcher as SettingsFetcher
from armarius.prompt.fetchers.layers import StyleSource as StyleSource
from armarius.prompt.fetchers.passages import PassageFetcher as PassageFetcher
from armarius.prompt.render import Difference as Difference
from armarius.prompt.render import PromptPlace as PromptPlace
