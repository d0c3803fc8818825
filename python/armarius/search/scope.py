"""The corpus of one moment, and which documents are no candidates for a request: the one place that decides it.

A question looks into every file but other editions of the story and files that the user declared to be a review, a
template or a tool; plain search (`armarius.search.passages`) looks into other editions too. A task (write, check,
summarise) leaves out reviews, templates and tool files that were guessed as well. All of them come when the request
asks for them: by `kinds`, by `include`, by the open document (its edition is then the one that counts), or in the words
of its question, which name a file, or the kind of such files (审查报告里怎么说); a number chooses among those
(第2章的审查报告). Where nothing else answers, they are looked into as well; a form that nobody has filled in needs its
own name.
"""

import re
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import PurePosixPath
from typing import Final

from armarius.arguments import EVERYTHING, Bounds
from armarius.codex import Codex
from armarius.corpus.part import StoredParts
from armarius.corpus.story import of_edition
from armarius.documents.document import Document
from armarius.documents.project_map import MappedFile, ProjectMap
from armarius.documents.titles import filled_in
from armarius.headings import Reason, kind_name
from armarius.search.corpus import NOTHING_OUTSIDE, Corpus, Outside
from armarius.search.query.chapters import chapter_references
from armarius.search.query.words import Phrases, blank_out, is_unspaced, table, tokens_of
from armarius.text.matcher import EntityMatcher

_NAMED: Final = 3  # characters of a name in an unspaced script that is no word of every question

_EDITIONS: Final = {"copy": "archive"}  # which is called by the same words
_OF_NAME: Final = "[a-z0-9_-]"
_DIGITS: Final = re.compile(r"(?<![\d.])[0-9]{1,4}(?![\d.])")


class FileScope:
    """Which documents of a project are candidates for which request. Threads may share it.

    Args:
        project_map: Of the documents.
        documents: By path.
    """

    def __init__(self, project_map: ProjectMap, documents: Mapping[str, Document]) -> None:
        self._map = project_map
        self._documents = documents
        self._summaries: dict[frozenset[str], Sequence[tuple[str, int]]] = {}

    def outside(
        self,
        question: str = "",
        *,
        document: str = "",
        kinds: Collection[str] = (),
        pinned: Collection[str] = (),
        task: bool = False,
    ) -> Outside:
        """What is no candidate for a request.

        Args:
            question: Its words.
            document: The open document.
            kinds: The kinds that it is limited to.
            pinned: Paths that it includes.
            task: It asks for more than an answer (write, check, summarise …): kinds that were guessed decide too.

        Cost: one look at the words of the question; none where nothing is hidden.
        """
        hidden, files = self._map.hidden, self._map.files
        edition = of_edition(self._map, document) if document else None
        counted = edition not in self._uncounted_files
        later = frozenset() if counted else self._later_files(question, document)
        by_file = self._called_files(question)
        called = by_file - hidden - {document}
        if counted and not hidden:
            return Outside(asked=called) if called else NOTHING_OUTSIDE
        if edition in hidden:
            hidden = hidden - set(self._map.story(edition)) | set(self._map.story())
        own, of_kind = self._named_files(question, by_file)
        chosen = self._numbered_files(question, of_kind)
        targets = (chosen or of_kind) | {
            path for path in hidden if files[path].kind in kinds and files[path].edition == "main"
        }
        paths = hidden - own - (targets - self._blank_templates) - {document, *pinned}
        unchosen = of_kind - chosen if chosen else frozenset[str]()
        if not task:
            paths -= self._map.guessed - self._blank_templates - unchosen
        always = paths & self._blank_templates | later
        declared = frozenset(path for path in paths if files[path].declared and files[path].edition == "main")
        named = frozenset(own | chosen) & hidden - paths
        barred = paths if named else declared | paths & unchosen  # a request that names some of them wants no others
        return Outside(paths | later, always, counted, named | called, always | barred)

    def summary(self, outside: Outside) -> Sequence[tuple[str, int]]:
        """Why documents are no candidates, each with how many, in a stable order."""
        rows = self._summaries.get(outside.paths)
        if rows is None:
            counts = Counter(why_outside(self._map, path) for path in outside.paths)
            rows = self._summaries[outside.paths] = sorted(counts.items())
        return rows

    def _later_files(self, question: str, document: str) -> frozenset[str]:
        """What comes after the open document, but for chapters of a number that the question names."""
        order = self._map.story(document)
        if document not in order:  # not saved yet
            return frozenset()
        named = {number for ref in chapter_references(question) for number in ref.numbers}
        later = order[order.index(document) + 1 :]
        return frozenset(path for path in later if self._map.files[path].number not in named)

    @cached_property
    def _uncounted_files(self) -> frozenset[str]:
        """The documents of stories where a chapter's number does not say what is later."""
        result: set[str] = set()
        for path, file in self._map.files.items():
            if file.order != 0:
                continue
            order = self._map.story(path)
            numbers = [number for item in order if (number := self._map.files[item].number) is not None]
            whole = len(order) == 1 or any(self._map.files[item].kind == "manuscript" for item in order)
            if numbers != sorted(numbers) or not (numbers or whole):
                result.update(order)
        return frozenset(result)

    def _named_files(self, question: str, by_file: frozenset[str]) -> tuple[set[str], set[str]]:
        """The hidden files that a question calls by a name of their own, and those of kinds and names that it says."""
        own = {path for path in by_file & self._map.hidden if self._map.files[path].edition == "main"}
        of_kind: set[str] = set()
        tokens = tokens_of(question)
        for match in self._names.find(question, tokens):
            (own if len(match.value) == 1 else of_kind).update(match.value)
        for kind in {match.value for match in _kinds().find(question, tokens)}:
            of_kind.update(self._files_by_kind.get(kind, ()))
        return own, of_kind

    def _called_files(self, question: str) -> frozenset[str]:
        """The files, but those of code, that a question calls by their names: `notes.md`, or `part-2` without suffix.

        Cost: one search of the question for each name, where it holds a mark of such names.
        """
        text = question.casefold()
        if {*text}.isdisjoint("._-"):
            return frozenset()
        return frozenset(path for name, path in self._file_names if name in text and _holds_name(name, text))

    @cached_property
    def _file_names(self) -> Sequence[tuple[str, str]]:
        """Name, and stem where that has a mark, with the path, of each file but those of code."""
        rows: list[tuple[str, str]] = []
        for path, file in self._map.files.items():
            name = path.rpartition("/")[2].casefold()
            stem = name.rpartition(".")[0]
            if file.kind != "code":
                rows += [(name, path), *([(stem, path)] if "-" in stem or "_" in stem else [])]
        return rows

    def _numbered_files(self, question: str, paths: Collection[str]) -> set[str]:
        """Those of the number that a question says, or of the chapter whose title it says."""
        if not paths:
            return set()
        numbers = _numbers(question) | {match.value for match in self._titles.find(question)}
        files = self._map.files
        return {
            path
            for path in paths
            if not numbers.isdisjoint(_numbers(PurePosixPath(path).stem) if (n := files[path].number) is None else {n})
        }

    @cached_property
    def _titles(self) -> Phrases[int]:
        files, documents = self._map.files, self._documents
        chapters = ((path, number) for path in self._map.story() if (number := files[path].number) is not None)
        return Phrases(
            {name: number for path, number in chapters for name in _names_of(files[path], documents.get(path))}
        )

    @cached_property
    def _names(self) -> Phrases[tuple[str, ...]]:
        names: dict[str, tuple[str, ...]] = {}
        for path in sorted(self._map.hidden):
            for name in _names_of(self._map.files[path], self._documents.get(path)):
                names[name] = (*names.get(name, ()), path)
        return Phrases(names)

    @cached_property
    def _files_by_kind(self) -> Mapping[str, tuple[str, ...]]:
        kinds: dict[str, tuple[str, ...]] = {}
        for path in sorted(self._map.hidden):
            file = self._map.files[path]
            kind = file.kind if file.edition == "main" else _EDITIONS.get(file.edition, file.edition)
            kinds[kind] = (*kinds.get(kind, ()), path)
        return kinds

    @cached_property
    def _blank_templates(self) -> frozenset[str]:
        """Templates that nobody has filled in."""
        files, documents = self._map.files, self._documents
        forms = (path for path in self._map.hidden if files[path].kind == "template" and path in documents)
        return frozenset(path for path in forms if not _is_filled_in(documents[path]))


def _holds_name(name: str, text: str) -> bool:
    """Whether a text holds the name of a file, and no longer one that it is a part of."""
    return re.search(rf"(?<!{_OF_NAME}){re.escape(name)}(?!{_OF_NAME})", text) is not None


def why_outside(project_map: ProjectMap, path: str) -> Reason:
    """Why a document is excluded."""
    file = project_map.files[path]
    if path not in project_map.hidden:
        return Reason("out.edition")
    what = (
        Reason("kind", kind=kind_name(file.kind))
        if file.edition == "main"
        else Reason("edition", edition=kind_name(file.edition))
    )
    return Reason("out.hidden", what=what)


def _numbers(text: str) -> set[int]:
    """The chapters that a text names, or else the numbers in it."""
    named = {number for ref in chapter_references(text) if not ref.excluded for number in ref.numbers}
    return named or {int(digits) for digits in _DIGITS.findall(text)}


def _is_filled_in(document: Document) -> bool:
    body = "\n".join(
        document.text[block.start : block.end] for block in document.paragraphs if block.role != "front_matter"
    )
    return bool(filled_in(body).strip())


def _names_of(file: MappedFile, document: Document | None) -> Iterator[str]:
    """What a question may call a file without its suffix; a copy by its folder, as the files in it are called alike."""
    if file.edition != "main":
        names = [PurePosixPath(file.story).name]
    else:
        names = [PurePosixPath(file.path).stem, "" if document is None else document.title]
    for name in names:
        name = blank_out(name, chapter_references(name))  # what it is about, and no name
        if len(tokens_of(name)) >= (_NAMED if is_unspaced(name) else 2):
            yield name.strip()


@cache
def _kinds() -> Phrases[str]:
    return Phrases({phrase: kind for kind, phrases in table("files").items() for phrase in phrases})


class ProjectCorpus:
    """The documents and the codex of one moment, to be searched. Threads may share it; they take turns.

    Args:
        documents: By path; not to be changed afterwards.
        codex: Its entities are looked for.
        matcher: Finds them; one of the names alone when not given.
        ready: False while the project has not been read yet: then nothing is found because nobody could look.
        before: The corpus of an earlier moment of the project, to take indexes over from.
        kept: Where a store keeps what has been worked out of the documents, for the names of `matcher`.
        project_map: Of the documents: their order.

    Cost: none; the first question reads what is new, all texts when the names are others.
    """

    def __init__(
        self,
        documents: Mapping[str, Document],
        codex: Codex,
        matcher: EntityMatcher | None = None,
        *,
        ready: bool = True,
        before: "ProjectCorpus | None" = None,
        kept: StoredParts | None = None,
        project_map: ProjectMap | None = None,
    ) -> None:
        self.documents, self.codex, self.matcher, self.ready, self.kept = documents, codex, matcher, ready, kept
        self.map = ProjectMap() if project_map is None else project_map
        self._shared: _SharedCorpus = _SharedCorpus() if before is None else before._shared

    @contextmanager
    def acquire(
        self, scope: Bounds = EVERYTHING, live: Document | None = None, outside: Outside = NOTHING_OUTSIDE
    ) -> Iterator[Corpus]:
        """The corpus of this moment until the block ends; other threads wait.

        Args:
            scope: What of it may be seen.
            live: A document as an editor holds it, in the place of what is saved.
            outside: The documents that are no candidates, as `armarius.search.scope` decides.

        Cost: one look at each document when another moment was asked before; those that differ are read again.
        """
        with self._shared.lock:
            whole = self._shared.at(self)

            def seen(outside: Outside) -> Corpus:
                corpus = whole.without(outside.paths)
                corpus = (corpus if live is None else corpus.with_live(live)).within(scope)
                corpus.outside, corpus.wider = outside, None
                return corpus

            corpus = seen(outside)
            if outside.paths != outside.always:
                corpus.wider = partial(seen, replace(outside, paths=outside.always))
            yield corpus


class _SharedCorpus:
    """The corpus of a project, brought to the moment that is asked. Hold the lock for as long as it is used."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._corpus: Corpus | None = None
        self._taken: Mapping[str, Document] = {}

    def at(self, moment: ProjectCorpus) -> Corpus:
        corpus, documents, wanted = self._corpus, self._taken, moment.documents
        codex, matcher, kept = moment.codex, moment.matcher, moment.kept
        self._corpus = None  # until the work is done: what fails half way is begun again
        same = corpus is not None and corpus.codex is codex and matcher in (None, corpus.matcher)
        if corpus is None or not (same or corpus.adopt(codex, matcher, kept)):
            corpus = Corpus(codex, matcher, kept)
            corpus.update(list(wanted.values()))
        elif documents is not wanted:
            for path in [path for path in documents if path not in wanted]:
                corpus.remove(path)
            changed = [
                doc for path, doc in wanted.items() if documents.get(path) is not doc and documents.get(path) != doc
            ]
            if changed:
                corpus.update(changed)
        if corpus.map is not moment.map:
            corpus.adopt_map(moment.map)
        self._corpus, self._taken = corpus, wanted
        return corpus
