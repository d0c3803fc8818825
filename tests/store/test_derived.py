import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarius.store.protocol import DerivedCache, DerivedRow, join_pieces, split_pieces


def _read(data):
    return json.loads(data)


CACHE = DerivedCache("words", "1", lambda value: json.dumps(value).encode(), _read)
ROW = CACHE.row("a.md", "names hash", ["灯"])


class Rows:
    """A store, as far as derived rows go."""

    def __init__(self, count):
        self.rows = {f"{at:03}.md": CACHE.row(f"{at:03}.md", f"names {at}", at) for at in range(count)}
        self.asked = []

    def learnt(self, kind, paths=None):
        self.asked.append(paths)
        return self.rows if paths is None else {path: self.rows[path] for path in paths if path in self.rows}


def test_a_value_is_read_while_what_it_rests_on_is_the_same():
    assert CACHE.value(ROW, "names hash") == ["灯"]
    assert CACHE.value(ROW, "other hash") is None
    assert CACHE.value(ROW, "hash", or_others=True) == ["灯"]
    assert CACHE.value(ROW, "ash", or_others=True) is None
    assert CACHE.value(None, "names hash") is None


def test_a_row_of_another_version_or_shape_has_no_value():
    assert CACHE.value(DerivedRow("a.md", "words", "2 names hash", ROW.data), "names hash") is None
    assert CACHE.value(DerivedRow("a.md", "words", ROW.about, b"{"), "names hash") is None


@pytest.mark.parametrize(("count", "asked"), [(3, ["000.md", "002.md"]), (40, None)])
def test_few_rows_are_asked_for_by_their_paths_and_many_all_at_once(count, asked):
    store = Rows(count)
    wanted = {path: f"names {int(path[:3])}" for path in (store.rows if asked is None else asked)}
    assert CACHE.load(store, wanted | {"000.md": "names other"}) == {
        path: int(path[:3]) for path in wanted if path != "000.md"
    }
    assert store.asked == [asked]
    assert CACHE.load(store, {}) == {}


@given(st.lists(st.binary(), min_size=1, max_size=5))
def test_pieces_come_back_as_they_were(pieces):
    assert split_pieces(join_pieces(*pieces), len(pieces)) == tuple(pieces)


@given(st.binary(max_size=40), st.integers(1, 4))
def test_any_bytes_are_pieces_or_an_error_of_ours(data, count):
    try:
        pieces = split_pieces(data, count)
    except ValueError:
        return
    assert join_pieces(*pieces) == data
