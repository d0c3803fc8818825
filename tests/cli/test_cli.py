import json
import subprocess
import sys

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


def test_inspect_shows_layer_source_tokens_and_why(capsys):
    status, out, _ = run(capsys, "inspect", NOVEL, "--query", "小雨点跳上桌子", "--budget", 8000)
    assert status == 0
    for words in (
        "layer",
        "tokens",
        "kg:always:林默",
        "codex:detected:小雨点",
        "query: 小雨点",
        "omitted",
        "shadowed",
        "kept",
    ):
        assert words in out


def test_inspect_folds_what_did_not_match_unless_all_is_asked_for(capsys):
    folded = run(capsys, "inspect", NOVEL, "--query", "小雨")[1]
    full = run(capsys, "inspect", NOVEL, "--query", "小雨", "--all")[1]
    assert "more" in folded
    assert "codex:detected:周远山" not in folded
    assert "codex:detected:周远山" in full


def test_inspect_as_json_has_layers_and_no_prompt(capsys):
    _, out, _ = run(capsys, "inspect", NOVEL, "--query", "小雨", "--json")
    wire = json.loads(out)
    assert wire.keys() == {"layersDetail", "totals", "inspectMeta", "account"}
    assert wire["inspectMeta"]["requestedBy"] == "cli"


def test_inspect_writes_a_page(capsys, tmp_path):
    status, out, err = run(capsys, "inspect", NOVEL, "--query", "小雨", "--html", tmp_path / "report.html")
    assert (status, out) == (0, "")
    assert "report.html" in err
    assert "codex:detected:lin-xiaoyu" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_detect_lists_entities_in_the_order_of_the_text_and_what_was_not_counted(capsys):
    status, out, _ = run(capsys, "detect", NOVEL, "--text", "小雨点推开门，林默跟着")
    assert status == 0
    assert out.index("小雨点") < out.index("林默")
    assert "not 林小雨: 小雨 at 0, inside 小雨点" in out


def test_detect_as_json_has_matches_with_positions(capsys):
    _, out, _ = run(capsys, "detect", NOVEL, "--text", "夜里小雨推开门", "--json")
    (match,) = json.loads(out)["matches"]
    assert (match["entityId"], match["matchedTerm"], match["position"]) == ("lin-xiaoyu", "小雨", 2)


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
        (["assemble", NOVEL, "--document", "chapters/ch003.md", "--cursor", "99999"], "99999"),
        (["assemble", NOVEL, "--document", "chapters/ch003.md", "--cursor", "-1"], "-1"),
        (["assemble", NOVEL, "--query", "x", "--budget", "3"], "3"),
        (["assemble", NOVEL, "--query", "x", "--budget", "-5"], "-5"),
        (["assemble", NOVEL, "--budget", "many"], "'many'"),
        (["inspect", NOVEL, "--html", "/no/such/place/report.html"], "report.html"),
        (["detect", NOVEL, "--text", ""], "--text is empty"),
        (["detect", NOVEL, "--text", "\udcff"], "--text is not UTF-8"),
        (["detect", NOVEL], "--text"),
        (["compose", NOVEL], "compose"),
        ([], "command"),
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
    monkeypatch.setattr("armarius.cli.assembling.open_engine", lambda path, **_: 1 / 0)
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
    done = subprocess.run(command, input="小雨".encode(), capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "林默" in done.stdout.decode()


def test_closed_pipe_is_no_error():
    shell = f"set -o pipefail; {sys.executable} -W ignore -m armarius assemble {NOVEL} --query x --json | head -c 1"
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
        assert {"id", "layer", "source", "tokens", "evidence"} <= account["items"][0].keys()
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
