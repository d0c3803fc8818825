import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarius.search.query.words import LineTable

KEYS = st.sets(st.text(st.characters(exclude_characters="\t\n", exclude_categories=("Cs",)), max_size=5))


def laid(keys):
    rows = sorted(f"{key}\tvalue {place}".encode() for place, key in enumerate(sorted(keys)))
    rows.sort(key=lambda row: row.partition(b"\t")[0])
    body = b"".join(row + b"\n" for row in rows)
    return LineTable(b"table %d\n" % len(body) + body + b"one\ttwo\nthree\n")


@given(KEYS, KEYS)
def test_key_is_found_if_and_only_if_it_has_a_line(keys, others):
    table = laid(keys)
    for place, key in enumerate(sorted(keys)):
        assert table.find(key) == [b"value %d" % place]
    for other in others - keys:
        assert other not in table


def test_line_without_a_key_is_had_by_the_byte_it_starts_at():
    table = laid({"a", "b"})
    assert table.at(0) == [b"one", b"two"]
    assert table.at(len(b"one\ttwo\n")) == [b"three"]


@pytest.mark.parametrize(
    "text", [b"", b"\n", b"table\n", b"table 7\na\tb\n", b"table 4\na\tb", b"table -1\n", b"table x\n"]
)
def test_what_is_no_whole_table_is_refused(text):
    with pytest.raises(ValueError, match="not a whole table of lines"):
        LineTable(text)
