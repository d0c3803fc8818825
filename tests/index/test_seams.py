"""An index over texts that are no folder, in a store that nobody asks what it is: what is said to it, and how often."""

import json

import pytest

from armarius.codex import Memories
from armarius.errors import ConfigError, ProjectError, StoreError
from armarius.index.project_index import ProjectIndex
from armarius.store.protocol import DerivedRow, EntityIds, Note, Put, Remove
from armarius.store.sqlite.location import IndexPlace
from armarius.store.sqlite.store import SqliteStore
from armarius.testing import FakeAuthored, FakeSource

NOVEL = {
    "chapters/ch001.md": "# 第一章 雨夜\n\n林默推开门，小雨站在雨里。\n",
    "chapters/ch002.md": "# 第二章 钟楼\n\n林小雨没有说话。\n",
    "spec/people.md": "# 人物\n\n## 林小雨\n\n- 类型：人物\n- 别名：小雨\n\n## 林默\n\n- 类型：人物\n",
}


class Recording:
    """A store that keeps a record of what it was asked, and is of no class that anybody knows."""

    def __init__(self, store):
        self.store = store
        self.calls = []
        self.applied = []

    def __getattr__(self, name):
        found = getattr(self.store, name)
        if not callable(found):
            return found

        def call(*args, **kwargs):
            self.calls.append(name)
            if name == "apply":
                self.applied.append(list(args[0]))
            return found(*args, **kwargs)

        return call


@pytest.fixture
def source():
    return FakeSource(NOVEL)


@pytest.fixture
def authored():
    return FakeAuthored()


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    return Recording(SqliteStore.open(IndexPlace(tmp_path / "index"), project_id="novel"))


@pytest.fixture
def index(source, authored, store):
    with ProjectIndex.over(source, authored, lambda: store, project_id="novel") as index:
        store.calls.clear()
        store.applied.clear()
        yield index


def kinds_of(changes):
    return [type(change).__name__ for change in changes]


def test_texts_that_are_no_folder_are_indexed_searched_and_followed(index, source):
    assert (index.root, index.status().documents, index.status().entities) == (None, 3, 2)
    assert index.status().path.endswith("index.sqlite")
    assert {hit.path for hit in index.search("小雨")} == set(NOVEL)
    source.write("chapters/ch003.md", "独角兽来了。")
    source.remove("chapters/ch002.md")
    assert index.freshen() == ()
    assert [hit.path for hit in index.search("独角兽")] == ["chapters/ch003.md"]
    assert sorted(index.store.files()) == ["chapters/ch001.md", "chapters/ch003.md", "spec/people.md"]
    with index.watch():
        assert not index.status().watching, "there is nothing that would tell"
    assert index.store.verify() == []


def test_what_is_authored_elsewhere_is_followed(index, authored):
    authored.declare(json.dumps({"entities": [{"id": "clock", "name": "钟楼", "type": "location"}]}))
    index.freshen()
    assert {one.id for one in index.snapshot.codex.entities} == {"林小雨", "林默", "clock"}
    authored.configure('[kinds]\nnote = ["chapters/ch002.md"]\n')
    index.freshen()
    assert index.config.kinds == (("note", "chapters/ch002.md"),)
    authored.configure("[kinds\n")
    assert [warning.code for warning in index.freshen()] == ["INDEX_STALE"]
    assert index.config.kinds == (("note", "chapters/ch002.md"),)


def test_a_configuration_that_is_wrong_from_the_beginning_is_an_error(source, store):
    with pytest.raises(ConfigError, match="unknown table nonsense"):
        ProjectIndex.over(source, FakeAuthored(config="[nonsense]\n"), lambda: store, project_id="p")
    with pytest.raises(ProjectError):
        ProjectIndex.open("")


def test_a_first_index_is_one_transaction(source, authored, store):
    with ProjectIndex.over(source, authored, lambda: store, project_id="novel"):
        (changes,) = store.applied
    assert set(kinds_of(changes)) == {"EntityIds", "Note", "Put", "DerivedRow"}
    notes = [change.key for change in changes if isinstance(change, Note)]
    assert notes == ["codex", "names", "corpus", "map", "mapped", "reader"]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("chapters/ch002.md", "# 第二章\n\n林默走了。\n", {"Put": 1, "DerivedRow": 3, "Note": 2}),
        (
            "spec/people.md",
            "# 人物\n\n## 林默\n\n- 类型：人物\n",
            {"Put": 1, "DerivedRow": 8, "Note": 3, "EntityIds": 1},
        ),
    ],
)
def test_a_save_is_one_transaction_whatever_follows_from_it(index, source, store, path, text, expected):
    source.write(path, text)
    assert index.freshen() == ()
    (changes,) = store.applied
    assert {name: kinds_of(changes).count(name) for name in set(kinds_of(changes))} == expected


def test_a_new_name_reads_each_document_for_its_names_and_is_one_transaction(index, authored, store):
    authored.declare(json.dumps({"entities": [{"id": "clock", "name": "雨里", "type": "location"}]}))
    index.freshen()
    (changes,) = store.applied
    found = [change.path for change in changes if isinstance(change, DerivedRow) and change.kind == "mentions"]
    assert found == list(NOVEL)
    assert found == [change.path for change in changes if isinstance(change, DerivedRow) and change.kind == "corpus"]
    assert not [change for change in changes if isinstance(change, Put)]
    assert len([change for change in changes if isinstance(change, EntityIds)]) == 1


def test_a_memory_is_not_in_the_index_and_writes_nothing_into_it(index, authored, store):
    Memories(authored).create("读者喜欢短句")
    assert index.freshen() == ()
    assert store.applied == []


def test_many_documents_are_committed_by_thirty_two_and_the_last_batch_settles_what_depends_on_all(source, store):
    for number in range(100):
        source.write(f"notes/n{number:03}.md", f"林默走了{number}步。")
    seen = []
    with ProjectIndex.over(source, FakeAuthored(), lambda: store, project_id="novel", progress=seen.append) as index:
        sizes = [sum(isinstance(change, Put) for change in changes) for changes in store.applied]
        assert sizes == [32, 32, 32, 7]
        assert [step.done for step in seen] == [32, 64, 96, 103]
        notes = [one.value for changes in store.applied for one in changes if getattr(one, "key", "") == "names"]
        assert notes == ["", "", "", index.snapshot.match_digest]
        assert len(store.learnt("mentions")) == 103


def test_an_answer_that_finds_nothing_new_asks_for_one_row_and_reads_no_text(index, source, store):
    index.freshen()
    source.reads.clear()
    store.calls.clear()
    for _ in range(5):
        assert index.freshen() == ()
    assert store.calls == ["generation"] * 5
    assert source.reads == []


def test_what_another_process_wrote_is_noticed_although_no_text_has_changed(index, tmp_path):
    index.freshen()
    other = SqliteStore.open(IndexPlace(tmp_path / "index"), project_id="novel")
    other.apply([Remove("chapters/ch001.md")])
    other.close()
    assert index.freshen() == ()
    assert "chapters/ch001.md" in index.store.files()


def test_an_index_that_turns_out_damaged_is_opened_again_by_its_store(source, authored, tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    opened = lambda: SqliteStore.open_repaired(IndexPlace(tmp_path / "index"), project_id="novel")  # noqa: E731
    with ProjectIndex.over(source, authored, opened, project_id="novel") as index:
        before = index.store
        (tmp_path / "index" / "index.sqlite").unlink()
        assert index.search("小雨")
        assert index.store is not before
        with pytest.raises(StoreError):
            before.generation()
