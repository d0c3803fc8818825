"""Vaults and Novelcrafter exports say entities and relations: in the codex, walked by the graph, shown by cards."""

import json

import pytest
from tests.lorebooks.samples import NOVELCRAFTER, archive, text

import armarius
from armarius.cli import main
from armarius.codex import load_codex

NOTES = {
    "People/白鹭.md": '---\ntags: [人物, 主角]\naliases: [小白]\nmentor: "[[林渡]]"\n住处: [[灯塔]]\n---\n'
    "# 白鹭\n\n白鹭怕深水，她见过[[赵四|那个人]]。![[map.png]]\n\n## 敌人\n\n- [[赵四]]\n\n没有[[谁]]，有[[a.png]]。\n",
    "People/林渡.md": "#人物 #配角\n\n摆渡的老人，守着[[灯塔#历史|塔]]。\n",
    "People/赵四.md": "#人物\n\n坏人。\n\n## 背景\n\n[[林渡]]救过他。\n",
    "Places/灯塔.md": "---\ntags: location/tower\n---\n海边的塔。\n",
    "diary.md": "今天见了[[小白]]。\n",
}
RELATIONS = {
    ("林渡", "mentor", "白鹭"),
    ("白鹭", "住处", "灯塔"),
    ("赵四", "敌人", "白鹭"),
    ("林渡", "相关", "灯塔"),
    ("赵四", "相关", "林渡"),
}


def folder_of(tmp_path, notes):
    for path, note in notes.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(note, "utf-8")
    return tmp_path


@pytest.fixture
def vault(tmp_path):
    return folder_of(tmp_path / "vault", NOTES)


@pytest.fixture
def engine(tmp_path):
    novel = folder_of(tmp_path / "novel", {"chapters/ch001.md": "# 第一章\n\n白鹭来到渡口，林渡在等。\n"})
    with armarius.open(novel, watch=False, index_dir=tmp_path / "index") as engine:
        yield engine


def said(codex):
    return {(one.source, one.type, one.target) for one in codex.relations}


def test_a_vault_read_in_place_has_types_of_tags_and_relations_of_links(vault):
    codex = load_codex(vault)
    assert {one.name: one.type for one in codex.entities} == {
        "白鹭": "character", "林渡": "character", "赵四": "character", "灯塔": "location",
    }  # fmt: skip
    assert said(codex) == RELATIONS
    heron = next(one for one in codex.entities if one.name == "白鹭")
    assert heron.aliases == ("小白",)
    assert heron.attributes["mentor"] == "林渡"
    assert "那个人" in heron.description
    assert "map.png" not in heron.description
    assert next(one for one in codex.entities if one.name == "赵四").description == "坏人。"


def test_a_link_to_a_section_of_a_page_means_the_entity_there(tmp_path):
    notes = {
        "人物.md": "# 人物\n\n## 林默\n\n- 年龄：16\n\n## 林小雨\n\n- 年龄：12\n",
        "钟楼.md": "---\ntype: 地点\n看守: [[人物#林默]]\n---\n旧楼。[[人物]]里有两个人。\n",
    }
    assert said(load_codex(folder_of(tmp_path, notes))) == {("林默", "看守", "钟楼")}


def test_links_of_two_notes_of_one_name_go_where_their_path_says(tmp_path):
    notes = {
        "a/Vale.md": "---\ntags: [location]\n---\nA valley.\n",
        "b/Vale.md": "---\ntags: [character]\n---\nA man.\n",
        "Alma.md": "---\ntags: [character]\n---\nShe met [[b/Vale]] at [[Vale]].\n",
    }
    codex = load_codex(folder_of(tmp_path, notes))
    target = next(one for one in codex.relations if one.source == "alma").target
    assert next(one for one in codex.entities if one.id == target).type == "character"
    assert len(codex.relations) == 1


def test_a_line_of_one_tag_is_a_tag_in_a_note_and_a_heading_in_a_list_of_people(tmp_path):
    notes = {
        "设定.md": "#人物\n\n## 林默\n\n钟表匠。\n\n## 林小雨\n\n妹妹。\n",
        "阿九.md": "#人物\n\n## 外貌\n\n瘦。\n",
    }
    found = {one.name: one for one in load_codex(folder_of(tmp_path, notes)).entities}
    assert set(found) == {"林默", "林小雨", "阿九"}
    assert {one.type for one in found.values()} == {"character"}
    assert found["阿九"].attributes == {"外貌": "瘦。"}


SILAS = {
    "Silas.md": '---\ntags: [character]\nmentor: "[[Cara|the old one]]"\n---\n# Silas\n\n'
    "He met [[Cara|her]] in town.\n\n"
    "## Enemies\n\n- [[Edwin|him]]\n- [[people/Bo|that man]] since the war\n\n"
    "## Background\n\nBorn near [[Dun|home]].\n",
    "Edwin.md": "#character\n\nA smith.\n",
    "people/Bo.md": "#character\n\nA miller.\n",
    "Cara.md": "#character\n\nA judge.\n",
    "Dun.md": "#location\n\nA hill.\n",
}


@pytest.mark.parametrize("way", ["in place", "imported"])
def test_a_link_that_shows_something_else_is_shown_by_its_name_where_it_is_a_value(tmp_path, engine, way):
    vault = folder_of(tmp_path / "silas", SILAS)
    if way == "imported":
        engine.importing.add(vault)
    else:
        engine = armarius.open(vault, watch=False, index_dir=tmp_path / "other")
    with engine:
        assert said(engine.graph.snapshot()) == {
            ("edwin", "Enemies", "silas"), ("bo", "Enemies", "silas"), ("cara", "mentor", "silas"),
            ("silas", "related", "dun"),
        }  # fmt: skip
        silas = engine.entity("Silas")
        assert silas.attributes == {
            "mentor": "Cara", "Enemies": "Edwin; Bo since the war", "Background": "Born near home.",
        }  # fmt: skip
        assert way == "imported" or silas.description == "He met her in town."
        prompt = engine.assemble("Who are Silas's enemies?").prompt
        assert "Enemies=Edwin" in prompt
        assert "Enemies→ Silas" in prompt


def test_a_link_keeps_the_word_that_is_a_name_and_what_stands_in_a_sentence(tmp_path):
    notes = {
        "人物.md": "# 人物\n\n## 林默\n\n- 年龄：16\n\n## 林小雨\n\n- 别名：小雨\n",
        "people/gu.md": "---\ntags: [人物]\n---\n# 顾长河\n\n老人。\n",
        "钟楼.md": "---\ntype: 地点\n---\n旧楼。\n\n## 看守\n\n- [[人物#林默|他]]\n- [[gu|他]]\n\n## 客人\n\n"
        "- [[林小雨|小雨]]\n- [[people/gu|顾长河]]\n\n## 敌人\n\n钟声使[[林默|他]]害怕。\n\n"
        "## 主人\n\n| 钥匙 | 谁 |\n|---|---|\n| 大门 | [[林小雨\\|妹妹]] |\n",
    }
    codex = load_codex(folder_of(tmp_path, notes))
    tower = next(one for one in codex.entities if one.name == "钟楼")
    assert tower.attributes == {
        "看守": "林默；顾长河", "客人": "小雨；顾长河", "敌人": "钟声使他害怕。", "主人": "大门：妹妹",
    }  # fmt: skip
    assert ("林小雨", "大门", "钟楼") in said(codex)


def test_an_imported_vault_is_in_the_codex_and_its_graph(engine, vault):
    report = engine.importing.add(vault)
    assert {(source, kind, target) for source, target, kind in report.said.relations} == RELATIONS
    assert {one.value for one in report.losses} == {"[[谁]]"}
    around = engine.graph.subgraph(["白鹭"], depth=1)
    assert {one.id for one in around.entities} == {"白鹭", "林渡", "灯塔", "赵四"}
    prompt = engine.assemble(
        document="chapters/ch001.md", cursor=10, skill="write", query="白鹭和林渡是什么关系？"
    ).prompt
    assert "## 角色：白鹭" in prompt
    assert "- 林渡 —mentor→ 白鹭" in prompt


def test_a_vault_is_given_back_as_it_came(engine, vault):
    engine.importing.add(vault)
    assert json.loads(engine.books["vault"].export())["files"] == dict(sorted(NOTES.items()))


def test_a_vault_that_changed_changes_the_codex_and_one_taken_out_leaves_it(engine, vault):
    engine.importing.add(vault)
    (vault / "People/赵四.md").write_text("#人物\n\n## 兄弟\n\n- [[林渡]]\n", "utf-8")
    assert engine.importing.add(vault).kind == "update"
    assert ("林渡", "兄弟", "赵四") in said(engine.graph.snapshot())
    engine.books.delete("vault")
    assert engine.entities() == []


OTHER = "locations/pier-9mZ4qk7Yw1uQf8sT3vBn6xLcRd1"
NESTING = NOVELCRAFTER | {
    f"{OTHER}/metadata.json": text({
        "id": "9mZ4qk7Yw1uQf8sT3vBn6xLcRd1",
        "relationships": {"nestedEntries": ["2mZ4qk7Yw1uQf8sT3vBn6xLcRd1", "gone"]},
        "attributes": {"type": "location", "name": "Pier", "aliases": []}}),
    f"{OTHER}/entry.md": '---\ntype: location\nname: Pier\nfields:\n  Length:\n    - "90 m"\n    - "at ebb"\n'
                         "---\n\nOld.\n",
}  # fmt: skip


def test_nested_entries_are_relations_and_each_entry_an_entity_without_its_text_twice(engine):
    report = engine.importing.add(archive(NESTING), name="export.zip")
    assert report.said.relations == (("pier", "alma", "includes"),)
    assert [one.value for one in report.losses if "nests" in one.reason] == ["gone"]
    pier = next(one for one in engine.entities() if one.id == "pier")
    assert (pier.type, pier.description, pier.attributes) == ("location", "", {"Length": "90 m, at ebb"})
    assert engine.books["export"].export() == archive(NESTING)


def test_an_entity_of_a_book_is_the_one_that_the_project_describes(engine, tmp_path):
    folder_of(tmp_path / "novel", {"characters/Alma.md": "# Alma\n\n- Age: 30\n"})
    engine.importing.add(archive(NESTING), name="export.zip")
    (alma,) = [one for one in engine.entities() if one.name == "Alma"]
    assert (alma.attributes["Age"], alma.aliases) == ("30", ("小白",))


def test_a_book_that_is_switched_off_says_nothing_of_entities(engine, vault):
    from dataclasses import replace

    engine.importing.add(vault)
    engine.books.update(replace(engine.books["vault"], switched_off=True))
    assert engine.entities() == []


def test_the_command_line_shows_entities_and_relations_before_it_imports(tmp_path, vault, capsys):
    novel = folder_of(tmp_path / "n", {"chapters/ch001.md": "# 第一章\n"})
    assert main(["import", str(vault), "--into", str(novel)]) == 0
    out = capsys.readouterr().out
    assert "4 entities, 5 relations" in out
    assert "林渡 —mentor→ 白鹭" in out
    assert not (novel / ".armarius").exists()
