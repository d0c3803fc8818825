"""The tools: functions of the engine and of what a model says; their docstrings and annotations are what it reads.

A tool answers with blocks of text, which the server gives out by pages. What is not named here, such as how a field is
checked, is that of the requests of every surface.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, TypedDict, TypeVar, Unpack

from mcp.types import CallToolResult, ContentBlock, TextContent
from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from armarius.arguments import OPEN
from armarius.code.subgraph import Subgraph, matches, tree
from armarius.codex.cards import holds
from armarius.codex.model import Fact
from armarius.documents.kinds import STORY_KINDS
from armarius.headings import count_noun
from armarius.io import without_paths
from armarius.requests import AsOfIn, ChaptersIn, Count, Flag, KindsIn, MessagesIn, TargetsIn, Whole, Wire, WordingsIn
from armarius.search.contradictions.values import topic_of
from armarius.text.tokens import TokenCounter
from armarius.text.unicode import join_parts
from armarius.validation import shown
from armarius.verbs.params import Around, FactIn, Line
from armarius.verbs.table import around
from armarius.verbs.wire import account_wire, escaped

if TYPE_CHECKING:
    from armarius.codex.model import Entity
    from armarius.engine import ContextEngine as Engine
    from armarius.errors import ContextWarning
    from armarius.search.contradictions.statements import Statement
    from armarius.types import Hit

PAGE: Final = 1_900
"""Tokens of one page; with the line that names the next cursor it stays below 2,000."""
PIECE: Final = 400
"""Code points of what a longer text is cut into; each has at most 4 tokens."""
_SENTENCE: Final = 240
_HITS: Final = 40
_NARROW: Final = 5  # passages of one attribute
_LOOKED: Final = 400
_IN_VAIN: Final = ("no match", "duplicate")  # what a model need not know stayed out
_WITHHELD: Final = "{}: context level never. Nothing of it is shown before the user raises that."
COUNT: Final = TokenCounter.for_encoding("o200k_base").count

Kept = TypeVar("Kept", "Hit", "Statement")
Answer = Iterable[str] | CallToolResult
Tool = Callable[..., Answer]


class Arguments(Wire):
    """What a tool takes, by the names that the fields have in Python."""

    called: ClassVar[str | None] = None
    model_config = ConfigDict(alias_generator=None)

    @classmethod
    def field_name(cls, name: str) -> str:
        """As it is."""
        return name


class RelationIn(Arguments):
    """A relation from the entity to another."""

    type: Annotated[str, Field(min_length=1, max_length=100)]
    to: Annotated[str, Field(min_length=1, max_length=400, description="Who or what; must be known.")]
    since: Annotated[Count | None, Field(description="First chapter in which it holds.")] = None


_INTEGERS: Final = WithJsonSchema({"type": "array", "items": {"type": "integer"}})
_TEXTS: Final = WithJsonSchema({"type": "array", "items": {"type": "string"}})
Query = Annotated[str, Field(max_length=20_000)]
Path = Annotated[str, Field(max_length=4_000)]
Short = Annotated[str, Field(min_length=1, max_length=400)]
Long = Annotated[str, Field(min_length=1, max_length=2_000)]
Project = Annotated[Short, Field(description="Of `projects`.")]
Name = Annotated[Short, Field(description="Name, alias or id.")]
Chapters = Annotated[ChaptersIn, _INTEGERS, Field(description="Only these chapters: [first, last].")]
AsOf = Annotated[AsOfIn, WithJsonSchema({"type": "integer"}), Field(description="Nothing of a later chapter.")]
Kinds = Annotated[KindsIn, Field(description="Only these kinds of documents.")]
Place = Annotated[Path, Field(description='"" lists all documents, a folder those in it.')]


def _two(value: object) -> object:
    if isinstance(value, list | tuple) and len(value) != 2:
        raise ValueError(f"expected two numbers, first and last, got {shown(value)}")
    return value


Lines = Annotated[
    tuple[Line, Line] | None, BeforeValidator(_two), _INTEGERS, Field(description="[first, last], from 1.")
]
Cursor = Annotated[Count, Field(description="From the last line of an answer.")]
Named = Annotated[str, Field(max_length=200_000, description="Only those that this text names.")]
Attribute = Annotated[str, Field(max_length=400, description="Only this: 年龄, eye colour.")]
BUDGET: Final = Field(description="Tokens of all of it; 8,000 where the project sets no other.")
Budget = Annotated[Whole | None, BUDGET]
Depth = Annotated[Whole, Field(ge=1, le=10)]
Direction = Literal["callers", "callees", "both"]
Type = Annotated[Short, Field(description="character, location, event, item, faction, or another word.")]
Target = Annotated[Short, Field(description="Name, id, path, path#¶ or tag.")]
Mute = Annotated[Flag, Field(description="In none instead.")]
Variants = Annotated[
    WordingsIn,
    _TEXTS,
    Field(
        description="3-5 short sentences as the text itself would say it, in its language, with names. For “who paid "
        "for the girl's schooling?”: [“Aunt Rosa sent the fees every term”, “Rosa paid the schoolmaster”]; “谁替他还"
        "了债？”：[“舅舅拿银子替王生还清了账”, “债主收了王生舅舅的钱”]."
    ),
]


class Details(TypedDict, total=False):
    """What may be said of an entity."""

    description: Annotated[str, Field(max_length=2_000)]
    aliases: Annotated[tuple[Short, ...], Field(max_length=20)]
    attributes: Annotated[dict[Short, Short], Field(max_length=20)]
    facts: Annotated[tuple[FactIn, ...], Field(max_length=20, description="Dated by chapter, first and last.")]
    relations: Annotated[tuple[RelationIn, ...], Field(max_length=20)]


def find(
    engine: "Engine",
    *,
    query: Query,
    variants: Variants = (),
    kinds: Kinds = (),
    chapters: Chapters = OPEN,
    as_of: AsOf = None,
    cursor: Cursor = 0,
) -> CallToolResult:
    """Find where words stand, in any order, or what answers a question: some sentences each, best first, by path:line.

    Give `variants`: paraphrases miss what the book's own words find. A query in quotation marks is looked up word for
    word. Then `read` the lines around.
    """
    question, *others = (*variants, query) if variants else (query,)  # the words of the book find more
    hits = engine.find(question, also=others, kinds=kinds, chapters=chapters, as_of=as_of, cursor=cursor)
    hint = "" if variants else "; with variants more is found"
    warned = list(_warning_lines(engine, hits.warnings))
    hits[:] = _filter(hits)
    text = "\n".join([f"confidence {hits.confidence:.2f}{hint}", *warned, str(hits)])
    return CallToolResult(content=[TextContent(type="text", text=escaped(text))])


def _warning_lines(engine: "Engine", warnings: "Iterable[ContextWarning | str]") -> Iterator[str]:
    return (f"! {without_paths(str(warning), root=engine.root)}" for warning in warnings)


def _filter(hits: Iterable[Kept]) -> Iterator[Kept]:
    """Those that tell of more than entities at the level `never`."""
    return (hit for hit in hits if hit.level != "never")


def _cut(text: str, most: int, about: int = 0) -> str:
    """At most so many code points of `text`, around a place in it."""
    begin = max(0, min(about - most // 4, len(text) - most))
    return "…" * (begin > 0) + text[begin : begin + most].strip() + "…" * (begin + most < len(text))


def read(engine: "Engine", *, path: Place, lines: Lines = None) -> Iterator[str]:
    """Read a document, its lines numbered."""
    folder = path.strip("/")
    every = engine.documents()
    inside = [document for document in every if not folder or document.path.startswith(f"{folder}/")]
    if inside:
        yield from _warning_lines(engine, every.warnings)
        yield from (f"{document.kind} {document.chapter or ''} {document.title} {document.path}" for document in inside)
        return
    document = engine.document(path)
    total = document.text.count("\n") + 1
    first, last = lines or (1, total)
    if first > total:
        yield f"nothing: it has {count_noun(total, 'line')}, numbered from 1"
    for number, line in enumerate(document.lines(first, last).split("\n"), first):
        if line.strip():
            yield f"{number} {line.rstrip()}"


def context(
    engine: "Engine",
    *,
    query: Query,
    document: Annotated[Path, Field(description="Path of the one that is worked on.")] = "",
    variants: Variants = (),
    budget: Budget = None,
    messages: Annotated[
        MessagesIn,
        WithJsonSchema({"type": "array", "items": {"type": "object"}}),
        Field(description="The conversation before: {role, content}."),
    ] = (),
    chapters: Chapters = OPEN,
    as_of: AsOf = None,
    include: Annotated[TargetsIn, _TEXTS, Field(description="Names, ids or paths that must be in.")] = (),
    exclude: Annotated[TargetsIn, _TEXTS, Field(description="That must not.")] = (),
    account: Annotated[Flag, Field(description="Also what is in and what is not, with reasons.")] = False,
    why: Annotated[str, Field(max_length=400, description="Instead: why this is in or is not.")] = "",
) -> Answer:
    """Get what a task needs, within the budget, with the rules of the project; say the task in the query.

    Write or continue: plan, how the chapter before ends, state, threads, people. Check, summarise, translate, who is
    here: the chapters, or the open document, and its people. Rename: every place of the name. State as of a chapter:
    what holds then. Else the passages that answer.
    """
    pack = engine.assemble(
        query, document=document, also=variants, budget=budget, messages=messages, chapters=chapters, as_of=as_of,
        include=include, exclude=exclude,
    )  # fmt: skip
    if why:
        return [str(pack.why(why))]
    warned = "\n".join(_warning_lines(engine, pack.warnings))
    texts: list[ContentBlock] = [TextContent(type="text", text=text) for text in (pack.prompt, warned) if text]
    return CallToolResult(content=texts, structured_content=_account(account_wire(pack)) if account else None)


def _account(account: dict[str, Any]) -> dict[str, Any]:
    """The account as far as a page holds it, what is in before what is not."""
    room, kept = PAGE, {"tokenCount": account["tokenCount"], "budget": account["budget"], "items": [], "omitted": []}
    left = 0
    for name in ("items", "omitted"):
        for row in (item for item in account[name] if item["code"] not in _IN_VAIN):
            fields = {key: row[key] for key in ("title", "layer", "tokens", "reason", "id")}
            room -= COUNT(json.dumps(fields, ensure_ascii=False))
            left += room < 0
            if room >= 0:
                kept[name].append(fields)
    return dict(escaped({**kept, **({"left_off": left} if left else {})}))


def entities(engine: "Engine", *, text: Named = "") -> Iterator[str]:
    """List the people, places and things that the project describes, most mentioned first: name, id, type, aliases."""
    entities = engine.entities()
    named = {match.entity_id for match in engine.detect(text)} if text else {entity.id for entity in entities}
    yield from _warning_lines(engine, entities.warnings)
    for entity in sorted(entities, key=lambda entity: -entities.mentions.get(entity.id, 0)):
        if entity.id in named:
            others = f" · {join_parts(entity.aliases, '、')}" if entity.aliases else ""
            yield f"{_entity_label(entity)} {entity.type}{others} · {entities.mentions.get(entity.id, 0)}×"


def _entity_label(entity: "Entity") -> str:
    return entity.name if entity.name == entity.id else f"{entity.name} [{entity.id}]"


def entity(engine: "Engine", *, name: Name, as_of: AsOf = None) -> Iterator[str]:
    """Show the card of one: what it is, facts by chapter, relations, where it is described."""
    entity = engine.entity(name)
    if entity.level == "never":
        yield _WITHHELD.format(_entity_label(entity))
        return
    yield engine.card(entity.id, as_of=as_of)
    for edge in engine.graph.neighbors(entity.id):
        source, target = engine.entity(edge.source), engine.entity(edge.target)
        if holds(edge, as_of) and "never" not in (source.level, target.level):
            yield f"{source.name} -{edge.type}-> {target.name}{_span_label(edge.since, edge.until)}"
    places = ", ".join(f"{at.path}:{at.line}".removesuffix(":0") for at in entity.origins)
    yield f"{_entity_label(entity)}, level {entity.level}, from {places}"


def _span_label(since: int | None, until: int | None) -> str:
    return "" if since is None and until is None else f" (chapters {since or ''}–{until or ''})"


def evidence(
    engine: "Engine", *, name: Name, attribute: Attribute = "", chapters: Chapters = OPEN, as_of: AsOf = None
) -> Iterator[str]:
    """Quote what profiles and chapters say of somebody, dated by chapter, to check a text.

    Statements that say otherwise are marked; the passages of chapters that tell most follow, five with an attribute.
    """
    entity = engine.entity(name)
    if entity.level == "never":
        yield _WITHHELD.format(_entity_label(entity))
        return
    bounds: dict[str, Any] = {"chapters": chapters, "as_of": as_of}
    statements = engine.evidence(entity.id, attribute=attribute or None, **bounds)
    claims = list(_filter(statements))
    yield from _warning_lines(engine, statements.warnings)
    yield f"{_entity_label(entity)}: {engine.entities().mentions.get(entity.id, 0)} mentions"
    whole = {(each.path, each.paragraph) for each in claims if attribute or each.chapter is None or each.competes_with}
    topic = topic_of(attribute) if attribute else None
    hits: dict[tuple[str, int | None], tuple[Hit, int]] = {}
    for hit in _filter(engine.search(entity.name, also=entity.aliases[:8], kinds=STORY_KINDS, limit=_LOOKED, **bounds)):
        if len(hits) == (_NARROW if topic else _HITS):
            break
        if (hit.path, hit.paragraph) in whole or (topic and not topic.occurs_in(hit.text)):
            continue
        at = next((each.position for each in engine.detect(hit.text) if each.entity_id == entity.id), None)
        if at is not None:
            hits[hit.path, hit.paragraph] = hit, at
    for each in claims:
        rivals = f" — competes on {', '.join(each.attributes)} with {', '.join(each.competes_with)}"
        if (each.path, each.paragraph) not in hits:  # else its passage follows
            yield _statement_line(engine, each, _cut(each.text, _SENTENCE) + rivals * bool(each.competes_with))
    if attribute and not claims and not hits:
        yield f"nothing about {attribute}"
    passages = sorted(hits.values(), key=lambda pair: (pair[0].chapter or 0, pair[0].path, pair[0].paragraph or 0))
    for hit, at in passages:
        yield _statement_line(engine, hit, _cut(hit.text, _SENTENCE, at))


def _statement_line(engine: "Engine", item: "Hit | Statement", text: str) -> str:
    where = "profile" if item.chapter is None else f"chapter {item.chapter}"
    document, start = engine.document(item.path), item.span[0] if item.span else 0
    line = document.line_at(max(start, document.text.find(item.text, start)))
    return f"{where} {item.path}:{line} ¶{item.paragraph}{f' ({item.level})' * bool(item.level)}: {text}"


def subgraph(engine: "Engine", *, symbol: Short, depth: Depth = 3, direction: Direction = "both") -> Iterator[str]:
    """Walk the code graph around a symbol: calls, references, inheritance, imports, overrides."""
    result = around(engine, Around(symbol=symbol, depth=depth, direction=direction))
    yield from (tree(result) if isinstance(result, Subgraph) else matches(result)).splitlines()


def remember(engine: "Engine", *, text: Long) -> list[str]:
    """Remember one statement about the project or its user, for later prompts."""
    memory = next((memory for memory in engine.memories.list() if memory.text.strip() == text.strip()), None)
    if memory is not None:
        return [f"Remembered already, as {memory.id}."]
    made = engine.memories.create(text, confidence=0.8)
    return [f"Remembered as {made.id} in .armarius/memories.toml: prompts that it bears on will state it."]


def propose(engine: "Engine", *, name: Short, type: Type, **details: Unpack[Details]) -> list[str]:  # noqa: A002
    """Add somebody or something new, for the user to approve: no prompt shows it before the user raises its level."""
    relations = [(relation, engine.entity(relation.to)) for relation in details.pop("relations", ())]
    made = engine.codex.create(name, type=type, level="never", **{**details, **_facts(details)})
    _relate(engine, made, relations)
    also = f" with {count_noun(len(relations), 'relation')}" if relations else ""
    where = "in .armarius/codex.toml at level never: the user raises it there or in `armarius studio`"
    return [f"Proposed {_entity_label(made)}{also}, {where}."]


def update(engine: "Engine", *, name: Name, type: str | None = None, **details: Unpack[Details]) -> list[str]:  # noqa: A002
    """Change what is known of somebody or something; aliases, attributes, facts and relations are added to."""
    entity = engine.entity(name)
    relations = [(each, engine.entity(each.to)) for each in details.pop("relations", ())]
    changes: dict[str, Any] = {**details, **_facts(details, *entity.facts), **({"type": type} if type else {})}
    if "aliases" in changes:
        changes["aliases"] = list(dict.fromkeys((*entity.aliases, *changes["aliases"])))
    if changes:
        engine.codex.update(entity.id, **changes)
    _relate(engine, entity, relations)
    parts = [*changes, *(f"{each.type} → {to.name}" for each, to in relations)]
    return [f"Updated {_entity_label(entity)}: {', '.join(parts) or 'nothing'}."]


def _facts(details: Details, *facts: Fact) -> dict[str, Any]:
    extras = [Fact(fact.text, fact.since, fact.until) for fact in details.get("facts", ())]
    return {"facts": [*facts, *extras]} if extras else {}


def _relate(engine: "Engine", entity: "Entity", relations: Iterable[tuple[RelationIn, "Entity"]]) -> None:
    for relation, to in relations:
        engine.codex.relate(entity.id, to.id, relation.type, since=relation.since)


def pin(engine: "Engine", *, target: Target, mute: Mute = False, undo: Flag = False) -> list[str]:
    """Put something into every prompt."""
    if undo:
        engine.pins.remove(target)
        return [f"{target} is no longer pinned or muted."]
    engine.pins.add(target, mute=mute)
    return [f"{target} is {'muted' if mute else 'pinned'}, in .armarius/pins.toml."]


def understand(
    engine: "Engine",
    *,
    reply: Annotated[str, Field(max_length=100_000, description="JSON, as the question asks.")] = "",
    hash: Annotated[str, Field(max_length=64, description="The last line of the question.")] = "",  # noqa: A002
) -> Iterator[str]:
    """Ask what the files, people and form of the project are, once for a new folder: read the question, then reply.

    The reply is written into armarius.toml as a guess: the user's own lines go before it.
    """
    request = engine.understanding_request()
    if not reply:
        yield from (*request.text.splitlines(), f"hash={request.hash}")
        return
    proposals = request.parse(reply, model="the model of this session", hash=hash)
    proposals.apply()
    yield f"Proposed {count_noun(len(proposals), 'line')} in [proposed.*] of armarius.toml."
    yield from (f"{item.name}: {item.says}{f' ({item.warning})' * bool(item.warning)}" for item in proposals)
    yield from (f"not used: {line}" for line in proposals.refused)


READING: Final[tuple[Tool, ...]] = (find, read, context, entities, entity, evidence)
"""The tools of every project."""
CODE: Final[tuple[Tool, ...]] = (subgraph,)
"""Those of a project that has code."""
WRITING: Final[tuple[Tool, ...]] = (remember, propose, update, pin, understand)
"""Those of a server that may write."""
REPLACING: Final[tuple[Tool, ...]] = (update, pin)
"""Of these, what may change what is there."""
