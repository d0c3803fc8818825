"""Files as other tools leave them: other encodings, other text chunks, an object where a list belongs."""

import base64
import json
import struct
import zlib

import pytest
from tests.lorebooks.samples import BOOK, CARD, NATIVE, picture, text

from armarius.errors import BookError
from armarius.lorebooks import Entry, read_book
from armarius.lorebooks.formats import containers

CODED = base64.b64encode(text(CARD))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def with_chunk(kind, data):
    return picture()[:-12] + chunk(kind, data) + picture()[-12:]


PICTURES = {
    "zTXt": with_chunk(b"zTXt", b"chara\0\0" + zlib.compress(CODED)),
    "iTXt": with_chunk(b"iTXt", b"Chara\0\0\0zh\0\xe5\x8d\xa1\0" + CODED),
    "iTXt, compressed": with_chunk(b"iTXt", b"chara\0\1\0\0\0" + zlib.compress(CODED)),
    "JSON without base64": with_chunk(b"tEXt", b"chara\0" + text(CARD)),
    "base64 for addresses": with_chunk(b"tEXt", b"chara\0" + base64.urlsafe_b64encode(text(CARD)).rstrip(b"=") + b"\n"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_card_in_another_chunk_is_read_edited_and_given_back(name):
    book = read_book(PICTURES[name])
    assert (book.format, [entry.name for entry in book]) == ("character-card-v2", ["白鹭", ""])
    assert book.export() == PICTURES[name]
    changed = book.with_entry(book.entry("0").changed(text="新的。")).export()
    assert read_book(changed).entry("0").text == "新的。"
    before, after = (containers.png_chunks(data, "x")[0] for data in (PICTURES[name], changed))
    assert [(one.kind, one.crc) for one in before if b"hara" not in one.data] == [
        (one.kind, one.crc) for one in after if b"hara" not in one.data
    ]
    assert [one.kind for one in before] == [one.kind for one in after]


def test_a_compressed_chunk_that_is_damaged_or_endless_is_one_row_or_our_error(monkeypatch):
    with pytest.raises(BookError, match="damaged"):
        read_book(with_chunk(b"zTXt", b"chara\0\0" + b"no zlib"))
    monkeypatch.setattr(containers, "MAX_BYTES", 1_000)
    with pytest.raises(BookError, match="more than 1,000 bytes unpacked"):
        read_book(with_chunk(b"zTXt", b"chara\0\0" + zlib.compress(b"A" * 100_000)))
    for kind in (b"zTXt", b"iTXt"):
        for content in (b"chara", b"chara\0", b"chara\0\1", b"chara\0\1\0zh", b"chara\0\0\0zh\0"):
            with pytest.raises(BookError):
                read_book(with_chunk(kind, content))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_json_in_utf_16_is_read_and_stays_in_it(encoding, mark):
    data = (mark + json.dumps(NATIVE, ensure_ascii=False, indent=2)).encode(encoding)
    book = read_book(data)
    assert [entry.id for entry in book] == ["2", "10"]
    assert book.export() == data
    changed = book.with_entry(book.entry("10").changed(text="榆木。")).export()
    assert changed.decode(encoding).startswith(mark + "{")
    assert json.loads(changed.decode(encoding).removeprefix("\ufeff"))["entries"]["10"]["content"] == "榆木。"


def test_another_encoding_is_an_error_that_says_where():
    with pytest.raises(BookError, match="not UTF-8 text at byte"):
        read_book(json.dumps(NATIVE, ensure_ascii=False).encode("gb18030"))
    with pytest.raises(BookError, match="not UTF-16-LE text"):
        read_book(b"\xff\xfe{\0\x00\xd8")


def test_a_card_whose_entries_are_an_object_has_them_and_takes_another():
    data = text({**CARD, "data": {**CARD["data"], "character_book": {**BOOK, "entries": {"7": BOOK["entries"][0]}}}})
    book = read_book(data)
    assert [entry.name for entry in book] == ["白鹭"]
    assert "data.character_book.entries" in {one.path for one in book.losses}
    assert book.export() == data
    changed = json.loads(book.with_entry(Entry("new", name="New", text="t")).export())
    assert list(changed["data"]["character_book"]["entries"]) == ["7", "8"]


def test_numbers_and_flags_in_strings_are_read_as_they_are_meant_and_stay_strings():
    entry = {"uid": "0", "key": "a, b", "content": "c", "order": "90", "disable": "false", "constant": "true"}
    book = read_book(text({"entries": {"0": entry}}))
    (one,) = book
    assert (one.level, one.share.order, [key.text.strip() for key in one.match.keys]) == ("always", 90, ["a", "b"])
    assert json.loads(book.with_entry(one.changed(text="d")).export())["entries"]["0"] == {**entry, "content": "d"}
