import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import armarius
from armarius.cli import main

NOVEL = "examples/novel"


def run(capsys, *argv):
    status = main([str(word) for word in argv])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_assemble_prints_the_prompt_and_nothing_else(capsys):
    status, out, err = run(
        capsys, "assemble", NOVEL, "--query", "检查", "--document", "chapters/ch003.md", "--cursor", 9
    )
    pack = armarius.open(NOVEL).assemble(query="检查", document="chapters/ch003.md", cursor=9)
    assert (status, out) == (0, pack.prompt + "\n")
    assert err.startswith("Pack(")


def test_assemble_as_json_is_the_wire_form(capsys):
    status, out, err = run(capsys, "assemble", NOVEL, "--query", "小雨", "--json")
    wire = json.loads(out)
    assert (status, err) == (0, "")
    assert "小雨" in out
    assert wire["tokenCount"] > 0
    assert "codex:detected:lin-xiaoyu" in wire["layers"]["retrieved"]["source"]


def test_commands_take_bounds_and_other_wordings(capsys):
    out = run(capsys, "assemble", NOVEL, "--query", "检查第5章", "--as-of", 3, "--json")[1]
    assert [one["code"] for one in json.loads(out)["account"]["omitted"] if one["id"] == "request:chapter:5"] == [
        "timeline"
    ]
    found = json.loads(run(capsys, "retrieve", NOVEL, "灯塔", "--chapters", "-3", "--also", "白鹭洲的灯", "--json")[1])
    assert {hit["path"] for hit in found["hits"]} <= {f"chapters/ch00{n}.md" for n in (1, 2, 3)}
    assert found["also"] == ["白鹭洲的灯"]
    rows = json.loads(run(capsys, "find", NOVEL, "灯塔", "--kind", "outline", "--kind", "setting", "--json")[1])[
        "items"
    ]
    assert {row["kind"] for row in rows} == {"outline", "setting"}
    rows = json.loads(run(capsys, "find", NOVEL, "灯塔", "--as-of", 4, "--json")[1])["items"]
    assert max(row["chapter"] or 0 for row in rows) == 4
    said = run(capsys, "evidence", NOVEL, "林默", "--as-of", 6, "--json")[1]
    assert "钟表铺" in said
    assert "守灯塔" not in said


def test_commands_take_the_other_folders_of_a_series(capsys, tmp_path):
    (tmp_path / "book0/chapters").mkdir(parents=True)
    (tmp_path / "book0/chapters/ch001.md").write_text("# 第1章\n\n铜鱼沉在暗礁底下。\n", "utf8")
    series = ("--with", tmp_path / "book0")
    assert "铜鱼沉在暗礁底下" in run(capsys, "ask", NOVEL, "铜鱼在哪里？", *series)[1]
    assert "book0/chapters/ch001.md" in run(capsys, "retrieve", NOVEL, "铜鱼在哪里？", *series)[1]
    rows = json.loads(run(capsys, "find", NOVEL, "铜鱼", *series, "--as-of", 1, "--json")[1])["items"]
    assert rows[0]["path"] == "book0/chapters/ch001.md"
    assert json.loads(run(capsys, "find", NOVEL, "铜鱼", "--json")[1])["missing"] == ["铜鱼"]
    status, _, err = run(capsys, "assemble", NOVEL, "--query", "铜鱼", "--with", tmp_path / "none")
    assert (status, "SERIES_UNAVAILABLE: none" in err) == (0, True)
    status, _, err = run(capsys, "ask", NOVEL, "铜鱼", "--with", NOVEL)
    assert (status, "lie apart" in err) == (2, True)


def test_commands_take_what_an_editor_holds(capsys, tmp_path, monkeypatch):
    file = tmp_path / "buffer.md"
    file.write_text("# 第3章\n\n林默吹灭了灯。铃铛响了三声。\n", "utf8")
    place = ("--document", "chapters/ch003.md")
    out = run(capsys, "ask", NOVEL, "续写", *place, "--buffer", file, "--selection", "14-21", "--cursor", 21)[1]
    assert "林默吹灭了灯。<selection>铃铛响了三声。</selection><cursor/>" in out
    data = file.read_bytes()
    monkeypatch.setattr("sys.stdin", type("Piped", (), {"buffer": __import__("io").BytesIO(data)})())
    out = run(capsys, "ask", NOVEL, "续写", *place, "--buffer", "-", "--cursor", 21, "--no-marks", "--language", "en")[
        1
    ]
    assert "铃铛响了三声。" in out
    assert "<cursor/>" not in out
    assert "[Current document]" in out
    for wrong, said in (
        (("--selection", "9"), "no range"),
        (("--buffer", tmp_path / "none"), "--buffer"),
        (("--buffer", file, "--cursor", 999), "cursor"),
    ):
        status, _, err = run(capsys, "ask", NOVEL, "续写", *place, *wrong)
        assert (status, said in err) == (2, True), err
    (tmp_path / "latin.md").write_bytes("é".encode("latin-1"))
    assert "is not UTF-8 at byte 0" in run(capsys, "ask", NOVEL, "续写", "--buffer", tmp_path / "latin.md")[2]


def test_commands_pin_and_mute(capsys):
    wire = json.loads(
        run(
            capsys, "assemble", NOVEL, "--query", "续写", "--include", "chapters/ch006.md#1", "--exclude", "铜怀表",
            "--document", "chapters/ch001.md", "--json",
        )[1]
    )  # fmt: skip
    (pinned,) = [one for one in wire["account"]["items"] if one["source"] == "rag:passage:chapters/ch006.md#1"]
    assert (pinned["reason"], pinned["code"]) == ("此次请求固定了它", "pin.request")
    assert [one["reason"] for one in wire["account"]["omitted"] if one["reason"] == "此次请求屏蔽了它"]
    status, _, err = run(capsys, "ask", NOVEL, "续写", "--include", "无此人")
    assert (status, "无此人" in err) == (2, True)


def test_commands_take_a_conversation(capsys, tmp_path):
    file = tmp_path / "said.json"
    said = [{"role": "user", "content": "谁裁走了卷宗的第十八页？"}, {"role": "assistant", "content": "周远。"}]
    file.write_text(json.dumps(said), "utf8")
    _, out, _ = run(capsys, "ask", NOVEL, "他多大了？", "--messages", file, "--include-messages", 1)
    assert "## 角色：周远\n" in out
    assert "> 周远。" in out
    found = json.loads(run(capsys, "retrieve", NOVEL, "他多大了？", "--messages", file, "--json")[1])
    assert found["carried"] == ["follow-up: 他 → 周远, from turn 2"]
    assert "他 → 周远" in run(capsys, "inspect", NOVEL, "--query", "他多大了？", "--messages", file)[1]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (None, "said.json: not there"),
        (b"\xff", "is not UTF-8 at byte 0"),
        (b"{", "is no JSON"),
        (b'[{"role": "x", "content": ""}]', "messages[0].role: expected one of"),
    ],
)
def test_a_conversation_that_is_none_is_one_line(capsys, tmp_path, data, why):
    file = tmp_path / "said.json"
    if data is not None:
        file.write_bytes(data)
    status, _, err = run(capsys, "ask", NOVEL, "x", "--messages", file)
    assert status == 2
    assert why in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize("chapters", ["x", "1-2-3", "-", "", "1,2"])
def test_chapters_that_are_none_are_refused(capsys, chapters):
    status, _, err = run(capsys, "retrieve", NOVEL, "x", f"--chapters={chapters}")
    assert status == 2
    assert "no range of chapters" in err
    assert "later than the last" in run(capsys, "retrieve", NOVEL, "x", "--chapters", "4-1")[2]


def test_inspect_shows_layer_source_tokens_and_why(capsys):
    status, out, _ = run(capsys, "inspect", NOVEL, "--query", "小雨点跳上桌子", "--budget", 8000)
    assert status == 0
    for words in (
        "layer",
        "tokens",
        "林默 entity:林默",
        "小雨点",
        "问题提到“小雨点”",
        "omitted",
        "只是“小雨点”的一部分",
        "kept",
    ):
        assert words in out


def test_inspect_folds_what_did_not_match_unless_all_is_asked_for(capsys):
    folded = run(capsys, "inspect", NOVEL, "--query", "小雨")[1]
    full = run(capsys, "inspect", NOVEL, "--query", "小雨", "--all")[1]
    assert "more" in folded
    assert "entity:周远山" not in folded
    assert "entity:周远山" in full


def test_inspect_as_json_has_layers_and_no_prompt(capsys):
    _, out, _ = run(capsys, "inspect", NOVEL, "--query", "小雨", "--json")
    wire = json.loads(out)
    assert wire.keys() == {"layersDetail", "totals", "inspectMeta", "account"}
    assert wire["inspectMeta"]["requestedBy"] == "cli"


def test_inspect_writes_a_page(capsys, tmp_path):
    status, out, err = run(capsys, "inspect", NOVEL, "--query", "小雨", "--html", tmp_path / "report.html")
    assert (status, out) == (0, "")
    assert "report.html" in err
    assert "entity:lin-xiaoyu" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_detect_lists_entities_in_the_order_of_the_text_and_what_was_not_counted(capsys):
    status, out, _ = run(capsys, "detect", NOVEL, "--text", "小雨点推开门，林默跟着")
    assert status == 0
    assert out.index("小雨点") < out.index("林默")
    assert "not 林小雨: 小雨 at 0, inside 小雨点" in out


def test_detect_as_json_has_matches_with_positions(capsys):
    _, out, _ = run(capsys, "detect", NOVEL, "--text", "夜里小雨推开门", "--json")
    (match,) = json.loads(out)["matches"]
    assert (match["entityId"], match["matchedTerm"], match["position"]) == ("lin-xiaoyu", "小雨", 2)


def test_detect_prints_the_cards_of_an_english_book_in_english(tmp_path, capsys):
    (tmp_path / "ch001.md").write_text("# Chapter 1\n\nMara Lind kept the light.\n", "utf-8")
    (tmp_path / "characters.md").write_text("# Characters\n\n## Mara Lind\n- Age: 60\n", "utf-8")
    _, out, _ = run(capsys, "detect", tmp_path, "--text", "Mara Lind", "--cards")
    assert out.startswith("## Character: Mara Lind\n- Type: character\n")


def test_detect_as_cards_is_what_a_prompt_would_carry(capsys):
    _, out, _ = run(capsys, "detect", NOVEL, "--text", "小雨", "--cards")
    assert out.startswith("## 角色：林小雨\n- 类型：character\n- 描述：")


def test_detect_finds_nothing_and_says_so(capsys):
    assert run(capsys, "detect", NOVEL, "--text", "无人")[:2] == (0, "no entity is named\n")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["assemble", "no/such/folder"], "no/such/folder"),
        (["assemble", NOVEL, "--document", "x.md"], "'x.md'"),
        (["assemble", NOVEL, "--document", "../../etc/passwd"], "passwd"),
        (["assemble", NOVEL, "--document", "chapters/ch003.md", "--cursor=-7"], "-7"),
        (["assemble", NOVEL, "--document", "chapters/ch003.md", "--cursor", "-1"], "-1"),
        (["assemble", NOVEL, "--query", "x", "--budget", "3"], "3"),
        (["assemble", NOVEL, "--query", "x", "--budget", "-5"], "-5"),
        (["assemble", NOVEL, "--budget", "many"], "'many'"),
        (["inspect", NOVEL, "--html", "/no/such/place/report.html"], "report.html"),
        (["detect", NOVEL, "--text", ""], "--text is empty"),
        (["detect", NOVEL, "--text", "\udcff"], "--text is not UTF-8"),
        (["detect", NOVEL], "--text"),
        (["compose", NOVEL], "compose"),
    ],
    ids=lambda value: " ".join(value).encode("ascii", "replace").decode() if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_and_status_two(capsys, argv, message):
    status, out, err = run(capsys, *argv)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("armarius")
    assert message in err


def test_unexpected_error_is_a_line_and_not_a_traceback(capsys, monkeypatch):
    monkeypatch.setattr("armarius.cli.prompts.open_engine", lambda path, **_: 1 / 0)
    status, out, err = run(capsys, "assemble", NOVEL)
    assert (status, out) == (1, "")
    assert err.startswith("armarius: this should not happen: ZeroDivisionError: division by zero (set ARMARIUS_DEBUG=1")
    assert err.count("\n") == 1


def test_help_and_version_are_no_errors(capsys):
    assert run(capsys, "--version")[:2] == (0, f"armarius {armarius.__version__}\n")
    assert run(capsys, "assemble", "--help")[0] == 0


def test_command_runs_as_a_module_in_a_plain_locale():
    command = [sys.executable, "-W", "ignore", "-m", "armarius", "inspect", NOVEL, "--query", "-"]
    environment = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
    if subprocess.run([sys.executable, "-c", ""], capture_output=True, env=environment, check=False).returncode:
        pytest.skip("Python does not start: it reads the path of this checkout as ASCII")
    done = subprocess.run(command, input="小雨".encode(), capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "林默" in done.stdout.decode()


def test_closed_pipe_is_no_error():
    command = shlex.join(
        [sys.executable, "-W", "ignore", "-m", "armarius", "assemble", NOVEL, "--query", "x", "--json"]
    )
    shell = f"set -o pipefail; {command} | head -c 1"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{", b"")


def test_bytes_on_standard_input_that_are_not_utf8_are_one_line():
    command = [sys.executable, "-W", "ignore", "-m", "armarius", "detect", NOVEL, "--text", "-"]
    done = subprocess.run(command, input=b"\xff\xfe", capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr == b"armarius: standard input for --text is not UTF-8 at byte 0\n"


def test_json_of_assemble_and_inspect_carries_every_reason(capsys):
    for command in ("assemble", "inspect"):
        assert (
            main([command, "examples/novel", "--query", "小雨点是谁", "--document", "chapters/ch003.md", "--json"]) == 0
        )
        account = json.loads(capsys.readouterr().out)["account"]
        assert account["counter"]
        assert {"id", "layer", "source", "tokens", "title", "reason", "span"} <= account["items"][0].keys()
        assert all(gone["reason"] for gone in account["omitted"])


def test_html_report_marks_mentions_and_is_written_beside_json(capsys, tmp_path):
    report = tmp_path / "report.html"
    words = ["inspect", "examples/novel", "--query", "小雨点是谁", "--html", str(report)]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["totals"]["tokenCount"] > 0
    assert '<mark title="小雨点">小雨点</mark>' in report.read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_html_report_is_not_written_through_a_link(capsys, tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "report.html").symlink_to(tmp_path / "mine")
    status, out, err = run(capsys, "inspect", NOVEL, "--query", "小雨", "--html", tmp_path / "report.html")
    assert (status, out) == (2, "")
    assert "report.html: not written: symbolic link" in err
    assert (tmp_path / "mine").read_text() == "mine"


def test_doctor_says_what_assemble_would_refuse(capsys, tmp_path):
    (tmp_path / "a.md").write_text("# 第一章\n\n话说。\n", encoding="utf-8")
    (tmp_path / "armarius.toml").write_text("[project]\nfoo = 1\n", encoding="utf-8")
    assert main(["doctor", str(tmp_path)]) == 1
    assert "project.foo" in capsys.readouterr().out


def test_doctor_of_an_empty_folder_asks_whether_it_is_the_right_one(capsys, tmp_path):
    assert main(["doctor", str(tmp_path)]) == 1
    assert "is this the project folder?" in capsys.readouterr().out


ECHO = """
import sys
sys.stderr.write("asked")
print('["周远把第十八页交给林默"]' if "missing" in sys.stdin.read() else "")
"""
WORDED = "who handed over the missing sheet"


def python(code):
    """A command line that runs a piece of Python."""
    return shlex.join([sys.executable, "-c", code])


def test_ask_prints_the_prompt_and_nothing_else(capsys):
    status, out, err = run(capsys, "ask", NOVEL, "检查第3章", "--budget", 4000, "--as-of", 3)
    assert (status, err) == (0, "")
    assert out == armarius.open(NOVEL).assemble("检查第3章", budget=4000, as_of=3).prompt + "\n"


def test_ask_asks_a_command_of_the_users_for_other_wordings(capfd):
    assert main(["ask", NOVEL, WORDED, "--budget", "2000"]) == 0
    assert "chapters/ch005.md" not in capfd.readouterr().out
    assert main(["ask", NOVEL, WORDED, "--budget", "2000", "--reword", python(ECHO)]) == 0
    said = capfd.readouterr()
    assert "chapters/ch005.md" in said.out
    assert said.err == "asked"  # what the command has to say is the user's to read


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import sys; sys.exit(3)", "ended with status 3"),
        ("pass", "the reply holds no wording"),
        ("import time; time.sleep(60)", "did not end within 0.3 s"),
        ("while True: print('x' * 1000)", "wrote more than"),
    ],
)
def test_a_command_that_fails_is_a_warning_beside_the_prompt(capsys, code, why):
    status, out, err = run(
        capsys, "ask", NOVEL, WORDED, "--budget", 2000, "--reword", python(code), "--reword-timeout",
        0.3 if "sleep" in code else 30,
    )  # fmt: skip
    assert (status, out) == (0, run(capsys, "ask", NOVEL, WORDED, "--budget", 2000)[1])
    assert err.startswith("! REWORDING_UNAVAILABLE: ")
    assert why in err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["x", "--reword", "no-such-program-anywhere"], "no program 'no-such-program-anywhere'"),
        (["x", "--reword", ""], "the command is empty"),
        (["x", "--reword", "'x"], "No closing quotation"),
        (["x", "--reword-timeout", "0"], "--reword-timeout must be"),
        ([" "], "the question is empty"),
    ],
)
def test_ask_refuses_what_it_cannot_do(capsys, words, why):
    status, out, err = run(capsys, "ask", NOVEL, *words)
    assert (status, out) == (2, "")
    assert why in err


def test_no_program_of_the_project_is_run_for_other_wordings(capsys, tmp_path, monkeypatch):
    (tmp_path / "ch001.md").write_text("# 第一章\n\n灯。\n", encoding="utf-8")
    (tmp_path / "llm").write_text("#!/bin/sh\ntouch ran\n", encoding="utf-8")
    (tmp_path / "llm").chmod(0o755)
    (tmp_path / "armarius.toml").write_text("[assembly]\nreword = 'llm'\n", encoding="utf-8")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}.")
    monkeypatch.chdir(tmp_path)
    assert "no program 'llm'" in run(capsys, "ask", tmp_path, "灯", "--reword", "llm")[2]
    run(capsys, "ask", tmp_path, "灯")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["imprt", "x"], "'imprt' is no command, folder or file; near it: import (see"),
        (["zzzz"], "'zzzz' is no command, folder or file (see armarius --help)"),
        (["x" * 5000], "is no command, folder or file (see armarius --help)"),
        (["examples/novl"], "'examples/novl' is no command, folder or file; near it: examples/novel (see"),
        (["exmples/novel/chapters"], "near it: examples (see"),
        (["examples/novel/chapters/ch03.md"], "near it: examples/novel/chapters/ch003.md, "),
        (["doctor", "examples/novl"], "there is no such folder; near it: examples/novel"),
        (["import", "x", "--into", "y", "--jsn"], "unrecognized arguments: --jsn; near it: --json"),
        (["export", "x", "--as", "sillytaverm"], "unknown: 'sillytaverm'; near it: sillytavern"),
        (["trust", "x", "--revke"], "unrecognized arguments: --revke; near it: --revoke"),
    ],
)
def test_an_unknown_command_option_or_choice_is_one_line_with_the_near_one(words, said, capsys):
    assert main(words) == 2
    line = capsys.readouterr().err
    assert said in line
    assert line.count("\n") == 1


def test_doctor_says_that_the_stored_profile_is_damaged(capsys, tmp_path):
    (tmp_path / "notes.md").write_text("# One\n\nIt rained.\n", encoding="utf-8")
    (tmp_path / ".armarius").mkdir()
    (tmp_path / ".armarius" / "budget.json").write_text('{"x"', encoding="utf-8")
    assert main(["doctor", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "! .armarius/budget.json: not a budget profile: " in out
    assert "no errors" not in out


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes the streams")
@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&-"])
@pytest.mark.parametrize(
    ("command", "status"),
    [("index {}", 0), ("find {} 林默", 0), ("embed {} --model lexical", 0), ("find {} ' '", 2)],
)
def test_a_command_without_console_does_its_work(tmp_path, command, status, closed):
    (tmp_path / "a.md").write_text("# 一\n\n林默来了。\n", "utf8")
    words = command.format(shlex.quote(str(tmp_path)))
    program = f"exec {shlex.quote(sys.executable)} -W ignore -m armarius {words} {closed}"
    done = subprocess.run(program, shell=True, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stdout + done.stderr
    assert "armarius: " not in done.stdout  # nothing of standard error is among the results


@pytest.mark.parametrize(
    "words", [[".", "沈砚秋", "灯塔"], ["沈砚秋", "灯塔"], ["沈砚秋", "灯塔", "--kind", "chapter"]]
)
def test_a_query_is_as_many_words_as_there_are_wherever_the_folder_is_left_out(capsys, monkeypatch, words):
    monkeypatch.chdir(NOVEL)
    kind = words[words.index("--kind") :] if "--kind" in words else []
    for command in ("find", "retrieve", "ask"):
        asked = run(capsys, command, *words)
        assert asked == run(capsys, command, ".", "沈砚秋 灯塔", *kind)
        assert (asked[0], bool(asked[1])) == (0, True)
    assert run(capsys, "evidence", ".", "Élodie", "Moreau") == run(capsys, "evidence", "Élodie Moreau")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["find", "novl", "who", "waits"], "'novl' is no folder; near it: novel; or quote the query"),
        (["ask", "nvoel/", "fox"], "'nvoel' is no folder; near it: novel; or quote the query (see"),
        (["ask", "far-away/", "fox"], "'far-away' is no folder; or quote the query (see"),
        (
            ["find", "../examples/novl", "who", "waits"],
            "'../examples/novl' is no folder; near it: ../examples/novel; or quote the query (see",
        ),
        (["find", "far/novel", "who", "waits"], "'far/novel' is no folder; or quote the query (see"),
        (["find", "novel"], "required: query"),
        (["assemble", "novel", "--query", "check", "chapter", "3"], "chapter 3; quote a text of several words"),
    ],
)
def test_a_misspelt_folder_is_no_word_of_a_query(capsys, monkeypatch, words, said):
    monkeypatch.chdir(Path(NOVEL).parent)
    status, out, told = run(capsys, *words)
    assert (status, out) == (2, "")
    assert said in told


def test_find_shows_sentences_with_their_lines_and_read_opens_them(capsys):
    status, out, _ = run(capsys, "find", NOVEL, "档案馆 第十八页")
    row = next(one for one in out.splitlines() if one.startswith("chapters/ch003.md:11 "))
    assert (status, "“我去了档案馆。”小雨说" in row) == (0, True)
    assert row.partition(" ¶5 ")[2] in run(capsys, "read", NOVEL, "chapters/ch003.md", "--lines", "10-12")[1]
    assert run(capsys, "find", NOVEL, "宇宙飞船")[1] == "nowhere: 宇宙飞船\n"


def test_the_question_for_summaries_is_printed_and_its_reply_is_kept(capsys, tmp_path, monkeypatch):
    folder = shutil.copytree(NOVEL, tmp_path / "novel")
    status, question, _ = run(capsys, "summaries", folder, "--limit", 1)
    assert (status, json.loads(run(capsys, "summaries", folder, "--limit", 1, "--json")[1])["items"][0]["text"]) == (
        0,
        question.rstrip("\n"),
    )
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO('{"summary": "怀表停了。"}'.encode())))
    assert "怀表停了。" in run(capsys, "summaries", folder, "--limit", 1, "--reply", "-")[1]
    assert run(capsys, "summaries", folder, "--limit", 1)[1] != question
    (tmp_path / "useless").write_text("sorry", "utf-8")
    status, out, told = run(capsys, "summaries", folder, "--limit", 1, "--reply", tmp_path / "useless")
    assert (status, out, "expected JSON like" in told) == (0, "", True)
