"""Conformance suite for `Authored` (`armarius.codex.authored.protocol`), as a test class to inherit.

    class TestMyAuthored(AuthoredConformance):
        @pytest.fixture
        def open_authored(self, ...):
            return lambda: MyAuthored(...)           # a new handle on the same project each time, empty at first

        def configure(self, authored, text): ...     # write armarius.toml as a user would
        def declare(self, authored, text): ...       # write codex.json as a user would

Only pytest is needed.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from armarius.codex.authored.codex import AuthoredCodex
from armarius.codex.authored.collection import Constraints, Memories
from armarius.codex.authored.protocol import Authored, Block
from armarius.codex.model import Entity, Relation
from armarius.config import Config
from armarius.errors import CodexError, ConfigError

__all__ = ["AuthoredConformance"]

Open = Callable[[], Authored]

HOSTILE = ("\0", "\x85", "\r\n", '"""', "[[memory]]\n# x", "''' \\", "名" * 5_000, "e\u0301 | -->", "{}%s", " \u2028 x")


def sound(_: Block) -> str:
    """Nothing is wrong."""
    return ""


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
        assert [one.priority for one in Constraints(open_authored()).list()] == [3]

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
        assert [(one.source, one.target, one.type, one.since) for one in other.relations()] == [
            ("林默", "小雨", "父女", 3)
        ]
        other.extend([Entity("a", "甲"), Entity("b", "乙")], [Relation("a", "b", "友")])
        assert {one.id for one in codex.list()} == {mo.id, "a", "b"}
        with pytest.raises(CodexError):
            codex.extend([Entity("c", "丙"), Entity("a", "再一个甲")])
        assert {one.id for one in other.list()} == {mo.id, "a", "b"}
        codex.unrelate("林默", "小雨", "父女")
        codex.delete("a", relations=True)
        assert other.relations() == ()
        assert {one.id for one in other.list()} == {mo.id, "b"}

    def test_records_keep_any_text(self, open_authored: Open) -> None:
        """Byte for byte, by another handle."""
        for number, text in enumerate(HOSTILE):
            Memories(open_authored()).create(f"x{text}x", id=f"m{number}")
        assert [one.text for one in Memories(open_authored()).list()] == [f"x{text}x" for text in HOSTILE]

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
        assert [(one.table, one.id, one.data) for one in again.records()] == [
            ("memory", "b", {"id": "b", "text": "又乙"}),
            ("memory", "c", {"id": "c", "text": "丙"}),
        ]
        assert again.problems() == ()

    def test_many_writers_lose_nothing(self, open_authored: Open) -> None:
        """Each with a handle of its own."""
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: Memories(open_authored()).create(f"记忆{n}", id=f"m{n}"), range(32)))
        assert {one.id for one in Memories(open_authored()).list()} == {f"m{n}" for n in range(32)}

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

        def fail(_: Mapping[str, Any] | None) -> Mapping[str, Any]:
            raise LookupError("no")

        with pytest.raises(LookupError, match="no"):
            authored.change_profile(fail)
        assert authored.profile() == {"version": 1}
        assert authored.profile_name
