"""`engine.summaries`: summaries of documents, which of them are stale, and their update by a host's model."""

import json
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from inspect import isawaitable
from typing import Any, Final, NamedTuple

from armarius.codex.collection import Listed
from armarius.codex.model import Deleted, PassageSummary, Summary
from armarius.deadline import CALLER, awaitable
from armarius.documents.document import Document
from armarius.documents.kinds import glob
from armarius.engine.asking import count
from armarius.engine.project import Project, entities_for_models
from armarius.errors import ContractError, UnknownId, message_of
from armarius.headings import Language
from armarius.lexicon import word_file
from armarius.search.signals import stated_summary
from armarius.text.chat import Asked, Message, read_answers, without_secrets
from armarius.validation import near, shown, suggestion, whole

_FORM: Final = json.dumps({"summary": "…", "passages": [{"first": 1, "last": 4, "text": "…"}]}, ensure_ascii=False)
_ASKED: Final = word_file("summaries")
_TOGETHER: Final = 6_000  # tokens of the chapters of one request, unless one alone has more
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # no numbers, which titles have too
_HOPELESS: Final = 3  # replies without a summary, after which a model that has given none is not asked


class SummaryReply(NamedTuple):
    """The summary of a chapter, and of its passages."""

    text: str
    passages: tuple[PassageSummary, ...] = ()


class SummaryRequest(Asked):
    """The messages that ask a model for the summary of a chapter, or of several short ones, and of their passages.

    Attributes:
        documents: The chapters.
    """

    documents: tuple[Document, ...]

    @property
    def tokens(self) -> int:
        """Length of the messages in tokens of o200k_base."""
        return count(self.text)

    def parse(self, reply: object) -> SummaryReply:
        """The summary of the first chapter in a reply, a text or a message of a model library.

        The last object with a summary counts, so that a form that is repeated first does not. Passages are put in
        order and cut to the paragraphs that are left for them; invalid ones go. Of a reply that was cut short,
        the summary and the passages that are whole are read.

        Raises:
            ContractError: There is no summary in it.
        """
        summary = next(iter(self.parse_each(reply).values()))
        if isinstance(summary, ContractError):
            raise summary
        return summary

    def parse_each(self, reply: object) -> dict[str, SummaryReply | ContractError]:
        """By path, what a reply says of each chapter, read as by `parse`, or why that chapter has no summary."""
        letters = _LETTERS[: len(self.documents)]
        rows: dict[str, list[dict[str, Any]]] = {letter: [] for letter in letters}
        for letter, row in _summaries(read_answers(reply).values):
            rows.setdefault(letter if len(letters) > 1 else "A", []).append(row)
        complete = all(rows[letter] for letter in letters)  # else one of two for a chapter is of another
        replies: dict[str, SummaryReply | ContractError] = {}
        for letter, document in zip(letters, self.documents, strict=True):
            if len(rows[letter]) == 1 or complete:
                row, end = rows[letter][-1], len(document.paragraphs) - 1
                replies[document.path] = SummaryReply(row["summary"].strip(), tuple(_passages(row, end)))
            else:
                form = f"{_FORM} of chapter {letter}" if len(letters) > 1 else _FORM
                replies[document.path] = ContractError(
                    f"{document.path}: expected JSON like {form}, got {shown(reply)}"
                )
        return replies


def _summaries(value: object, key: object = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects with a summary, in whatever they lie, and the letter in them or before them."""
    if isinstance(value, dict) and _has_words(value.get("summary")):
        yield str(value.get("chapter", key)).strip("[](). ").upper(), value
    elif isinstance(value, dict | list):
        for name, row in value.items() if isinstance(value, dict) else ((key, row) for row in value):
            yield from _summaries(row, name)


def _passages(reply: Mapping[str, Any], end: int) -> Iterator[PassageSummary]:
    rows: list[tuple[int, int, str]] = []
    for row in reply["passages"] if isinstance(reply.get("passages"), list) else ():
        if isinstance(row, dict) and _has_words(row.get("text")):
            first, last = _number(row.get("first")), _number(row.get("last"))
            if first is not None and last is not None:
                rows.append((first, last, row["text"].strip()))
    begin = 0
    for first, last, text in sorted(rows):
        first, last = max(first, begin), min(last, end)
        if first <= last:
            yield PassageSummary(first, last, text)
            begin = last + 1


_WHOLE: Final = re.compile(r"\d{1,9}(?:\.0)?", re.ASCII)


def _has_words(text: object) -> bool:
    """Whether it is a text with a letter or digit in it, which "…" is not."""
    return isinstance(text, str) and any(map(str.isalnum, text))


def _number(value: object) -> int | None:
    """A whole number, also as a text: "3", "[3]"."""
    text = str(value).strip("[] ") if isinstance(value, str | int | float) else ""
    return int(float(text)) if _WHOLE.fullmatch(text) else None


class RefreshCost(NamedTuple):
    """What it takes to sum chapters up.

    Attributes:
        chapters: How many.
        asked: Tokens of o200k_base of the messages of `request` for them.
        replied: Tokens of the summaries that were made of them, passages and all.
    """

    chapters: int
    asked: int
    replied: int = 0


class Refreshed(tuple[Summary, ...]):  # noqa: SLOT001 - a tuple has no slots for what it cost
    """New summaries in the order of the story, what they cost, and, by path, why a chapter has none."""

    cost: RefreshCost
    refused: Mapping[str, str]


Summarise = Callable[[Document], Any]
"""A host's function, or coroutine function, from a chapter to a text or a `SummaryReply`."""


class ProjectSummaries(Listed[Summary]):
    """The summaries of a project by document, stored in `.armarius/summaries.toml`. Thread-safe.

    Args:
        project: The project of the documents.
    """

    _noun = "summary", "summaries"

    def __init__(self, project: Project) -> None:
        self._project = project

    def list(self) -> tuple[Summary, ...]:
        """All of them, in the order of the file."""
        return self._project.summaries.list()

    def get(self, document: str) -> Summary:
        """The summary of a document; UnknownId, which is a KeyError and names near paths, when it has none."""
        return self._existing_summary(document)

    def set(self, document: str, text: str, *, passages: Sequence[PassageSummary] = ()) -> Summary:
        """Keep `text` as the summary of a document as it is now.

        Args:
            document: Its path.
            text: What happens in it.
            passages: What its paragraphs say, from one to another.

        Raises:
            UnknownDocument: No such document.
            CodexError: The text is blank or no text; a passage is invalid.
            StoreFull: The file cannot be written; nothing has changed.
        """
        return self._project.summaries.put(
            document, text, self._project.view().document(document).content_hash, passages
        )

    create = set  # noqa: A003 - the method

    def update(self, document: str, **changes: Any) -> Summary:  # noqa: ANN401 - checked by `set`
        """Change `text` or `passages` of the summary of a document as it is now; raises as `get` and `set`."""
        summary = self._existing_summary(document)
        return self.set(document, **{"text": summary.text, "passages": summary.passages, **changes})

    def delete(self, document: str) -> Deleted:
        """Forget the summary of a document; UnknownId, which is a KeyError, when it has none."""
        return self._project.summaries.delete(self._existing_summary(document).id)

    def stale(self) -> tuple[str, ...]:
        """Paths of summarised documents that have changed or are gone; nothing uses their summaries."""
        documents = self._project.view().documents
        return tuple(
            summary.document
            for summary in self.list()
            if summary.document not in documents or documents[summary.document].content_hash != summary.content_hash
        )

    def request(self, *documents: str | Document) -> SummaryRequest:
        """The messages for a model that sums a document up, or several, in Chinese or English as the project is.

        Raises:
            UnknownDocument: No such document.
            ContractError: `[model] never` closes one of them; none of them, or more than 26.
        """
        view = self._project.view()
        chapters = tuple(one if isinstance(one, Document) else view.document(one) for one in documents)
        if not 0 < len(chapters) <= len(_LETTERS):
            raise ContractError(f"documents: expected 1 to {len(_LETTERS)}, got {len(chapters)}")
        if closed := next((chapter.path for chapter in chapters if self._is_closed(chapter.path)), ""):
            raise ContractError(f"document: {closed}: [model] never of armarius.toml keeps it out of every request")
        named = {one.entity_id for chapter in chapters for one in view.matcher.detect(chapter.text)}
        allowed = entities_for_models(view.codex.entities, self._project.index.config)
        people = [entity for entity in allowed if entity.id in named]
        cards = [f"{item.name} ({', '.join(item.aliases[:3])})" if item.aliases else item.name for item in people[:40]]
        names = [f"{'人物和名称' if view.language == 'zh' else 'Names'}: {'; '.join(cards)}"] if cards else []
        language: Language = "zh" if view.language == "zh" else "en"
        several, texts = len(chapters) > 1, list[str]()
        for letter, chapter in zip(_LETTERS, chapters, strict=False):
            texts += (f"{letter}. " * several + chapter.title, *names)
            names = []  # once
            body = (part for part in chapter.paragraphs if part.role == "body")
            texts += (f"[{part.index}] {chapter.text[part.start : part.end]}" for part in body)
        asked = _ASKED["chapter"][language].replace("<form>", _FORM) + _ASKED["several"][language] * several
        system = Message(role="system", content=asked)
        made = SummaryRequest((system, Message(role="user", content=without_secrets("\n\n".join(texts)))))
        made.documents = chapters
        return made

    def requests(self, *, limit: int | None = None) -> Iterator[SummaryRequest]:
        """The messages for what `refresh` would do, for hosts that send them: neighbours of 6,000 tokens in one.

        Args:
            limit: Maximum number of chapters; None is all of them.
        """
        group, length = list[Document](), 0
        for chapter in self._due_chapters(limit):
            tokens = count(chapter.text)
            if group and (length + tokens > _TOGETHER or len(group) == len(_LETTERS)):
                yield self.request(*reversed(group))
                group, length = [], 0
            group, length = [*group, chapter], length + tokens
        if group:
            yield self.request(*reversed(group))

    def cost(self, *, limit: int | None = None) -> RefreshCost:
        """What `refresh` would take with a model that is asked by `request`. Cost: a count of these chapters."""
        due = self._due_chapters(limit)
        return RefreshCost(len(due), sum(self.request(doc).tokens for doc in due))

    def refresh(self, summarise: Summarise, *, limit: int | None = None, at_once: int = 1) -> Refreshed:
        """Summarise every chapter with a missing or stale summary. Nothing else calls `summarise`.

        Args:
            summarise: Called once per chapter of the main edition, the last one first, not for earlier books. A
                ContractError (`parse` of a reply without a summary), a blank or invalid text are `refused`, and
                the other chapters go on, unless the first three are all refused. Of another error the chapters that
                are under way are kept, and it propagates. A chapter with a `summary` in its front matter is skipped.
            limit: Maximum number of chapters; None is all of them.
            at_once: So many are under way at a time; functions then run in threads, coroutines on one loop.

        Returns:
            The new summaries, with `cost` and `refused`.

        Raises:
            ContractError: `summarise` is not callable; a number is invalid; no chapter has a summary, and why.
        """
        if not callable(summarise):
            raise ContractError(f"summarise: expected a function from a document to a text, got {summarise!r:.60}")
        due, at_once = self._due_chapters(limit), whole("at_once", at_once, least=1)
        made: dict[str, Summary] = {}
        refused: dict[str, ContractError] = {}
        _run(self._write_summaries(summarise, iter(due), made, refused, at_once))
        if refused and not made:
            raise next(iter(refused.values()))
        results = Refreshed(made[doc.path] for doc in reversed(due) if doc.path in made)
        results.refused = {path: message_of(error) for path, error in sorted(refused.items())}
        replied = sum(count("\n".join((item.text, *(part.text for part in item.passages)))) for item in results)
        results.cost = RefreshCost(len(due), sum(self.request(doc).tokens for doc in due), replied)
        return results

    arefresh = awaitable(refresh)

    def _is_closed(self, path: str) -> bool:
        return any(glob(pattern).matches(path) for pattern in self._project.index.config.never)

    def _due_chapters(self, limit: int | None) -> Sequence[Document]:
        """The chapters without a summary of what they are now, the last one first."""
        most = None if limit is None else whole("limit", limit)
        view = self._project.view()
        fresh = {summary.document for summary in self.list()} - set(self.stale())
        chapters = [view.documents[path] for path in reversed(view.map.story()) if path in view.documents]
        due = (doc for doc in chapters if doc.path not in fresh and not doc.past and not stated_summary(doc))
        return [doc for doc in due if not self._is_closed(doc.path)][:most]

    async def _write_summaries(
        self,
        summarise: Summarise,
        due: Iterator[Document],
        made: dict[str, Summary],
        refused: dict[str, ContractError],
        at_once: int,
    ) -> None:
        """Write a summary of each, `at_once` at a time, into `made` too."""
        import asyncio

        threaded = at_once > 1 or CALLER.get() is not None
        failed: list[Exception] = []

        async def work() -> None:
            for doc in due:
                try:
                    answer = await asyncio.to_thread(summarise, doc) if threaded else summarise(doc)
                    answer = await answer if isawaitable(answer) else answer
                    text, passages = answer if isinstance(answer, SummaryReply) else (answer, ())
                    if not isinstance(text, str) or not text.strip():
                        raise ContractError(f"summarise: expected a text for {doc.path}, got {answer!r:.60}")
                    made[doc.path] = self._project.summaries.put(doc.path, text.strip(), doc.content_hash, passages)
                except ContractError as error:
                    refused[doc.path] = error
                except Exception as error:  # noqa: BLE001 - raised below, when those under way have ended
                    failed.append(error)
                if failed or (not made and len(refused) >= _HOPELESS):
                    return

        async with asyncio.TaskGroup() as tasks:
            for _ in range(at_once):
                tasks.create_task(work())
        if failed:
            raise failed[0]

    def _existing_summary(self, document: str) -> Summary:
        summary = self._project.summaries.of(document)
        if summary is None:
            close = near(document, [entry.document for entry in self.list()])
            raise UnknownId(f"no summary of {document!r}{suggestion(close)}", close)
        return summary


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end: on the loop of the coroutine that waits, else on one of its own."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    caller: asyncio.AbstractEventLoop | None = CALLER.get()
    if caller is not None and caller.is_running():
        return asyncio.run_coroutine_threadsafe(work, caller).result()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:  # a notebook's loop is running in this thread
        return pool.submit(asyncio.run, work).result()
