"""The one question to a host's model: its text, its replies however written, what is applied and what stays out."""

import asyncio
import json
import tomllib
from pathlib import Path

import pytest
from tests.steps import steps

import armarius
from armarius.cli import main
from armarius.errors import ArmariusError, ConfigError, ContractError
from armarius.mcp.tools import understand
from armarius.text.chat import read_answers
from armarius.verbs import methods_of

CASES = json.loads((Path(__file__).parents[1] / "cases/replies.json").read_text("utf-8"))
PROSE = "林默推开门，走进钟楼。阿默没有说话，沈青笑道：“走。”\n\n他等了很久，看着守夜人。\n"
FILES = {
    **{f"正文/第{n}章.md": f"# 第{n}章 钟楼\n\n{PROSE * 8}" for n in range(1, 5)},
    **{f"正文/第{n}章_旧.md": f"# 第{n}章 钟楼\n\n{PROSE * 8}" for n in range(1, 5)},
    "杂/一.md": "随手记的话。\n",
    "杂/README.md": "杂记。\n",
    "设定/人物.md": "# 人物\n\n## 沈青\n\n- 年龄：16\n\n## 守夜人\n\n- 职业：更夫\n\n## 简单描述\n\n说明。\n",
    "设定/名册.md": "| 序 | 谁 | 代号 |\n|---|---|---|\n| 1 | 陈立 | 乌鸦 |\n| 2 | 五 | 王 |\n| 3 | 六 | |\n",
    "日记/私.md": "不给人看的话。\n",
    "style.md": "句子要短。api_key = sk-abcdefghij0123456789\n",
    ".story/状态.md": "林默在钟楼。\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / "novel" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "novel" / name).write_text(text, "utf-8")
    return tmp_path / "novel"


@pytest.fixture
def engine(folder, tmp_path):
    with armarius.open(folder, watch=False, index_dir=tmp_path / "index") as engine:
        yield engine


def config(folder):
    return (folder / "armarius.toml").read_text("utf-8")


def number_of(request, name):
    """The number of a group in a request."""
    return next(line.partition(".")[0] for line in request.text.split("\n") if f". {name}" in line)


def proposed(engine, reply):
    return {(one.about, one.name): one.says for one in engine.understanding_request().parse(reply)}


def test_the_question_has_the_files_in_groups_the_people_and_how_the_story_begins(engine):
    request = engine.understanding_request()
    assert "正文/第#章 [4] now chapter" in request.text
    assert "杂/ [2]" in request.text
    assert "UNREAD .story/ 1" in request.text
    assert "TABLE 设定/名册.md: columns 序 | 谁 | 代号, 3 rows" in request.text
    assert "沈青" in request.text
    assert request.tokens == armarius.TokenCounter.for_encoding("o200k_base").count(request.text) <= 6_000
    assert json.loads(json.dumps(request)) == list(request)


def test_the_question_never_exceeds_its_tokens(tmp_path):
    for n in range(700):
        path = tmp_path / f"部{n % 90}/{'长名' * 8}{n * 7919 % 1000}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# 标题{n}\n\n## 人物{n}\n\n{'很长的话。' * 60}", "utf-8")
    with armarius.open(tmp_path, watch=False, index_dir=tmp_path / ".armarius/index") as engine:
        assert 1_000 < engine.understanding_request().tokens <= 6_000


def test_no_request_holds_secrets_or_what_the_project_keeps_to_itself(engine, folder):
    assert "sk-abcdefghij0123456789" not in engine.understanding_request().text
    assert "日记" in engine.understanding_request().text
    (folder / "armarius.toml").write_text('[model]\nnever = ["日记/**"]\n', "utf-8")
    assert "日记" not in engine.understanding_request().text
    (folder / "armarius.toml").write_text("[model]\nalways = 1\n", "utf-8")
    with pytest.raises(ConfigError, match=r"model\.always"):
        armarius.open(folder, watch=False)


def test_a_model_is_asked_once_and_what_it_says_is_written_only_on_consent(engine, folder):
    asked = []

    def model(messages):
        asked.append(messages)
        return json.dumps(
            {"files": [{"path": "杂/**", "kind": "setting"}], "people": [{"name": "林默", "aliases": ["阿默"]}]}
        )

    found = engine.understand(model, model_name="qwen-x")
    assert not (folder / "armarius.toml").exists()
    assert engine.understand(model).model == "qwen-x"
    assert len(asked) == 1
    (folder / "新.md").write_text("新的一份。", "utf-8")
    engine.understand(model)
    assert len(asked) == 2
    found.apply()
    assert '"杂/**" = "setting"  # proposed by qwen-x' in config(folder)
    assert engine.document("杂/一.md").kind == "setting"
    assert engine.entity("阿默").name == "林默"


async def test_a_coroutine_is_awaited_where_the_caller_waits(engine):
    loops = []

    async def model(messages):
        loops.append(asyncio.get_running_loop())
        return '{"about": {"form": "novel"}}'

    assert len(await engine.aunderstand(model)) == 1
    assert loops == [asyncio.get_running_loop()]


def test_errors_of_a_model_reach_the_caller(engine):
    with pytest.raises(ContractError, match="no JSON"):
        engine.understand(lambda _: "I cannot help with that.")
    with pytest.raises(ContractError, match="neither callable"):
        engine.understand(3)
    with pytest.raises(ArmariusError, match="no reply within"):
        engine.understand(lambda _: __import__("time").sleep(0.5), timeout_s=0.01)
    with pytest.raises(ZeroDivisionError):
        engine.understand(lambda _: 1 / 0)


def test_what_is_proposed_is_a_guess_that_keeps_nothing_out_and_a_line_of_the_user_goes_before_it(engine, folder):
    (folder / "armarius.toml").write_text('[documents]  # mine\n"style.md" = "note"\n', "utf-8")
    engine.understanding_request().parse(
        '{"files": [{"path": "杂/一.md", "kind": "tool"}, {"path": "style.md", "kind": "tool"}]}', model="m"
    ).apply()
    files = {one.path: one for one in engine.map()}
    assert (files["杂/一.md"].kind, files["杂/一.md"].declared, files["杂/一.md"].is_guessed) == ("tool", False, True)
    assert files["style.md"].kind == "note"
    assert '[documents]  # mine\n"style.md" = "note"\n' in config(folder)
    assert "随手记的话" in engine.assemble("随手记的话").prompt


def test_a_later_reply_replaces_an_earlier_one_and_nothing_else(engine, folder):
    (folder / "armarius.toml").write_text("# mine\n[budget]\ntokens = 7000\n", "utf-8")
    for kind in ("setting", "outline"):
        engine.understanding_request().parse(json.dumps({"files": [{"path": "杂/一.md", "kind": kind}]})).apply()
    assert tomllib.loads(config(folder)) == {
        "budget": {"tokens": 7000}, "proposed": {"documents": {"杂/一.md": "outline"}},
    }  # fmt: skip
    assert config(folder).startswith("# mine\n[budget]\n")


def test_what_a_later_reply_does_not_speak_of_stays_proposed(engine, folder):
    for reply in (
        {"files": [{"path": "杂/一.md", "kind": "setting"}], "same": [["沈青", "守夜人"]], "no_names": ["简单描述"]},
        {"files": [{"path": "style.md", "kind": "tool"}]},
    ):
        engine.understanding_request().parse(json.dumps(reply)).apply()
    assert tomllib.loads(config(folder))["proposed"] == {
        "documents": {"杂/一.md": "setting", "style.md": "tool"},
        "people": {"沈青": ["守夜人"], "no_names": ["简单描述"]},
    }


def test_two_entries_of_one_person_are_one(engine, folder):
    said = {"people": [{"name": "林默", "aliases": ["阿默"]}], "same": [["沈青", "守夜人"], ["沈青", "林默"]]}
    engine.understanding_request().parse(json.dumps(said)).apply()
    assert tomllib.loads(config(folder))["proposed"]["people"]["沈青"] == ["守夜人", "林默"]


def test_what_a_person_took_out_stays_out(engine, folder):
    reply = '{"files": [{"path": "杂/一.md", "kind": "setting"}, {"path": "style.md", "kind": "tool"}]}'
    found = engine.understanding_request().parse(reply)
    del found[[one.name for one in found].index("style.md")]
    found.apply()
    again = engine.understanding_request().parse(reply)
    assert [one.name for one in again] == ["杂/一.md"]
    assert any("was taken out before" in one for one in again.refused)
    (folder / "armarius.toml").write_text("", "utf-8")
    assert list(engine.understanding_request().parse(reply)) == []


def test_what_is_applied_twice_stays(engine, folder):
    reply = json.dumps({
        "about": {"form": "novel", "unit": "章"}, "people": [{"name": "林默", "aliases": ["阿默"]}],
        "people_tables": [{"path": "设定/名册.md", "name": "谁", "aliases": ["代号"]}], "no_names": ["简单描述"],
        "files": [{"path": "杂/一.md", "kind": "setting"}], "same": [["沈青", "守夜人"]], "read": [".story/"],
    })  # fmt: skip
    engine.understanding_request().parse(reply).apply()
    first = config(folder)
    engine.understanding_request().parse(reply).apply()
    assert config(folder) == first
    names = {one.name: one.aliases for one in engine.codex.list()}
    assert names["陈立"] == ("乌鸦",)
    assert "守夜人" in names["沈青"]
    assert "简单描述" not in names
    assert engine.document(".story/状态.md")


def test_the_preview_names_the_people_of_a_table_and_the_files_that_would_be_read(engine):
    reply = json.dumps({
        "people_tables": [{"path": "设定/名册.md", "name": "谁", "aliases": ["代号"]}], "read": [".story/"],
    })  # fmt: skip
    before = {entity.name for entity in engine.entities()}
    proposals = engine.understanding_request().parse(reply)
    by_name = {proposal.about: proposal for proposal in proposals}
    assert by_name["read"].enters == (".story/状态.md",)
    assert (by_name["read"].files, "enters: .story/状态.md" in str(proposals)) == (1, True)
    proposals.apply()
    new = {entity.name for entity in engine.entities()} - before
    assert set(by_name["table"].enters) == {f"card {name}" for name in new}
    assert new
    assert engine.document(".story/状态.md")


def test_an_apply_that_fails_writes_nothing(engine, folder):
    before = 'proposed = {documents = {"style.md" = "note"}}\n'
    (folder / "armarius.toml").write_text(before, "utf-8")
    with pytest.raises(ConfigError):
        engine.understanding_request().parse('{"about": {"form": "novel"}}').apply()
    assert config(folder) == before


def test_the_lines_can_be_written_by_hand(engine, folder):
    (folder / "armarius.toml").write_text(
        '[documents]\n"正文/*_旧.md" = {kind = "chapter", edition = "archive"}\n"正文/第2章.md" = {place = "last"}\n'
        '[people]\n"沈青" = ["守夜人"]\nno_names = ["简单描述"]\n[project]\nform = "novel"\n',
        "utf-8",
    )
    files = {one.path: one for one in engine.map()}
    assert files["正文/第1章_旧.md"].edition == "archive"
    assert engine.index.map.story()[-1] == "正文/第2章.md"
    assert [one.name for one in engine.codex.list()] == ["沈青"]
    for wrong in ('"a" = {kind = "essay"}', '"a" = {edition = "x"}', '"a" = {place = "x"}', '"a" = {}', '"a" = 3'):
        (folder / "armarius.toml").write_text(f"[documents]\n{wrong}\n", "utf-8")
        with pytest.raises(ConfigError, match=r"documents\.a"):
            armarius.open(folder, watch=False)


def test_an_exception_is_kept_though_it_is_nothing_new(engine, folder):
    engine.set_kind("杂/README.md", "tool")
    (folder / "armarius.toml").write_text("", "utf-8")
    reply = '{"kinds": {"杂/README.md": "tool", "杂/**": "setting"}}'
    engine.understanding_request().parse(reply).apply()
    kinds = {one.path: one.kind for one in engine.map()}
    assert (kinds["杂/README.md"], kinds["杂/一.md"]) == ("tool", "setting")


def test_a_group_is_answered_by_its_number_and_no_other_file_is_hit(engine, folder):
    request = engine.understanding_request()
    before = {one.path: one.kind for one in engine.map()}
    request.parse(json.dumps({"files": [{"g": int(number_of(request, "正文/第#章_旧")), "kind": "review"}]})).apply()
    after = {one.path: one.kind for one in engine.map()}
    assert {path for path in before if before[path] != after[path]} == {path for path in FILES if "_旧" in path}


def test_a_proposal_says_what_enters_and_leaves_prompts(engine, folder):
    found = engine.understanding_request().parse('{"files": [{"path": "正文/第?章.md", "kind": "tool"}]}')
    assert found[0].leaves == tuple(f"正文/第{n}章.md" for n in range(1, 5))
    assert "hides" in found[0].warning


def test_an_alias_of_one_that_is_said_to_be_the_same_is_no_other_persons(engine, folder):
    engine.codex.update(engine.entity("守夜人").id, aliases=["阿默"])
    said = {"people": [{"name": "沈青", "aliases": ["守夜人", "阿默"]}], "same": [["沈青", "守夜人"]]}
    found = engine.understanding_request().parse(json.dumps(said, ensure_ascii=False))
    assert (found[0].name, found[0].says, found.refused) == ("沈青", "one with 守夜人", ())


def test_what_cannot_be_read_is_refused(engine, folder):
    (folder / "尾声.md").write_bytes(b"\0\1\2" * 99)
    found = engine.understanding_request().parse('{"read": ["尾声.md", "正文/**"]}')
    assert (list(found), found.refused) == ([], ("尾声.md: is no text that can be read",))


def test_of_a_key_that_the_question_would_cut_nothing_is_sent(engine, folder):
    key = "0123456789abcdef" * 4
    (folder / "杂/二.md").write_text(f"{'钟声。' * 72}\n\n{key}\n", "utf-8")
    engine.refresh()
    sent = engine.understanding_request().text
    assert "钟声" in sent
    assert key[:6] not in sent


@pytest.mark.parametrize("case", CASES["names"], ids=lambda one: one["says"])
def test_a_name_must_be_a_name_that_stands_in_the_texts(engine, case):
    found = engine.understanding_request().parse(json.dumps({"people": case["people"]}, ensure_ascii=False))
    assert {one.name: one.lines[0][2] for one in found} == case["kept"]
    assert bool(found.refused) == case["refused"]


@pytest.mark.parametrize("case", CASES["replies"], ids=lambda one: one["says"])
def test_what_is_whole_in_a_reply_is_taken_and_what_is_not_is_said(engine, case):
    request = engine.understanding_request()
    reply = case["reply"]
    if isinstance(reply, str):
        reply = reply.replace("<杂>", number_of(request, "杂/"))
    if case.get("error"):
        with pytest.raises(ContractError, match=case["error"]):
            request.parse(reply)
        return
    found = request.parse(reply)
    assert {one.name: one.says for one in found} == case["taken"]
    assert found.cut == case.get("cut", False)
    assert len(found.refused) == case.get("refused", 0) + found.cut


def test_what_was_asked_of_models_is_in_one_list(folder, tmp_path):
    def reword(messages):
        raise OSError("no network")

    with armarius.open(folder, watch=False, index_dir=tmp_path / "index", reword=reword) as engine:
        engine.understand(lambda _: '{"about": {"form": "novel"}}')
        engine.retrieve("钟楼里有谁？")
        first, second = engine.model_log()
        assert (first.about, first.outcome) == ("understand", "1 proposal")
        assert first.asked == engine.understanding_request().tokens
        assert first.replied > 0
        assert (second.about, second.outcome, second.replied) == ("reword", "OSError", 0)


def test_what_no_request_may_hold_is_in_none(engine, folder):
    assert engine.summaries.request("正文/第1章.md")
    (folder / "armarius.toml").write_text('[model]\nnever = ["正文/第1章.md", "设定/**"]\n', "utf-8")
    with pytest.raises(ContractError, match="never"):
        engine.summaries.request("正文/第1章.md")
    assert engine.summaries.cost().chapters == len(engine.index.map.story()) - 1
    assert "沈青" not in engine.rewording_request("谁推开了门？").text
    assert "沈青" in engine.summaries.request("正文/第2章.md").text  # the chapter's own words
    assert "守夜人 (" not in engine.summaries.request("正文/第2章.md").text
    assert "更夫" not in engine.understanding_request().text
    assert "PEOPLE known: nobody" in engine.understanding_request().text


@pytest.mark.parametrize("text", ['{"a":', "[1,", "{", "'", '["a" x', "[{'", "/*{"])
def test_no_reply_costs_more_steps_than_grow_with_its_length(text):
    once, twice = (steps(lambda n=n: read_answers(text * n)) for n in (2_000, 4_000))
    assert twice < 2.2 * once


def test_a_reply_to_another_question_is_refused_on_every_wire(engine, folder, tmp_path):
    reply = '{"files": [{"g": 1, "kind": "setting"}]}'
    (tmp_path / "reply.txt").write_text(reply, "utf-8")
    before, methods = engine.understanding_request().hash, methods_of(engine)
    assert methods["project:understand:parse"]({"reply": reply, "hash": before})["items"]
    (folder / "一本新的.md").write_text("# 新\n\n新的一份。\n", "utf-8")
    for ask in (
        lambda: engine.understanding_request().parse(reply, hash=before),
        lambda: methods["project:understand:parse"]({"reply": reply, "hash": before}),
        lambda: methods["project:understand:apply"]({"reply": reply, "hash": before}),
        lambda: [*understand(engine, reply=reply, hash=before)],
    ):
        with pytest.raises(ContractError, match="files have changed since the question"):
            ask()
    assert main(["understand", str(folder), "--reply", str(tmp_path / "reply.txt"), "--hash", before]) == 2
    assert not (folder / "armarius.toml").exists()


def test_what_a_person_says_yes_to_is_a_line_of_theirs(engine, folder):
    own = '# mine\n[documents]\n"杂/一.md" = "note"\n\n[people]\n"沈青" = ["青儿"]\n'
    (folder / "armarius.toml").write_text(own, "utf-8")
    engine.understanding_request().parse('{"about": {"form": "novel"}}').apply()
    reply = json.dumps({
        "files": [{"path": "杂/**", "kind": "setting"}, {"path": "style.md", "kind": "tool", "place": "last"}],
        "same": [["沈青", "守夜人"]], "no_names": ["简单描述"], "read": [".story/"], "about": {"unit": "章"},
    })  # fmt: skip
    methods_of(engine)["project:understand:apply"]({"reply": reply, "model": "m", "declared": True})
    said = tomllib.loads(config(folder))
    assert said["documents"] == {
        "read": [".story/**"], "杂/一.md": "note", "杂/**": "setting", "style.md": {"kind": "tool", "place": "last"},
    }  # fmt: skip
    assert said["people"] == {"no_names": ["简单描述"], "沈青": ["青儿", "守夜人"]}
    assert (said["project"], said["proposed"]) == ({"unit": "章"}, {"project": {"form": "novel"}})
    assert config(folder).startswith("# mine\n")
    files = {one.path: one for one in engine.map()}
    assert (files["杂/README.md"].kind, files["杂/README.md"].declared) == ("setting", True)
    assert files["杂/一.md"].kind == "note"
    assert {one.about for one in engine.understanding_request().parse(reply)} <= {"read"}


def test_names_that_are_words_of_the_file_break_no_apply(engine, folder):
    (folder / "read").write_text("tables 和 read 都是人名。\n", "utf-8")
    (folder / "杂/二.md").write_text("tables 来了，read 也来了，no_names 没有来。\n", "utf-8")
    said = {
        "people": [{"name": one} for one in ("tables", "no_names", "read")],
        "files": [{"path": "read", "kind": "tool"}],
    }
    found = engine.understanding_request().parse(json.dumps(said))
    assert [one for one in found.refused if "word of armarius.toml" in one] == [
        "'tables': a word of armarius.toml", "'no_names': a word of armarius.toml",
    ]  # fmt: skip
    found.apply()
    found.apply()
    assert engine.entity("read").name == "read"
    assert tomllib.loads(config(folder))["proposed"]["people"] == {"read": []}


def test_the_channel_the_command_line_and_mcp_ask_and_apply(engine, folder, tmp_path, capsys):
    methods = methods_of(engine)
    asked = methods["project:understand:request"]({})
    assert asked["text"] == engine.understanding_request().text
    assert asked["hash"] == engine.understanding_request().hash
    reply = '{"files": [{"path": "杂/一.md", "kind": "setting"}], "about": {"form": "novel"}}'
    told = methods["project:understand:parse"]({"reply": reply, "model": "m"})
    assert [one["name"] for one in told["items"]] == ["form", "杂/一.md"]
    assert not (folder / "armarius.toml").exists()
    methods["project:understand:apply"]({"reply": reply, "model": "m", "without": ["form"]})
    assert tomllib.loads(config(folder)) == {"proposed": {"documents": {"杂/一.md": "setting"}}}
    with pytest.raises(ContractError, match="no proposal"):
        methods["project:understand:apply"]({"reply": reply, "without": ["nothing"]})
    assert any("GROUPS" in line for line in understand(engine))
    assert "Proposed 1 line" in next(iter(understand(engine, reply='{"about": {"form": "novel", "unit": "章"}}')))
    (tmp_path / "reply.txt").write_text(reply, "utf-8")
    assert main(["understand", str(folder)]) == 0
    assert "GROUPS" in capsys.readouterr().out
    assert main(["understand", str(folder), "--reply", str(tmp_path / "reply.txt"), "--apply", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["items"]
    assert main(["understand", str(folder), "--apply"]) == 2
    assert main(["understand", str(folder), "--reply", str(tmp_path / "none.txt")]) == 2


def test_a_line_that_is_proposed_again_stays_before_the_pattern_and_keeps_its_model(tmp_path):
    for name in ("一", "二", "三"):
        (tmp_path / "库").mkdir(exist_ok=True)
        (tmp_path / "库" / f"{name}库.md").write_text(f"# {name}\n\n- 词条：{name}\n- 用处：写作\n", "utf-8")
    with armarius.open(tmp_path, watch=False, index_dir=tmp_path.parent / "index") as engine:
        both = {"files": [{"path": "库/*库.md", "kind": "summary"}, {"path": "库/一库.md", "kind": "template"}]}
        engine.understanding_request().parse(json.dumps(both), model="m").apply()
        again = {"files": [{"path": "库/一库.md", "kind": "template"}, {"path": "库/二库.md", "kind": "outline"}]}
        engine.understanding_request().parse(json.dumps(again), model="m2").apply()
        assert {file.path: file.kind for file in engine.map()} == {
            "库/一库.md": "template", "库/二库.md": "outline", "库/三库.md": "summary",
        }  # fmt: skip
        text = (tmp_path / "armarius.toml").read_text("utf-8")
        assert '"库/*库.md" = "summary"  # proposed by m\n' in text
        assert '"库/二库.md" = "outline"  # proposed by m2\n' in text


def test_a_broken_configuration_refuses_proposals_and_a_reply_that_gives_nothing_is_not_kept(tmp_path):
    (tmp_path / "a.md").write_text("# A\n\nMara lit the lamp.\n", "utf-8")
    with armarius.open(tmp_path, watch=False, index_dir=tmp_path.parent / "index") as engine:
        found = engine.understanding_request().parse('[{"path": "a.md"}]')
        assert (len(found), found.refused) == (0, ("a.md: no kind, edition or place is given",))
        assert not (tmp_path / ".armarius" / "understanding.toml").exists()
        found = engine.understanding_request().parse('{"about": {"form": "novel"}}')
        assert str(found) == "project: form: – -> novel"
        (tmp_path / "armarius.toml").write_text("[x\n", "utf-8")
        with pytest.raises(armarius.ConfigError, match=r"armarius\.toml"):
            found.apply()
