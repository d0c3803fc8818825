import os
import threading
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armarius
from armarius.documents.document import make_document
from armarius.errors import StoreBusy, StoreCorrupt
from armarius.store.protocol import DerivedRow, Note, Put, Remove, TextQuery
from armarius.store.sqlite import connection as connections
from armarius.store.sqlite import schema as fulltext
from armarius.store.sqlite import store as reading
from armarius.store.sqlite.location import IndexPlace
from armarius.store.sqlite.schema import SCHEMA_VERSION
from armarius.store.sqlite.store import SqliteStore
from armarius.testing import StoreConformance
from armarius.testing.stores import document


@pytest.fixture
def open_store(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    return lambda project_id="p": SqliteStore.open(IndexPlace(tmp_path / project_id), project_id=project_id)


class TestSqliteStore(StoreConformance):
    @pytest.fixture
    def open_store(self, open_store):
        return open_store


def test_who_looks_after_more_removals_than_are_remembered_is_told_to_begin_anew(open_store, monkeypatch):
    monkeypatch.setattr(reading, "_REMEMBERED", 10)
    store = open_store()
    start = store.apply([Put(document("a.md", "甲"), "")])
    for i in range(30):
        store.apply([Put(document(f"t{i}.md", "乙"), "")])
        store.apply([Remove(f"t{i}.md")])
    assert store.changed(start).whole
    late = store.changed(store.generation() - 2)
    assert (late.whole, late.removed) == (False, ("t29.md",))
    assert [one.path for one in store.changed(start).documents] == ["a.md"]
    store.close()


def test_a_fork_waits_for_a_reader_that_is_being_closed(open_store, monkeypatch):
    store = open_store()
    pool, connect, may_fork = store._session, connections.connect, []

    class Reader:
        def __init__(self, path):
            self.real = connect(path)

        def __getattr__(self, name):
            return getattr(self.real, name)

        def close(self):
            if free := pool._lock.acquire(blocking=False):
                pool._lock.release()
            may_fork.append(free and pool._used == 0)
            self.real.close()

    monkeypatch.setattr(connections, "connect", Reader)
    with pool.reading(apart=True):
        pass
    assert may_fork == [False]
    store.close()


def test_rows_learnt_from_a_document_that_is_not_there_are_found_by_verify(open_store):
    store = open_store()
    store.apply([Put(document("a.md", "甲"), ""), DerivedRow("a.md", "names", "cast", b"12")])
    assert store.verify() == []
    with store._session.writing() as connection:
        connection.execute("UPDATE learnt SET document = 99")
    assert any("names" in problem for problem in store.verify())
    store.close()


@pytest.mark.parametrize("sealed", [True, False])
def test_an_index_of_an_earlier_schema_is_made_again(open_store, tmp_path, sealed):
    store = open_store()
    store.apply([Put(document("a.md", "甲"), "")])
    store._session.writer.execute(f"PRAGMA user_version = {SCHEMA_VERSION - 1}")
    store.close()
    if not sealed:
        IndexPlace(tmp_path / "p").break_seal()
    again = open_store()
    assert again.files() == {}
    assert again.verify() == []
    again.close()


def test_an_index_of_an_earlier_schema_that_is_in_use_is_left_alone(open_store):
    store = open_store()
    store.apply([Note("n", "1")])
    store._session.writer.execute(f"PRAGMA user_version = {SCHEMA_VERSION - 1}")
    with store._session.writing() as connection:
        connection.execute("UPDATE notes SET value = '2'")
    store._session.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with pytest.raises(StoreBusy, match="an earlier armarius"):
        open_store()
    assert store.note("n") == "2"
    store.close()


def _instances(store):
    with store._session.writing() as connection:
        connection.execute("CREATE VIRTUAL TABLE temp.instances USING fts5vocab(main, full_text, instance)")
        found = sorted(connection.execute("SELECT doc & 0xFFFFFF, col, offset, term FROM temp.instances"))
        connection.execute("DROP TABLE temp.instances")
    return found


def _found(store, term):
    return [hit.path for hit in store.search(TextQuery((term,)))]


def test_full_text_of_many_documents_is_written_by_the_first_search(open_store):
    store = open_store()
    store.apply([Put(document(f"{i}.md", f"独角兽{i}号"), "") for i in range(9)])
    assert store.lags()
    assert store.verify() == []
    store.close()
    store = open_store()
    assert store.lags()
    assert _found(store, "独角兽7号") == ["7.md"]
    assert not store.lags()
    assert store.verify() == []
    store.close()


def test_a_document_whose_full_text_is_due_is_searched_as_it_is_now(open_store):
    store = open_store()
    store.apply([Put(document(f"{i}.md", "独角兽"), "") for i in range(6)])
    store.apply([Put(document("0.md", "麒麟"), ""), Remove("1.md")])
    assert _found(store, "麒麟") == ["0.md"]
    assert _found(store, "独角兽") == [f"{i}.md" for i in range(2, 6)]
    assert store.verify() == []
    store.close()


def test_full_text_is_written_in_pieces_that_can_be_stopped(open_store):
    store = open_store()
    store.apply([Put(document(f"{i:03}.md", "独角兽"), "") for i in range(300)])
    asked = iter([True, False])
    store.fill(lambda: next(asked))
    assert store.lags()
    assert store.verify() == []
    assert len(store.search(TextQuery(("独角兽",), limit=None))) == 300
    store.close()


def test_a_saved_chapter_has_its_full_text_at_once(open_store):
    store = open_store()
    store.apply([Put(document("a.md", "独角兽"), "")])
    assert not store.lags()
    store.close()


PARAGRAPHS = st.sampled_from(["独角兽来了。", "麒麟兽走了。", "# 雨夜", "Rain fell.", "宝玉摔玉。"])
TEXTS = st.tuples(
    st.sampled_from(["", "---\ntags: [雨]\n---\n", "---\ntags: [雪]\n---\n"]), st.lists(PARAGRAPHS, max_size=6)
)


@settings(max_examples=40)
@given(st.lists(TEXTS, min_size=2, max_size=5))
def test_full_text_of_a_document_written_over_is_that_of_one_written_once(open_store, versions):
    texts = [front + "\n\n".join(body) for front, body in versions]
    over, once = open_store("over"), open_store("once")
    try:
        for store in (over, once):
            store.apply([Remove("a.md")])
        for text in texts:
            over.apply([Put(document("a.md", text), "")])
        once.apply([Put(document("a.md", texts[-1]), "")])
        assert over.verify() == []
        assert _instances(over) == _instances(once)
    finally:
        over.close()
        once.close()


def test_only_changed_paragraphs_of_a_saved_chapter_are_written(open_store, monkeypatch):
    written = []
    indexed = fulltext.full_text_rows
    monkeypatch.setattr(
        fulltext, "full_text_rows", lambda *args: written.append([row[0] & 0xFFFFFF for row in indexed(*args)]) or []
    )
    store = open_store()
    for text in ("一。\n\n二。\n\n三。", "一。\n\n二了。\n\n三。", "一。\n\n二了。\n\n三。\n\n四。"):
        store.apply([Put(document("a.md", text), "")])
    assert written == [[0, 1, 2], [1], [3]]
    store.close()


def test_a_document_read_anew_has_its_full_text_anew(open_store):
    store = open_store()
    store.apply([Put(document("a.md", "独角兽"), "")])
    with store._session.writing() as connection:
        connection.execute("DELETE FROM full_text")
    store.apply([Put(document("a.md", "独角兽"), "")])
    assert _found(store, "独角兽") == ["a.md"]
    store.close()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE documents SET front_matter = '{\"a'",
        "UPDATE documents SET front_matter = '[]'",
        "UPDATE headings SET path = '[\"Chap'",
        "UPDATE headings SET path = '7'",
        "UPDATE documents SET text = x'00112233'",
    ],
)
def test_a_damaged_row_is_an_error_of_ours_and_a_save_mends_it(open_store, damage):
    store = open_store()
    store.apply([Put(document("a.md", "# 题\n\n独角兽"), "")])
    with store._session.writing() as connection:
        connection.execute(damage)
    with pytest.raises(StoreCorrupt):
        store.document("a.md")
    store.apply([Put(document("a.md", "# 题\n\n麒麟"), "")])
    assert store.document("a.md") == document("a.md", "# 题\n\n麒麟")
    assert store.verify() == []
    store.close()


def test_full_text_that_is_due_of_no_document_is_found_by_verify_and_by_nobody_else(open_store):
    store = open_store()
    store.apply([Put(document("a.md", "独角兽"), "")])
    with store._session.writing() as connection:
        connection.execute("INSERT INTO full_text_due VALUES (77)")
    assert store.verify() == ["full text is due of document 77, which is not there"]
    assert _found(store, "独角兽") == ["a.md"]
    assert store.verify() == []
    store.close()


def test_documents_keep_their_numbers_and_the_last_of_a_path_stays(open_store):
    store = open_store()
    store.apply([Put(document(f"{i}.md", "甲"), "") for i in range(3)])
    before = _numbers(store)
    store.apply([Put(document("new.md", "乙"), ""), Put(document("2.md", "丙"), ""), Put(document("new.md", "丁"), "")])
    assert _numbers(store) == before | {"new.md": max(before.values()) + 1}
    assert (store.document("2.md").text, store.document("new.md").text) == ("丙", "丁")
    assert store.verify() == []
    store.close()


def _numbers(store):
    with store._session.reading() as connection:
        return dict(connection.execute("SELECT path, id FROM documents").fetchall())


def test_a_damaged_index_is_empty_when_it_is_reopened(open_store, tmp_path):
    store = open_store()
    store.apply([Put(document("a.md", "甲"), "")])
    (tmp_path / "p" / "index.sqlite").unlink()
    with pytest.raises(StoreCorrupt, match="deleted or replaced"):
        store.generation()
    again = store.reopen()
    assert (again.files(), again.generation()) == ({}, 0)
    again.close()


def test_sql_stays_inside_the_store_and_nobody_asks_which_one_it_is():
    root = Path(next(iter(armarius.__path__)))
    outside = [path for path in root.rglob("*.py") if "store" not in path.relative_to(root).parts]
    assert len(outside) > 100
    for path in outside:
        text = path.read_text("utf-8")
        for word in ("import apsw", "SELECT ", "(store, Sqlite", ", SqliteStore)"):
            assert word not in text, path


def test_readers_that_only_a_crowd_needed_are_closed_when_it_is_gone(open_store):
    store = open_store()
    store.apply([Put(document("a.md", "甲"), "")])
    inside = threading.Barrier(12)

    def read():
        with store._session.reading() as connection:
            inside.wait(timeout=60)
            assert connection.execute("SELECT count(*) FROM documents").fetchone() == (1,)

    crowd = [threading.Thread(target=read) for _ in range(12)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert not inside.broken
    assert 1 <= len(store._session._idle) <= 3
    assert set(store.files()) == {"a.md"}
    store.close()


def test_a_long_log_is_folded_when_there_is_time_and_a_very_long_one_at_once(open_store):
    store = open_store()
    log = Path(f"{store.location}-wal")

    def write(megabytes):
        for _ in range(megabytes):
            store.apply([DerivedRow("a.md", "names", "", os.urandom(1 << 20))])

    store.apply([Put(document("a.md", "独角兽"), "")])
    assert not store.lags()
    write(6)
    assert store.lags()
    assert log.stat().st_size > 6 << 20
    store.fill()
    assert not store.lags()
    assert log.stat().st_size == 0
    write(40)
    assert log.stat().st_size < 20 << 20
    assert store.verify() == []
    store.close()


def test_pages_of_what_was_written_are_given_back_when_there_is_time(open_store):
    store = open_store()
    writer = store._session.writer

    def cached():
        return writer.status(apsw.SQLITE_DBSTATUS_CACHE_USED)[0]

    store.apply([Put(document("a.md", "独角兽"), ""), DerivedRow("a.md", "names", "", os.urandom(3 << 20))])
    assert cached() > 2 << 20
    store.fill()
    assert cached() < 1 << 18
    store.close()


def test_a_log_that_somebody_reads_from_is_folded_later(open_store):
    store = open_store()
    store.apply([Put(document("a.md", "独角兽"), "")])
    with store._session.reading() as connection:
        assert connection.execute("SELECT count(*) FROM documents").fetchone() == (1,)
        for _ in range(6):
            store.apply([DerivedRow("a.md", "names", "", os.urandom(1 << 20))])
        store.fill()
        assert store.lags()
        assert connection.execute("SELECT count(*) FROM learnt").fetchone() == (0,)
    store.fill()
    assert not store.lags()
    store.close()


def test_the_keys_of_front_matter_that_is_long_are_indexed_once():
    tags = ", ".join(f"tag{n}" for n in range(2_000))
    page = make_document("a.md", f"---\ntags: [{tags}]\n---\n\n字\n".encode())
    rows = fulltext.full_text_rows([(1, page)], {})
    assert len(rows) > 5
    assert [bool(row[-1]) for row in rows] == [True] + [False] * (len(rows) - 1)
