from dataclasses import dataclass, field
from pathlib import Path

import pytest

from armarius.codex import load_codex
from armarius.documents.document import list_documents
from armarius.search.corpus import Corpus
from armarius.search.query.recipe import understand
from armarius.search.retrieve import Sources, find, retrieve
from armarius.search.scope import ProjectCorpus

EXAMPLE = Path(__file__).parents[2] / "examples" / "novel"

SMALL = {
    "chapters/ch001.md": "# Chapter One: The Bell\n\nAnna Vale rang the harbour bell and nobody came.\n",
    "chapters/ch002.md": "# Chapter Two: The Wedding\n\nTom Reed married Clara while Anna watched from the pier.\n",
    "chapters/ch003.md": (
        "# Chapter Three: The Fire\n\nThe chandlery burned all night. Clara found the ledger in the ash.\n"
    ),
    "chapters/ch004.md": "# Chapter Four: The Ledger\n\nAnna read the ledger and learned who had paid the wreckers.\n",
    "spec/characters.md": (
        "# Characters\n\n"
        "## Anna Vale\n\n- Type: character\n- Aliases: Anna, Nan\n- Gender: female\n"
        "- Description: The bell keeper's daughter; older sister of Tom Reed.\n\n"
        "## Tom Reed\n\n- Type: character\n- Aliases: Tom\n- Gender: male\n"
        "- Description: A chandler. Married to Clara.\n\n"
        "## Clara\n\n- Type: character\n- Gender: female\n- Description: Tom's wife, a stranger in the harbour.\n"
    ),
    "spec/outline.md": (
        "# Outline\n\n- Chapter 1: the bell rings for a drowned crew\n- Chapter 2: a wedding\n"
        "- Chapter 3: the shop burns down\n- Chapter 4: the truth about the wreckers\n"
    ),
}


def write(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


@dataclass(frozen=True)
class Asked:
    """A corpus with the sources that its questions are put to."""

    corpus: ProjectCorpus
    sources: Sources = field(default_factory=Sources)

    def retrieve(self, query, **options):
        return retrieve(self.corpus, query, sources=self.sources, **options)

    def find(self, query, **options):
        with self.corpus.acquire() as corpus:
            return find(corpus, query, understand(query), sources=self.sources, **options)

    @property
    def opened(self) -> Corpus:
        with self.corpus.acquire() as corpus:
            return corpus


def corpus_of(root: Path) -> Asked:
    documents = {document.path: document for document in list_documents(root).documents}
    return Asked(ProjectCorpus(documents, load_codex(root)), Sources(root))


@pytest.fixture
def small(tmp_path) -> Asked:
    return corpus_of(write(tmp_path, SMALL))


@pytest.fixture(scope="session")
def novel() -> Asked:
    return corpus_of(EXAMPLE)
