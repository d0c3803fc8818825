from tests.assembly.support import assemble, candidate

from armarius.assembly.carry import PREVIOUS
from armarius.fetchers.base import Omission
from armarius.testing import FakeFetcher, FixedCounter

STAMPS = {"codex.json": "1", "a.md": "1"}


def card(name, **more):
    return candidate(name, group="[知识图谱 — 引用检测]", documents=("codex.json",), size=40, **more)


def test_item_nobody_names_any_more_keeps_its_place_while_its_files_are_unchanged():
    first = assemble([card("a", score=2), card("b", score=1)], stamps=STAMPS)
    second = assemble([card("b"), card("c")], stamps=STAMPS, previous=first)
    assert [item.id for item in second.items] == ["a", "b", "c"]
    assert second.items[0].evidence == (PREVIOUS,)
    third = assemble([card("c")], stamps=STAMPS, previous=second)
    assert third.prompt.startswith(second.prompt.removesuffix("</layer-retrieved>\n\n"))
    assert [item.evidence for item in third.items] == [(PREVIOUS,), (PREVIOUS,), ()]


def test_item_whose_file_changed_goes():
    first = assemble([card("a")], stamps=STAMPS)
    assert not assemble([FakeFetcher()], stamps={**STAMPS, "codex.json": "2"}, previous=first).items
    assert not assemble([FakeFetcher()], stamps={}, previous=first).items


def test_item_that_names_no_file_goes():
    first = assemble([candidate("a")], stamps=STAMPS)
    assert not assemble([FakeFetcher()], stamps=STAMPS, previous=first).items


def test_items_of_another_document_go():
    first = assemble([card("a")], stamps=STAMPS, document_id="one.md")
    assert not assemble([FakeFetcher()], stamps=STAMPS, previous=first, document_id="two.md").items


def test_stayers_go_all_at_once_when_an_item_that_is_asked_for_does_not_fit():
    first = assemble([card("a"), card("b")], stamps=STAMPS, budget=2000)
    second = assemble([candidate("c", size=1820)], stamps=STAMPS, previous=first, budget=2000)
    assert [item.id for item in second.items] == ["c"]
    assert second.prefix.anchor_moved


def test_stayers_go_all_at_once_when_they_outgrow_their_share_of_a_full_prompt():
    names = [f"n{n:02}" for n in range(12)]
    first = assemble([card(name) for name in names], stamps=STAMPS, budget=2000)
    window = candidate("w", "immediate", content="字。" * 3000, keep="around", anchor=10, score=1)
    second = assemble([card("n00"), window], stamps=STAMPS, previous=first, budget=1500)
    assert [item.id for item in second.items] == ["n00", "w"]
    assert second.prefix.anchor_moved
    roomy = assemble([card("n00")], stamps=STAMPS, previous=first, budget=2000)
    assert len(roomy.items) == 12
    assert not roomy.prefix.anchor_moved


def test_stayer_is_in_items_and_not_also_omitted_as_no_match():
    first = assemble([card("a")], stamps=STAMPS)
    silent = FakeFetcher(omitted=[Omission("a", "retrieved", "test:a", "no match")])
    second = assemble([silent], stamps=STAMPS, previous=first)
    assert [item.id for item in second.items] == ["a"]
    assert not second.omitted
    assert second.token_count == FixedCounter().count(second.prompt)
