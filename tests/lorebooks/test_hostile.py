"""Bad files: only our errors, within limits, in linear time; nothing is unpacked that is too large."""

import json
import random
import struct
import tracemalloc
import zipfile
from io import BytesIO

import pytest
from tests.clock import Clock
from tests.lorebooks.samples import BOOK, CARD, FILES, NATIVE, archive, picture, text
from tests.lorebooks.test_wild import PICTURES
from tests.lorebooks.test_worlds import NESTING, NOTES
from tests.steps import steps

from armarius import activate
from armarius.errors import BookError
from armarius.lorebooks import read_book
from armarius.lorebooks.active.records import compile_key
from armarius.lorebooks.book import EXPORTS
from armarius.lorebooks.formats.chats import DEFAULTS
from armarius.lorebooks.formats.format import MAX_KEYS
from armarius.lorebooks.record import expression_of

SEEDED = 600
MESSAGES = ["the boat at night, 白鹭", "heron tide"]


def mutated(data, chance):
    """A damaged copy: bytes changed, cut out, doubled, swapped for what breaks parsers."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data)) if data else 0
        kind = chance.randrange(7)
        if kind == 0 and data:
            data[at] = chance.randrange(256)
        elif kind == 1:
            del data[at : at + chance.randint(1, 40)]
        elif kind == 2:
            data[at:at] = data[at : at + chance.randint(1, 40)]
        elif kind == 3:
            tokens = [
                b"null",
                b"[]",
                b"{}",
                b'"',
                b"1e999",
                b"-",
                b"\\ud800",
                b"true",
                b"[[",
                b"\0",
                b"99999999999",
                b"NaN",
            ]
            data[at : at + 4] = chance.choice(tokens)
        elif kind == 4:
            data[at : at + 4] = struct.pack(">I", chance.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF)))
        elif kind == 5:
            del data[at:]
        else:
            other = chance.randrange(len(data)) if data else 0
            data[at : at + 8], data[other : other + 8] = data[other : other + 8], data[at : at + 8]
    return bytes(data)


WHOLE = FILES | PICTURES | {
    "utf-16": json.dumps(NATIVE).encode("utf-16"),
    "nested entries": archive(NESTING),
    "vault with links": text({"armarius": "vault", "files": NOTES}),
}  # fmt: skip


def retyped(tree, chance):
    """A JSON tree with values of other kinds in places."""
    if chance.random() < 0.03:
        return chance.choice([None, [], {}, "", "x", 0, -1, 1.5, True, [None], {"a": 1}, 10**30, "\ud800", ["a", 3]])
    if isinstance(tree, dict):
        return {key: retyped(value, chance) for key, value in tree.items() if chance.random() > 0.02}
    if isinstance(tree, list):
        return [retyped(value, chance) for value in tree]
    return tree


def survive(data, name):
    """Read, search, change, give back: only our errors may come out."""
    try:
        book = read_book(data, name=name)
    except BookError:
        return False
    assert book.export() == data
    book.extracted_entities()
    activate([book], messages=MESSAGES, text="")
    if book.entries:
        book = book.with_entry(book.entries[0].changed(text="t", level="always"))
    for to in (None, EXPORTS[len(data) % len(EXPORTS)]):
        try:
            read_book(book.export(to))
        except BookError:
            continue
    return True


def run(count, seed):
    chance = random.Random(seed)
    read = 0
    for number in range(count):
        name = list(WHOLE)[number % len(WHOLE)]
        data = WHOLE[name]
        if data[:1] in (b"{", b"[") and number % 2:
            data = json.dumps(retyped(json.loads(data), chance)).encode()
        else:
            data = mutated(data, chance)
        try:
            read += survive(data, name)
        except Exception as error:
            raise AssertionError(f"{name}, seed {seed}, number {number}: {data[:300]!r}") from error
    return read


def test_damaged_files_of_every_format_give_only_our_errors():
    read = run(SEEDED, 17)
    assert SEEDED // 10 < read < SEEDED  # some are still books, some are not


@pytest.mark.slow
def test_ten_thousand_damaged_files_give_only_our_errors(record_property):
    record_property("count", 10_000)
    assert run(10_000, 2026) > 1_000


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no card"),
        (b"hello", "no card"),
        (b"{", "not JSON"),
        (b'{"a": NaN}', "not JSON"),
        (b"\xff\xfe{}", "not JSON"),
        (b"\xfe\xff\x01", "not UTF-16-BE"),
        (b'{"entries": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "nested more than"),
        (b'{"entries":' + b'{"a":' * 5_000 + b"1" + b"}" * 5_001, "nested more than"),
        (b"[" + b"[]," * 1_000_001 + b"[]]", "lists and objects"),
        (b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 0x7FFFFFFF) + b"tEXt" + b"x" * 20, "says 2,147,483,647 bytes"),
        (b"\x89PNG\r\n\x1a\n", "without a card"),
        (b"\x6f\x00" + struct.pack("<I", 10**9) + b"x", "1,000,000,000 bytes, at most"),
        (b"\x6f\x00" + struct.pack("<I", 10**6) + b"x", "says 1,000,000 bytes"),
        (b"PK\x03\x04" + b"\0" * 100 + b"PK\x05\x06" + b"\0" * 10, "not a readable archive"),
    ],
)
def test_what_is_refused_says_why(data, words):
    with pytest.raises(BookError, match=words):
        read_book(data)


def test_an_archive_that_would_be_gigabytes_is_not_unpacked():
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for number in range(6):
            target.writestr(f"{number}.bin", b"\0" * 50_000_000)
        target.writestr("card.json", text(CARD))
    tracemalloc.start()
    with pytest.raises(BookError, match="unpacked"):
        read_book(made.getvalue())
    assert tracemalloc.get_traced_memory()[1] < 3 * len(made.getvalue()) + 2**20
    tracemalloc.stop()


def test_a_member_that_is_larger_than_it_declares_is_refused():
    data = bytearray(archive({"card.json": b" " * 5_000_000 + text(CARD)}))
    size = struct.pack("<I", 5_000_000 + len(text(CARD)))
    assert data.count(size) == 2
    lying = bytes(data).replace(size, struct.pack("<I", 100))
    with pytest.raises(BookError):
        read_book(lying)


def test_members_that_climb_out_are_not_read():
    entry = "../../characters/a-2mZ4qk7Yw1uQf8sT3vBn6xLcRd1/entry.md"
    book = read_book(archive({entry: b"---\nname: x\n---\n", "card.json": text(CARD)}))
    assert any(loss.path == entry and "out of the archive" in loss.reason for loss in book.losses)


def test_a_picture_with_a_chunk_that_is_no_card_keeps_the_one_that_is():
    data = picture(chara=CARD).replace(b"Software\0a test", b"ccv3\0!!! a test")
    assert len(read_book(data)) == 2


def test_an_expression_that_blows_up_ends():
    keys = [r"/(a+)+$/", r"/(?=a)(a|a|aa)*\1c/", r"/(x?){40}x{40}/"]
    book = read_book(text({"entries": {"0": {"uid": 0, "key": keys, "content": "t"}}}))
    clock = Clock()
    book.extracted_entities()
    activate([book], messages=["a" * 3_000 + "b"])
    assert clock.own_s() < 10  # one that is followed to its end takes years


def test_recursion_ends_when_entries_wake_each_other():
    entries = {str(n): {"uid": n, "key": [f"k{n}"], "content": f"k{(n + 1) % 300}"} for n in range(300)}
    book = read_book(text({"entries": entries}))
    assert len(activate([book], messages=["k0"])) == 300


def test_limits_are_those_that_are_written_down():
    keys = [f"k{n}" for n in range(MAX_KEYS + 5)]
    book = read_book(text({"entries": {"0": {**NATIVE["entries"]["2"], "key": keys}}}))
    assert len(book.entries[0].match.keys) == MAX_KEYS
    assert any(f"more than {MAX_KEYS:,} keys" in loss.reason for loss in book.losses)


def test_a_million_entries_are_refused_unread():
    data = b'{"entries": {' + b",".join(b'"%d":{}' % n for n in range(1_000_001)) + b"}}"

    def refused():
        with pytest.raises(BookError, match="lists and objects"):
            read_book(data)

    assert steps(refused) < 1_000


def test_reading_is_linear():
    def taken(count):
        data = text({**BOOK, "entries": [{**BOOK["entries"][0], "id": n} for n in range(count)]})
        return steps(lambda: read_book(data))

    taken(5)
    assert taken(800) < 9 * taken(100)


def test_reading_takes_less_than_three_times_the_size_beside_the_file():
    # All fields as the program writes them.
    entry = {**DEFAULTS, "preventRecursion": True, "content": "The ash oar was carved on the quay. "}
    entries = {str(n): {**entry, "uid": n, "key": [f"oar {n}", f"ash {n}"]} for n in range(3_000)}
    data = text({"entries": entries})
    read_book(FILES["sillytavern-world-info"])
    tracemalloc.start()
    try:
        book = read_book(data)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(book) == 3_000
    assert most < 3 * len(data)
    assert json.loads(book.export()) == json.loads(data)


@pytest.mark.parametrize(
    ("key", "hit", "missed"),
    [
        (r"/dra.on/i", "DRAGON", "drag on"),
        (r"/\bcat\b/", "a cat!", "category"),
        (r"/a{/", "a{", "a"),
        (r"/[[]/", "[", "]"),
        (r"/[^]x/", "\nx", "x"),
        (r"/\u767d\u{9e6d}/", "白鹭", "白"),
        (r"/\d+/", "12", "١٢"),
        (r"/(?<!no )boat/", "a boat", "no boat"),
        (r"/(a)\1/", "aa", "ab"),
        (r"/a\/b/", "a/b", "a-b"),
        (r"/[&&]/", "&", "x"),
        (r"/x/y", "xa", "ax"),
        (r"/^b/m", "a\nb", "ab"),
        (r"/a.b/s", "a\nb", "ab"),
    ],
)
def test_javascript_expressions_mean_what_they_mean_there(key, hit, missed):
    found = compile_key(*expression_of(key))
    assert found.search(hit) >= 0
    assert found.search(missed) == -1


def test_an_unescaped_slash_makes_plain_text():
    assert expression_of("/a/b/") is None
    assert expression_of("/and/or") is None
    assert expression_of(r"/and\/or/i") == (r"and\/or", "i")
