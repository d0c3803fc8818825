import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarius.documents.decode import Undecodable, decode

TRADITIONAL = "黃河遠上白雲間，一片孤城萬仞山。羌笛何須怨楊柳，春風不度玉門關。"
SIMPLIFIED = "他说：“这里没有人知道我们的来历，请你们快点离开吧。”她点点头，转过身去。"
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (SIMPLIFIED, "gbk", "gb18030"),
        (SIMPLIFIED + "𠮷", "gb18030", "gb18030"),
        (TRADITIONAL, "big5", "big5"),
        (TRADITIONAL, "gbk", "gb18030"),
        (JAPANESE, "shift_jis", "shift_jis"),
        ("Hier, Élodie est venue à la fenêtre; “déjà vu”…", "cp1252", "cp1252"),
        (SIMPLIFIED, "utf-8", "utf-8"),
        (SIMPLIFIED, "utf-8-sig", "utf-8"),
        (SIMPLIFIED, "utf-16", "utf-16-le"),
        (SIMPLIFIED, "utf-32", "utf-32-le"),
        ("plain", "ascii", "utf-8"),
        ("", "ascii", "utf-8"),
    ],
)
def test_text_comes_back_with_the_name_of_its_encoding(text, codec, name):
    decoded = decode(text.encode(codec))
    assert (decoded.text, decoded.encoding) == (text, name)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x03\x04\0\0", "binary: NUL at byte 4"),
        ("Мой кот спит на окне".encode("cp1251"), "unknown encoding: not UTF-8 at byte 0"),
        ("한국어 텍스트입니다 오늘은 좋은 날".encode("euc-kr"), "unknown encoding"),
        (JAPANESE.encode("euc-jp"), "unknown encoding"),
        (SIMPLIFIED.encode()[:-1] + b"\xff", "unknown encoding"),
        (b"\xff\xfe\x00\xd8", "byte order mark of utf-16-le"),
        (bytes(range(1, 256)) * 4, "unknown encoding"),
    ],
)
def test_what_cannot_be_told_is_refused_with_a_reason(data, reason):
    with pytest.raises(Undecodable, match=reason):
        decode(data)


@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")))
def test_every_utf8_text_is_itself_and_line_ends_stay(text):
    assert decode(text.encode()).text == text.removeprefix("\ufeff")


@given(st.binary(max_size=400))
def test_any_bytes_give_text_that_encodes_back_or_a_reason(data):
    with contextlib.suppress(Undecodable):
        decoded = decode(data)
        codec = {"big5": "big5hkscs", "shift_jis": "cp932"}.get(decoded.encoding, decoded.encoding)
        assert decoded.text.encode(codec).decode(codec) == decoded.text
