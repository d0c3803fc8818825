"""Reviews, templates and tool files: what was guessed to be one answers questions and stands in no task."""

import pytest

PROSE = (
    "港口上空的第{n}盏灯灭了。玛拉数船的时候，领航员还在栈桥上，船少了一条，潮水正从{n}号码头退下去。\n\n"
    "天亮以前她走到栈桥上。自第{n}夜的风暴以后，没有人再见过他，也没有人问起。"
)


def chapter(number):
    return f"# 第{number}章\n\n{PROSE.format(n=number)}\n"


def sources(pack):
    return {path for item in pack.items for path in item.documents}


REPORTED = {
    **{f"正文/第{n:04}章.md": chapter(n) for n in range(1, 7)},
    **{
        f"审查报告/第{n:04}章审查报告.md": f"# 第{n}章 审查报告\n\n## 总体评分\n\n评分：{80 + n}/100，通过。\n\n"
        f"## 问题清单\n\n- 玛拉数船的段落节奏偏慢，建议压缩；领航员的伏笔{n}没有回收。\n\n## 审核结论\n\n修改后通过。\n"
        for n in range(1, 4)
    },
    "模板/人物模板.md": "# {{title}}\n\n## 基本信息\n\n- 姓名：\n- 年龄：{{age}}\n- 玛拉数船：\n",
    "armarius.toml": '[documents]\n"审查报告/**" = "review"\n"模板/**" = "template"\n"README.md" = "tool"\n',
    "README.md": "# 项目说明\n\n运行 python scripts/count.py 统计字数；玛拉数船的正文放在 正文/ 目录。\n",
}


def kinds(engine, query, **request):
    pack = engine.assemble(query, budget=6000, **request)
    return {path.partition("/")[0] for path in sources(pack)}


def test_reviews_templates_and_tool_files_that_were_guessed_stand_in_no_task(project):
    engine = project({path: text for path, text in REPORTED.items() if path != "armarius.toml"})
    assert "审查报告" in kinds(engine, "玛拉数船的时候领航员在哪里？")
    assert kinds(engine, "检查第3章的角色一致性", document="正文/第0003章.md") == {"正文"}


def test_a_declared_review_or_tool_stands_in_no_prompt_of_a_question(project):
    engine = project(REPORTED)
    assert kinds(engine, "玛拉数船的时候领航员在哪里？") == {"正文"}
    assert {hit.path.partition("/")[0] for hit in engine.retrieve("玛拉数船的时候领航员在哪里？", limit=20)} == {"正文"}


@pytest.mark.parametrize(
    ("query", "request_"),
    [
        ("审查报告里怎么说领航员？", {}),
        ("第0002章审查报告里领航员的问题是什么？", {}),
        ("领航员的伏笔怎么样？", {"kinds": ["review"]}),
        ("领航员的伏笔怎么样？", {"include": ["审查报告/第0002章审查报告.md"]}),
    ],
    ids=str,
)
def test_a_review_is_found_when_it_is_asked_for(project, query, request_):
    assert "审查报告" in kinds(project(REPORTED), query, **request_)


@pytest.mark.parametrize(
    "query",
    ["第2章的审查报告说了什么？", "第0002章审查报告", "What does the review of chapter 2 say?", "审查报告2"],
)
def test_a_number_chooses_among_the_reviews_that_are_asked_for(project, query):
    engine = project(REPORTED)
    found = {path for path in sources(engine.assemble(query, budget=6000)) if path.startswith("审查报告")}
    assert found == {"审查报告/第0002章审查报告.md"}
    assert engine.retrieve(query)[0].path == "审查报告/第0002章审查报告.md"


WEIR = "The lock keeper counted the barges at the weir, and one was missing.\n\n“Who has the key?” she asked."
MARKET = "The salt market opened late, for the river was high. She bought a rope and said nothing to her brother."
BARRAGE = "L'éclusière comptait les péniches au barrage, et il en manquait une. Personne ne l'avait vue partir."
MARCHE = "Le marché au sel ouvrit tard, car la rivière était montée. Elle acheta une corde et ne dit rien à son frère."
EDITIONS = {
    "Scenes/01 The Old Weir.md": f"# The Old Weir\n\n{WEIR}\n",
    "Scenes/02 Salt Market.md": f"# Salt Market\n\n{MARKET}\n",
    "Français/01 Le Barrage.md": f"# Le Barrage\n\n{BARRAGE}\n",
    "Français/02 Le Marché.md": f"# Le Marché\n\n{MARCHE}\n",
    "backup/01 The Old Weir.md": f"# The Old Weir\n\n{WEIR} She had it herself, once.\n",
    "backup/02 Salt Market.md": f"# Salt Market\n\n{MARKET} He knew all the same.\n",
}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What does the translation of The Old Weir say?", {"Français/01 Le Barrage.md"}),
        ("What does the French translation of scene 1 say?", {"Français/01 Le Barrage.md"}),
        ("第2章的法语翻译", {"Français/02 Le Marché.md"}),
        ("the backup of chapter 2", {"backup/02 Salt Market.md"}),
        ("备份里的第1章", {"backup/01 The Old Weir.md"}),
        ("翻进第1章的院子", set()),
        ("Who has the key in chapter 1?", {"backup/01 The Old Weir.md"}),  # it alone says more
    ],
)
def test_another_edition_is_had_by_the_word_for_it_and_the_chapter(project, query, expected):
    engine = project(EDITIONS)
    assert len(engine.index.map.hidden) == 4
    found = {path for path in sources(engine.assemble(query, budget=6000)) if not path.startswith("Scenes")}
    assert found == expected


def test_what_nothing_else_answers_is_looked_for_in_hidden_files(project):
    engine = project(REPORTED)
    assert "README.md" in kinds(engine, "统计字数的脚本 scripts/count.py 怎么运行？")
    assert "README.md" in kinds(engine, "README 里怎么说？统计字数")
    assert "README.md" in kinds(engine, "readme.md 说玛拉数船的正文在哪里？")


def test_a_form_that_nobody_has_filled_in_stands_in_a_prompt_by_its_own_name_alone(project):
    engine = project(REPORTED)
    pack = engine.assemble("人物模板里有哪些字段？", budget=6000)
    assert "模板/人物模板.md" in sources(pack)
    assert "request:words" not in {one.source for one in pack.omitted}
    for query in ("姓名 年龄 基本信息", "模板里的姓名和年龄", "{{title}}"):
        assert "模板" not in kinds(engine, query)
    assert "模板" not in kinds(engine, "姓名 年龄", kinds="template")
    assert "模板" in kinds(engine, "姓名 年龄", include=["模板/人物模板.md"])


def test_hidden_files_are_named_once_by_kind_and_explained_one_by_one(project):
    pack = project(REPORTED).assemble("玛拉数船的时候领航员在哪里？", budget=6000)
    lines = [one for one in pack.omitted if one.source.startswith("request:") and one.code == "excluded"]
    assert [one.source for one in lines] == ["request:review", "request:template", "request:tool"]
    found = pack.why("审查报告/第0002章审查报告.md")
    assert not found.included
    assert found.omitted[0].detail == "review: in no prompt unless asked for by name"


def test_search_finds_every_file_and_says_its_kind(project):
    hits = project(REPORTED).search("玛拉数船", limit=50)
    assert {hit.kind for hit in hits} >= {"chapter", "review", "tool"}


def test_statements_are_of_the_story_and_its_settings(project):
    engine = project(
        {
            **REPORTED,
            "设定集/玛拉.md": "# 玛拉\n\n- 姓名：玛拉\n- 年龄：三十一岁\n",
            "审查报告/第0004章审查报告.md": "# 第4章 审查报告\n\n评分：70/100\n\n玛拉今年三十五岁，与设定不符。\n",
        }
    )
    assert {one.path for one in engine.evidence("玛拉", attribute="年龄")} == {"设定集/玛拉.md"}


def test_search_marks_what_prompts_do_not_show(project):
    levels = {hit.path.partition("/")[0]: hit.level for hit in project(REPORTED).search("玛拉数船", limit=50)}
    assert levels == {"正文": "", "审查报告": "review", "模板": "template", "README.md": "tool"}


def test_a_project_of_code_hides_nothing(project):
    guide = "# Lantern\n\nInstall it with pip install lantern; run lantern serve to light the harbour.\n"
    code = {f"lantern/part{n}.py": f"def light{n}():\n    return {n}\n" for n in range(3)}
    engine = project({**code, "README.md": guide, "armarius.toml": '[documents]\n"README.md" = "tool"\n'})
    assert "README.md" in sources(engine.assemble("How is it installed?", budget=4000))
    assert engine.index.map.hidden == frozenset()
