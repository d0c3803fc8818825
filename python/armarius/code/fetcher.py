"""Code symbols named in a request, or around its cursor, as candidates for the retrieved layer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import ClassVar

from armarius.code.index import CodeIndex
from armarius.code.subgraph import Subgraph, TextMatches, card
from armarius.documents.classify import CODE_SUFFIXES
from armarius.errors import AmbiguousSymbol, ContextWarning, UnknownSymbol
from armarius.headings import Reason, heading
from armarius.types import Candidate, Evidence, Fetched, FetchRequest, LayerName, Omission
from armarius.warnings import CODE_DEPTH_LIMIT

# ASCII on purpose: a name adjacent to Chinese words ends where they begin.
_NAME = r"[A-Za-z_$][A-Za-z0-9_$]*"
_SYMBOL = re.compile(rf"(`?)(?<![A-Za-z0-9_$])({_NAME}(?:(?:\.|::|#){_NAME})*)(\(?)")
_TELLING = re.compile(r"[_$]|[a-z0-9][A-Z]|[A-Z]{2}.{0,80}[a-z]|\.|::|#")
_WINDOW = 400  # code points before and after the cursor: about ten lines of code
_SHORT = 2  # letters, and fewer, name no symbol
_KINDS = ("calls", "inherits", "overrides", "refs")
_NAMED_PLAINLY = ("function", "class", "interface", "enum", "type")


def written_symbols(text: str) -> Iterator[tuple[str, bool]]:
    """Names in `text` that may be symbols, once each, and whether they look like code.

    Code looks like `snake_case`, `camelCase`, `a.b`, `call(`, or stands in backticks; any other word may still be
    the name of a function.
    """
    seen: dict[str, bool] = {}
    for match in _SYMBOL.finditer(text):
        quoted, name, called = match[1], match[2], match[3]
        if len(name) > _SHORT:
            seen[name] = seen.get(name, False) or bool(quoted or called or _TELLING.search(name))
    yield from seen.items()


@dataclass(frozen=True, slots=True)
class SubgraphFetcher:
    """The subgraph around each symbol that a request names.

    Symbols are looked for in the query, in the text around the cursor, and, in a code file, at the cursor itself. A
    plain word counts only when it names exactly one function or class. A project without code is left in peace: no
    candidate, no warning.

    Args:
        index: The code graph.
        depth: Steps around each symbol.
        most: Symbols per request; those of the query come first.
        max_nodes: Node budget of each subgraph.
    """

    index: CodeIndex
    depth: int = 2
    most: int = 6
    max_nodes: int = 24
    name: ClassVar[str] = "code"
    layer: ClassVar[LayerName] = "retrieved"

    def inline(self, request: FetchRequest) -> bool:
        """Whether nothing has to be looked up: most requests are about no code at all, and need no thread."""
        if request.bounds.leaves_out("code", None) is not None:
            return True
        return not _is_in_code(request) and not _may_name_symbol(request)

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """Candidates `code:subgraph:<symbol>`, the closest to the question first; none for a request without code."""
        if request.bounds.leaves_out("code", None) is not None:
            return Fetched()
        in_code = _is_in_code(request)
        if not in_code and (not _may_name_symbol(request) or not self.index.has_code()):
            return Fetched()
        wanted = self._wanted_symbols(request, in_code)
        graph = self.index.graph
        candidates: dict[str, Candidate] = {}
        omitted: list[Omission] = []
        warnings: dict[str, ContextWarning] = {}
        for symbol, telling, score, why in wanted:
            if len(candidates) >= self.most:
                break
            if graph is None and not telling:
                continue
            try:
                result = self.index.subgraph(symbol, depth=self.depth, kinds=_KINDS, max_nodes=self.max_nodes)
            except UnknownSymbol:
                result, detail = None, Reason("out.words", words=(symbol,))
            except AmbiguousSymbol as error:
                result, detail = None, Reason("out.symbols", count=len(error.candidates), symbols=error.candidates)
            if isinstance(result, TextMatches) and request.bounds:
                result = _code_matches(result)
            if not telling and isinstance(result, Subgraph) and result.root.type not in _NAMED_PLAINLY:
                continue
            is_absent = isinstance(result, TextMatches) and not result.results
            is_due = graph is not None or self._expects_graph() or (why == "query" and not is_absent)
            if result is not None and is_due:
                warnings.update((str(w), w) for w in result.warnings if w.code != CODE_DEPTH_LIMIT.code)
            if is_absent:
                result, detail = None, Reason("out.words", words=(symbol,))
            if result is None:
                if telling:
                    source = f"code:subgraph:{symbol}"
                    omitted.append(Omission(f"code:{symbol}", "retrieved", source, "no match", detail))
                continue
            candidate = self._candidate(result, symbol, score, why, request)
            candidates.setdefault(candidate.id, candidate)
        return Fetched(tuple(candidates.values()), tuple(omitted), tuple(warnings.values()))

    def _expects_graph(self) -> bool:
        """Whether a missing graph is worth a warning: one is configured, or there is one that cannot be used."""
        options, absent = self.index.options, {"no_index", "no_binary"}
        chosen = options.source != "auto" or options.index is not None
        return chosen or any(failure.reason not in absent for failure in self.index.failures)

    def _wanted_symbols(self, request: FetchRequest, in_code: bool) -> list[tuple[str, bool, float, str]]:
        wanted: dict[str, tuple[str, bool, float, str]] = {}
        before = request.text[max(0, request.cursor - _WINDOW) : request.cursor]
        around = before + request.text[request.cursor : request.cursor + _WINDOW] if in_code else ""
        texts = ((request.question, 1.0, "query"), (request.additional_input, 0.8, "input"), (around, 0.6, "near"))
        if in_code and (graph := self.index.graph) is not None:
            line = request.text.count("\n", 0, request.cursor) + 1
            number = graph.at(request.document, line)
            if number is not None and (node := graph.node(number)).kind != "module":
                wanted[node.name] = (node.name, True, 0.9, "cursor")
        for text, score, where in texts:
            for name, telling in written_symbols(text):
                wanted.setdefault(name, (name, telling, score - (0 if telling else 0.3), where))
        return sorted(wanted.values(), key=lambda item: -item[2])

    def _candidate(
        self, result: Subgraph | TextMatches, symbol: str, score: float, why: str, request: FetchRequest
    ) -> Candidate:
        evidence = Evidence("code", Reason(f"code.{why}", symbol=symbol))
        if isinstance(result, TextMatches):
            hits = sorted(
                result.results, key=lambda hit: (not _is_code(hit.file), _OF_TESTS.search(hit.file) is not None)
            )
            content = f"## {symbol}\n" + "\n".join(f"{hit.file}:{hit.line}: {hit.text}" for hit in hits[:20])
            files = tuple(dict.fromkeys(hit.file for hit in hits[:20]))
            name, short = symbol, None
        else:
            content, short = card(result, self.index.root), card(result, self.index.root, short=True)
            files = tuple(dict.fromkeys(node.path for node in result.nodes if node.path))
            name = result.root.name
        return Candidate(
            id=f"code:{name}",
            layer="retrieved",
            source=f"code:subgraph:{name}",
            content=content,
            score=score,
            evidence=(evidence,),
            group=heading("code", request.language),
            short=short,
            documents=files,
            project_id=request.project_id,
        )


_OF_TESTS = re.compile(r"(?:^|/)(?:tests?|__tests__)/|(?:^|/)test_|[._]test\.|\.spec\.", re.IGNORECASE)


def _is_in_code(request: FetchRequest) -> bool:
    return _is_code(request.document)


@lru_cache(maxsize=64)
def _is_code(document: str) -> bool:
    return PurePosixPath(document).suffix.lower() in CODE_SUFFIXES


def _may_name_symbol(request: FetchRequest) -> bool:
    """Whether any word may be a symbol: the first one settles it."""
    texts = (request.question, request.additional_input)
    return any(len(match[2]) > _SHORT for text in texts for match in _SYMBOL.finditer(text))


def _code_matches(result: TextMatches) -> TextMatches:
    """Without the lines of other files, which may be of any chapter."""
    return replace(
        result, results=tuple(hit for hit in result.results if PurePosixPath(hit.file).suffix in CODE_SUFFIXES)
    )
