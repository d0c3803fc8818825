import json
import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.rows import rows

import armarius
from armarius.codex import Fact
from armarius.errors import CodexError
from armarius.io import folder_lock

PLACES = "test_a_page_is_changed_where_it_says_so_and_keeps_every_other_byte"


@pytest.fixture
def novel(tmp_path):
    (tmp_path / "人物.md").write_text(
        "## 林小雨\n- 别名：小雨\n- 描述：妹妹\n\n## 林默\n- 年龄：26\n", encoding="utf-8"
    )
    return tmp_path


def test_constraint_made_through_the_engine_is_in_the_next_prompt(novel):
    engine = armarius.open(novel)
    engine.constraints.create("不写旁人的心理", priority=2, id="pov")
    pack = engine.assemble(query="小雨")
    assert "constraint:user:pov" in pack.layers.rules.source
    assert "- 不写旁人的心理" in pack.prompt


def test_memory_made_through_the_engine_is_in_the_next_prompt(novel):
    engine = armarius.open(novel)
    engine.memories.create("作者爱用短句", id="short")
    assert "memory:semantic:short" in engine.assemble(query="小雨").layers.settings.source


def test_entity_made_through_the_engine_is_detected_in_the_next_prompt(novel):
    engine = armarius.open(novel)
    engine.codex.create("白鹭", aliases=["阿鹭"], type="character")
    assert engine.assemble(query="阿鹭").layers.retrieved.source[0] == "codex:detected:白鹭"
    engine.codex.delete("白鹭")
    assert "codex:detected:白鹭" not in engine.assemble(query="阿鹭").layers.retrieved.source


def test_an_entity_that_relations_need_is_deleted_with_them_or_not_at_all(novel):
    engine = armarius.open(novel)
    engine.codex.create("白鹭", aliases=["阿鹭"])
    engine.codex.relate("阿鹭", "林默", "邻居")
    with pytest.raises(CodexError, match="entity '白鹭' has 1 relation, which would lead nowhere: 白鹭 -邻居-> 林默; "):
        engine.codex.delete("白鹭")
    assert engine.codex.get("白鹭").aliases == ("阿鹭",)
    engine.codex.delete("白鹭", relations=True)
    assert engine.codex.relations() == ()
    assert engine.assemble(query="白鹭").warnings == ()


def test_what_a_profile_describes_too_keeps_its_relations(novel):
    engine = armarius.open(novel)
    engine.codex.update("林小雨", level="always", facts=["怕水"])
    engine.codex.relate("林小雨", "林默", "兄妹")
    engine.codex.delete("林小雨")
    assert [(one.source, one.target) for one in engine.codex.relations()] == [("林小雨", "林默")]
    assert engine.assemble(query="小雨").warnings == ()


SHEETS = "# 人物\n\n## 小雨\n\n- 年龄：16\n- 同学：阿三\n\n## 林默\n\n- 妹妹：小雨\n\n## 阿三\n\n- 年龄：9\n"
NEIGHBOURS = '{"source": "阿三", "target": "小雨", "type": "邻居"}'


@pytest.mark.parametrize(
    ("declared", "relations", "why"),
    [
        ("[]", False, "小雨 -妹妹-> 林默 (人物.md); unrelate them, or delete it with `relations`"),
        (f"[{NEIGHBOURS}]", True, "阿三 -邻居-> 小雨 (codex.json); delete them in codex.json first"),
        ("[]", True, ""),
    ],
)
def test_who_stands_in_relations_of_other_files_is_deleted_with_them_or_not_at_all(tmp_path, declared, relations, why):
    (tmp_path / "人物.md").write_text(SHEETS, "utf-8")
    (tmp_path / "codex.json").write_text(f'{{"entities": [], "relations": {declared}}}', "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        try:
            engine.codex.delete("小雨", relations=relations)
            said = ""
        except CodexError as error:
            said = str(error).removeprefix("entity '小雨' has 1 relation, which would lead nowhere: ")
        assert said == why
        assert (said != "") == ("小雨" in {one.id for one in engine.entities()})
        assert engine.assemble(query="林默").warnings == ()
        if not why:
            assert engine.codex.relations() == ()
            assert engine.codex.undo() == ("人物.md",)
            assert len(engine.codex.relations()) == 2


def test_the_last_edit_of_a_page_is_taken_back_with_all_that_it_changed(novel):
    page = novel / "人物.md"
    with armarius.open(novel, watch=False) as engine:
        assert engine.codex.undo() == ()
        engine.codex.relate("林小雨", "林默", "兄妹")
        records = (novel / ".armarius" / "codex.toml").read_bytes()
        before = page.read_bytes()
        engine.codex.delete("林小雨", relations=True)
        assert stat.S_IMODE((novel / ".armarius" / "undo.json").stat().st_mode) == 0o600
    with armarius.open(novel, watch=False) as engine:
        assert set(engine.codex.undo()) == {"人物.md", ".armarius/codex.toml"}
        assert (page.read_bytes(), (novel / ".armarius" / "codex.toml").read_bytes()) == (before, records)
        assert [one.type for one in engine.codex.relations()] == ["兄妹"]
        assert engine.codex.undo() == ()


def test_an_edit_of_a_page_that_was_saved_since_is_not_taken_back(novel):
    page = novel / "人物.md"
    with armarius.open(novel, watch=False) as engine:
        engine.codex.update("林默", level="never")
        saved = page.read_text("utf-8") + "- 住处：钟表铺\n"
        page.write_text(saved, "utf-8")
        with pytest.raises(armarius.errors.PageChanged, match=r"^人物\.md: changed meanwhile"):
            engine.codex.undo()
    assert page.read_text("utf-8") == saved


@pytest.mark.parametrize("path", ["../x.md", "/tmp/x.md", ".git/config", "a/../../x.md", "a/.git/config"])
def test_a_step_that_somebody_else_made_writes_nothing_outside_the_pages(novel, path):
    (novel / ".armarius").mkdir()
    (novel / ".armarius" / "undo.json").write_text(json.dumps({path: ["YQ==", None]}))
    with armarius.open(novel, watch=False) as engine, pytest.raises(CodexError, match=r"^\.armarius/undo\.json: "):
        engine.codex.undo()
    assert not (novel / ".git").exists()


def test_update_changes_the_page_in_its_place(novel):
    engine = armarius.open(novel)
    before = (novel / "人物.md").read_text("utf-8")
    assert engine.codex.update("林小雨", level="always").description == "妹妹"
    assert engine.assemble(query="无").layers.rules.source == ("kg:always:林小雨",)
    after = (novel / "人物.md").read_text("utf-8")
    assert after.replace("- 注入：总是\n", "") == before
    assert not (novel / ".armarius/codex.toml").exists()


@rows("codex_authored")
def test_a_page_is_changed_where_it_says_so_and_keeps_every_other_byte(tmp_path, page, who, changes, after):
    (tmp_path / "人物.md").write_bytes(page.encode())
    with armarius.open(tmp_path, watch=False) as engine:
        edit = engine.codex.preview(who, **changes)
        assert (edit.path, edit.after, (tmp_path / "人物.md").read_bytes()) == ("人物.md", after, page.encode())
        changed = engine.codex.update(who, expect=edit.digest, **changes)
        assert (tmp_path / "人物.md").read_bytes() == after.encode()
        assert engine.codex.get(who) == changed
        attributes = {key: value for key, value in changes.get("attributes", {}).items() if value}
        assert attributes.items() <= changed.attributes.items()


FORMS = [  # encoding, end of line, whether the last line has one
    ("utf-8", "\r", True),
    ("utf-8", "\r\n", False),
    ("utf-8-sig", "\r", False),
    ("utf-8-sig", "\r\n", True),
    ("utf-16", "\n", False),
    ("utf-16", "\r", True),
]


@pytest.mark.parametrize(("encoding", "end", "ended"), FORMS)
@rows("codex_authored", PLACES)
def test_a_page_keeps_its_encoding_its_mark_its_mode_and_the_ends_of_its_lines(
    tmp_path, page, who, changes, after, encoding, end, ended
):
    def written(text):
        text = text.replace("\r\n", "\n")
        return (text if ended else text.removesuffix("\n")).replace("\n", end).encode(encoding)

    path = tmp_path / "人物.md"
    path.write_bytes(written(page))
    path.chmod(0o640)
    with armarius.open(tmp_path, watch=False) as engine:
        engine.codex.update(who, **changes)
        assert path.read_bytes() == written(after)
        others = [one.name for one in engine.entities() if one.name != who]
        engine.codex.delete(who)
        assert [one.name for one in engine.entities()] == others
    text = path.read_bytes().decode(encoding)
    assert set(re.findall(r"\r\n|\r|\n", text)) == {end}
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_page_in_an_encoding_of_its_own_is_changed_in_it(tmp_path):
    page = "# 人物\n\n## 小雨\n\n- 年龄：16\n\n她的妹妹在渡口的小店里等着他们回来，一年又一年。\n"
    (tmp_path / "人物.md").write_bytes(page.encode("gb18030"))
    with armarius.open(tmp_path, watch=False) as engine:
        assert engine.codex.update("小雨", attributes={"年龄": "17"}).attributes == {"年龄": "17"}
        assert (tmp_path / "人物.md").read_bytes() == page.replace("16", "17").encode("gb18030")


def test_what_the_encoding_of_a_page_cannot_say_is_refused(tmp_path):
    page = "# Characters\n\n## Élodie Müller\n\n- Age: 16\n\nShe was born in a café near Besançon, où elle a vécu.\n"
    (tmp_path / "characters.md").write_bytes(page.encode("cp1252"))
    with armarius.open(tmp_path, watch=False) as engine:
        with pytest.raises(CodexError, match=r"^characters\.md: not written: its encoding cannot say that"):
            engine.codex.update("Élodie Müller", attributes={"Age": "十六"})
        assert (tmp_path / "characters.md").read_bytes() == page.encode("cp1252")
        assert engine.codex.update("Élodie Müller", attributes={"Age": "17"}).attributes == {"Age": "17"}


def test_a_page_that_would_be_larger_than_is_read_is_not_written(tmp_path):
    (tmp_path / "armarius.toml").write_text("[documents]\nmax_bytes = 200\n", "utf-8")
    (tmp_path / "人物.md").write_text("# 人物\n\n## 甲子\n- 年龄：60\n", "utf-8")
    before = (tmp_path / "人物.md").read_bytes()
    with armarius.open(tmp_path, watch=False) as engine:
        with pytest.raises(CodexError, match=r"^人物\.md: not written: more than 200 bytes are not read$"):
            engine.codex.update("甲子", attributes={"年龄": "六" * 99})
        assert [one.name for one in engine.entities()] == ["甲子"]
    assert (tmp_path / "人物.md").read_bytes() == before


@pytest.mark.parametrize("why", ["read-only", "it has a second hard link, which would keep the old text"])
def test_a_page_that_the_writer_protects_is_refused_with_the_reason(novel, why):
    page = novel / "人物.md"
    before = page.read_bytes()
    if why == "read-only":
        page.chmod(0o444)
    else:
        os.link(page, novel / "人物.bak")
    with armarius.open(novel, watch=False) as engine:
        for edit in (lambda: engine.codex.update("林默", level="never"), lambda: engine.codex.delete("林默")):
            with pytest.raises(armarius.errors.FileProtected, match=rf"^人物\.md: not written: {why}$") as refused:
                edit()
            assert refused.value.code == "FILE_PROTECTED"
    assert page.read_bytes() == before


def test_an_edit_waits_for_the_edit_of_another_process(novel):
    before = (novel / "人物.md").read_bytes()
    with armarius.open(novel, watch=False) as engine, ThreadPoolExecutor(1) as pool:
        engine.codex.get("林默")
        with folder_lock(novel / ".armarius", below=novel):
            edit = pool.submit(engine.codex.update, "林默", level="never")
            with pytest.raises(TimeoutError):
                edit.result(0.2)
            assert (novel / "人物.md").read_bytes() == before
        assert edit.result().level == "never"
    assert (novel / "人物.md").read_bytes() != before


def test_an_edit_is_made_of_what_an_editor_saves_meanwhile(novel, monkeypatch):
    page, plain = novel / "人物.md", os.fsync
    saved = page.read_text("utf-8").replace("26", "27") + "- 住处：钟表铺\n"

    def save(descriptor):
        plain(descriptor)
        if page.stat().st_ino == first:
            (novel / "draft").write_text(saved, "utf-8")
            (novel / "draft").rename(page)

    with armarius.open(novel, watch=False) as engine, page.open():  # while it is open no other file has its number
        engine.codex.get("林默")
        first = page.stat().st_ino
        monkeypatch.setattr(os, "fsync", save)
        changed = engine.codex.update("林默", description="修表的人")
    assert page.read_text("utf-8") == f"{saved}- 描述：修表的人\n"
    assert changed.attributes == {"年龄": "27", "住处": "钟表铺"}


@rows("codex_authored")
def test_what_a_page_cannot_say_is_a_record_over_it(tmp_path, page, who, changes):
    (tmp_path / "人物.md").write_bytes(page.encode())
    with armarius.open(tmp_path, watch=False) as engine:
        id_ = engine.codex.get(who).id
        edit = engine.codex.preview(who, **changes)
        engine.codex.update(who, **changes)
        assert (tmp_path / "人物.md").read_bytes() == page.encode()
        assert (edit.path, edit.after.strip() in (tmp_path / edit.path).read_text("utf-8")) == (
            ".armarius/codex.toml",
            True,
        )
        assert engine.codex.get(id_).id == id_


@pytest.mark.parametrize("control", ["\0", "\x07", "\x0c", "\x1b", "\x7f", "\r"])
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"description": "妹{}妹"}, "description"),
        ({"type": "人{}"}, "type"),
        ({"aliases": ["小雨", "雨{}"]}, r"aliases\[1\]"),
        ({"attributes": {"住处": "塔{}"}}, "attributes.住处"),
        ({"attributes": {"住{}处": "塔"}}, "attributes"),
        ({"facts": [Fact("怕{}水")]}, r"facts\[0\].text"),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_a_control_character_is_refused_by_the_name_of_its_field_and_the_page_is_as_it_was(
    novel, changes, field, control
):
    def put(value):
        if isinstance(value, dict):
            return {put(key): put(one) for key, one in value.items()}
        if isinstance(value, list):
            return [put(one) for one in value]
        return Fact(put(value.text)) if isinstance(value, Fact) else value.replace("{}", control)

    page = (novel / "人物.md").read_bytes()
    with armarius.open(novel, watch=False) as engine:
        for call in (engine.codex.update, engine.codex.preview, engine.codex.create):
            said = rf"^entity: {field}: holds the control character U\+00{ord(control):02X}"
            with pytest.raises(CodexError, match=said):
                call("林小雨" if call != engine.codex.create else "白鹭", **put(changes))
        assert [one.name for one in engine.entities()] == ["林小雨", "林默"]
    assert (novel / "人物.md").read_bytes() == page
    assert not (novel / ".armarius").exists()


def test_a_value_with_line_ends_of_windows_is_written_with_those_of_the_page(novel):
    with armarius.open(novel, watch=False) as engine:
        engine.codex.update("林默", description="哥哥。\r\n修表的人。")
    assert (novel / "人物.md").read_bytes().count(b"\r") == 0


EDITS = {  # a file that the user edits too, and what of ours writes it
    "armarius.toml": lambda engine: engine.set_kind("人物.md", "setting"),
    ".armarius/codex.toml": lambda engine: engine.codex.create("白鹭", description="来了"),
    ".armarius/memories.toml": lambda engine: engine.memories.create("多雨"),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_an_edit_replaces_keeps_its_mode_and_what_an_editor_saved_meanwhile(novel, monkeypatch, name):
    path, plain = novel / name, os.fsync
    path.parent.mkdir(exist_ok=True)
    path.write_text("# mine\n", "utf-8")
    path.chmod(0o640)
    saves = [lambda: path.write_text("# mine too\n", "utf-8")]

    def save(descriptor):
        plain(descriptor)
        if saves:
            saves.pop()()

    with armarius.open(novel, watch=False) as engine:
        engine.entities()
        monkeypatch.setattr(os, "fsync", save)
        EDITS[name](engine)
    text = path.read_text("utf-8")
    assert (text.startswith("# mine too\n"), len(text) > 12, stat.S_IMODE(path.stat().st_mode)) == (True, True, 0o640)


@pytest.mark.parametrize("name", EDITS)
def test_what_the_user_made_read_only_is_not_replaced(novel, name):
    path = novel / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("# mine\n", "utf-8")
    path.chmod(0o444)
    refused = pytest.raises(armarius.StoreError, match=r"not written: read-only$")
    with armarius.open(novel, watch=False) as engine, refused:
        EDITS[name](engine)
    assert path.read_text("utf-8") == "# mine\n"


def test_a_page_that_changed_meanwhile_is_not_written_over(novel):
    engine = armarius.open(novel)
    seen = engine.codex.preview("林默", level="never").digest
    page = (novel / "人物.md").read_text("utf-8") + "- 住处：钟表铺\n"
    (novel / "人物.md").write_text(page, "utf-8")
    with pytest.raises(CodexError, match=r"人物\.md: changed meanwhile, so nothing was written"):
        engine.codex.update("林默", level="never", expect=seen)
    assert (novel / "人物.md").read_text("utf-8") == page
    assert engine.codex.update("林默", level="never").attributes["住处"] == "钟表铺"


def test_a_field_is_written_where_it_stands_also_of_somebody_in_two_files(novel):
    declared = '{"entities": [{"id": "e1", "name": "林小雨", "aliases": ["雨丫头"], "level": "always"}]}'
    (novel / "codex.json").write_text(declared, "utf-8")
    with armarius.open(novel, watch=False) as engine:
        edit = engine.codex.preview("林小雨", description="守灯的人", attributes={"住处": "塔"})
        assert (edit.path, edit.also.path) == ("人物.md", ".armarius/codex.toml")
        assert edit.diff.count("守灯的人") == edit.diff.count("塔") == 1
        changed = engine.codex.update("林小雨", description="守灯的人", attributes={"住处": "塔"}, level="never")
        page, record = ((novel / one).read_text("utf-8") for one in (edit.path, edit.also.path))
        assert "- 描述：守灯的人\n" in page
        assert [word in record for word in ("描述", "守灯", "塔", "never")] == [False, False, True, True]
        assert (changed.id, changed.description, changed.attributes, changed.level) == (
            *("e1", "守灯的人"),
            {"住处": "塔"},
            "never",
        )
        assert engine.codex.update("林小雨", aliases=["小雨"]).aliases == ("小雨",)
        assert changed.overruled == ()


def test_a_record_made_over_a_page_holds_until_the_page_says_something_else(tmp_path):
    page = tmp_path / "人物.md"
    page.write_text("# 人物\n\n| 姓名 | 年龄 | 住处 |\n|---|---|---|\n| 甲子 | 60 | 塔 |\n| 乙丑 | 9 | 岸 |\n", "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        changed = engine.codex.update("甲子", attributes={"年龄": "61"})
        assert (changed.attributes["年龄"], [(one.value, one.by.path) for one in changed.overruled]) == (
            *("61", [("60", ".armarius/codex.toml")]),
        )
        page.write_text(page.read_text("utf-8").replace("60", "62"), "utf-8")
        assert engine.codex.get("甲子").attributes["年龄"] == "62"
        assert engine.codex.update("甲子", attributes={"年龄": "63"}).attributes["年龄"] == "63"


def test_list_has_everything_whoever_described_it(novel):
    engine = armarius.open(novel)
    engine.codex.create("白鹭")
    assert [entity.name for entity in engine.codex.list()] == ["林小雨", "林默", "白鹭"]


def test_entity_of_a_page_is_not_created_again_and_its_section_is_deleted(novel):
    engine = armarius.open(novel)
    with pytest.raises(CodexError, match=r"from 人物\.md:1; update it instead"):
        engine.codex.create("林小雨")
    engine.codex.delete("林小雨")
    assert (novel / "人物.md").read_text("utf-8").startswith("## 林默")
    with pytest.raises(KeyError):
        engine.codex.get("林小雨")
    with pytest.raises(KeyError):
        engine.codex.delete("无名")


def test_broken_file_is_a_warning_with_its_line_and_the_rest_is_in_the_prompt(novel):
    engine = armarius.open(novel)
    engine.memories.create("作者爱用短句", id="short")
    path = novel / ".armarius" / "memories.toml"
    path.write_text(path.read_text("utf-8") + "\n[[memory]]\nid = oops\n", "utf-8")
    pack = engine.assemble(query="小雨")
    line = path.read_text("utf-8").split("\n").index("id = oops") + 1
    assert any(f"CODEX_INVALID: .armarius/memories.toml: line {line}:" in warning for warning in pack.warnings)
    assert "memory:semantic:short" in pack.layers.settings.source


def test_folder_without_a_document_is_a_warning_that_names_it(tmp_path):
    (tmp_path / "empty").mkdir()
    engine = armarius.open(tmp_path / "empty")
    message = "PROJECT_EMPTY: empty: no document to read; is this the project folder?"
    assert engine.assemble(query="小雨").warnings == (message,)
    (tmp_path / "empty" / "人物.md").write_text("## 林默\n- 年龄：26\n", encoding="utf-8")
    assert engine.assemble(query="小雨").warnings == ()


@pytest.mark.parametrize("watch", [False, True])
def test_folder_that_has_gone_is_a_warning_that_says_so_and_no_place_of_the_machine(tmp_path, watch):
    folder = tmp_path / "was"
    folder.mkdir()
    (folder / "a.md").write_text("# 第一章\n\n白鹭来了。\n", encoding="utf-8")
    with armarius.open(folder, watch=watch) as engine:
        assert engine.assemble(query="白鹭").warnings == ()
        folder.rename(tmp_path / "elsewhere")
        warnings = engine.assemble(query="白鹭").warnings
        assert "PROJECT_EMPTY: was: the project folder is gone" in warnings
        assert not [warning for warning in warnings if str(tmp_path) in warning]


@pytest.mark.parametrize(
    "write",
    [
        lambda engine: engine.codex.create("白鹭"),
        lambda engine: engine.memories.create("多雨"),
        lambda engine: engine.constraints.create("不说破"),
        lambda engine: engine.update_budget_profile(engine.budget_profile(), version=1),
        lambda engine: engine.importing.add(
            b'{"entries": {"0": {"uid": 0, "key": ["a"], "content": "b"}}}', name="lore.json"
        ),
    ],
)
def test_writing_into_a_folder_that_has_gone_says_that_it_is_gone(tmp_path, write):
    folder = tmp_path / "was"
    folder.mkdir()
    (folder / "a.md").write_text("# 第一章\n\n白鹭来了。\n", encoding="utf-8")
    with armarius.open(folder, watch=False) as engine:
        folder.rename(tmp_path / "elsewhere")
        with pytest.raises(armarius.ProjectError, match=r"not written: the folder was is gone$") as refused:
            write(engine)
    assert (type(refused.value), refused.value.code) == (armarius.errors.ProjectGone, "PROJECT_GONE")
    assert not folder.exists()


def test_a_mentioned_entity_of_the_rules_is_not_listed_as_left_out(novel):
    engine = armarius.open(novel)
    engine.codex.update("林默", level="always")
    pack = engine.assemble(query="林默")
    assert "codex:detected:林默" not in pack.layers.retrieved.source
    assert "entity:林默" in {item.id for item in pack.items}
    assert "entity:林默" not in {item.id for item in pack.omitted}


@pytest.mark.parametrize("ends", [("没有甲", "林默"), ("林默", "没有乙")])
def test_a_relation_to_nobody_is_refused_and_nothing_is_written(novel, ends):
    with armarius.open(novel) as engine:
        with pytest.raises(CodexError, match="没有"):
            engine.codex.relate(*ends, "友")
        assert not (novel / ".armarius" / "codex.toml").exists()
        assert engine.assemble(query="林默").warnings == ()
