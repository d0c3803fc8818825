"""What is written can be read again, and says nothing of another record: else it is refused before it is written."""

import math

import pytest

from armarius.codex import AuthoredCodex, Memories, Pins
from armarius.errors import ArmariusError, CodexError, UnknownId


@pytest.fixture
def codex(tmp_path):
    codex = AuthoredCodex(tmp_path)
    codex.create("白鹭", id="bai", description="灯塔的守人")
    codex.create("顾长明", id="gu")
    return codex


@pytest.fixture
def unchanged(tmp_path, codex):
    path = tmp_path / ".armarius" / "codex.toml"
    before = path.read_bytes()
    yield
    assert path.read_bytes() == before
    assert codex.problems() == ()
    assert [one.id for one in codex.list()] == ["bai", "gu"]


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("other", ["bai", "new", None, "", 5])
def test_an_update_changes_no_id_and_so_never_another_record(codex, other):
    with pytest.raises(CodexError, match=r"^entity 'gu': id: stays as it is"):
        codex.update("gu", id=other, name="顾")


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "values",
    [
        {"description": "雪" * 300_000},
        {"aliases": [f"名{number}" for number in range(60_000)]},
        {"attributes": {"年龄": 2**70}},
        {"attributes": {"年龄": math.nan}},
        {"attributes": {1: "x"}},
        {"attributes": {"\ud800": "x"}},
        {"facts": ["\ud800"]},
        {"facts": [{"text": "\udc80", "since": 1}]},
    ],
    ids=lambda values: next(iter(values)),
)
def test_a_record_that_could_not_be_read_again_is_refused(codex, values):
    for write in (lambda: codex.create("山", **values), lambda: codex.update("gu", **values)):
        with pytest.raises(CodexError):
            write()


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("wrong", [None, True, 5, 1.5, b"x", ["x"], {}, "\ud800", "", "  "])
def test_what_is_no_name_is_refused(codex, wrong):
    ends = {"source": "bai", "target": "gu", "type": "师徒"}
    calls = [lambda: codex.create(wrong), *(lambda key=key: codex.relate(**{**ends, key: wrong}) for key in ends)]
    for call in calls:
        with pytest.raises(CodexError):
            call()


@pytest.mark.parametrize("wrong", [None, True, 5, 10**5000, b"x", ["x"], {}, "\ud800", "x" * 100_000], ids="abcdefghi")
def test_what_is_no_id_is_unknown_and_named_in_brief(tmp_path, codex, wrong):
    codex.relate("bai", "gu", "师徒")
    memories, pins = Memories(tmp_path), Pins(tmp_path)
    memories.create("雪夜", id="m")
    pins.add("bai")
    for call in (
        lambda: codex.get(wrong),
        lambda: codex.update(wrong, name="山"),
        lambda: codex.delete(wrong),
        lambda: codex.unrelate(wrong, wrong, wrong),
        lambda: memories.get(wrong),
        lambda: memories.update(wrong, text="x"),
        lambda: memories.delete(wrong),
        lambda: pins.remove(wrong),
    ):
        with pytest.raises(UnknownId) as caught:
            call()
        assert len(str(caught.value).encode()) < 500


def test_a_file_that_would_be_larger_than_is_read_is_not_written(tmp_path, codex, monkeypatch):
    monkeypatch.setattr("armarius.codex.record_file._MAX_BYTES", 4096)
    codex.create("人", description="雪" * 400)
    with pytest.raises(ArmariusError, match="at most 4,096 are read"):
        codex.create("山", description="雪" * 1000)
    assert [one.name for one in codex.list()] == ["白鹭", "顾长明", "人"]
    assert codex.problems() == ()
