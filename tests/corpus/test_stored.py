"""What a store keeps of documents for retrieval: it comes back as it was, or it is worked out again."""

import json
import shutil
import struct
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armarius
import armarius.corpus.part as kept_module
from armarius._core import Corpus as CoreCorpus
from armarius.codex.load import load_codex
from armarius.corpus.part import (
    FORM,
    KIND,
    StoredParts,
    fingerprint,
    names_in,
    names_met,
    pack,
    part_of,
    part_row,
    unpack,
)
from armarius.documents.document import list_documents, make_document
from armarius.errors import StoreBusy
from armarius.search import corpus as tables_module
from armarius.search.corpus import Corpus
from armarius.search.retrieve import retrieve
from armarius.search.scope import ProjectCorpus
from armarius.store.protocol import DerivedRow, join_pieces, split_pieces
from armarius.text.matcher import EntityMatcher

DATA = Path(__file__).parents[1] / "data"
NOVELS = ("saltern", "larkmoor", "wintermere")
QUESTIONS = ("第三章", "who keeps the lamp", "林小雨的父亲是谁", "the letter that was burnt", "渡口的灯", "“the”")


class Project:
    """A novel, its codex and matcher, and rows as a store would keep them."""

    def __init__(self, name):
        root = DATA / name
        self.documents = {document.path: document for document in list_documents(root).documents}
        self.codex = load_codex(root)
        self.matcher = EntityMatcher.from_valid(self.codex.entities)[0]
        hits = zip(documents := list(self.documents.values()), names_met(documents, self.matcher), strict=True)
        self.rows = {document.path: part_row(document, met, "names") for document, met in hits}
        self.asked = []

    def kept(self, names="names"):
        def read(paths):
            self.asked.append(paths)
            return self.rows if paths is None else {path: self.rows[path] for path in paths if path in self.rows}

        return StoredParts(names, read)

    def corpus(self, *, kept=None, documents=None, before=None, codex=None):
        wanted = self.documents if documents is None else documents
        return ProjectCorpus(wanted, codex or self.codex, self.matcher, kept=kept, before=before)


@pytest.fixture(params=NOVELS)
def novel(request):
    return Project(request.param)


def taken_in(project, kept=None):
    corpus = Corpus(project.codex, project.matcher, kept)
    corpus.update(list(project.documents.values()))
    return corpus


def answers(corpus):
    """Everything of an answer that somebody sees."""
    return [repr(retrieve(corpus, question, limit=20).hits) for question in QUESTIONS]


@pytest.fixture
def worked_out(monkeypatch):
    """Paths of the documents that are worked out from their texts."""
    paths = []
    whole = tables_module.parts_of
    monkeypatch.setattr(
        tables_module,
        "parts_of",
        lambda documents, matcher: (paths.extend(one.path for one in documents), whole(documents, matcher))[1],
    )
    return paths


def test_a_row_gives_back_texts_names_and_part(novel):
    for path, row in novel.rows.items():
        part, kept = part_of(novel.documents[path], novel.matcher), unpack(row.data)
        names = names_in(kept.names)
        assert tuple(replace(text, names=held) for text, held in zip(kept.texts, names, strict=True)) == part.texts
        assert kept.data[kept.part :] == part.part.to_bytes()
        text = novel.documents[path].text
        for held in names:
            assert all(text[one.start : one.start + len(one.term)] == one.term for one in held)


def test_answers_from_rows_equal_answers_from_texts(novel, worked_out):
    kept = answers(novel.corpus(kept=novel.kept()))
    assert worked_out == []
    assert kept == answers(novel.corpus())
    assert sorted(worked_out) == sorted(novel.documents)


def test_rows_of_other_names_or_of_another_text_are_worked_out_again(novel, worked_out):
    path, other = sorted(novel.documents)[:2]
    expected = answers(novel.corpus())
    worked_out.clear()
    novel.rows[path] = replace(novel.rows[path], about=f"{FORM} {fingerprint('names', 'another text')}")
    del novel.rows[other]
    assert answers(novel.corpus(kept=novel.kept())) == expected
    assert sorted(worked_out) == sorted([path, other])
    worked_out.clear()
    assert answers(novel.corpus(kept=novel.kept("other names"))) == expected
    assert sorted(worked_out) == sorted(novel.documents)


def test_the_row_of_another_document_is_worked_out_again(novel, worked_out, caplog):
    first, second = sorted(novel.documents)[:2]
    expected = answers(novel.corpus())
    worked_out.clear()
    novel.rows[first] = replace(novel.rows[first], data=novel.rows[second].data)
    tables = taken_in(novel, novel.kept())
    assert len(tables.core) == sum(len(one.paragraphs) for one in novel.documents.values())
    assert worked_out == [first]
    assert f"{first}: corpus part is damaged: of another document, {second}" in caplog.text
    assert len(expected) == len(QUESTIONS)


@settings(max_examples=150)
@given(st.data())
def test_damaged_bytes_end_nothing(data):
    project = Project("saltern")
    row = project.rows[data.draw(st.sampled_from(sorted(project.rows)))].data
    at = data.draw(st.integers(0, len(row) - 1))
    how = data.draw(st.sampled_from(["flip", "cut", "grow"]))
    damaged = {
        "flip": row[:at] + bytes([row[at] ^ data.draw(st.integers(1, 255))]) + row[at + 1 :],
        "cut": row[:at],
        "grow": row[:at] + data.draw(st.binary(min_size=1, max_size=40)) + row[at:],
    }[how]
    with suppress(ValueError):
        kept = unpack(damaged)
        CoreCorpus.recover([("x.md", 1, kept.data, kept.part)])  # says what is wrong, and ends nothing


@pytest.mark.parametrize(
    "texts",
    [b"{", b"[1]", b"[[1]]", b'[[1,"a",0]]', b"null", b"7", b"[" * 100_000, b"\xff\xfe", b'{"a":1}'],
    ids=["cut", "numbers", "short", "one short", "null", "number", "deep", "no text", "object"],
)
def test_rows_of_another_shape_are_an_error_that_says_so(texts):
    names = b"[]"
    data = join_pieces(texts, names, b"")
    with pytest.raises(ValueError, match="no part of a document: "):
        unpack(data)


@pytest.mark.parametrize("size", [0xFFFFFFFF, 1 << 31, 1000])
def test_lengths_beyond_the_bytes_are_an_error_and_allocate_nothing(size):
    with pytest.raises(ValueError, match="are less than 3 pieces"):
        unpack(struct.pack("<II", size, size) + b"[]")


def test_damaged_names_are_worked_out_again_when_they_are_asked_for(novel, worked_out):
    path = next(path for path, one in novel.documents.items() if one.kind == "chapter")
    texts = pack(part_of(novel.documents[path], novel.matcher))
    head, _, core = split_pieces(texts, 3)
    data = join_pieces(head, json.dumps([["no names"]]).encode(), core)
    expected = taken_in(novel)
    worked_out.clear()
    novel.rows[path] = replace(novel.rows[path], data=data)
    tables = taken_in(novel, novel.kept())
    assert worked_out == []
    assert {key: text.mentions for key, text in tables.texts.items()} == {
        key: text.mentions for key, text in expected.texts.items()
    }
    assert worked_out == [path]


def test_a_saved_chapter_recomputes_only_its_own_part(novel, worked_out):
    before = novel.corpus(kept=novel.kept())
    answers(before)
    path = next(path for path, one in novel.documents.items() if one.kind == "chapter")
    changed = make_document(path, (novel.documents[path].text + "\n\nThe lamp of the 渡口 went out.\n").encode())
    documents = novel.documents | {path: changed}
    novel.asked.clear()
    after = novel.corpus(kept=novel.kept(), documents=documents, before=before)
    assert answers(after) == answers(novel.corpus(documents=documents))
    assert (worked_out[0], novel.asked) == (path, [[path]])
    assert worked_out.count(path) == 2, "once for the saved chapter, once for the comparison"


def test_another_codex_of_the_same_names_reads_no_text_again(novel, worked_out):
    before = novel.corpus(kept=novel.kept())
    answers(before)
    codex = replace(novel.codex, relations=())
    novel.asked.clear()
    after = novel.corpus(kept=novel.kept(), before=before, codex=codex)
    expected = answers(novel.corpus(codex=codex))
    worked_out.clear()
    assert answers(after) == expected
    assert (worked_out, novel.asked) == ([], [])


EDITS = st.lists(st.tuples(st.sampled_from(["put", "remove"]), st.integers(0, 30), st.integers(0, 30)), max_size=8)


@settings(max_examples=25)
@given(edits=EDITS, kept=st.booleans())
def test_any_sequence_of_changes_answers_as_an_index_made_at_once(edits, kept):
    project = Project("saltern")
    texts = [document.text for document in project.documents.values()]
    documents, corpus = dict(project.documents), project.corpus(kept=project.kept() if kept else None)
    for what, at, other in edits:
        answers(corpus)
        paths = sorted(documents)
        path = paths[at % len(paths)] if paths else "chapters/new.md"
        documents = dict(documents)
        if what == "remove":
            documents.pop(path, None)
        else:
            documents[path] = make_document(path, texts[other % len(texts)].encode())
        corpus = project.corpus(kept=project.kept() if kept else None, documents=documents, before=corpus)
    assert answers(corpus) == answers(project.corpus(documents=documents))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    shutil.copytree(DATA / "saltern", tmp_path / "novel")
    return tmp_path / "novel"


def ask(engine):
    return [repr(engine.retrieve(question).hits) for question in QUESTIONS]


def test_a_project_that_is_opened_again_works_nothing_out(folder, worked_out, monkeypatch):
    with armarius.open(folder, watch=False) as engine:
        expected = ask(engine)
    assert worked_out == []
    monkeypatch.setattr(kept_module, "parts_of", lambda *_: pytest.fail("a text was read again"))
    with armarius.open(folder, watch=False) as engine:
        assert ask(engine) == expected
    assert worked_out == []


def test_a_save_keeps_the_new_part_with_the_new_text(folder, worked_out):
    with armarius.open(folder, watch=False) as engine:
        ask(engine)
        chapter = next(iter(sorted((folder / "chapters").glob("*.md"))))
        path = chapter.relative_to(folder).as_posix()
        before = engine.index.store.learnt(KIND)
        chapter.write_text(chapter.read_text("utf-8") + "\n\nThe lamp went out.\n", "utf-8")
        saved = ask(engine)
        after = engine.index.store.learnt(KIND)
        assert {one for one in after if after[one] != before[one]} == {path}
        rests_on = fingerprint(engine.index.snapshot.match_digest, engine.index.store.files()[path].content_hash)
        assert after[path].about == f"{FORM} {rests_on}"
    assert worked_out == []
    with armarius.open(folder, watch=False) as engine:
        assert ask(engine) == saved


def test_an_index_of_another_form_is_brought_to_this_one(folder, worked_out):
    with armarius.open(folder, watch=False) as engine:
        expected, rows = ask(engine), engine.index.store.learnt(KIND)
        older = [DerivedRow(row.path, KIND, f"0.{row.about}", b"older") for row in rows.values()]
        engine.index.store.apply([*older, armarius.store.protocol.Note(KIND, "0")])
    with armarius.open(folder, watch=False) as engine:
        engine.index.refresh()
        assert engine.index.store.learnt(KIND) == rows
        assert ask(engine) == expected
    assert worked_out == []


def test_rows_that_cannot_be_read_cost_time_and_no_answer(folder, monkeypatch, caplog):
    with armarius.open(folder, watch=False) as engine:
        expected = ask(engine)
    with armarius.open(folder, watch=False) as engine:
        store, plain = engine.index.store, type(engine.index.store).learnt

        def learnt(self, kind, paths=None):
            if kind == KIND:
                raise StoreBusy("somebody else has it")
            return plain(self, kind, paths)

        monkeypatch.setattr(type(store), "learnt", learnt)
        assert ask(engine) == expected
    assert "somebody else has it; the texts are worked out again" in caplog.text
