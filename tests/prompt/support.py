"""Short ways to say what the assembly tests say often."""

from armarius.prompt.assembler import Assembler
from armarius.prompt.counter import CachedCounter
from armarius.prompt.profile import BudgetProfile
from armarius.prompt.report.pack import Task
from armarius.requests import AssembleRequest
from armarius.testing import FakeFetcher, FixedCounter
from armarius.types import Candidate, FetchRequest


def candidate(name, layer="retrieved", content=None, *, size=0, **more):
    """A candidate whose content is its own; `size` pads it to that many characters."""
    more.setdefault("source", f"test:{name}")
    content = f"content of {name}".ljust(size, "x") if content is None else content
    return Candidate(id=name, layer=layer, content=content, **more)


def assemble(fetchers, *, budget=1000, counter=None, assembler=None, previous=None, profile=None, **request):
    """One assembly over fetchers, or over candidates, with the fixed counter."""
    layers, stamps = request.pop("layers", {}), request.pop("stamps", {})
    if fetchers and isinstance(fetchers[0], Candidate):
        fetchers = [FakeFetcher(fetchers)]
    request = AssembleRequest(budget=budget, **request)
    fetch = FetchRequest(project_id=request.project_id, query=request.query)
    assembler = assembler or Assembler()
    counter = counter if isinstance(counter, CachedCounter) else CachedCounter(counter or FixedCounter())
    profile = profile or BudgetProfile()
    continued = previous and previous.continued
    return assembler.assemble(Task(request, fetch, tuple(fetchers), counter, profile, layers, continued, (), stamps))
