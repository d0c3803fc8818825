import pytest
from tests.rows import rows

from armarius.codex import AuthoredCodex, Fact, Relation, build_codex, load_codex
from armarius.documents.document import make_document
from armarius.errors import CodexError

PROFILE = make_document(
    "人物.md", "## 林小雨\n- 别名：小雨\n- 描述：妹妹\n- 年龄：16\n\n## 林默\n- 年龄：26\n".encode()
)


def test_created_entity_is_read_back(tmp_path):
    codex = AuthoredCodex(tmp_path)
    entity = codex.create(
        "白鹭", type="character", aliases=["阿鹭"], attributes={"年龄": "12"}, level="always", facts=[Fact("来了", 4)]
    )
    assert (entity.id, entity.name, entity.aliases, entity.level) == ("白鹭", "白鹭", ("阿鹭",), "always")
    assert (entity.attributes, entity.facts) == ({"年龄": "12"}, (Fact("来了", 4),))
    assert AuthoredCodex(tmp_path).list() == (entity,)


def test_a_change_of_attributes_that_is_no_table_is_refused_by_name(tmp_path):
    codex = AuthoredCodex(tmp_path)
    codex.create("白鹭", attributes={"年龄": "12"})
    for change in (codex.update, codex.preview):
        with pytest.raises(CodexError, match="attributes: expected an object, got a string"):
            change("白鹭", attributes="十二")
    assert codex.get("白鹭").attributes == {"年龄": "12"}


def test_what_was_just_written_is_answered_before_the_index_has_seen_it(tmp_path):
    codex = AuthoredCodex(tmp_path, whole=lambda: build_codex([PROFILE]))
    assert codex.create("白鹭", type="character").type == "character"
    assert codex.update("林默", type="person").id == "林默"
    with pytest.raises(KeyError):
        codex.get("白鹭")


def test_names_and_keys_of_several_lines_are_read_back(tmp_path):
    codex = AuthoredCodex(tmp_path)
    entity = codex.create("两\n行", id="a\n[[entity]]\nb", attributes={"钥\n匙": "值\n#x", "b\"'": "\\"})
    codex.put_relation(Relation(entity.id, entity.id, "自\n言"))
    again = AuthoredCodex(tmp_path)
    assert (again.list(), again.problems()) == ((entity,), ())
    assert (entity.id, entity.attributes) == ("a\n[[entity]]\nb", {"钥\n匙": "值\n#x", "b\"'": "\\"})
    assert [relation.type for relation in again.relations()] == ["自\n言"]


def test_deleting_with_relations_takes_those_along_that_touch_it(tmp_path):
    codex = AuthoredCodex(tmp_path)
    for name in ("甲", "乙", "丙"):
        codex.create(name)
    for ends in (("甲", "乙"), ("丙", "甲"), ("乙", "丙")):
        codex.relate(*ends, "友")
    codex.delete("甲", relations=True)
    assert [(one.source, one.target) for one in codex.relations()] == [("乙", "丙")]
    assert codex.problems() == ()


def test_what_ends_before_it_begins_is_refused_and_what_was_written_so_before_is_left_in_peace(tmp_path):
    codex = AuthoredCodex(tmp_path)
    codex.create("甲", facts=[{"text": "守塔", "since": 3, "until": 3}])
    with pytest.raises(CodexError, match=r"facts\[1\]\.until: chapter 3 is before that of since, 9"):
        codex.create("乙", facts=["在", {"text": "守塔", "since": 9, "until": 3}])
    with pytest.raises(CodexError, match=r"facts\[0\]\.until"):
        codex.update("甲", facts=[Fact("守塔", 9, 3)])
    with pytest.raises(CodexError, match="until: chapter 3 is before"):
        codex.put_relation(Relation("甲", "甲", "友", 9, 3))
    with pytest.raises(CodexError, match="until: chapter 1 is before"):
        codex.extend([], [Relation("甲", "甲", "友", 2, 1)])
    assert (len(codex.list()), codex.relations()) == (1, ())
    path = tmp_path / ".armarius" / "codex.toml"
    path.write_text(path.read_text("utf-8").replace("until = 3", "until = 1"), "utf-8")
    assert codex.update("甲", description="守塔的人").facts == (Fact("守塔", 3, 1),)


def test_a_record_states_what_no_page_says_and_gives_way_to_the_page_where_they_differ(tmp_path):
    codex = AuthoredCodex(tmp_path)
    codex.create("林小雨", level="always", attributes={"年龄": "17", "住处": "江城"})
    whole = build_codex([PROFILE], authored=codex.read())
    entity = next(item for item in whole.entities if item.id == "林小雨")
    assert (entity.level, entity.attributes, entity.description, entity.aliases) == (
        "always",
        {"年龄": "16", "住处": "江城"},
        "妹妹",
        ("小雨",),
    )
    assert [origin.path for origin in entity.origins] == ["人物.md", ".armarius/codex.toml"]
    assert [(one.field, one.value, one.origin.path, one.by.path) for one in entity.overruled] == [
        ("年龄", "17", ".armarius/codex.toml", "人物.md")
    ]


def test_deleting_what_was_authored_gives_back_the_profile(tmp_path):
    codex = AuthoredCodex(tmp_path)
    before = build_codex([PROFILE])
    codex.create("林小雨", level="never")
    codex.delete("林小雨")
    assert build_codex([PROFILE], authored=codex.read()) == before


def test_update_changes_and_unstates_fields(tmp_path):
    codex = AuthoredCodex(tmp_path)
    codex.create("白鹭", description="女孩", level="always")
    assert codex.update("白鹭", level=None, type="character").level == "when_detected"
    assert codex.get("白鹭").description == "女孩"


def test_relations_are_kept_changed_and_removed(tmp_path):
    codex = AuthoredCodex(tmp_path)
    codex.relate("林默", "小雨", "兄妹")
    codex.relate("林默", "小雨", "兄妹", since=3)
    whole = build_codex([PROFILE], authored=codex.read())
    assert [(item.source, item.type, item.target, item.since) for item in whole.relations] == [
        ("林默", "兄妹", "林小雨", 3)
    ]
    codex.unrelate("林默", "小雨", "兄妹")
    assert codex.relations() == ()
    with pytest.raises(KeyError):
        codex.unrelate("林默", "小雨", "兄妹")


@rows("codex_authored")
def test_wrong_value_is_refused_and_nothing_is_written(tmp_path, values, message):
    with pytest.raises(CodexError, match=message):
        AuthoredCodex(tmp_path).create(**values)
    assert not (tmp_path / ".armarius").exists()


def test_hand_edit_with_a_fault_is_a_warning_with_file_and_line(tmp_path):
    AuthoredCodex(tmp_path).create("白鹭")
    path = tmp_path / ".armarius" / "codex.toml"
    path.write_text(path.read_text("utf-8") + '\n[[entity]]\nid = "x"\nname = "甲"\nlevel = "maybe"\n', "utf-8")
    codex = load_codex(tmp_path)
    assert [entity.name for entity in codex.entities] == ["白鹭"]
    line = path.read_text("utf-8").split("\n").index('level = "maybe"') + 1
    assert str(codex.warnings[0]).startswith(
        f"CODEX_INVALID: .armarius/codex.toml: line {line}: entity 'x': level: expected"
    )


def test_key_of_a_hand_edit_becomes_an_attribute_and_survives_an_update(tmp_path):
    path = tmp_path / ".armarius" / "codex.toml"
    path.parent.mkdir()
    path.write_text('[[entity]]\nid = "a"\nname = "甲"\n年龄 = 12\n'.replace("年龄", '"年龄"'), "utf-8")
    codex = AuthoredCodex(tmp_path)
    assert codex.get("a").attributes == {"年龄": "12"}
    assert codex.update("a", description="孩子").attributes == {"年龄": "12"}
