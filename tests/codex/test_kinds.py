import pytest
from tests.rows import rows

from armarius.documents.titles import group_of, page_kind, type_of


@rows("codex_kinds")
def test_title_made_of_group_words_announces_this_type(title, type_):
    group = group_of(title)
    assert group is not None
    assert group.type == type_


@pytest.mark.parametrize(
    "title", ["林小雨", "The Heroic Age", "Mapmaker's house", "人生", "House Stark", "", "角" * 50, "人物志" * 13 + "x"]
)
def test_any_other_title_announces_nothing(title):
    assert group_of(title) is None


@rows("codex_kinds")
def test_names_of_file_and_folders_decide_the_kind(path, title, kind, type_):
    assert page_kind(path, title) == (kind, type_)


@rows("codex_kinds")
def test_value_of_a_type_label_is_this_type(value, type_):
    assert type_of(value) == type_
