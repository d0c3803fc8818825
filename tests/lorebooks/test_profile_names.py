"""A profile that nobody has is refused wherever one is named: no book beside one of it could be searched."""

import pytest

import armarius
from armarius.errors import ContractError

BOOK = b'{"entries": {"0": {"uid": 0, "key": ["\\u767d\\u9e6d"], "content": "bird"}}}'


@pytest.mark.parametrize("wrong", ["sillytaver", "", "SillyTavern", 5, ["risu"], 10**5000, "\ud800"], ids="abcdefg")
def test_a_profile_that_there_is_not_is_refused_and_nothing_is_kept(tmp_path, wrong):
    (tmp_path / "a.md").write_text("# 第一章\n\n白鹭来了。\n", encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        calls = (
            lambda: engine.importing.add(BOOK, name="b.json", profile=wrong),
            lambda: engine.importing.preview(BOOK, name="b.json", profile=wrong),
            lambda: armarius.lorebooks.read_book(BOOK, profile=wrong),
        )
        for call in calls:
            with pytest.raises(ContractError, match=r"^profile: expected one of armarius, "):
                call()
        assert not engine.books
        assert engine.assemble("白鹭", budget=4000).warnings == ()
