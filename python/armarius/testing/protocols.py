"""Conformance suites for `DocumentSource` and `Authored`, as test classes to inherit, with pytest.

class TestMySource(DocumentSourceConformance):
    @pytest.fixture
    def source(self, ...):
        return MySource(...)          # empty

    def write(self, source, path, data): ...     # change the texts as a user would, without the source's knowledge
    def remove(self, source, path): ...

class TestMyAuthored(AuthoredConformance):
    @pytest.fixture
    def open_authored(self, ...):
        return lambda: MyAuthored(...)           # a new handle on the same project each time, empty at first

    def configure(self, authored, text): ...     # write armarius.toml as a user would
    def declare(self, authored, text): ...       # write codex.json as a user would

pytest calls the fixtures anew for each test.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import pytest

from armarius.codex.authored import AuthoredCodex
from armarius.codex.collection import Constraints, Memories
from armarius.codex.model import Entity, Relation
from armarius.codex.protocol import Authored, Block
from armarius.documents.document import make_document
from armarius.errors import CodexError, ConfigError, DocumentSkipped, UnknownDocument
from armarius.index.source import DocumentSource, SourceChanges
from armarius.store.protocol import FileRow, Put, Remove, Restamp
from armarius.trust.settings import Config

NOVEL = {
    "chapters/ch001.md": "# 第一章 雨夜\n\n林默推开门。\n".encode(),
    "chapters/ch002.md": "# 第二章 钟楼\n\n钟停了。\n".encode(),
    "outline.md": "# 大纲\n\n- 第一章：雨夜\n".encode("gb18030"),
}


class Index:
    """The state that an index keeps of a source, updated by `look`."""

    def __init__(self, source: DocumentSource) -> None:
        self.source = source
        self.known: dict[str, FileRow] = {}
        self.skipped: dict[str, str] = {}

    def look(self, *only: str, force: bool = False) -> tuple[list[str], list[str]]:
        """Read the differences; returns the paths that were put and removed, in order."""
        difference = self.source.compare(self.known, only=only, force=force)
        self.skipped |= {item.path: item.reason for item in difference.skipped}
        put, removed = [], []
        for batch in self.source.read(difference, dict(self.known)):
            self.skipped |= {item.path: item.reason for item in batch.skipped}
            for change in batch.changes:
                if isinstance(change, Put):
                    put.append(change.document.path)
                    self.known[change.document.path] = FileRow(change.stamp, change.document.content_hash)
                    assert change.document == self.source.document(change.document.path)
                elif isinstance(change, Remove):
                    removed.append(change.path)
                    del self.known[change.path]
                else:
                    self.known[change.path] = FileRow(change.stamp, self.known[change.path].content_hash)
        return put, removed


class DocumentSourceConformance:
    """Inherit; give a fixture `source`, empty, and `write` and `remove`."""

    def write(self, source: Any, path: str, data: bytes) -> None:  # noqa: ANN401 - the source of the subclass
        """Create or replace a text."""
        raise NotImplementedError

    def remove(self, source: Any, path: str) -> None:  # noqa: ANN401
        """Delete a text."""
        raise NotImplementedError

    def fill(self, source: DocumentSource) -> Index:
        """Write the novel to the source; returns an index of it."""
        for path, data in NOVEL.items():
            self.write(source, path, data)
        index = Index(source)
        index.look()
        return index

    def test_an_empty_source_differs_in_nothing(self, source: DocumentSource) -> None:
        """From an empty index."""
        assert isinstance(source, DocumentSource)
        difference = source.compare({})
        assert (difference.to_read, difference.removed, difference.certain) == ((), (), 0)
        assert [change for batch in source.read(difference, {}) for change in batch.changes] == []

    def test_every_text_is_read_in_path_order(self, source: DocumentSource) -> None:
        """As `make_document` reads its bytes."""
        for path, data in reversed(NOVEL.items()):
            self.write(source, path, data)
        difference = source.compare({})
        assert [stamp.path for stamp in difference.to_read] == sorted(NOVEL)
        assert difference.certain == len(NOVEL)
        changes = [change for batch in source.read(difference, {}) for change in batch.changes]
        documents = [change.document for change in changes if isinstance(change, Put)]
        assert documents == [make_document(path, NOVEL[path]) for path in sorted(NOVEL)]
        assert all(isinstance(change, Put) and change.stamp for change in changes)

    def test_what_has_not_changed_is_not_put_again(self, source: DocumentSource) -> None:
        """However often one looks."""
        index = self.fill(source)
        for _ in range(3):
            assert index.look() == ([], [])

    def test_changed_new_and_removed_texts_are_told(self, source: DocumentSource) -> None:
        """Each once."""
        index = self.fill(source)
        self.write(source, "chapters/ch002.md", "# 第二章\n\n钟又走了，走得很慢。\n".encode())
        self.write(source, "notes/a.md", "新的一页".encode())
        self.remove(source, "outline.md")
        assert index.look() == (["chapters/ch002.md", "notes/a.md"], ["outline.md"])
        assert index.look() == ([], [])
        assert sorted(index.known) == ["chapters/ch001.md", "chapters/ch002.md", "notes/a.md"]

    def test_the_same_bytes_written_again_are_no_change(self, source: DocumentSource) -> None:
        """At most another stamp."""
        index = self.fill(source)
        self.write(source, "outline.md", NOVEL["outline.md"])
        assert index.look() == ([], [])

    def test_only_what_is_asked_for_is_looked_at(self, source: DocumentSource) -> None:
        """A document, or everything below a folder."""
        index = self.fill(source)
        for path in ("chapters/ch001.md", "outline.md", "chapters/ch003.md"):
            self.write(source, path, "改了。".encode())
        self.remove(source, "chapters/ch002.md")
        assert index.look("outline.md") == (["outline.md"], [])
        assert index.look("chapters/ch00") == ([], [])
        assert index.look("chapters") == (["chapters/ch001.md", "chapters/ch003.md"], ["chapters/ch002.md"])
        assert index.look() == ([], [])

    def test_force_reads_and_puts_everything(self, source: DocumentSource) -> None:
        """Even if stamps and bytes are unchanged."""
        index = self.fill(source)
        assert index.look(force=True) == (sorted(NOVEL), [])

    def test_what_is_no_document_is_skipped_with_its_reason(self, source: DocumentSource) -> None:
        """And leaves the index, if it was one."""
        index = self.fill(source)
        self.write(source, "outline.md", b"\0\0\0")
        assert index.look() == ([], ["outline.md"])
        assert "outline.md" in index.skipped
        assert index.skipped["outline.md"]
        with pytest.raises(DocumentSkipped):
            source.document("outline.md")
        self.write(source, "outline.md", NOVEL["outline.md"])
        assert index.look() == (["outline.md"], [])

    def test_a_document_is_as_it_is_at_this_moment(self, source: DocumentSource) -> None:
        """The very object, when it has not changed."""
        self.fill(source)
        document = source.document("chapters/ch001.md")
        assert document == make_document("chapters/ch001.md", NOVEL["chapters/ch001.md"])
        assert source.document("chapters/ch001.md", document) is document
        self.write(source, "chapters/ch001.md", "全改了。".encode())
        assert source.document("chapters/ch001.md", document).text == "全改了。"
        self.remove(source, "chapters/ch001.md")
        for path in ("chapters/ch001.md", "none.md", "../outside.md", ""):
            with pytest.raises(UnknownDocument):
                source.document(path)
        with pytest.raises(UnknownDocument):
            source.document("chapters/ch001.md", document)

    def test_a_stamp_differs_after_every_change(self, source: DocumentSource) -> None:
        """Or says nothing; one that says the same twice means that nothing has changed."""
        index = self.fill(source)
        seen = [source.stamp()]
        assert source.stamp() == seen[0]
        steps: tuple[Callable[[], None], ...] = (
            lambda: self.write(source, "outline.md", b"another"),
            lambda: self.write(source, "new.md", b"new"),
            lambda: self.remove(source, "new.md"),
        )
        for step in steps:
            step()
            stamp = source.stamp()
            assert stamp == "" or stamp not in seen
            seen.append(stamp)
            index.look()
            assert source.stamp() == stamp

    def test_texts_that_go_while_they_are_read_are_gone(self, source: DocumentSource) -> None:
        """Between the comparison and the reading."""
        index = self.fill(source)
        self.write(source, "chapters/ch001.md", "改了。".encode())
        difference = source.compare(index.known)
        assert isinstance(difference, SourceChanges)
        self.remove(source, "chapters/ch001.md")
        changes = [change for batch in source.read(difference, index.known) for change in batch.changes]
        assert [change for change in changes if not isinstance(change, Restamp)] == [Remove("chapters/ch001.md")]


Open = Callable[[], Authored]

HOSTILE = ("\0", "\x85", "\r\n", '"""', "[[memory]]\n# x", "''' \\", "名" * 5_000, "e\u0301 | -->", "{}%s", " \u2028 x")


def sound(_: Block) -> str:
    """Nothing is wrong."""
    return ""


def fail(_: object) -> NoReturn:
    """A change that cannot be made."""
    raise LookupError("no")


class AuthoredConformance:
    """Inherit; give a fixture `open_authored`, and `configure` and `declare`."""

    def configure(self, authored: Any, text: str) -> None:  # noqa: ANN401 - that of the subclass
        """Write the configuration."""
        raise NotImplementedError

    def declare(self, authored: Any, text: str) -> None:  # noqa: ANN401
        """Write `codex.json`."""
        raise NotImplementedError

    @pytest.fixture
    def authored(self, open_authored: Open) -> Authored:
        """One handle."""
        return open_authored()

    def test_where_nothing_is_authored_everything_is_empty(self, authored: Authored) -> None:
        """And nothing is an error."""
        assert isinstance(authored, Authored)
        assert authored.config() == Config()
        declared = authored.declared()
        assert (declared.drafts, declared.relations, declared.errors) == ([], [], [])
        assert authored.profile() is None
        for book in (AuthoredCodex(authored), Memories(authored), Constraints(authored)):
            assert (book.list(), book.problems()) == ((), ())

    def test_the_configuration_is_read_as_it_is_now(self, authored: Authored) -> None:
        """A wrong one is an error that names the key."""
        before = authored.config_stamp()
        assert authored.config_stamp() == before
        self.configure(authored, '[documents]\nexclude = ["drafts/**"]\n')
        after = authored.config_stamp()
        assert after != before
        assert authored.config().exclude == ("drafts/**",)
        self.configure(authored, "[documents]\nexcept = 1\n")
        assert authored.config_stamp() != after
        with pytest.raises(ConfigError, match=r"documents\.except"):
            authored.config()

    def test_the_configuration_is_changed_while_nobody_else_does(self, open_authored: Open) -> None:
        """From no text to one, by four handles at once; what fails leaves it."""

        def add(text: str) -> str:
            return (text or "[documents]\n") + f'"{len(text)}/**" = "note"\n'

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: open_authored().change_config(add), range(12)))
        authored = open_authored()
        assert len(authored.config().kinds) == 12

        with pytest.raises(LookupError, match="no"):
            authored.change_config(fail)
        assert len(authored.config().kinds) == 12

    def test_what_is_declared_is_read_as_it_is_now(self, authored: Authored) -> None:
        """Its errors are reported, not raised."""
        before = authored.stamp()
        assert authored.stamp() == before
        self.declare(authored, '{"entities": [{"id": "mo", "name": "林默"}]}')
        after = authored.stamp()
        assert after != before
        assert [draft.name for draft in authored.declared().drafts] == ["林默"]
        self.declare(authored, '{"entities": 5}')
        assert authored.stamp() != after
        assert authored.declared().errors

    def test_memories_and_constraints_are_created_changed_and_deleted(self, open_authored: Open) -> None:
        """By whichever handle; the other sees it at once."""
        mine, theirs = Memories(open_authored()), Memories(open_authored())
        first, second = mine.create("作者爱用短句", confidence=0.5), theirs.create("读者怕黑", kind="episodic", id="m2")
        assert mine.list() == theirs.list() == (first, second)
        assert theirs.get("m2").confidence == 1.0
        changed = mine.update("m2", text="读者不怕黑")
        assert theirs.list() == (first, changed)
        theirs.delete(first.id)
        assert mine.list() == (changed,)
        for call in (lambda: mine.get(first.id), lambda: mine.delete("none"), lambda: mine.update("none", text="x")):
            with pytest.raises(KeyError):
                call()
        rules = Constraints(open_authored())
        rule = rules.create("第三人称", priority=3)
        assert rules.create(" 第三人称 ") == rule
        assert [item.priority for item in Constraints(open_authored()).list()] == [3]

    def test_every_write_moves_the_stamp(self, open_authored: Open) -> None:
        """For every handle; reading does not."""
        authored, other = open_authored(), open_authored()
        seen = [other.stamp()]
        memories, codex = Memories(authored), AuthoredCodex(authored)
        steps: list[Callable[[], object]] = [
            lambda: memories.create("甲", id="a"),
            lambda: memories.update("a", text="乙"),
            lambda: codex.create("林默"),
            lambda: codex.relate("林默", "林渡", "父子"),
            lambda: memories.delete("a"),
            lambda: Constraints(authored).create("丙"),
        ]
        for step in steps:
            step()
            assert other.stamp() not in seen
            seen.append(other.stamp())
            memories.list()
            codex.list()
            assert other.stamp() == seen[-1]

    def test_what_is_wrong_is_refused_and_nothing_changes(self, authored: Authored) -> None:
        """An id that is taken, a value of the wrong kind."""
        memories = Memories(authored)
        kept = memories.create("甲", id="a")
        stamp = authored.stamp()
        for wrong in ({"text": "乙", "id": "a"}, {"text": " "}, {"text": "乙", "confidence": 2.0}):
            with pytest.raises(CodexError):
                memories.create(**wrong)
        with pytest.raises(CodexError):
            memories.update("a", colour="red")
        assert (memories.list(), authored.stamp()) == ((kept,), stamp)

    def test_entities_and_relations_are_authored(self, open_authored: Open) -> None:
        """One by one, or many in one write: all of them or none."""
        codex, other = AuthoredCodex(open_authored()), AuthoredCodex(open_authored())
        mo = codex.create("林默", type="character", aliases=["阿默"], attributes={"年龄": "40"}, level="always")
        assert other.get(mo.id) == mo
        codex.relate("林默", "小雨", "父女", since=3)
        assert [(edge.source, edge.target, edge.type, edge.since) for edge in other.relations()] == [
            ("林默", "小雨", "父女", 3)
        ]
        other.extend([Entity("a", "甲"), Entity("b", "乙")], [Relation("a", "b", "友")])
        assert {entity.id for entity in codex.list()} == {mo.id, "a", "b"}
        with pytest.raises(CodexError):
            codex.extend([Entity("c", "丙"), Entity("a", "再一个甲")])
        assert {entity.id for entity in other.list()} == {mo.id, "a", "b"}
        codex.unrelate("林默", "小雨", "父女")
        codex.delete("a", relations=True)
        assert other.relations() == ()
        assert {entity.id for entity in other.list()} == {mo.id, "b"}

    def test_records_keep_any_text(self, open_authored: Open) -> None:
        """Byte for byte, by another handle."""
        for number, text in enumerate(HOSTILE):
            Memories(open_authored()).create(f"x{text}x", id=f"m{number}")
        assert [memory.text for memory in Memories(open_authored()).list()] == [f"x{text}x" for text in HOSTILE]

    def test_a_book_holds_what_its_check_allows(self, open_authored: Open) -> None:
        """Records are asked by table, and come in order."""
        book = open_authored().records("memories", tables=["memory"], check=sound)
        assert book.name
        assert book.add("memory", {"id": "a", "text": "甲"}) == "a"
        alike = book.add("memory", {"id": "b", "text": "甲"}, alike=lambda block: (block.data or {})["text"] == "甲")
        assert alike == "a"
        book.extend([("memory", {"id": "b", "text": "乙"}), ("memory", {"id": "c", "text": "丙"})])
        book.replace("memory", {"id": "b", "text": "又乙"})
        book.remove("memory", "a")
        again = open_authored().records("memories", tables=["memory"], check=sound)
        assert [(record.table, record.id, record.data) for record in again.records()] == [
            ("memory", "b", {"id": "b", "text": "又乙"}),
            ("memory", "c", {"id": "c", "text": "丙"}),
        ]
        assert again.problems() == ()

    def test_many_writers_lose_nothing(self, open_authored: Open) -> None:
        """Each with a handle of its own."""
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: Memories(open_authored()).create(f"记忆{n}", id=f"m{n}"), range(32)))
        assert {memory.id for memory in Memories(open_authored()).list()} == {f"m{n}" for n in range(32)}

    def test_a_profile_is_changed_while_nobody_else_does(self, open_authored: Open) -> None:
        """A counter in it, by four handles at once."""

        def count(now: Mapping[str, Any] | None) -> Mapping[str, Any]:
            return {"version": (now or {"version": 0})["version"] + 1, "名": "profile"}

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: open_authored().change_profile(count), range(24)))
        assert open_authored().profile() == {"version": 24, "名": "profile"}

    def test_a_change_of_the_profile_that_fails_leaves_it(self, authored: Authored) -> None:
        """And its exception is passed on."""
        authored.change_profile(lambda _: {"version": 1})
        with pytest.raises(LookupError, match="no"):
            authored.change_profile(fail)
        assert authored.profile() == {"version": 1}
        assert authored.profile_name
