"""A search is told in the order of the corpus, the same one through whichever door it is asked."""

import math
import time
from collections import Counter
from pathlib import Path

import pytest

import armarius
from armarius.corpus.part import KIND, PARAGRAPH_B, PARAGRAPH_K1
from armarius.index.project_index import ProjectIndex
from armarius.store.protocol import DerivedRow
from armarius.verbs import methods_of

NOVEL = Path(__file__).parents[2] / "examples" / "novel"
TEXTS = ["灯", "灯塔", "白鹭 灯塔", "“第十八页”", "守灯塔", "林渡，白鹭", "的", "zyzzyva", "、。"]


@pytest.fixture
def novel(tmp_path):
    with armarius.open(NOVEL, watch=False, index_dir=tmp_path / "index") as engine:
        time.sleep(0.06)  # files that were written while they were read are read once more
        engine.index.refresh()
        yield engine


@pytest.mark.parametrize("also", [(), ("周远", "河岸")])
@pytest.mark.parametrize("text", TEXTS)
def test_every_door_gives_the_same_hits_in_the_same_order(novel, text, also):
    asked = novel.search(text, also=also, limit=12)
    assert bool(asked) == (text not in ("zyzzyva", "、。") or bool(also))
    assert novel.index.search(text, also=also, limit=12) == asked
    wire = [hit.to_wire() for hit in asked]
    said = methods_of(novel)["documents:search"]({"query": text, "limit": 12, "also": list(also)})
    assert said["items"] == wire


def test_the_order_is_that_of_bm25_over_paragraphs(tmp_path, cache):
    paragraphs = [
        "钟楼上的钟停了。",
        "钟匠说，钟楼的钟要修，钟楼的门也要修，他和徒弟在钟楼里一直忙到天亮才下山回家。",
        "钟楼。",
        "雨下了一夜。",
        "老人指着远处的钟楼，说起许多年以前的那一场大火。",
    ]
    (tmp_path / "a.md").write_text("\n\n".join(paragraphs), "utf-8")

    def pairs(text):
        runs = text.replace("，", "。").split("。")
        return [run[i : i + 2] for run in runs for i in range(len(run) - 1)]

    held = [Counter(pairs(one)) for one in paragraphs]
    mean = sum(one.total() for one in held) / len(held)
    rarity = math.log(1 + (len(held) - 4 + 0.5) / 4.5)

    def score(one):
        often = one["钟楼"]
        slow = PARAGRAPH_K1 * (1 - PARAGRAPH_B + PARAGRAPH_B * one.total() / mean)
        return rarity * often * (PARAGRAPH_K1 + 1) / (often + slow)

    wanted = sorted(
        ((score(one), text) for one, text in zip(held, paragraphs, strict=True) if one["钟楼"]), reverse=True
    )
    with ProjectIndex.open(tmp_path) as index:
        hits = index.search("钟楼")
    assert [hit.text for hit in hits] == [text for _, text in wanted]
    assert [hit.score for hit in hits] == pytest.approx([score for score, _ in wanted], rel=1e-5)


def test_what_only_function_words_hold_comes_in_the_order_of_the_project(tmp_path, cache):
    (tmp_path / "b.md").write_text("It was the end of the road.\n\nNobody spoke.\n\nThe road went on.\n", "utf-8")
    (tmp_path / "a.md").write_text("They took the other way.\n", "utf-8")
    with ProjectIndex.open(tmp_path) as index:
        assert [hit.reference for hit in index.search("the")] == ["a.md#0", "b.md#0", "b.md#2"]
        assert [hit.reference for hit in index.search('"of the road"')] == ["b.md#0"]


def test_a_phrase_that_many_paragraphs_hold_in_pieces_is_found_where_it_stands(tmp_path, cache):
    pieces = "\n\n".join(f"{number} 灯塔，塔下有人。灯下，塔。" for number in range(60))
    (tmp_path / "a.md").write_text(f"{pieces}\n\n很久以前，老人说起那座灯塔下的小屋。\n", "utf-8")
    with ProjectIndex.open(tmp_path) as index:
        assert [hit.paragraph for hit in index.search("灯塔下", limit=3)] == [60]


def test_after_edits_the_order_is_that_of_an_index_made_anew(novel, tmp_path, cache):
    root = tmp_path / "copy"
    with ProjectIndex.open(_project(root)) as index:
        before = index.search("钟", limit=99)
        (root / "a.md").write_text("钟响了，钟又响了。\n\n没有人看钟。\n", "utf-8")
        (root / "c.md").unlink()
        (root / "d.md").write_text("钟。\n", "utf-8")
        index.refresh()
        after = index.search("钟", limit=99)
    with ProjectIndex.open(root, index_dir=tmp_path / "anew") as fresh:
        assert fresh.search("钟", limit=99) == after != before


@pytest.mark.parametrize("data", [b"", b"\x00" * 40, None])
def test_a_kept_part_that_is_damaged_or_another_ones_changes_nothing(tmp_path, cache, data):
    with ProjectIndex.open(_project(tmp_path / "book")) as index:
        wanted = index.search("钟", limit=99)
        rows = index.store.learnt(KIND)
        row, other = rows["a.md"], rows["c.md"]
        index.store.apply([DerivedRow("a.md", KIND, row.about, other.data if data is None else data)])
        assert ProjectIndex.search(index, "钟", limit=99) == wanted
        with armarius.open(tmp_path / "book", watch=False) as engine:
            assert engine.search("钟", limit=99) == wanted


def _project(root):
    root.mkdir()
    (root / "a.md").write_text("钟停了。\n\n雨还在下，钟楼里没有人。\n", "utf-8")
    (root / "b.md").write_text("# 钟匠\n\n他修钟，也修表，一生只修过一座钟楼。\n", "utf-8")
    (root / "c.md").write_text("钟声传过河去。\n", "utf-8")
    return root
