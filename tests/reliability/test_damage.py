"""Damaged files of an index: noticed, built again, and no answer differs meanwhile."""

import random
import shutil
from pathlib import Path

import apsw
import pytest
from tests.index.conftest import NOVEL, put
from tests.index.test_index import equals_folder
from tests.reliability.meaning import QUESTION, wrong_similarities
from tests.vectors.stores import CountingEmbedder

from armarius.errors import EmbeddingError
from armarius.index.project_index import ProjectIndex
from armarius.store.sqlite.connection import connect
from armarius.vectors.recall import ProjectRecall

PAGE = 4096


def one_bit(data, chance):
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def cut(data, chance):
    return data[: chance.randrange(len(data))]


def _page(data, chance):
    return chance.randrange(max(1, len(data) // PAGE)) * PAGE


def page_of_zeros(data, chance):
    at = _page(data, chance)
    return data[:at] + bytes(len(data[at : at + PAGE])) + data[at + PAGE :]


def pages_swapped(data, chance):
    one, other = sorted((_page(data, chance), _page(data, chance)))
    if data[one : one + PAGE] == data[other : other + PAGE]:
        return one_bit(data, chance)
    between = data[one + PAGE : other]
    return data[:one] + data[other : other + PAGE] + between + data[one : one + PAGE] + data[other + PAGE :]


def foreign_block(data, chance):
    at, block = chance.randrange(len(data)), chance.randbytes(chance.randrange(16, 8192))
    return data[:at] + block + data[at + len(block) :]


def something_added(data, chance):
    return data + chance.randbytes(chance.randrange(1, 8192))


def emptied(data, chance):
    return b""


def replaced(data, chance):
    return chance.randbytes(len(data))


DAMAGES = (one_bit, one_bit, one_bit, cut, page_of_zeros, pages_swapped, foreign_block, something_added)


def answers(index):
    return [index.search(text, limit=99) for text in ("林默", "小雨", "钟", "第二章", "雨")]


@pytest.fixture
def novel(tmp_path):
    for path, text in NOVEL.items():
        put(tmp_path / "novel", path, text)
    return tmp_path / "novel"


@pytest.mark.parametrize("sealed", [True, False], ids=["closed", "left by a crash"])
@pytest.mark.parametrize("count", [16, pytest.param(500, marks=pytest.mark.slow)])
def test_a_damaged_index_is_always_noticed(novel, record_property, count, sealed):
    chance = random.Random(count + sealed)
    with ProjectIndex.open(novel) as index:
        expected, path = answers(index), Path(index.status().path)
    for number in range(count):
        damage, sound = DAMAGES[number % len(DAMAGES)], path.read_bytes()
        damaged = damage(sound, chance)
        if damaged == sound:  # a page of zeros that was one
            damaged = one_bit(sound, chance)
        path.write_bytes(damaged)
        if not sealed:
            path.with_name("index.seal").unlink()
        with ProjectIndex.open(novel) as index:
            assert answers(index) == expected, (number, damage.__name__)
            assert equals_folder(index), (number, damage.__name__)
    record_property("count", count)


class Meaning:
    """A project with vectors, and a file of the approximate index."""

    def __init__(self, root):
        self.root, self.embedder = root, CountingEmbedder()
        with ProjectIndex.open(root) as index:
            self.folder = Path(index.status().path).parent
            self.answer(index)

    def answer(self, index):
        """What is wrong with what is found: at once, after embedding, and by the approximate index."""
        with ProjectRecall(index, self.embedder, background=False) as recall:

            def found(*, whole):
                return wrong_similarities(index.store, self.embedder, recall.similar(QUESTION, limit=99), whole=whole)

            index.store.vectors.approximate.exact_below = 0
            wrong = found(whole=recall.status().progress.done == recall.status().progress.total)
            if any(one.is_dir() for one in self.folder.glob("*.usearch")):  # said, and exact search answers meanwhile
                with pytest.raises(EmbeddingError, match="not a regular file"):
                    recall.embed()
                wrong += found(whole=True)
                self.file.rmdir()
            recall.embed()
            wrong += found(whole=True)
            index.store.vectors.refresh()
            assert index.store.vectors.index_status().approximate
            return wrong + found(whole=True)

    def reopened(self):
        """What is wrong after the next opening."""
        with ProjectIndex.open(self.root) as index:
            return self.answer(index) + ([] if equals_folder(index) else ["not equal to the folder"])

    @property
    def file(self):
        (one,) = self.folder.glob("vectors-*.usearch")
        return one


def of_another_project(meaning, chance, tmp_path):
    """The approximate index of other texts, of the same model and size, under the name of this one."""
    other = tmp_path / f"other{chance.random()}"
    for path, text in NOVEL.items():
        put(other, path, text.replace("小雨", "大雪"))
    shutil.copyfile(Meaning(other).file, meaning.file)


def a_folder(meaning, chance, tmp_path):
    where = meaning.file
    where.unlink()
    where.mkdir()


FILE_DAMAGES = (one_bit, cut, pages_swapped, foreign_block, something_added, emptied, replaced)


def file_damage(damage):
    def damaged(meaning, chance, tmp_path):
        meaning.file.write_bytes(damage(meaning.file.read_bytes(), chance))

    return damaged


def stored(change, *, sealed):
    """Change what the index holds of a vector, by SQL: its pages are sound, what they say is not."""

    def damaged(meaning, chance, tmp_path):
        connection = connect(meaning.folder / "index.sqlite")
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        change(connection, chance)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.close()
        if not sealed:
            (meaning.folder / "index.seal").unlink()

    return damaged


def bit_of_a_vector(connection, chance):
    table = _chunks(connection)
    ((row, data),) = connection.execute(f"SELECT rowid, vectors FROM {table}").fetchall()
    used = 4 * CountingEmbedder.dimension * connection.execute("SELECT count(slot) FROM vectors").fetchone()[0]
    connection.execute(
        f"UPDATE {table} SET vectors = ? WHERE rowid = ?", (one_bit(data[:used], chance) + data[used:], row)
    )


def vectors_swapped(connection, chance):
    table, size = _chunks(connection), 4 * CountingEmbedder.dimension
    ((row, data),) = connection.execute(f"SELECT rowid, vectors FROM {table}").fetchall()
    swapped = data[size : 2 * size] + data[:size] + data[2 * size :]
    connection.execute(f"UPDATE {table} SET vectors = ? WHERE rowid = ?", (swapped, row))


def slots_swapped(connection, chance):
    (one, _), (other, _) = connection.execute(
        "SELECT owner, slot FROM vectors WHERE slot IS NOT NULL ORDER BY owner LIMIT 2"
    ).fetchall()
    connection.execute("UPDATE vectors SET slot = (SELECT sum(slot) FROM vectors WHERE owner IN (?1, ?2)) - slot "
                       "WHERE owner IN (?1, ?2)", (one, other))  # fmt: skip


def a_chunk_cut(connection, chance):
    connection.execute(f"UPDATE {_chunks(connection)} SET vectors = substr(vectors, 1, ?)", (chance.randrange(900),))


def _chunks(connection):
    query = "SELECT name FROM sqlite_master WHERE name LIKE 'vectors_%_vector_chunks00' AND type = 'table'"
    return connection.execute(query).fetchone()[0]


CHANGES = (bit_of_a_vector, vectors_swapped, slots_swapped, a_chunk_cut)
VECTOR_DAMAGES = (
    *map(file_damage, FILE_DAMAGES), of_another_project, a_folder,
    *(stored(change, sealed=sealed) for change in CHANGES for sealed in (True, False)),
)  # fmt: skip


@pytest.mark.parametrize("count", [len(VECTOR_DAMAGES), pytest.param(204, marks=pytest.mark.slow)])
def test_damaged_vectors_give_no_wrong_similarity_and_are_made_again(novel, tmp_path, record_property, count):
    chance, meaning = random.Random(count), Meaning(novel)
    for number in range(count):
        VECTOR_DAMAGES[number % len(VECTOR_DAMAGES)](meaning, chance, tmp_path)
        assert meaning.reopened() == [], number % len(VECTOR_DAMAGES)
    record_property("count", count)
