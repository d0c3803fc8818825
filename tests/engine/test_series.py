"""A series: a novel opened with a bible and an earlier book, in one prompt, with nothing written in either."""

import json
import shutil
import time

import pytest

import armarius
from armarius.errors import ContractError, ProjectError, UnknownDocument
from armarius.index.project_index import ProjectIndex
from armarius.index.series import SeriesSource, read_roots
from armarius.testing import DocumentSourceConformance
from armarius.trust.settings import Config

FILES = {
    "novel/人物.md": "# 人物\n\n## 林渡\n- 类型：character\n- 年龄：18\n- 住处：江城\n",
    "novel/chapters/ch001.md": "# 第1章 归来\n\n林渡回到江城，白鹭在码头等他。\n",
    "novel/chapters/ch003.md": "# 第3章 夜\n\n林渡在夜里看见灯塔熄灭。\n",
    "bible/characters/白鹭.md": "# 白鹭\n- 类型：character\n- 描述：灯塔的守护者\n- 第3章起：失明\n",
    "book1/人物.md": "# 人物\n\n## 林渡\n- 类型：character\n- 年龄：16\n- 第9章起：会划船\n- 第2章至第4章：住在青石\n\n"
    "## 老周\n- 类型：character\n- 描述：钟表匠\n",
    "book1/outline.md": "# 大纲\n\n- 第3章：老周交出怀表\n- 第9章：老周之死\n",
    "book1/chapters/ch003.md": "# 第3章 钟声\n\n老周把怀表交给林渡，说灯塔的钥匙在青石底下。\n",
    "book1/chapters/ch050.md": "# 第50章 船\n\n老周的船沉在白鹭洲外面的暗礁上。\n",
}


def put(root, path, text):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text if isinstance(text, str) else json.dumps(text, ensure_ascii=False), encoding="utf-8")


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "shelf"
    for path, text in FILES.items():
        put(root, path, text)
    return root


def opened(shelf, *others, **more):
    return armarius.open(shelf / "novel", **{"with_": [shelf / one for one in others], "watch": False, **more})


@pytest.fixture
def engine(shelf):
    with opened(shelf, "bible", "book1") as engine:
        yield engine


def everything_in(folder):
    found = {path: path.lstat() for path in folder.rglob("*")}
    return {path: (one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns) for path, one in found.items()}


def paths_in(pack):
    return {path for item in pack.items for path in item.documents} | {
        item.source.removeprefix("rag:passage:").partition("#")[0]
        for item in pack.items
        if item.source.startswith("rag:passage:")
    }


def codes(pack):
    return [one.partition(":")[0] for one in pack.warnings]


class TestSeriesAsASource(DocumentSourceConformance):
    """What every source must do, beside folders that stay as they are."""

    @pytest.fixture
    def source(self, tmp_path):
        for name in ("novel", "bible"):
            (tmp_path / name).mkdir()
        source = SeriesSource(tmp_path / "novel", Config, read_roots(tmp_path / "novel", [tmp_path / "bible"]))
        self.root = tmp_path / "novel"
        return source

    def write(self, source, path, data):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(data)

    def remove(self, source, path):
        (self.root / path).unlink()


def test_one_prompt_is_over_all_folders(engine):
    pack = engine.assemble(query="灯塔的钥匙在哪里？", budget=6000)
    assert "灯塔的钥匙在青石底下" in pack.prompt
    assert "（book1/chapters/ch003.md#" in pack.prompt
    assert {"book1/chapters/ch003.md", "chapters/ch003.md"} <= paths_in(pack)
    assert "描述：灯塔的守护者" in engine.assemble(query="白鹭是谁？").prompt
    assert codes(pack) == []


def test_nothing_is_written_in_the_other_folders(shelf):
    before = everything_in(shelf / "bible") | everything_in(shelf / "book1")
    with opened(shelf, "bible", "book1", watch=True) as engine:
        engine.assemble(query="老周是谁？", document="chapters/ch003.md", cursor=3)
        engine.codex.update("book1/老周", description="造船的人")
        engine.codex.create("新来的人")
        engine.memories.create("老周已死")
        engine.constraints.create("不写梦")
        engine.pins.add("book1/chapters/ch003.md")
        engine.summaries.set("book1/chapters/ch003.md", "怀表易主")
        assert "造船的人" in engine.assemble(query="老周是谁？").prompt
    assert everything_in(shelf / "bible") | everything_in(shelf / "book1") == before
    assert "book1/老周" in (shelf / "novel/.armarius/codex.toml").read_text("utf8")


def test_an_index_inside_the_project_leaves_the_other_folders_alone(shelf):
    put(shelf, "novel/armarius.toml", '[documents]\nindex_dir = ".armarius/index"\n')
    put(shelf, "book1/armarius.toml", '[documents]\nindex_dir = ".armarius/index"\n')
    before = everything_in(shelf / "book1")
    with opened(shelf, "book1") as engine, opened(shelf) as alone:
        places = {one.index.status().path for one in (engine, alone)}
        assert len(places) == 2
        assert all("novel" in place for place in places)
    assert everything_in(shelf / "book1") == before


def test_a_chapter_number_means_the_project_s_own(engine):
    third = engine.assemble(query="第3章发生了什么？", budget=6000)
    assert "看见灯塔熄灭" in third.prompt
    assert not any(path.startswith("book1/") for path in paths_in(third))
    bounded = engine.assemble(query="老周的怀表", chapters=(1, 40), budget=6000)
    assert not any(path.startswith("book1/chapters") for path in paths_in(bounded))
    assert "CHAPTER_UNKNOWN" in codes(engine.assemble(query="检查第50章"))
    assert [hit.path for hit in engine.search("老周", chapters=(1, 40))] == []
    assert engine.document("book1/chapters/ch003.md").chapter is None


def test_an_earlier_book_is_wholly_past(engine):
    pack = engine.assemble(query="老周怎么样了？林渡会划船吗？", document="chapters/ch001.md", as_of=1, budget=6000)
    assert "- 事实：会划船" in pack.prompt
    assert "暗礁" in pack.prompt
    assert "第0章前" not in pack.prompt
    assert [one.code for one in pack.omitted if one.title.endswith("事实“住在青石”")] == ["timeline"]
    assert "老周之死" in engine.assemble(query="大纲里老周之死", as_of=1, budget=6000).prompt


def test_a_folder_without_chapters_speaks_of_the_project_s_own(engine):
    assert "失明" not in engine.assemble(query="白鹭是谁？", as_of=1, budget=6000).prompt
    assert "失明" in engine.assemble(query="白鹭是谁？", as_of=3, budget=6000).prompt


def test_one_person_of_two_folders_is_one_and_the_project_is_heard_first(engine):
    (lin,) = (one for one in engine.codex.list() if one.name == "林渡")
    assert (lin.id, lin.attributes) == ("林渡", {"年龄": "18", "住处": "江城"})
    assert [one.path for one in lin.origins] == ["人物.md", "book1/人物.md"]
    assert [(one.field, one.value, one.origin.path, one.by.path) for one in lin.overruled] == [
        ("年龄", "16", "book1/人物.md", "人物.md")
    ]
    pack = engine.assemble(query="林渡多大了？")
    assert [(one.code, one.detail) for one in pack.omitted if one.id == "entity:林渡#年龄"] == [
        ("excluded", "book1/人物.md says “16”; 人物.md is heard")
    ]


def test_the_first_named_folder_is_heard_before_the_next(shelf):
    put(shelf, "bible/characters/老周.md", "# 老周\n- 类型：character\n- 描述：守钟人\n")
    for others, heard in ((("bible", "book1"), "守钟人"), (("book1", "bible"), "钟表匠")):
        with opened(shelf, *others) as engine:
            (zhou,) = (one for one in engine.codex.list() if one.name == "老周")
            assert (zhou.id, zhou.description) == (f"{others[0]}/老周", heard)


def test_an_id_belongs_to_its_folder(shelf):
    place = {"id": "e1", "name": "青石", "type": "location"}
    pact = {"source": "e1", "target": "老周", "type": "住着"}
    put(shelf, "book1/codex.json", {"entities": [place], "relations": [pact]})
    put(shelf, "novel/codex.json", {"entities": [{"id": "e1", "name": "苏婉", "type": "character"}]})
    with opened(shelf, "book1") as engine:
        names = {one.id: one.name for one in engine.codex.list()}
        assert (names["e1"], names["book1/e1"], names["book1/老周"]) == ("苏婉", "青石", "老周")
        assert [(one.source, one.target) for one in engine.codex.relations()] == [("book1/e1", "book1/老周")]
        assert engine.codex.relations()[0].origin.path == "book1/codex.json"


def test_one_name_with_two_ids_and_one_id_with_two_names_are_one_person(shelf):
    hers = {"id": "c9", "name": "苏婉", "type": "character", "aliases": ["阿婉"]}
    put(shelf, "novel/codex.json", {"entities": [hers]})
    put(shelf, "book1/codex.json", {"entities": [{"id": "x1", "name": "苏婉", "type": "character"}]})
    put(shelf, "bible/codex.json", {"entities": [{"id": "c9", "name": "阿婉", "type": "character"}]})
    with opened(shelf, "bible", "book1") as engine:
        assert [one.id for one in engine.codex.list() if {"苏婉", "阿婉"} & {one.name, *one.aliases}] == ["c9"]


def test_the_project_s_own_ids_and_relations_are_the_same_with_other_folders(shelf):
    put(shelf, "novel/人物.md", FILES["novel/人物.md"] + "- 师父：青石\n\n## 青石\n- 类型：character\n")
    put(shelf, "book1/地点.md", "# 地点\n\n## 青石\n- 类型：location\n")
    with opened(shelf) as alone, opened(shelf, "bible", "book1") as engine:
        own = {one.id for one in alone.codex.list()}
        assert own == {"林渡", "青石"}
        assert own <= {one.id for one in engine.codex.list()}
        ties = [(one.source, one.target, one.type) for one in alone.codex.relations()]
        assert ties == [("青石", "林渡", "师父")]
        assert ties[0] in [(one.source, one.target, one.type) for one in engine.codex.relations()]


def test_a_missing_folder_is_a_warning_until_it_is_there(shelf):
    with opened(shelf, "book1", "book2") as engine:
        pack = engine.assemble(query="老周")
        assert codes(pack) == ["SERIES_UNAVAILABLE"]
        assert str(shelf) not in "".join(pack.warnings)
        put(shelf, "book2/chapters/ch001.md", "# 第1章\n\n铜钥匙沉进海底。\n")
        pack = engine.assemble(query="铜钥匙", budget=6000)
        assert codes(pack) == []
        assert "铜钥匙沉进海底" in pack.prompt
        shutil.rmtree(shelf / "book2")
        pack = engine.assemble(query="铜钥匙", budget=6000)
        assert codes(pack) == ["SERIES_UNAVAILABLE"]
        assert "沉进海底" not in pack.prompt


def test_every_folder_is_followed(shelf):
    with ProjectIndex.open(shelf / "novel", with_=[shelf / "bible", shelf / "book1"], watch=True) as index:
        put(shelf, "book1/chapters/ch051.md", "# 第51章\n\n铜钥匙沉进海底。\n")
        until = time.monotonic() + 20
        while "book1/chapters/ch051.md" not in index.store.files() and time.monotonic() < until:
            time.sleep(0.05)
        assert "book1/chapters/ch051.md" in index.store.files()
        assert len(index._following.folders) == 3


@pytest.mark.parametrize("watch", [False, True])
def test_a_change_in_another_folder_is_in_the_next_prompt(shelf, watch):
    with opened(shelf, "bible", "book1", watch=watch) as engine:
        put(shelf, "bible/characters/苏婉.md", "# 苏婉\n- 类型：character\n- 描述：海关的抄写员\n")
        assert "海关的抄写员" in engine.assemble(query="苏婉是谁？").prompt
        (shelf / "bible/characters/苏婉.md").unlink()
        assert "海关的抄写员" not in engine.assemble(query="苏婉是谁？").prompt
        put(shelf, "book1/codex.json", {"entities": [{"name": "铜鱼", "type": "item", "description": "钥匙扣"}]})
        assert "钥匙扣" in engine.assemble(query="铜鱼是什么？").prompt


def test_a_bible_that_has_become_a_book_is_read_anew_at_the_next_opening(shelf):
    put(shelf, "bible/outline.md", "# 大纲\n\n- 第3章：白鹭失明\n")
    with opened(shelf, "bible") as engine:
        assert engine.document("bible/outline.md").paragraphs[-1].chapter == 3
    put(shelf, "bible/chapters/ch001.md", "# 第1章\n\n雾。\n")
    with opened(shelf, "bible") as engine:
        assert engine.document("bible/outline.md").paragraphs[-1].chapter is None
        assert "白鹭失明" in engine.assemble(query="大纲里白鹭怎么失明", as_of=1, budget=6000).prompt


@pytest.mark.parametrize("other", ["novel", "novel/chapters", "."])
def test_folders_that_do_not_lie_apart_are_refused(shelf, other):
    with pytest.raises(ProjectError, match=r"with_\[0\]: .*the folders of a series lie apart"):
        opened(shelf, other)


def test_what_is_no_list_of_folders_is_refused(shelf):
    with pytest.raises(ProjectError, match=r"with_\[1\]: 'bible' is with_\[0\]"):
        opened(shelf, "bible", "bible")
    for wrong in (str(shelf / "bible"), shelf / "bible", 3, [3], [""]):
        with pytest.raises(ContractError, match="with_"):
            armarius.open(shelf / "novel", with_=wrong)
    with opened(shelf) as engine, pytest.raises(ContractError, match="with_"):
        armarius.ContextEngine(engine.index, with_=[shelf / "bible"])


def test_a_folder_of_the_project_keeps_its_name(shelf):
    put(shelf, "novel/bible/钟.md", "# 钟\n\n钟楼每夜敲十二下。\n")
    with opened(shelf, "bible", "book1") as engine:
        assert {"bible/钟.md", "bible-2/characters/白鹭.md"} <= {one.path for one in engine.documents()}
        put(shelf, "novel/book1/钟.md", "# 钟\n\n铜钟锈了。\n")
        put(shelf, "novel/chapters/ch004.md", "# 第4章\n\n钟楼塌了。\n")
        assert "铜钟锈了" not in engine.assemble(query="铜钟").prompt
        (skipped,) = engine.index.status().skipped
        assert (skipped.path, skipped.reason) == (
            "book1/钟.md",
            "its folder is called like another folder of the series",
        )


def test_the_project_alone_and_with_others_have_an_index_each(shelf):
    with opened(shelf, "book1") as engine, opened(shelf) as alone:
        for _ in range(2):
            assert "暗礁" in engine.assemble(query="老周的船沉在哪里？", budget=6000).prompt
            assert "暗礁" not in alone.assemble(query="老周的船沉在哪里？", budget=6000).prompt
        assert alone.index.status().documents == 3


def test_places_of_every_folder_are_told_by_whole_paths(engine):
    pack = engine.assemble(query="灯塔的钥匙在哪里？", budget=6000)
    (place,) = pack.locate("灯塔的钥匙在青石底下")
    assert place.path == "book1/chapters/ch003.md"
    text = engine.document(place.path).text
    assert text[slice(*place.span)] == "灯塔的钥匙在青石底下"
    assert engine.locate("暗礁")[0].path == "book1/chapters/ch050.md"
    assert {one.path for one in engine.evidence("老周")} >= {"book1/人物.md"}
    assert "book1/chapters/ch003.md" in str(pack.why("book1/chapters/ch003.md"))


def test_what_is_authored_for_another_book_is_not_said_for_this_one(shelf):
    with armarius.open(shelf / "book1", watch=False) as first:
        first.constraints.create("不写魔法")
        first.memories.create("读者喜欢老周")
        first.pins.add("chapters/ch050.md")
        first.codex.create("铜鱼", type="item", description="钥匙扣")
    with opened(shelf, "book1") as engine:
        prompt = engine.assemble(query="铜鱼和青石").prompt
        assert "钥匙扣" in prompt
        assert "不写魔法" not in prompt
        assert "读者喜欢" not in prompt
        assert "暗礁" not in prompt
        assert engine.codex.get("book1/铜鱼").origins[0].path == "book1/.armarius/codex.toml"


def test_what_every_prompt_of_an_earlier_book_said_is_said_where_it_is_named(shelf):
    for other in ("book1", "bible"):
        put(shelf, f"{other}/style.md", f"# 风格\n\n- 像{other}那样写。\n")
        who = {"name": f"{other}的人", "type": "character", "aiContextLevel": "always", "description": "谁都认得"}
        put(shelf, f"{other}/codex.json", {"entities": [who]})
    with opened(shelf, "bible", "book1") as engine:
        pack = engine.assemble(query="钟声")
        assert "像bible那样写" in pack.contents["settings"]
        assert "book1" not in pack.contents["settings"]
        assert "## 角色：bible的人" in pack.contents["rules"]
        assert "book1" not in pack.contents["rules"]
        assert "## 角色：book1的人" in engine.assemble(query="book1的人是谁？").contents["retrieved"]
        assert [one.document for one in engine.summaries.refresh(lambda chapter: chapter.title)] == [
            "chapters/ch001.md",
            "chapters/ch003.md",
        ]


def test_another_folder_reads_nothing_outside_itself_and_names_no_place(shelf, tmp_path):
    put(tmp_path, "secret.md", "# 密码\n\n铜钥匙的密码是四九。\n")
    (shelf / "book1/link.md").symlink_to(tmp_path / "secret.md")
    put(
        shelf,
        "book1/armarius.toml",
        f'[documents]\nindex_dir = "{tmp_path}/out"\n[embedding]\nmodel = "{tmp_path}/m"\n',
    )
    with opened(shelf, "book1") as engine:
        pack = engine.assemble(query="铜钥匙的密码", budget=6000)
        assert "四九" not in pack.prompt
        assert codes(pack) == []
        assert [one.path for one in engine.status().skipped] == ["book1/link.md"]
        with pytest.raises(UnknownDocument):
            engine.document("book1/../../secret.md")
    assert not (tmp_path / "out").exists()


def test_another_folder_says_what_its_documents_are(shelf):
    put(shelf, "book1/armarius.toml", '[documents]\nexclude = ["outline.md"]\n')
    with opened(shelf, "book1") as engine:
        assert "book1/outline.md" not in {one.path for one in engine.documents()}
        put(shelf, "book1/armarius.toml", "[documents]\nexclude = 3\n")
        assert any("armarius.toml" in one for one in engine.assemble(query="老周").warnings)
        put(shelf, "book1/armarius.toml", "")
        assert codes(engine.assemble(query="老周")) == []
        assert "book1/outline.md" in {one.path for one in engine.documents()}


def test_a_document_of_another_folder_may_be_the_open_one(engine):
    path = "book1/chapters/ch003.md"
    text = engine.document(path).text + "\n钟停了。\n"
    pack = engine.assemble(query="老周说了什么？", document=path, text=text, cursor=len(text))
    assert "钟停了。<cursor/>" in pack.prompt.replace("\n", "")
    assert engine.assemble("续写", document=path).items
    assert engine.document(path) is engine.document(path)


def test_the_same_folders_give_the_same_bytes(shelf):
    prompts = set()
    for _ in range(2):
        with opened(shelf, "bible", "book1") as engine:
            prompts.add(engine.assemble(query="灯塔的钥匙在哪里？老周和林渡", document="chapters/ch003.md").prompt)
    assert len(prompts) == 1
