"""What a sum of counts has taught, brought up to date change by change, is what the whole sum teaches."""

import random

import pytest

from armarius.names import Counts, Lessons, NameCounts, model_of

HAN = [
    {"id": "su", "name": "苏雁", "aliases": ["玉簪", "雁儿"], "type": "character", "description": "绣坊的绣娘。"},
    {"id": "yan", "name": "林雁", "aliases": ["玉簪"], "type": "character"},
    {"id": "sword", "name": "鸳鸯", "type": "character"},
    {"id": "sao", "name": "陈嫂", "aliases": ["大奶奶", "老太太"], "type": "character", "description": "陈大的妻子。"},
    {"id": "da", "name": "陈大", "type": "character", "description": "木匠。"},
    {"id": "jiao", "name": "陈皎月", "type": "character", "description": "她是陈大的女儿。"},
    {"id": "twin", "name": "陈皎月", "type": "place"},
    {"id": "lin", "name": "林雨桐", "type": "character", "description": "他是大夫。"},
    {"id": "fang", "name": "方雨桐", "type": "character"},
    {"id": "he", "name": "何望舒", "type": "character", "description": "教师，字明之。"},
]
HAN_PIECES = [
    "苏雁笑了。" * 30,
    "她买了玉簪。",
    "桌上一颗玉簪，匣里三颗玉簪。",
    "玉簪道：“好。”",
    "一把鸳鸯剑，又一把鸳鸯剑。",
    "鸳鸯剑亮了。",
    "鸳鸯说话。" * 9,
    "皎大奶奶来了。",
    "那皎大奶奶道。",
    "见了大奶奶。" * 3,
    "李老太太到了。",
    "老太太笑了。" * 3,
    "陈嫂请大奶奶坐。" * 3,
    "陈皎走了，皎月也走了。",
    "皎月道：“是。”",
    "王皎月来了，王皎月走了。",
    "雨桐说。",
    "林大夫道：“坐。”林雨桐看着林大夫。",
    "望舒笑道。" * 3,
    "月亮像望舒一样。" * 21,
    "何老师说道。何望舒来了。",
    "小月说着笑了，陈皎月也在。",
    "阿皎道。",
    "明之来了。",
    "何先生看见何望舒。",
    "一个皎月，两个皎月，三个皎月。",
    "皎皎的月。",
    "陈夫人道。",
    "陈先生说。",
]
LATIN = [
    {"id": "will", "name": "Will Hart", "aliases": ["Will"], "type": "character"},
    {"id": "hope", "name": "Hope Finch", "aliases": ["Hope"], "type": "character", "description": "She mends nets."},
    {"id": "bob", "name": "Bob Finch", "type": "character", "description": "He is a baker."},
    {"id": "jo", "name": "Joe Gargery", "type": "character", "description": "The smith, called Anvil."},
    {"id": "town", "name": "London", "type": "place"},
    {"id": "castle", "name": "The Castle", "type": "place"},
]
LATIN_PIECES = [
    "Will came. He will go.",
    "will they, will he, will she?",
    "Hope sat down, and hope is small.",
    "Hope Finch sang.",
    "There is hope in hope.",
    "Mr. Finch spoke to Mrs. Finch.",
    "Miss Finch laughed.",
    "He saw London Bridge and London.",
    "John Hart and Will Hart met.",
    "Gargery hammered; Joe Gargery too.",
    "the anvil and an Anvil",
    "Mary Gargery wept.",
    "He said that Bob was there.",
    "bob bob bob",
    "the castle, The Castle, the Castle",
    "# Joe Smith\n\nJoe went.",
    "London will fall. Joe Gargery, Joe Gargery, Joe Gargery, Joe Gargery, Joe Gargery.",
    "In London, Hope cried. " * 5,
    "Will Hart ran. Will Hart fell. " * 3,
    "Bob Finch. " * 6,
]


@pytest.mark.parametrize(("cast", "pieces"), [(HAN, HAN_PIECES), (LATIN, LATIN_PIECES), (HAN + LATIN, None)])
@pytest.mark.parametrize("seed", range(6))
def test_after_any_saves_the_lessons_are_those_of_the_whole_sum(cast, pieces, seed):
    chooser = random.Random(seed)
    pieces = pieces or HAN_PIECES + LATIN_PIECES
    grown, texts, models = NameCounts(cast), {}, []
    lessons = Lessons(grown)
    for step in range(70):
        for path in chooser.sample(range(6), chooser.choice([1, 1, 1, 2, 6])):
            old = texts.pop(path, None)
            new = "" if chooser.random() < 0.25 else "\n\n".join(chooser.choices(pieces, k=chooser.randint(1, 6)))
            if new and old is not None and chooser.random() < 0.5:
                new = f"{old}\n\n{new}"[-3000:]
            counted = [grown.count([text])[0] for text in (old, new) if text]
            if new:
                texts[path] = new
            if old is not None and new and chooser.random() < 0.8:
                grown.replace(*counted)
            else:
                if new:
                    grown.add(counted.pop())
                if old is not None:
                    grown.subtract(counted.pop())
        if chooser.random() < 0.3:
            continue  # several saves, and one look
        fresh = NameCounts(cast)
        for text in texts.values():
            fresh.add(fresh.count([text])[0])
        models.append(model_of(grown, lessons))
        assert models[-1] == model_of(fresh), step
    assert len({one.policy for one in models}) > 10
    for path in [*texts]:
        grown.subtract(grown.count([texts.pop(path)])[0])
    assert model_of(grown, lessons) == model_of(NameCounts(cast))


def test_where_nothing_else_is_learnt_the_model_is_the_same_one():
    tally = NameCounts(HAN)
    tally.add(tally.count(["\n".join(HAN_PIECES)])[0])
    lessons = Lessons(tally)
    learnt = lessons.model()
    assert learnt.longer
    assert learnt.short
    assert lessons.model() is learnt
    tally.add(tally.count(["天黑了。"])[0])
    assert lessons.model() is learnt


def test_two_who_learn_from_one_sum_learn_the_same():
    tally = NameCounts(HAN)
    one, other = Lessons(tally), Lessons(tally)
    for piece in HAN_PIECES:
        tally.add(tally.count([piece])[0])
        assert one.model() == other.model()
    assert other.model() == model_of(tally) == one.model()


def test_a_rule_that_fails_leaves_nothing_half_learnt(monkeypatch):
    tally = NameCounts(HAN)
    lessons = Lessons(tally)
    lessons.model()
    tally.add(tally.count(["\n".join(HAN_PIECES)])[0])
    with monkeypatch.context() as patched:
        patched.setattr("armarius.names.learn.Derived.update", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            lessons.model()
    assert lessons.model() == model_of(tally)


def test_the_sum_of_packed_counts_is_the_sum_of_the_counts():
    tally, other = NameCounts(HAN + LATIN), NameCounts(HAN + LATIN)
    counted = tally.count([*HAN_PIECES, *LATIN_PIECES, "", "𠀀 no han \ud800"])
    rows = [one.to_bytes() for one in counted]
    for one in counted:
        tally.add(one)
    whole, sound = Counts.added(rows)
    other.add(whole)
    assert all(sound)
    assert other.given == tally.given
    assert [other.occurrences(char) for char in "苏雁一"] == [tally.occurrences(char) for char in "苏雁一"]
    assert model_of(other) == model_of(tally)
    for one, row in zip(counted, rows, strict=True):
        assert Counts.from_bytes(row).counters == one.counters
        assert Counts.from_bytes(row).to_bytes() == row


def test_damaged_counts_are_told_from_sound_ones_and_add_nothing():
    tally = NameCounts(HAN)
    row = tally.count(["\n".join(HAN_PIECES)])[0].to_bytes()
    damaged = [row[:at] + bytes([row[at] ^ 1]) + row[at + 1 :] for at in range(0, len(row), 17)]
    damaged += [row[:at] for at in range(0, len(row), 13)] + [row + b"\0", b"x\x9c", b""]
    whole, sound = Counts.added([*damaged, row])
    assert sound == [False] * len(damaged) + [True]
    assert whole.counters == Counts.from_bytes(row).counters
    for one in damaged:
        with pytest.raises(ValueError, match="no counts of a document"):
            Counts.from_bytes(one)


def test_ids_with_lone_surrogates_are_packed_and_read():
    counts = NameCounts([]).count([""])[0]
    counts.counters["times"]["a\ud800", "b\udfffc"] = 3
    counts.counters["given"]["\udc00"] = 1
    assert Counts.from_bytes(counts.to_bytes()).counters == counts.counters
