import pytest
from tests.rows import rows

from armarius.documents.titles import group_of, page_type, type_of


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
def test_the_nearest_name_of_a_page_of_settings_gives_the_type_of_its_entities(path, title, type_, aside):
    assert page_type(path, title) == (type_, aside)


@rows("codex_kinds")
def test_value_of_a_type_label_is_this_type(value, type_):
    assert type_of(value) == type_
