"""Bytes in the place of a pack: the same prompt, from another process, and nothing but an error from anything else."""

import hashlib
import json
import random
import shutil
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.prompt.support import assemble, candidate

import armarius
from armarius.errors import ContractError, ScopeViolation
from armarius.prompt.continuation import MAX_BYTES, PREVIOUS, Continuation
from armarius.types import Evidence

NOVEL = Path(__file__).parents[2] / "examples" / "novel"
STAMPS = {"codex.json": "1", "a.md": "1"}


@pytest.fixture
def novel(tmp_path):
    shutil.copytree(NOVEL, tmp_path / "novel")
    return tmp_path / "novel"


def card(name, **more):
    return candidate(name, group="[知识图谱 — 引用检测]", documents=("codex.json",), size=40, **more)


def test_a_replay_with_bytes_is_the_replay_with_packs(novel):
    """Typing, moving and asking; budgets that cut, another document, a codex that changes."""
    chance = random.Random(4)
    path = novel / "chapters" / "ch003.md"
    whole, at = path.read_text("utf-8"), 200
    with armarius.open(novel, watch=False) as one, armarius.open(novel, watch=False) as other:
        pack = kept = None
        held = 0
        for step in range(40):
            request = {"document": "chapters/ch003.md", "model": "gpt-4o", "budget": chance.choice([2500, 4000, 9000])}
            if chance.random() < 0.7:
                at = min(len(whole), at + chance.randint(5, 40))
                path.write_text(whole[:at], "utf-8")
            request["cursor"] = chance.choice([at, at, at // 2])
            if chance.random() < 0.4:
                request["query"] = chance.choice(["林渡此刻在哪里？", "前文写过灯塔吗？", "谁是白鹭"])
            if step == 25:
                request |= {"document": "chapters/ch001.md", "cursor": 50}
            if step == 30:
                one.memories.create("作者爱用短句")
            pack = one.assemble(previous=pack, **request)
            again = other.assemble(previous=kept, **request)
            kept = again.continuation()
            assert again.prompt == pack.prompt
            assert again.prefix == pack.prefix
            assert again.to_wire() == pack.to_wire()
            assert [item.evidence for item in again.items] == [item.evidence for item in pack.items]
            assert kept == pack.continuation()
            assert len(kept) < len(pack.prompt.encode()) * 0.7 + 1500
            held += sum(PREVIOUS in item.evidence for item in pack.items)
        assert held > 20, "the replay has prompts that only what was kept explains"


def test_another_process_goes_on_with_the_bytes(novel, tmp_path):
    script = (
        "import sys, armarius; from pathlib import Path\n"
        "with armarius.open(sys.argv[1], watch=False) as engine:\n"
        "    kept = Path(sys.argv[2]).read_bytes()\n"
        "    pack = engine.assemble(query='白鹭守灯塔吗', document='chapters/ch002.md', budget=3000, previous=kept)\n"
        "    sys.stdout.buffer.write(pack.prompt.encode())\n"
    )
    with armarius.open(novel, watch=False) as engine:
        first = engine.assemble(query="林渡在哪里", document="chapters/ch002.md", budget=3000)
        (tmp_path / "kept").write_bytes(first.continuation())
        expected = engine.assemble(query="白鹭守灯塔吗", document="chapters/ch002.md", budget=3000, previous=first)
        alone = engine.assemble(query="白鹭守灯塔吗", document="chapters/ch002.md", budget=3000)
    command = [sys.executable, "-W", "ignore", "-c", script, str(novel), str(tmp_path / "kept")]
    found = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    assert found == expected.prompt != alone.prompt


def test_inspect_takes_the_bytes_too(novel):
    with armarius.open(novel, watch=False) as engine:
        first = engine.assemble(query="林渡在哪里", document="chapters/ch002.md", budget=3000)
        ask = {"query": "白鹭是谁", "document": "chapters/ch002.md", "budget": 3000}
        details = [engine.inspect(previous=one, **ask).layers_detail for one in (first, first.continuation())]
        assert details[0] == details[1]


def test_items_are_held_with_their_evidence_and_confirmed_by_what_the_bytes_say():
    first = assemble([card("a", score=2), card("b", score=1)], stamps=STAMPS)
    kept = Continuation.from_bytes(first.continuation())
    assert kept == first.continued
    assert [one.id for one in kept.retrieved] == ["a", "b"]
    assert kept.stamps == first.stamps


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200).filter(lambda text: text.strip())


@settings(max_examples=40)
@given(
    st.lists(st.tuples(TEXTS, st.floats(allow_nan=False), st.one_of(st.none(), TEXTS)), min_size=1, max_size=5),
    st.lists(st.sampled_from(["codex.json", "a.md", "x|y", '"'])),
)
def test_any_candidate_survives(rows, documents):
    candidates = [
        candidate(
            f"c{number}", content=content, score=score, short=short, documents=tuple(documents),
            evidence=(Evidence("mention", content, "a.md", (0, 3)),),
        )
        for number, (content, score, short) in enumerate(rows)
    ]  # fmt: skip
    pack = assemble(candidates, stamps=STAMPS, budget=100_000)
    assert Continuation.from_bytes(pack.continuation()) == pack.continued


@pytest.fixture
def kept():
    return assemble([card("a", score=2), card("b", score=1)], stamps=STAMPS).continuation()


@pytest.mark.parametrize("data", [b"", b"x", b"ARMc", b"ARMc" + bytes(40), bytes(1000), b"\x80\x04K\x01."])
def test_foreign_bytes_are_refused(novel, data):
    with armarius.open(novel, watch=False) as engine, pytest.raises(ContractError, match="previous: "):
        engine.assemble(query="林渡", previous=data)


@pytest.mark.parametrize("previous", ["text", 5, bytearray(b"ARMc"), {"prompt": ""}])
def test_what_is_neither_pack_nor_bytes_is_refused(novel, previous):
    with armarius.open(novel, watch=False) as engine, pytest.raises(ContractError, match="previous must be a Pack"):
        engine.assemble(query="林渡", previous=previous)


def test_every_flipped_byte_and_every_cut_is_noticed(kept):
    for at in range(len(kept)):
        with pytest.raises(ContractError, match="previous: "):
            Continuation.from_bytes(kept[:at] + bytes([kept[at] ^ 0x40]) + kept[at + 1 :])
    for length in range(len(kept)):
        with pytest.raises(ContractError, match="previous: "):
            Continuation.from_bytes(kept[:length])
    with pytest.raises(ContractError, match="previous: "):
        Continuation.from_bytes(kept + b"\0")


def test_another_version_is_told_apart_from_damage(kept):
    with pytest.raises(ContractError, match="another version"):
        Continuation.from_bytes(kept[:4] + bytes(16) + kept[20:])


def sealed(kept, body):
    """Bytes that are whole and of this version, and hold something else."""
    packed = zlib.compress(body)
    return kept[:20] + hashlib.blake2b(packed, digest_size=16).digest() + packed


def test_bytes_that_somebody_made_up_are_an_error_and_nothing_else(kept):
    prompt, plain = json.loads(zlib.decompress(kept[36:]))
    wrong = [
        b"", b"[]", b"{}", b"null", b'["", []]', b"[" * 100_000, b"\xff\xfe",
        json.dumps([prompt, {key: value for key, value in plain.items() if key != "stamps"}]).encode(),
        json.dumps([prompt, plain | {"document": 5}]).encode(),
        json.dumps([prompt, plain | {"document": {"@": [-5, 2]}}]).encode(),
        json.dumps([prompt, plain | {"document": {"@": [0, 10**9]}}]).encode(),
        json.dumps([prompt, plain | {"chapters": [1]}]).encode(),
        json.dumps([prompt, plain | {"stamps": [["a", 5]]}]).encode(),
        json.dumps([5, plain]).encode(),
        zlib.compress(b"x"),
        struct.pack("<I", 7),
    ]  # fmt: skip
    for body in wrong:
        with pytest.raises(ContractError, match="previous: "):
            Continuation.from_bytes(sealed(kept, body))


def test_a_bomb_is_not_unpacked(kept):
    with pytest.raises(ContractError, match="previous: "):
        Continuation.from_bytes(sealed(kept, b"[" + b" " * (64 * 1024 * 1024) + b"]"))
    with pytest.raises(ContractError, match="no continuation"):
        Continuation.from_bytes(kept + bytes(MAX_BYTES))


def test_a_prompt_that_cannot_be_carried_says_so(monkeypatch):
    monkeypatch.setattr("armarius.prompt.continuation.MAX_BYTES", 200)
    with pytest.raises(ContractError, match="at most 200 are carried"):
        assemble([card("a")], stamps=STAMPS).continuation()


def test_the_bytes_of_another_project_are_refused(novel, tmp_path):
    shutil.copytree(novel, tmp_path / "other")
    with armarius.open(novel, watch=False) as engine, armarius.open(tmp_path / "other", watch=False) as other:
        kept = engine.assemble(query="林渡").continuation()
        with pytest.raises(ScopeViolation, match="previous is a pack of project 'novel'"):
            other.assemble(query="林渡", previous=kept)
