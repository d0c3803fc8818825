"""The immediate layer: the text around the cursor, and the selection where it is not part of it."""

from dataclasses import replace

from armarius.errors import ContractError
from armarius.headings import Reason, heading
from armarius.prompt.escape import marks_of
from armarius.text.unicode import grapheme_floor
from armarius.types import WINDOW, Candidate, Evidence, Fetched, FetchRequest, LayerName, Omission
from armarius.validation import shown, whole

SELECTION_SOURCE = "editor:selection"
# Code points before and after the cursor: about 30,000 and 10,000 tokens of Chinese, more than any default budget.
BEFORE = 49_152
AFTER = 16_384
# The window starts on multiples of this, so that typing does not move its start.
_STEP = 4_096
# How far back from the end a window is drawn in, to end with a line.
_SLACK = 1_024


class ImmediateFetcher:
    """The window around the cursor as `editor:cursor-window`; the budget keeps what is nearest the cursor.

    The text stays the author's, byte for byte, but for the marks of cursor and selection
    (`armarius.prompt.escape`); the place of the cursor is the candidate's `anchor`, what is
    selected its `core`, which is in the prompt whole or there is none. Without a document, the additional input is the
    window; with one, an additional input that the window does not contain follows it as `editor:selection`.

    Args:
        before: Code points before the cursor at most.
        after: Code points after it at most.
    """

    name = "immediate"
    layer: LayerName = "immediate"
    inline = True

    def __init__(self, *, before: int = BEFORE, after: int = AFTER) -> None:
        self._before = whole("before", before, least=None)
        self._after = whole("after", after, least=None)
        if self._before < 0 or self._after < 0:
            raise ContractError(f"before and after must be >= 0, got {shown(before)} and {shown(after)}")

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """The text around the cursor; nothing when there is neither a document nor an additional input.

        Cost: slices of at most `before + after` code points, independent of the size of the document.
        """
        given = request.additional_input
        omitted = [_withheld(request)] if request.withheld else []
        if not request.text or request.text.isspace():
            if not given.strip():
                return Fetched(omitted=omitted)
            evidence = Evidence("cursor", Reason("cursor.input"))
            return Fetched((self._candidate(request, WINDOW, given, len(given), evidence),), omitted)
        content, window = self._window(request)
        candidates = [window]
        if given.strip() and given.strip() in content:
            omitted.append(
                Omission(SELECTION_SOURCE, "immediate", SELECTION_SOURCE, "duplicate", Reason("out.document"))
            )
        elif given.strip():
            evidence = Evidence("cursor", Reason("cursor.input"))
            candidates.append(self._candidate(request, SELECTION_SOURCE, given, len(given), evidence))
        return Fetched(tuple(candidates), tuple(omitted))

    def _window(self, request: FetchRequest) -> tuple[str, Candidate]:
        """The text around the cursor, or around what is selected, and the candidate of it."""
        text, cursor, selection = request.text, request.cursor, request.selection
        start, end = self._span(text, *(selection or (cursor, cursor)), request.chapter_end)
        evidence = [Evidence("cursor", Reason("cursor.at", cursor=cursor), request.document, (start, end))]
        core = None
        if selection is not None:
            core = (selection[0] - start, selection[1] - start)
            evidence.append(Evidence("cursor", Reason("cursor.selection"), request.document, selection))
        candidate = self._candidate(request, WINDOW, text[start:end], cursor - start, evidence[0])
        here = cursor - start if request.marks_cursor and start <= cursor <= end else None
        marks = marks_of(here, core if request.marks else None)
        if marks or core:
            candidate = replace(candidate, core=core, marks=marks, evidence=tuple(evidence))
        return candidate.content, candidate

    def _span(self, text: str, first: int, last: int, most: int | None) -> tuple[int, int]:
        first, last = min(max(first, 0), len(text)), min(max(last, 0), len(text))
        start = max(0, first - self._before)
        if start:
            start = min(first, -(-start // _STEP) * _STEP)
            line = text.find("\n", start, min(first, start + _STEP))
            start = line + 1 if line >= 0 else grapheme_floor(text, start)
        elif first and text.startswith("\ufeff"):  # a byte order mark is no text
            start = 1
        most = len(text) if most is None else min(most, len(text))
        end = min(most, last + self._after)
        if end < most:
            line = text.rfind("\n", max(last, end - _SLACK), end)
            end = line if line > last else max(last, grapheme_floor(text, end))
        return start, end

    def _candidate(
        self, request: FetchRequest, source: str, content: str, anchor: int, evidence: Evidence
    ) -> Candidate:
        window = source == WINDOW
        return Candidate(
            id=source,
            layer="immediate",
            source=source,
            content=content,
            score=1.0 if window else 2.0,
            evidence=(evidence,),
            group=heading("window" if window else "selection", request.language),
            keep="around" if window else "head",
            anchor=anchor if window else 0,
            documents=(request.document,) if window and request.text and request.document else (),
            project_id=request.project_id,
        )


def _withheld(request: FetchRequest) -> Omission:
    """What of the open document may not be known yet."""
    return Omission(request.document, "immediate", WINDOW, "timeline", request.withheld)
