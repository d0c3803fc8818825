import json
import os
import random

import pytest

from armarius.codex import build_codex, load_codex, read_declared
from armarius.codex.codex_json import parse_codex_json
from armarius.documents.document import make_document
from armarius.errors import CodexError, ProjectError

PROFILE = """# 人物

## 林小雨
- 别名：小雨
- 描述：妹妹
- 年龄：16
- 关系：林默（哥哥）

## 林默
- 住处：江城
- 师父：顾伯

## 顾长河
- 别名：顾伯
"""
PLACES = "# 地点\n\n## 江城\n旧城。\n"


def documents(**files):
    return [make_document(f"{name}.md", text.encode()) for name, text in files.items()]


def declared(codex):
    return parse_codex_json("codex.json", codex if isinstance(codex, str) else json.dumps(codex, ensure_ascii=False))


def codex_of(*, codex=None, **files):
    return build_codex(documents(**files), declared(codex or {}))


def by_name(codex):
    return {entity.name: entity for entity in codex.entities}


def triples(codex):
    return {(item.source, item.type, item.target) for item in codex.relations}


def test_profile_and_codex_entry_of_one_name_are_one_entity():
    entry = {
        "id": "e1",
        "name": "林小雨",
        "type": "character",
        "aliases": ["雨丫头"],
        "description": "主角",
        "attributes": {"年龄": "17"},
        "aiContextLevel": "always",
    }
    entity = by_name(codex_of(人物=PROFILE, codex={"entities": [entry]}))["林小雨"]
    assert entity.id == "e1"
    assert (entity.description, entity.level) == ("主角", "always")
    assert entity.aliases == ("雨丫头", "小雨")
    assert entity.attributes == {"年龄": "17", "关系": "林默（哥哥）"}
    assert [origin.path for origin in entity.origins] == ["人物.md", "codex.json"]


def test_what_the_codex_file_leaves_unsaid_comes_from_the_profile():
    entity = by_name(codex_of(人物=PROFILE, codex={"entities": [{"id": "e1", "name": "林小雨"}]}))["林小雨"]
    assert (entity.description, entity.type) == ("妹妹", "character")


@pytest.mark.parametrize(
    ("line", "level", "said"),
    [
        ("注入：never。", "never", ""),
        ("注入：绝不", "never", ""),
        ("注入：到第十章为止", "when_detected", "注入"),
        ("Context: nevr", "when_detected", "Context"),
        ("Context: grew up in the war", "when_detected", ""),
    ],
)
def test_a_level_that_is_none_is_told_by_file_and_line(line, level, said):
    codex = codex_of(人物=f"# 人物\n\n## 林渡\n- 类型：人物\n- {line}\n")
    assert by_name(codex)["林渡"].level == level
    expected = "always, when_detected, manual_only, never"
    value = line.partition("：")[2] or line.partition(": ")[2]
    assert [str(one) for one in codex.warnings] == [
        f"CODEX_INVALID: 人物.md:3: 林渡: {label}: expected one of {expected}, got {value!r}"
        for label in [said]
        if label
    ]


def test_ids_of_profile_entities_follow_from_their_names():
    assert [entity.id for entity in codex_of(人物=PROFILE).entities] == ["林小雨", "林默", "顾长河"]
    assert codex_of(characters="## Élodie  Moreau\n- Age: 30\n").entities[0].id == "élodie-moreau"


def test_one_name_of_two_types_is_two_entities_with_two_ids():
    codex = codex_of(人物="## 白鹭\n女孩。\n", 地点="## 白鹭\n沙洲。\n")
    assert [(entity.id, entity.type) for entity in codex.entities] == [
        ("白鹭", "character"),
        ("白鹭.location", "location"),
    ]


@pytest.mark.parametrize("other", ["faction", "宗门遗址", "location"])
def test_one_name_of_two_kinds_of_thing_is_one_entity(other):
    codex = codex_of(地点="## 青云宗\n山门。\n", 设定=f"## 青云宗\n- 类型：{other}\n- 别名：青云\n")
    (entity,) = codex.entities
    assert (entity.type, entity.aliases) == ("location", ("青云",))


def test_file_order_does_not_change_the_codex():
    files = documents(**{"人物": PROFILE, "地点": PLACES, "b/人物": "## 林默\n- 别名：阿默\n"})
    codex = declared({"entities": [{"name": "江城"}]})
    first = build_codex(files, codex)
    for seed in range(6):
        shuffled = random.Random(seed).sample(files, len(files))
        assert build_codex(shuffled, codex) == first


def test_relation_label_puts_the_person_named_first():
    codex = codex_of(人物=PROFILE, 地点=PLACES)
    assert ("林默", "哥哥", "林小雨") in triples(codex)
    assert ("顾长河", "师父", "林默") in triples(codex)
    assert ("林默", "住处", "江城") in triples(codex)


@pytest.mark.parametrize(
    ("line", "triple"),
    [
        ("- 母亲：乙夫人", ("乙夫人", "母亲", "甲一")),
        ("- 关系：乙夫人的儿子", ("甲一", "儿子", "乙夫人")),
        ("- Relationships: son of 乙夫人", ("甲一", "son of", "乙夫人")),
        ("- Student of: 乙夫人", ("甲一", "Student of", "乙夫人")),
        ("- 关系：乙夫人 - 母亲", ("乙夫人", "母亲", "甲一")),
        ("- 关系：\n  - 乙夫人：母亲，严厉", ("乙夫人", "母亲", "甲一")),
        ("### 人物关系\n- 乙夫人：母亲", ("乙夫人", "母亲", "甲一")),
        ("- 朋友：乙夫人（第5章起）", ("乙夫人", "朋友", "甲一")),
    ],
)
def test_profile_line_states_this_relation(line, triple):
    assert triple in triples(codex_of(人物=f"## 乙夫人\n- 年龄：40\n\n## 甲一\n{line}\n"))


def test_relation_note_may_say_from_which_chapter():
    (relation,) = codex_of(人物="## 乙夫人\n女。\n\n## 甲一\n- 朋友：乙夫人（第5章起）\n").relations
    assert (relation.since, relation.until) == (5, None)
    assert relation.origin.line == 5


@pytest.mark.parametrize(
    ("line", "triple"),
    [
        ("- 林默与林小雨：兄妹，相依为命", ("林默", "兄妹", "林小雨")),
        ("- 林默 ↔ 顾长河: 忘年交", ("林默", "忘年交", "顾长河")),
        ("- 林默—顾长河（忘年交）", ("林默", "忘年交", "顾长河")),
        ("顾伯是林默的师父。", ("顾长河", "师父", "林默")),
        ("Lin Mo is 小雨's brother.", ("林默", "brother", "林小雨")),
        ("Lin Mo is the brother of 小雨.", ("林默", "brother of", "林小雨")),
        ("| 甲 | 乙 | 关系 |\n|--|--|--|\n| 林默 | 小雨 | 兄妹 |", ("林默", "兄妹", "林小雨")),
        ("- 林默与路人：相识", None),
        ("- 林默和顾长河：" + "很" * 40, None),
    ],
)
def test_page_about_relations_states_this_one(line, triple):
    profile = "# 人物\n\n## 林小雨\n- 别名：小雨\n\n## 林默\n- 别名：Lin Mo\n\n## 顾长河\n- 别名：顾伯\n"
    found = triples(codex_of(**{"人物": profile, "设定/关系": f"# 人物关系\n\n{line}\n"}))
    assert found == ({triple} if triple else set())


def test_codex_relations_may_name_ids_names_or_aliases():
    relations = [
        {"source": "e1", "target": "林默", "type": "兄妹"},
        {"source": "顾伯", "target": "小雨", "type": "旧识"},
    ]
    codex = codex_of(人物=PROFILE, codex={"entities": [{"id": "e1", "name": "林小雨"}], "relations": relations})
    assert {("e1", "兄妹", "林默"), ("顾长河", "旧识", "e1")} <= triples(codex)
    assert not codex.warnings


def test_relation_to_nobody_is_a_warning_with_its_place():
    codex = codex_of(人物=PROFILE, codex={"relations": [{"source": "林默", "target": "王五", "type": "友"}]})
    assert [str(warning) for warning in codex.warnings] == [
        "CODEX_INVALID: codex.json: relations[0]: target: no entity with the id or name '王五'"
    ]


def test_broken_codex_file_leaves_the_profiles():
    codex = codex_of(人物=PROFILE, codex="{")
    assert len(codex.entities) == 3
    assert codex.warnings[0].code == "CODEX_INVALID"


def test_strict_raises_the_first_fault():
    with pytest.raises(CodexError, match="line 1"):
        build_codex([], declared("{"), strict=True)


def test_folder_is_read_without_links_pipes_and_hidden_files(tmp_path):
    (tmp_path / "人物.md").write_text(PROFILE, encoding="utf-8")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "人物.md").write_text("## 鬼影\n- 年龄：1\n", encoding="utf-8")
    (tmp_path / "outside.md").symlink_to("/etc/hostname")
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "地点.md").write_bytes(
        "## 江城\n- 别名：旧城，雨城\n- 描述：江边的旧城，六月多雨。\n".encode("gb18030")
    )
    codex = load_codex(tmp_path)
    assert [entity.name for entity in codex.entities] == ["林小雨", "林默", "顾长河", "江城"]


def test_missing_folder_is_a_project_error(tmp_path):
    with pytest.raises(ProjectError, match="nowhere"):
        load_codex(tmp_path / "nowhere")


def test_the_example_novel_is_read_whole():
    codex = load_codex("examples/novel")
    names = by_name(codex)
    assert not codex.warnings
    assert names["林小雨"].id == "lin-xiaoyu"
    assert names["林小雨"].origins[0].section == "林小雨"
    assert names["林默"].level == "always"
    assert names["灯塔重燃"].level == "manual_only"
    assert names["小雨点"].type == "宠物"
    assert not {"第一章 停摆的怀表", "风格", "大纲"} & set(names)
    assert ("林默", "居于", "钟表铺") in triples(codex)


def test_codex_file_that_is_no_file_is_an_error_that_names_it(tmp_path):
    os.mkfifo(tmp_path / "codex.json")
    assert [str(error) for error in read_declared(tmp_path).errors] == ["codex.json: not read: not a regular file"]


def test_binary_codex_file_is_an_error_that_names_it(tmp_path):
    (tmp_path / "codex.json").write_bytes(b"\x00\x01")
    (error,) = read_declared(tmp_path).errors
    assert str(error).startswith("codex.json: not read: ")


def test_file_that_configuration_calls_a_chapter_has_no_entities(tmp_path):
    (tmp_path / "armarius.toml").write_text('[kinds]\nchapter = ["人物.md"]\n', encoding="utf-8")
    (tmp_path / "人物.md").write_text(PROFILE, encoding="utf-8")
    assert load_codex(tmp_path).entities == ()
