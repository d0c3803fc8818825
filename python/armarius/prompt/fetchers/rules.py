"""The rules layer: constraints of the project, and entities at the context level `always`."""

from collections.abc import Iterable
from typing import Any, Protocol

from armarius.codex.cards import holds, one_line
from armarius.codex.model import Constraint, Entity, Fact
from armarius.errors import ContextWarning
from armarius.headings import Reason, heading
from armarius.prompt.fetchers.entities import Cards, EntitySource, file_warnings, list_entities, resolve
from armarius.types import Candidate, Evidence, Fetched, FetchRequest, LayerName, Omission
from armarius.warnings import KG_UNAVAILABLE, RULES_UNAVAILABLE

_QUOTED = 80  # code points of what is overruled


class ConstraintSource(Protocol):
    """Where constraints are kept."""

    def constraint_list(self, project_id: str, /) -> Any:  # noqa: ANN401 - an iterable of `Constraint`, or an awaitable of one
        """The constraints of a project."""
        ...


class RulesFetcher:
    """Constraints as `constraint:<user|kg>:<id>`, entities as `kg:always:<id>` under `[知识图谱 — 始终]`.

    Nothing depends on the query, so the layer is the same from call to call; only facts that begin or end with a
    chapter change it. Constraints score by priority, entities below all of them.

    Args:
        source: Lists the `always` entities, or None.
        constraints: Lists the constraints, or None.
    """

    name = "rules"
    layer: LayerName = "rules"
    inline = True

    def __init__(self, source: EntitySource | None = None, *, constraints: ConstraintSource | None = None) -> None:
        self._source = source
        self._constraints = constraints
        self._cards = Cards()

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """Everything that always holds; a failing source is a warning and leaves the other one's."""
        candidates: list[Candidate] = []
        omitted: list[Omission] = []
        warnings: list[ContextWarning] = []
        if self._constraints is not None:
            try:
                found: Iterable[Constraint] = resolve(self._constraints.constraint_list(request.project_id))
                candidates += [_constraint(item, request) for item in found]
                warnings += file_warnings(self._constraints)
            except Exception as error:  # noqa: BLE001 - no source failure may fail the call
                warnings.append(RULES_UNAVAILABLE(error=error))
                omitted.append(Omission("constraints", "rules", "constraint", "source failed", str(error)))
        if self._source is not None:
            try:
                listed = list_entities(self._source, request.project_id, "always")
            except Exception as error:  # noqa: BLE001
                warnings.append(KG_UNAVAILABLE())
                omitted.append(Omission("entities", "rules", "kg:always", "source failed", str(error)))
            else:
                omitted += [Omission(fault, "rules", "kg:always", "source failed", fault) for fault in listed.faults]
                for entity in listed.entities:
                    if entity.level == "always":
                        candidates.append(_always(entity, self._cards.of(entity, request)[0], request))
                        omitted += withheld_facts(entity, f"kg:always:{entity.id}", "rules", request)
        return Fetched(tuple(candidates), tuple(omitted), tuple(warnings))


def withheld_facts(entity: Entity, source: str, layer: LayerName, request: FetchRequest) -> list[Omission]:
    """One omission per fact of `entity` that does not hold where the request stands, or is overruled."""
    overruled = [
        Omission(
            f"entity:{entity.id}#{one.field}",
            layer,
            source,
            "excluded",
            Reason("out.overruled", path=one.origin.path, value=one_line(one.value)[:_QUOTED], by=one.by.path),
            aspect=one.field,
        )
        for one in entity.overruled
    ]
    return overruled + [
        Omission(
            f"entity:{entity.id}#fact{index}",
            layer,
            source,
            "timeline",
            _chapters(fact),
            aspect=Reason("title.fact", text=one_line(fact.text)),
        )
        for index, fact in enumerate(entity.facts)
        if not holds(fact, request.moment, request.chapters)
    ]


def _chapters(fact: Fact) -> Reason:
    parts = [name for name, chapter in (("from", fact.since), ("until", fact.until)) if chapter is not None]
    return Reason(f"out.{'_'.join(parts)}", since=fact.since, until=fact.until)


def _constraint(item: Constraint, request: FetchRequest) -> Candidate:
    return Candidate(
        id=f"constraint:{item.id}",
        layer="rules",
        source=f"constraint:{item.source}:{item.id}",
        content=f"- {item.text.strip()}",
        score=1.0 + item.priority,
        evidence=(Evidence("constraint", Reason(f"constraint.{item.source}", priority=item.priority)),),
        group=heading("constraints", request.language),
        pinned=True,
        project_id=request.project_id,
    )


def _always(entity: Entity, card: str, request: FetchRequest) -> Candidate:
    return Candidate(
        id=f"entity:{entity.id}",
        layer="rules",
        source=f"kg:always:{entity.id}",
        content=card,
        evidence=(Evidence("level", Reason("level.always")),),
        group=heading("always", request.language),
        pinned=True,
        documents=tuple(dict.fromkeys(origin.path for origin in entity.origins)),
        project_id=request.project_id,
    )
