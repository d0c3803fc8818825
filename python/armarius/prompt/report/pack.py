"""The pack: a prompt with the complete account of what went in, what stayed out, and why; `account` makes it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

from armarius.errors import ContextWarning, ContractError, UnknownId
from armarius.headings import DEFAULT_LANGUAGE, Reason, say
from armarius.prompt.admit import QUERY_SOURCE
from armarius.prompt.allocate import FittedPrompt, is_window
from armarius.prompt.continuation import OF_REQUEST, Continuation, Previous
from armarius.prompt.counter import CachedCounter, PrefixReport, common_prefix, layer_at, stable_hash
from armarius.prompt.profile import BudgetProfile, LayerBudget
from armarius.prompt.render import (
    Difference,
    PromptPlace,
    Region,
    Texts,
    difference,
    layer_pieces,
    locate_quote,
    render,
    shown_span,
)
from armarius.prompt.report.items import (
    UNKNOWN,
    Account,
    Considered,
    Explanation,
    PackItem,
    PackOmission,
    SourceCatalog,
    source_id,
)
from armarius.requests import (
    AssembleRequest,
    AssembleResult,
    InspectMeta,
    InspectResult,
    InspectTotals,
    LayerDetail,
    LayerDetails,
    LayerResult,
    LayerResults,
    ShownPlace,
)
from armarius.types import LAYERS, STORY, Candidate, Fetcher, FetchRequest, LayerName
from armarius.validation import PositionEncoding, near, shown, suggestion, units
from armarius.validation import text as strict_text
from armarius.warnings import (
    CONTEXT_CAPACITY_FORCE_TRIM,
    CONTEXT_CAPACITY_WARNING,
    CONTEXT_QUERY_TRUNCATED,
    CONTEXT_RULES_OVERBUDGET,
)

_LOST = 3  # things that a warning names
_NAMED = ("mention.query", "mention.named")

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, slots=True)
class CacheRule:
    """One provider's rule for one model.

    Attributes:
        provider: Its name in the data.
        minimum_tokens: The least prefix that is cached; None when not published.
        marker: Fields to add to the content block that ends the prefix, or None when caching needs none.
        as_of: The date of the data.
    """

    provider: str
    minimum_tokens: int | None
    marker: dict[str, Any] | None
    as_of: str


@cache
def _data() -> dict[str, Any]:
    text = resources.files("armarius.prompt.report").joinpath("providers.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def cache_rule(model: str | None, provider: str | None = None) -> CacheRule | None:
    """The rule for `model`, or for `provider` when the model has none; None when neither is known.

    A vendor before a slash (`anthropic/claude-…`) is ignored.
    """
    data = _data()
    name = (model or "").rpartition("/")[2].lower()
    best: tuple[int, str, dict[str, Any]] | None = None
    for vendor, entry in data["providers"].items():
        for rule in entry["models"]:
            if name.startswith(rule["prefix"]) and (best is None or len(rule["prefix"]) > best[0]):
                best = len(rule["prefix"]), vendor, rule
    if best is None:
        if provider is None or provider not in data["providers"]:
            return None
        best = 0, provider, {}
    _, vendor, rule = best
    marker = rule.get("marker", data["providers"][vendor]["marker"])
    return CacheRule(vendor, rule.get("minimum_tokens"), marker, data["as_of"])


def messages(contents: Mapping[LayerName, str], model: str | None, provider: Literal["openai", "anthropic"]) -> Any:  # noqa: ANN401 - two providers, two shapes
    """The layers as a provider's messages, its cache marker exactly after rules and settings.

    Raises:
        ContractError: Another provider.
    """
    if provider not in ("openai", "anthropic"):
        raise ContractError(f"provider must be 'openai' or 'anthropic', got {shown(provider)}")
    rule = cache_rule(model, provider)
    if rule is None or rule.provider != provider:
        rule = cache_rule(None, provider)
    marker = (rule and rule.marker) or {}
    stable, rest = contents["rules"] + contents["settings"], contents["retrieved"] + contents["immediate"]
    system = [{"type": "text", "text": stable, **marker}] if stable else []
    if provider == "anthropic":
        user = [{"role": "user", "content": [{"type": "text", "text": rest}]}] if rest else []
        return {"system": system, "messages": user}
    roles = {"system": system if marker else stable, "user": rest}
    return [{"role": role, "content": content} for role, content in roles.items() if content]


@dataclass(frozen=True)
class Pack:
    """A prompt that fits its budget, and the account of it.

    Attributes:
        result: The answer as it travels; `to_wire()` is its JSON form.
        counter: Name of the counter behind every number here.
        counter_exact: False when the model's tokenizer is unpublished.
        budget: Tokens of the request, the reserve included.
        contents: The four layers as rendered; their concatenation is the prompt.
        granted: Tokens each layer was allotted.
        stamps: Of the files that the items were read from, at that moment.
        timings: Milliseconds by stage, each without the stages inside it: `open` (an engine made), `look` (is the index
            the folder?), `understand` (the question, and who rewords it), `fetch`, `admit`, `fit`, `render`, `account`.
            Of the call that made the pack, where several asked for the same at once. No part of what the pack is.
    """

    result: AssembleResult
    request: AssembleRequest
    counter: str
    counter_exact: bool
    budget: int
    contents: dict[LayerName, str]
    granted: dict[LayerName, int]
    stamps: Mapping[str, str]
    _fitted: FittedPrompt = field(repr=False, compare=False)
    _again: Callable[[int], "Pack"] = field(repr=False, compare=False)
    _texts: Texts = field(repr=False, compare=False)
    _known: SourceCatalog = field(repr=False, compare=False)
    timings: Mapping[str, float] = field(default_factory=dict, repr=False, compare=False)

    @property
    def prompt(self) -> str:
        """The four layers, concatenated."""
        return self.result.prompt

    @property
    def token_count(self) -> int:
        """Of `prompt`, by `counter`."""
        return self.result.token_count

    @property
    def layers(self) -> LayerResults:
        """Source, token count and truncation per layer."""
        return self.result.layers

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is missing or noteworthy, as `CODE: message`."""
        return self.result.warnings

    @property
    def stable_prefix_hash(self) -> str:
        """SHA-256 over the rules and settings layers as rendered."""
        return self.result.stable_prefix_hash

    @property
    def stable_prefix_unchanged(self) -> bool:
        """Against the previous request of the same project, skill, provider, model and tokenizer."""
        return self.result.stable_prefix_unchanged

    @property
    def capacity_percent(self) -> float:
        """Share of the budget less the reserve."""
        return self.result.capacity_percent

    @property
    def confidence(self) -> float | None:
        """How likely the answer to the query is in what was found, 0 to 1; None without a query that looks for any."""
        return self.result.confidence

    @property
    def stable_prefix(self) -> str:
        """The rules and settings layers: what a provider may cache."""
        return self.contents["rules"] + self.contents["settings"]

    @property
    def documents(self) -> tuple[str, ...]:
        """Project-relative paths the prompt draws on, each once, in prompt order."""
        return tuple(dict.fromkeys(path for item in self.items for path in item.documents))

    def to_wire(self) -> dict[str, Any]:
        """The result in its camelCase form, plain JSON types."""
        return self.result.to_wire()

    @property
    def items(self) -> tuple[PackItem, ...]:
        """What is in the prompt, in prompt order. Cost: built at the first use."""
        return self._account.items

    @property
    def omitted(self) -> tuple[PackOmission, ...]:
        """What was considered and is not in the prompt, by layer and source; what nobody mentioned stands last.

        Cost: built at the first use.
        """
        return self._account.omitted

    @cached_property
    def _account(self) -> Account:
        return Account(self._fitted, self._texts, self._known, self.request.language or DEFAULT_LANGUAGE)

    @cached_property
    def prefix(self) -> PrefixReport:
        """How much of this prompt a provider's cache can reuse."""
        measured, before = self._fitted.demand.counter, self._fitted.previous
        shared = common_prefix(before, self.prompt)
        rule = cache_rule(self.request.model, self.request.provider)
        minimum = rule.minimum_tokens if rule else None
        tokens = measured.count(self.stable_prefix)
        differs = bool(before) and shared < max(len(before), len(self.prompt))
        return PrefixReport(
            hash=self.stable_prefix_hash,
            tokens=tokens,
            shared_characters=shared,
            shared_tokens=measured.counter.count(self.prompt[:shared]) if shared else 0,
            first_difference=layer_at(self.contents, shared) if differs else None,
            minimum_tokens=minimum,
            reaches_minimum=None if minimum is None else tokens >= minimum,
            anchor_moved=self._fitted.anchor_moved,
        )

    def why(self, wanted: str, /) -> Explanation:
        """Why `wanted` is in the prompt or is not, and what would change it; in the language of the prompt.

        Args:
            wanted: An id or a source, such as `entity:e1`; any paragraph of the project, as `chapters/ch040.md#12`; a
                document, as `chapters/ch040.md`: its paragraphs that are in, counted and listed, or why the best of
                them is not; id, name or alias of an entity: its card and its relations.

        Raises:
            UnknownId: Nothing bears that name; a KeyError that names near ids.
            ContractError: `wanted` is no text.

        Cost: of what did not fit at most six prompts more, to find the budget that it needs.
        """
        wanted = strict_text("wanted", wanted)
        answer = self._account.why(wanted, self.prompt)
        if answer is None:
            rows: tuple[Considered, ...] = (*self.items, *self.omitted)
            considered = [name for item in rows for name in (item.id, item.title, item.source)]
            close = near(wanted, considered)
            raise UnknownId(f"nothing with the id or source {shown(wanted)} was considered{suggestion(close)}", close)
        short = next((item for item in answer.omitted if item.code == "budget"), None)
        if answer.included or short is None:
            return answer

        def ids_under(budget: int) -> set[str]:
            fitted = self._again(budget)._fitted
            return {source_id(item.candidate.id, item.candidate.source) for item in fitted.items}

        return replace(answer, change=say(self._account.budget_for(short, ids_under, self.budget), answer.language))

    def locate(self, quote: str, /) -> tuple[PromptPlace, ...]:
        """Where words stand that a model quotes from this prompt: path and span in document or buffer.

        Word for word if they stand anywhere so; else with other width, case, white space, quotation marks or dashes,
        and without the marks of cursor and selection. What the prompt shows is looked into first; if it is not there,
        the documents that its cards are made of.

        Args:
            quote: Some words.

        Returns:
            Every place, in the order of the prompt, then of the text; none when nobody said that.

        Raises:
            ContractError: A quote of nothing.

        Cost: one search of what is shown.
        """
        placed = list(zip(self._fitted.items, self._account.shown, strict=True))
        regions = [Region(item.candidate.source, *shows) for item, shows in placed if shows is not None]
        places = locate_quote(quote, regions, self._texts)
        if places:
            return places
        behind = dict.fromkeys(path for item, shows in placed if shows is None for path in item.candidate.documents)
        wholes = [Region("", path, 0, len(text)) for path in behind if (text := self._texts(path)) is not None]
        return locate_quote(quote, wholes, self._texts)

    def what_if(self, *, budget: int) -> "Pack":
        """The same candidates under another budget. Fetches nothing, remembers nothing."""
        return self._again(budget)

    def diff(self, other: "Pack") -> Difference:
        """What changed from `other` to this pack; raises ContractError when `other` is no pack."""
        if not isinstance(other, Pack):
            raise ContractError(f"other must be a Pack, as assemble returns it, got {type(other).__name__}")
        return difference(self._fitted.rendered, other._fitted.rendered, self.token_count - other.token_count)

    def to_messages(self, provider: Literal["openai", "anthropic"]) -> Any:  # noqa: ANN401 - two providers, two shapes
        """The prompt as a provider's messages, its cache marker exactly after the stable prefix.

        Returns:
            `openai`: a list of messages, each with a string; parts where the model has a cache marker. `anthropic`: a
            dict with `system` and `messages`, to be passed as keyword arguments. The texts, concatenated, are the
            prompt.
        """
        return messages(self.contents, self.request.model, provider)

    @property
    def retrieved(self) -> tuple[Candidate, ...]:
        """The candidates behind the items of the retrieved layer; paragraphs that filled room have none."""
        placed = self._fitted.items
        return tuple(item.candidate for item in placed if item.candidate.layer == "retrieved" and not item.fills)

    def continuation(self) -> bytes:
        """What the next call needs of this one, to be kept and given as its `previous`, in whichever process.

        The next prompt is the same, byte for byte, as with the pack itself. See
        `armarius.prompt.continuation` for what the bytes hold.

        Raises:
            ContractError: The prompt is too long to be carried in 4 MiB.

        Cost: about half of the prompt's UTF-8 in bytes; 2 ms for 8,000 tokens.
        """
        return self.continued.to_bytes()

    @cached_property
    def continued(self) -> Continuation:
        """This prompt as the next one sees it."""
        request = self.request
        return Continuation(
            **{name: getattr(request, name) for name in OF_REQUEST},
            language=request.language or DEFAULT_LANGUAGE,
            counter=self.counter,
            stable_prefix_hash=self.stable_prefix_hash,
            stamps=self.stamps,
            previous=self.as_previous(),
        )

    def as_previous(self) -> Previous:
        """What of this prompt decides how the next is laid out; a request's `previous` takes the pack itself."""
        windows = {
            item.candidate.id: (item.part[0], item.candidate.content[item.part[0] : item.part[1]][:48])
            for item in self._fitted.items
            if item.part is not None and item.candidate.layer == "immediate"
        }
        demand = render(self._fitted.demanded)
        demanded = [
            (item, span[1])
            for item, span in zip(demand.placed, demand.spans, strict=True)
            if item.candidate.layer == "retrieved"
        ]
        return Previous(
            prompt=self.prompt,
            retrieved=tuple(item for item, _ in demanded),
            rows=tuple(item for item in self._fitted.items if item.fills),
            demand=demand.prompt,
            ends=tuple(end for _, end in demanded),
            windows=windows,
        )

    def __rich__(self) -> "RenderableType":
        """The overview that a terminal with rich shows."""
        from armarius.prompt.report.display import overview

        return overview(self)

    def _repr_html_(self) -> str:
        """The report page in a frame of its own, as notebooks show it."""
        from armarius.prompt.report.display import page

        style = "width:100%;height:40rem;border:0"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(page(self))}"></iframe>'

    @property
    def item_count(self) -> int:
        """How many items are in. Cost: none; `items` need not be made."""
        return len(self._fitted.items)

    @property
    def omitted_count(self) -> int:
        """How many candidates are not in; paragraphs that filled no room do not count. Cost: none."""
        return len(self._fitted.admitted.omitted) + len(self._fitted.omitted)

    def __repr__(self) -> str:
        about = "" if self.counter_exact else "≈"
        kept, out, warned = self.item_count, self.omitted_count, len(self.warnings)
        warnings = f", {warned} warning{'s' * (warned != 1)}" if warned else ""
        return (
            f"Pack({about}{self.token_count}/{self.budget} tokens by {self.counter}, "
            f"{kept} kept, {out} omitted{warnings})"
        )


@dataclass(frozen=True, slots=True)
class Task:
    """A request resolved: document read, cursor in code points, counter and profile chosen.

    Attributes:
        fetchers: Who is asked for candidates.
        counter: Of the request's model, with its memory.
        layers: Changes to the profile for this request only.
        previous: The prompt that this one should continue.
        warnings: Said before the fetchers were asked, such as an index that is behind.
        stamps: Path to stamp of the project's files, as the fetchers see them.
        texts: The text of each, the buffer in the place of the open one.
        known: What names mean in them.
        encoding: Of positions in the request, and so of those in the answer that travels.
    """

    request: AssembleRequest
    fetch: FetchRequest
    fetchers: tuple[Fetcher, ...]
    counter: CachedCounter
    profile: BudgetProfile
    layers: Mapping[LayerName, LayerBudget] = field(default_factory=dict)
    previous: Continuation | None = None
    warnings: tuple[ContextWarning, ...] = ()
    stamps: Mapping[str, str] = field(default_factory=dict)
    texts: Texts = field(default=lambda _path: None, compare=False)
    known: SourceCatalog = field(default=UNKNOWN, compare=False)
    encoding: PositionEncoding = "code-point"


def account(
    task: Task,
    request: AssembleRequest,
    fitted: FittedPrompt,
    *,
    extra: Sequence[ContextWarning],
    unchanged: bool,
    again: Callable[[int], Pack],
) -> Pack:
    """The pack of a fitted prompt.

    Args:
        task: What it was made for.
        request: As resolved, with the budget of the prompt.
        fitted: The prompt.
        extra: Warnings of the request as a whole.
        unchanged: Whether the stable prefix is that of the request before.
        again: The same under another budget.

    Cost: linear in what went in; nothing is counted but the layers. What stayed out is listed when it is asked for.
    """
    demand, language, stamps = fitted.demand, request.language or DEFAULT_LANGUAGE, task.stamps
    available, contents, placed = demand.available, fitted.rendered.contents, fitted.items
    tokens = fitted.by_layer or demand.counter.of_layers(layer_pieces(placed))
    messages = _warnings(request, fitted, tokens)
    shaped = [item for item in placed if item.form != "full"]
    everything = [str(warning) for warning in extra] + [text for layer in LAYERS for text in messages[layer]]
    everything += _capacity(
        demand.profile, fitted, available, lambda: Account(fitted, task.texts, task.known, language)
    )
    trimmed = {item.candidate.layer for item in shaped} | {entry.layer for entry, _ in fitted.omitted}
    sources: dict[LayerName, list[str]] = {layer: [] for layer in LAYERS}
    drawn_on: dict[str, None] = {}
    for item in placed:
        sources[item.candidate.layer].append(item.candidate.source)
        drawn_on.update(dict.fromkeys(item.candidate.documents))
    layers = {
        layer: LayerResult(
            layer=layer,
            source=tuple(sources[layer]),
            token_count=tokens[layer],
            truncated=layer in trimmed,
            warnings=tuple(messages[layer]) or None,
            content=contents[layer] if request.include_content else None,
        )
        for layer in LAYERS
    }
    tells_places = request.text is not None or request.selection is not None
    result = AssembleResult(
        prompt=fitted.rendered.prompt,
        token_count=fitted.token_count,
        stable_prefix_hash=stable_hash(contents["rules"] + contents["settings"]),
        stable_prefix_unchanged=unchanged,
        warnings=tuple(dict.fromkeys(everything)),
        capacity_percent=round(100 * fitted.token_count / available, 1),
        layers=LayerResults(**layers),
        confidence=fitted.admitted.confidence,
        shown=_shown_places(fitted, task.texts, task.encoding) if tells_places else None,
    )
    return Pack(
        result=result,
        request=request,
        counter=demand.counter.counter.name,
        counter_exact=demand.counter.counter.exact,
        budget=available + request.reserve_output,
        contents=contents,
        granted=fitted.granted,
        stamps={path: stamps[path] for path in drawn_on if path in stamps},
        _fitted=fitted,
        _again=again,
        _texts=task.texts,
        _known=task.known,
    )


def _warnings(
    request: AssembleRequest, fitted: FittedPrompt, tokens: Mapping[LayerName, int]
) -> dict[LayerName, list[str]]:
    """The warnings of each layer: of its fetchers, of rules over their share, of a query that was cut."""
    demand, placed = fitted.demand, fitted.items
    messages: dict[LayerName, list[str]] = {layer: [] for layer in LAYERS}
    for layer, warning in fitted.admitted.warnings:
        messages[layer].append(str(warning))
    share = demand.profile.layers["rules"].ratio or 0
    if tokens["rules"] * 100 > share * demand.available:
        over = CONTEXT_RULES_OVERBUDGET(tokens=tokens["rules"], share=share, available=demand.available)
        messages["rules"].append(str(over))
    query = (i for i in placed if i.candidate.source == QUERY_SOURCE and i.form == "truncated")
    if (cut := next(query, None)) is not None and cut.part is not None:
        shortened = CONTEXT_QUERY_TRUNCATED(kept=cut.part[1] - cut.part[0], written=len(request.query))
        messages["immediate"].append(str(shortened))
    return messages


def _shown_places(fitted: FittedPrompt, texts: Texts, encoding: PositionEncoding) -> tuple[ShownPlace, ...]:
    """Where what is shown stands, in the units of the request."""
    groups = fitted.admitted.groups
    spans = ((item.candidate.source, shown_span(item, texts, groups)) for item in fitted.items)
    places = ((source, shows, texts(shows[0]) or "") for source, shows in spans if shows is not None)
    return tuple(
        ShownPlace(source=source, document=path, span=(units(text, start, encoding), units(text, end, encoding)))
        for source, (path, start, end), text in places
    )


def _capacity(profile: BudgetProfile, fitted: FittedPrompt, available: int, rows: Callable[[], Account]) -> list[str]:
    """What was asked for and is cut or missing; that what must be in leaves little room for anything else.

    Truncating the window, the story or optional passages is normal in a long chapter and gives no warning.
    """
    messages: list[str] = []
    if fitted.required * 100 >= profile.warn_percent * available:
        must = [item.text for item in fitted.demanded if item.candidate.pinned and not is_window(item.candidate)]
        tokens = sum(fitted.demand.counter.sections(must))
        if tokens * 100 >= profile.warn_percent * available:
            messages.append(str(CONTEXT_CAPACITY_WARNING(percent=100 * tokens / available, available=available)))
    cut = [item.candidate for item in fitted.items if item.form != "full"]
    lost = [entry for entry in (*cut, *(entry for entry, _ in fitted.omitted)) if _is_asked_for(entry)]
    if lost and fitted.wanted * 100 >= profile.trim_percent * available:
        title = rows().title
        names = [title(entry.source, entry.id, entry.content) for entry in lost[:_LOST]]
        more = ["…"] * (len(lost) > _LOST)
        trim = {"demanded": fitted.wanted, "percent": profile.trim_percent, "available": available}
        messages.append(str(CONTEXT_CAPACITY_FORCE_TRIM(lost=", ".join([*names, *more]), **trim)))
    return messages


def _is_asked_for(candidate: Candidate) -> bool:
    """Whether the user wrote it, pinned it, selected it, or names it in the question."""
    if candidate.pinned or candidate.layer != "retrieved":
        return not is_window(candidate) and not candidate.source.startswith(STORY)
    return any(isinstance(why.detail, Reason) and why.detail.code in _NAMED for why in candidate.evidence)


def inspection(pack: Pack, *, debug_mode: bool, requested_by: str) -> InspectResult:
    """What `pack` would send, layer by layer; `requestedAt` is now, in UTC."""
    results = {layer: pack.layers[layer].model_dump(exclude={"content"}) for layer in LAYERS}
    details = {layer: LayerDetail(**results[layer], content=pack.contents[layer]) for layer in LAYERS}
    return InspectResult(
        layers_detail=LayerDetails(**details),
        totals=InspectTotals(token_count=pack.token_count, warnings_count=len(pack.warnings)),
        inspect_meta=InspectMeta(
            debug_mode=debug_mode,
            requested_by=requested_by,
            requested_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        ),
    )
