import pytest

from armarius.documents.titles import group_of, page_kind, type_of


@pytest.mark.parametrize(
    ("title", "type_"),
    [
        ("人物档案", "character"),
        ("主要人物", "character"),
        ("《渡口的灯》人物设定", "character"),
        ("红楼梦人物表", "character"),
        ("Minor Characters", "character"),
        ("01_locations", "location"),
        ("势力与组织", "faction"),
        ("人物与地点", None),
        ("世界观设定", None),
        ("Worldbuilding", None),
    ],
)
def test_title_made_of_group_words_announces_this_type(title, type_):
    group = group_of(title)
    assert group is not None
    assert group.type == type_


@pytest.mark.parametrize(
    "title", ["林小雨", "The Heroic Age", "Mapmaker's house", "人生", "House Stark", "", "角" * 50, "人物志" * 13 + "x"]
)
def test_any_other_title_announces_nothing(title):
    assert group_of(title) is None


@pytest.mark.parametrize(
    ("path", "title", "kind", "type_"),
    [
        ("spec/knowledge/character-profiles.md", "", "setting", "character"),
        ("人物/林小雨.md", "林小雨", "setting", "character"),
        ("world/harrow.md", "Harrow", "setting", None),
        ("world/locations/harrow.md", "Harrow", "setting", "location"),
        ("spec/outline.md", "大纲", "other", None),
        ("style.md", "", "other", None),
        ("chapters/ch003.md", "", "chapter", None),
        ("正文/第三回.md", "", "chapter", None),
        ("Chapter 12.md", "", "chapter", None),
        ("side/the-photograph.md", "The Photograph", "unknown", None),
    ],
)
def test_names_of_file_and_folders_decide_the_kind(path, title, kind, type_):
    assert page_kind(path, title) == (kind, type_)


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("人物", "character"),
        ("Main character", "character"),
        ("人物（女主）", "character"),
        ("faction", "faction"),
        ("宠物", "宠物"),
        ("", "other"),
    ],
)
def test_value_of_a_type_label_is_this_type(value, type_):
    assert type_of(value) == type_
