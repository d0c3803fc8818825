import threading

from tests.prompt.support import assemble, candidate

from armarius.prompt.continuation import PREVIOUS
from armarius.prompt.fetch import confirm_all
from armarius.prompt.profile import LayerBudget
from armarius.testing import FakeFetcher, FixedCounter
from armarius.types import FetchRequest, Omission

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
    first = assemble([card("a")], stamps=STAMPS, document="one.md")
    assert not assemble([FakeFetcher()], stamps=STAMPS, previous=first, document="two.md").items


class Sure(FakeFetcher):
    """A fetcher that would word everything the same today but what it was told is different."""

    different: frozenset[str] = frozenset()

    def confirm(self, candidates, _request, /):
        return {candidate.id for candidate in candidates if candidate.id not in self.different}


def test_item_whose_file_changed_stays_when_its_fetcher_would_word_it_the_same():
    changed = {**STAMPS, "codex.json": "2"}
    first = assemble([card("a", score=3), card("b", score=2), card("c", score=1)], stamps=STAMPS)
    fetcher = Sure()
    fetcher.different = frozenset({"b"})
    second = assemble([fetcher], stamps=changed, previous=first)
    assert [item.id for item in second.items] == ["a", "c"]
    assert second.prefix.shared_characters > second.items[0].span[1]
    third = assemble([FakeFetcher()], stamps=changed, previous=second)
    assert [item.id for item in third.items] == ["a", "c"]


def test_card_that_changed_follows_the_others_and_is_shown_as_it_is_now():
    first = assemble([card("a", score=3), card("b", score=2), card("c", score=1)], stamps=STAMPS)
    edited = card("a", score=3, content="a as it is now".ljust(40, "x"))
    second = assemble([edited, card("b", score=2), card("c", score=1)], stamps=STAMPS, previous=first)
    assert [item.id for item in second.items] == ["b", "c", "a"]
    assert "a as it is now" in second.prompt
    assert "content of a" not in second.prompt


def test_fetcher_that_fails_to_confirm_confirms_nothing():
    class Broken(FakeFetcher):
        def confirm(self, _candidates, _request, /):
            raise OSError("gone")

    first = assemble([card("a")], stamps=STAMPS)
    pack = assemble([Broken()], stamps={**STAMPS, "codex.json": "2"}, previous=first)
    assert not pack.items
    assert [str(warning) for warning in pack.warnings] == [f"RAG_UNAVAILABLE: {Broken().name}: OSError: gone"]


def test_fetcher_that_confirms_too_late_confirms_nothing_and_is_not_waited_for():
    gate = threading.Event()

    class Slow(FakeFetcher):
        def confirm(self, candidates, _request, /):
            gate.wait(20)
            return {candidate.id for candidate in candidates}

    fetcher, items = Slow(), [card("a")]
    try:
        found, unsure = confirm_all([fetcher, Sure()], items, FetchRequest("p"), timeout=1.0)
    finally:
        gate.set()
    assert found == {"a"}
    assert [(one.name, [str(warning) for warning in one.fetched.warnings]) for one in unsure] == [
        (fetcher.name, [f"RAG_UNAVAILABLE: {fetcher.name}: no answer within 1 s"])
    ]


def test_what_gives_way_to_new_items_gives_way_at_the_end():
    first = assemble([card(f"n{n:02}", score=-n) for n in range(20)], stamps=STAMPS, budget=1200)
    names = [item.id for item in first.items]
    second = assemble([candidate("new", size=300, score=9)], stamps=STAMPS, previous=first, budget=1200)
    held = [item.id for item in second.items if item.id != "new"]
    assert "new" in [item.id for item in second.items]
    assert held == names[: len(held)]
    assert 0 < len(held) < len(names)


def text_of(size):
    return candidate("w", "immediate", content="字。" * (size // 2), keep="around", anchor=size, score=1)


def test_window_keeps_its_share_beside_held_items():
    many = [card(f"n{n:02}") for n in range(30)]
    first = assemble(many, stamps=STAMPS, budget=2000)
    second = assemble([*many, text_of(6000)], stamps=STAMPS, previous=first, budget=2000)
    fresh = assemble([*many, text_of(6000)], stamps=STAMPS, budget=2000)
    # A step of the grid, a quarter of the window at most, is left for typing.
    assert second.layers.immediate.token_count > 2000 * 95 * 35 // 10_000 * 3 // 4
    assert len(first.items) > len(second.items) > len(fresh.items)
    assert second.prompt.startswith(first.prompt[: first.items[len(second.items) - 2].span[1]])


def test_minimum_that_was_set_and_a_maximum_hold_against_held_items():
    many = [card(f"n{n:02}") for n in range(30)]
    first = assemble(many, stamps=STAMPS, budget=2000)
    more = {"stamps": STAMPS, "previous": first, "budget": 2000}
    asked = assemble([*many, text_of(6000)], layers={"immediate": LayerBudget(min=1400)}, **more)
    free = assemble([*many, text_of(6000)], **more)
    assert free.layers.retrieved.token_count > asked.layers.retrieved.token_count > 0
    alone = assemble([*many, text_of(6000)], budget=2000, layers={"immediate": LayerBudget(min=1400)})
    assert asked.layers.immediate.token_count >= alone.layers.immediate.token_count
    capped = assemble([card("n00")], layers={"retrieved": LayerBudget(max=500)}, **more)
    assert capped.layers.retrieved.token_count <= 500 < first.layers.retrieved.token_count


def test_nothing_enters_a_continued_prompt_for_the_slack_that_typing_grows_into():
    filler = [card(f"n{n:02}", score=-n) for n in range(60)]
    text = "雨下了一夜。\n" * 500
    previous, packs = None, []
    for typed in range(12):
        window = candidate("w", "immediate", content=text, keep="around", anchor=3000 + 7 * typed)
        previous = assemble([window, *filler], budget=2000, stamps=STAMPS, previous=previous)
        packs.append(previous)
    assert {len(pack.items) for pack in packs} == {13}
    assert sum(pack.prefix.anchor_moved for pack in packs) <= 1


def test_what_if_of_a_continued_pack_holds_what_fits_and_keeps_its_account():
    first = assemble([card(f"n{n:02}") for n in range(20)], stamps=STAMPS, budget=1500)
    second = assemble([card("n03"), text_of(2000)], stamps=STAMPS, previous=first, budget=1500)
    smaller = second.what_if(budget=700)
    assert smaller.token_count <= 700
    assert "n03" in [item.id for item in smaller.items]
    assert second.what_if(budget=1500).prompt == second.prompt


def test_held_items_go_when_an_item_that_is_asked_for_leaves_no_room():
    first = assemble([card("a"), card("b")], stamps=STAMPS, budget=2000)
    second = assemble([candidate("c", size=1820)], stamps=STAMPS, previous=first, budget=2000)
    assert [item.id for item in second.items] == ["c"]
    assert second.prefix.anchor_moved


def test_items_nobody_names_go_when_the_window_wants_their_room():
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
