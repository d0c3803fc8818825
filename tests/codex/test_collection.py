import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.io.conftest import KINDS, plant

from armarius.codex import Constraints, Memories
from armarius.codex.model import Constraint, Memory
from armarius.errors import CodexError, StoreBusy, StoreFull


def file_of(root, name="memories.toml"):
    return root / ".armarius" / name


def test_nothing_authored_is_an_empty_list_and_no_folder(tmp_path):
    assert Memories(tmp_path).list() == ()
    assert Memories(tmp_path).problems() == ()
    assert list(tmp_path.iterdir()) == []


def test_created_record_is_read_back_by_another_process_state(tmp_path):
    memory = Memories(tmp_path).create("作者爱用短句", confidence=0.8)
    assert Memories(tmp_path).list() == (memory,)
    assert memory == Memory(memory.id, "作者爱用短句", "semantic", 0.8)


def test_file_is_readable_toml_with_one_block_per_record(tmp_path):
    Constraints(tmp_path).create("不写旁人的心理", priority=3, id="c1")
    text = file_of(tmp_path, "constraints.toml").read_text(encoding="utf-8")
    assert '[[constraint]]\nid = "c1"\ntext = "不写旁人的心理"\nsource = "user"\npriority = 3\n' in text
    assert tomllib.loads(text)["constraint"][0]["text"] == "不写旁人的心理"


def test_ids_follow_from_the_text_and_do_not_collide(tmp_path):
    memories = Memories(tmp_path)
    first, second = memories.create("同一句"), memories.create("同一句")
    assert first.id != second.id
    assert Memories(tmp_path / "other").create("同一句").id == first.id


def test_an_id_is_there_for_the_same_text_however_often_and_whatever_was_deleted_before(tmp_path):
    memories = Memories(tmp_path)
    other = memories.create("另一句")
    ids = {memories.create("同一句").id for _ in range(5)}
    memories.delete(other.id)
    assert memories.create("同一句").id not in ids


def test_constraint_that_says_the_same_is_the_one_there_is(tmp_path):
    constraints = Constraints(tmp_path)
    first = constraints.create("不写旁人的心理", priority=3, id="c1")
    before = file_of(tmp_path, "constraints.toml").read_bytes()
    assert constraints.create("  不写旁人的心理\n", source="kg") == first
    assert constraints.create("不写旁人的心理", id="c2") == first
    assert file_of(tmp_path, "constraints.toml").read_bytes() == before
    with pytest.raises(CodexError, match="'c1' already"):
        constraints.create("另一条", id="c1")
    assert constraints.create("另一条") != first
    assert len(constraints.list()) == 2


def test_many_who_set_one_rule_at_once_set_it_once(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: Constraints(tmp_path).create("每章不超过三千字"), range(24)))
    assert len(set(made)) == len(Constraints(tmp_path).list()) == 1


def test_update_and_delete_touch_no_other_byte(tmp_path):
    memories = Memories(tmp_path)
    for id_ in "abc":
        memories.create(f"记忆{id_}", id=id_)
    path = file_of(tmp_path)
    path.write_text(
        path.read_text("utf-8").replace('[[memory]]\nid = "b"', '# 手写的注\n[[memory]]\nid    =   "b"'), "utf-8"
    )
    before = path.read_text("utf-8")
    memories.update("a", text="改了")
    after = path.read_text("utf-8")
    assert after == before.replace("记忆a", "改了")
    memories.delete("c")
    assert path.read_text("utf-8") == after[: after.index('[[memory]]\nid = "c"')].rstrip("\n") + "\n"
    memories.update("b", confidence=0.5)
    assert "# 手写的注\n[[memory]]" in path.read_text("utf-8")


def test_hand_edit_is_seen_at_the_next_call(tmp_path):
    memories = Memories(tmp_path)
    memories.create("旧", id="a")
    path = file_of(tmp_path)
    path.write_text(path.read_text("utf-8") + '\n[[memory]]\nid = "b"\ntext = "手写"\n', "utf-8")
    assert memories.list() == (Memory("a", "旧"), Memory("b", "手写"))


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ('[[memory]]\nid = "b"\ntext = oops\n', "line 9: Invalid value"),
        (
            '[[memory]]\nid = "b"\ntext = 3\n',
            "line 9: memory 'b': text: expected a non-empty string, got 3",
        ),
        (
            '[[memory]]\ntext = "t"\n',
            "line 7: memory: id: expected a non-empty string, got None",
        ),
        (
            '[[memory]]\nid = "b"\ntext = "t"\nconfidence = 3\n',
            "line 10: memory 'b': confidence: expected a number from 0 to 1, got 3",
        ),
        (
            '[[memory]]\nid = "b"\ntext = "t"\nkind = "x"\n',
            "line 10: memory 'b': kind: expected one of semantic, episodic, procedural, got 'x'",
        ),
        ('[[memo]]\nid = "b"\n', "line 7: [[memo]]: expected [[memory]]"),
        ('[[memory]]\nid = "a"\ntext = "zwei"\n', "line 7: a second memory with the id 'a'"),
        ('[[memory]]\nid = "b"\ntext = """never closed\n', "line 9: "),
        (f'[[memory]]\nid = "b"\ntext = {"[" * 100_000}\n', "line 9: arrays or tables are nested too deep"),
        (f'[[memory]]\nid = "b"\nconfidence = {"9" * 10_000}\n', "line 9: Exceeds the limit"),
        (f'[[memory]]\nid = "b"\nconfidence = 0x{"9" * 10_000}\n', "line 9: a number of more than 64 bits"),
        (f'[[memory]]\nid = "b"\n{"a." * 60_000}a = 1\n', "line 9: a key of more than 100 parts"),
        (f'[[memory]]\nid = "b"\ntext = "{"x" * 300_000}"\n', "line 9: more than 262,144 characters"),
    ],
)
def test_broken_block_is_named_with_its_line_and_the_others_stay(tmp_path, block, problem):
    path = file_of(tmp_path)
    path.parent.mkdir()
    path.write_text(
        f'# kopf\n\n[[memory]]\nid = "a"\ntext = "eins"\n\n{block}\n[[memory]]\nid = "z"\ntext = "drei"\n', "utf-8"
    )
    memories = Memories(tmp_path)
    assert [item.id for item in memories.list()] == ["a", "z"]
    (error,) = memories.problems()
    assert str(error).startswith(f".armarius/memories.toml: {problem}")


def test_record_that_breaks_stays_as_it_was(tmp_path):
    memories = Memories(tmp_path)
    memories.create("gut", id="a")
    assert memories.list() == (Memory("a", "gut"),)
    path = file_of(tmp_path)
    path.write_text(path.read_text("utf-8").replace('"gut"', "kaputt"), "utf-8")
    assert memories.list() == (Memory("a", "gut"),)
    assert len(memories.problems()) == 1
    memories.update("a", text="wieder gut")
    assert memories.problems() == ()
    assert Memories(tmp_path).list() == (Memory("a", "wieder gut"),)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"[[memory]]\nid='a'\ntext='\xff'\n"])
def test_file_that_cannot_be_read_leaves_the_last_good_state(tmp_path, content):
    memories = Memories(tmp_path)
    memories.create("gut", id="a")
    assert memories.list()
    file_of(tmp_path).write_bytes(content)
    assert memories.list() == (Memory("a", "gut"),)
    assert "not UTF-8" in str(memories.problems()[0])
    with pytest.raises(CodexError, match="not UTF-8"):
        memories.create("neu")
    assert file_of(tmp_path).read_bytes() == content


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"text": " "}, "text: expected a non-empty string"),
        ({"text": "\ud800"}, "text: holds a lone surrogate"),
        ({"text": "t", "confidence": 2}, "confidence: expected a number from 0 to 1, got 2"),
        ({"text": "t", "confidence": float("nan")}, "confidence: expected a number from 0 to 1, got nan"),
        ({"text": "t", "kind": "dream"}, "kind: expected one of"),
    ],
)
def test_wrong_value_is_refused_and_nothing_is_written(tmp_path, values, message):
    with pytest.raises(CodexError, match=message):
        Memories(tmp_path).create(**values)
    assert not file_of(tmp_path).exists()


def test_taken_id_is_refused(tmp_path):
    memories = Memories(tmp_path)
    memories.create("eins", id="a")
    with pytest.raises(CodexError, match="there is a memory with the id 'a' already"):
        memories.create("zwei", id="a")


def test_unknown_id_and_field_are_errors(tmp_path):
    memories = Memories(tmp_path)
    memories.create("eins", id="a")
    with pytest.raises(KeyError):
        memories.update("b", text="x")
    with pytest.raises(KeyError):
        memories.delete("b")
    with pytest.raises(CodexError, match="mood: no such field"):
        memories.update("a", mood="x")


def test_constraints_rows_have_source_and_priority(tmp_path):
    constraints = Constraints(tmp_path)
    constraints.create("守时", source="kg", priority=2, id="c")
    assert constraints.update("c", priority=5) == Constraint("c", "守时", "kg", 5)
    with pytest.raises(CodexError, match="priority: expected a whole number from 0 to 2147483647, got -1"):
        constraints.update("c", priority=-1)


def test_read_only_folder_is_an_error_and_the_old_file_stays(tmp_path, monkeypatch):
    memories = Memories(tmp_path)
    memories.create("eins", id="a")
    before = file_of(tmp_path).read_bytes()
    monkeypatch.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(StoreFull, match="No space left on device"):
        memories.create("zwei")
    assert file_of(tmp_path).read_bytes() == before
    assert sorted(path.name for path in file_of(tmp_path).parent.iterdir()) == [".lock", "memories.toml"]


def test_folder_that_is_a_link_is_neither_read_nor_written(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".armarius").symlink_to(tmp_path / "outside")
    memories = Memories(tmp_path / "project")
    with pytest.raises(CodexError, match="symbolic link"):
        memories.create("eins")
    assert memories.list() == ()
    assert "symbolic link" in str(memories.problems()[0])
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_project_that_moves_away_is_not_made_again_and_its_records_stay(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    memories = Memories(root)
    memories.create("eins", id="a")
    root.rename(tmp_path / "moved")
    with pytest.raises(StoreFull, match="the folder project is gone"):
        memories.create("zwei")
    assert [item.id for item in memories.list()] == ["a"]
    assert "the project folder is gone" in str(memories.problems()[0])
    assert not root.exists()
    (tmp_path / "moved").rename(root)
    memories.create("zwei", id="b")
    assert [item.id for item in memories.list()] == ["a", "b"]
    assert memories.problems() == ()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["memories.toml", ".lock"])
def test_what_is_no_file_in_the_place_of_a_record_file_or_its_lock_is_refused(tmp_path, kind, name):
    mine = tmp_path / "mine"
    mine.write_text("the user's own")
    plant(tmp_path / "project" / ".armarius" / name, kind, mine)
    memories = Memories(tmp_path / "project")
    with pytest.raises((CodexError, StoreFull), match=r"symbolic link|not a regular file"):
        memories.create("eins")
    assert memories.list() == ()
    assert mine.read_text() == "the user's own"
    assert not (tmp_path / "nowhere").exists()


def test_writers_in_many_threads_lose_nothing(tmp_path):
    def write(index):
        Memories(tmp_path).create(f"记忆{index}", id=f"m{index}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    assert {item.id for item in Memories(tmp_path).list()} == {f"m{index}" for index in range(40)}


def test_writer_in_another_process_is_waited_for_and_then_reported(tmp_path):
    from armarius.io import folder_lock

    folder = tmp_path / ".armarius"
    program = (
        "import sys, time; from pathlib import Path; from armarius.io import folder_lock\n"
        "with folder_lock(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(StoreBusy), folder_lock(folder, timeout=0.1):
            pass
        other.kill()
    with folder_lock(folder, timeout=5):
        pass


WRITER = """
import sys
from pathlib import Path
from armarius.codex import Memories
memories = Memories(Path(sys.argv[1]))
for number in range(100_000):
    memories.create(f"记忆 {number}", id=f"m{number}")
    print(number, flush=True)
"""


@pytest.mark.parametrize("lines", [1, 2, 3, 5, 8, 13, 21, 34])
def test_killed_writer_leaves_whole_records_and_loses_none_it_acknowledged(tmp_path, lines):
    command = [sys.executable, "-W", "ignore", "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        acknowledged = [int(child.stdout.readline()) for _ in range(lines)]
        child.kill()
        acknowledged += [int(line) for line in child.stdout.read().split()]
    memories = Memories(tmp_path)
    kept = [item.id for item in memories.list()]
    assert memories.problems() == ()
    assert kept[: len(acknowledged)] == [f"m{number}" for number in acknowledged]
    assert len(kept) <= len(acknowledged) + 1
    memories.create("danach")


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(str.strip)
LINES = (
    st.lists(
        st.sampled_from(
            ["", "# x", "[[memory]]", 'id = "q"', '"""', "'''", "\\", '"', "一行", " \t", "\r", "\x7f\u2028"]
        ),
        min_size=1,
        max_size=6,
    )
    .map("\n".join)
    .filter(str.strip)
)


@given(st.lists(TEXT | LINES, min_size=1, max_size=5))
def test_any_text_survives_writing_and_reading(tmp_path_factory, texts):
    root = tmp_path_factory.mktemp("p")
    memories = Memories(root)
    created = [memories.create(text, id=f"m{index}") for index, text in enumerate(texts)]
    fresh = Memories(root)
    assert list(fresh.list()) == created
    assert fresh.problems() == ()
    fresh.update("m0", confidence=0.25)
    assert [item.text for item in Memories(root).list()] == texts
    fresh.delete("m0")
    assert [item.text for item in Memories(root).list()] == texts[1:]
