import json
import shutil
import signal
import subprocess
import sys
import threading

import pytest

from armarius.cli import main


@pytest.fixture
def novel(tmp_path):
    shutil.copytree("examples/novel", tmp_path / "novel")
    return tmp_path / "novel"


def run(capsys, command, novel, *words):
    status = main([command, str(novel), *words, "--index-dir", str(novel.parent / "index")])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_index_says_what_it_holds(capsys, novel):
    status, out, err = run(capsys, "index", novel)
    assert (status, err) == (0, "")
    assert "documents" in out
    assert json.loads(run(capsys, "index", novel, "--json")[1])["state"] == "ready"


@pytest.mark.parametrize("folder", ["index", "novel/.armarius/index"])
def test_an_index_folder_is_relative_to_where_the_shell_stands(capsys, novel, monkeypatch, folder):
    monkeypatch.chdir(novel.parent)
    assert main(["index", "novel", "--index-dir", folder]) == 0
    assert list((novel.parent / folder / "armarius-index").glob("novel-*/index.sqlite"))
    assert not (novel / folder).exists()
    assert main(["doctor", "novel", "--index-dir", folder]) == 0
    assert f"index: {novel.parent / folder}" in capsys.readouterr().out


@pytest.mark.parametrize("folder", ["", " ", "a\0b"])
def test_an_index_folder_that_is_no_path_is_refused(capsys, novel, folder):
    assert main(["index", str(novel), "--index-dir", folder]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_doctor_finds_nothing_wrong_with_a_sound_project(capsys, novel):
    status, out, _ = run(capsys, "doctor", novel)
    assert status == 0
    assert out.endswith("no errors\n")


def test_doctor_names_a_faulty_entry(capsys, novel):
    (novel / "codex.json").write_text('{"entities": [{"name": "林默", "aliases": 3}]}', encoding="utf-8")
    status, out, _ = run(capsys, "doctor", novel)
    assert status == 1
    assert "codex.json: entities[0] ('林默'): aliases: expected a list of strings, got a number" in out


@pytest.mark.parametrize("command", ["index", "doctor"])
def test_folder_that_is_none_is_one_line_and_status_two(capsys, novel, command):
    status, out, err = run(capsys, command, novel / "nowhere")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "nowhere" in err


def test_watch_follows_a_save_until_interrupted(novel):
    words = ["watch", str(novel), "--index-dir", str(novel.parent / "index")]
    # A shell that starts the tests in the background has its children ignore the interrupt.
    start = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    start += "from armarius.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-W", "ignore", "-c", start, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as child:
        patience = threading.Timer(60, child.kill)
        patience.start()
        try:
            before = child.stdout.readline()
            (novel / "chapters" / "ch008.md").write_text("# 第八章 尾声\n\n林默点灯。\n", encoding="utf-8")
            after = child.stdout.readline()
            child.send_signal(signal.SIGINT)
            assert child.wait() == 0
        finally:
            patience.cancel()
            child.kill()
    assert int(after.split()[0]) == int(before.split()[0]) + 1


def test_retrieve_lists_documents_best_first(capsys):
    assert main(["retrieve", "examples/novel", "检查第3章的角色一致性"]) == 0
    assert capsys.readouterr().out.startswith("chapters/ch003.md\n")


def test_retrieve_explains_every_hit(capsys):
    assert main(["retrieve", "examples/novel", "林默的父亲是谁", "--explain"]) == 0
    out = capsys.readouterr().out
    assert "spec/characters.md#林渡" in out
    assert "父亲" in out


def test_retrieve_takes_the_current_chapter(capsys):
    assert main(["retrieve", "examples/novel", "上一章", "--chapter", "3", "--explain"]) == 0
    assert "上一章: 2" in capsys.readouterr().out
    assert main(["retrieve", "examples/novel", "上一章", "--explain"]) == 0
    assert "the current chapter is not known" in capsys.readouterr().out


def test_retrieve_as_json_carries_understanding_and_evidence(capsys):
    assert main(["retrieve", "examples/novel", "林默的父亲是谁", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["understanding"]["entities"] == ["林默"]
    assert found["hits"][0]["evidence"][0]["kind"]


def test_evidence_lists_what_is_said_with_its_source(capsys):
    assert main(["evidence", "examples/novel", "林小雨", "--attribute", "特征", "--json"]) == 0
    assert "spec/characters.md" in {said["path"] for said in json.loads(capsys.readouterr().out)}


def test_evidence_of_an_unknown_name_is_one_line_and_status_two(capsys):
    assert main(["evidence", "examples/novel", "无名氏"]) == 2
    assert capsys.readouterr().err == "armarius: no entity is called '无名氏'\n"


def test_retrieve_explained_says_what_was_read_from_which_words(capsys):
    assert main(["retrieve", "examples/novel", "林小雨的父亲在第3到4章做了什么", "--explain"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "第3到4章: 3, 4" in shown
    assert "父亲: parent" in shown
    assert "林小雨 (lin-xiaoyu)" in shown
    assert "False" not in shown


def test_evidence_without_an_attribute_shows_what_is_disputed(capsys):
    assert main(["evidence", "examples/novel", "林小雨", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {one["path"] for one in said if "wound" in one["attributes"]} == {"spec/characters.md", "chapters/ch003.md"}


def test_detect_says_from_what_a_name_is_derived(capsys):
    assert main(["detect", "examples/novel", "--text", "远山来了"]) == 0
    assert "远山: derived: given name of 周远山" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["channel", "serve"])
@pytest.mark.parametrize(
    "words",
    [("--store", "postgresql://u:p@127.0.0.1:9/db", "--tenant", "acme"), ("--store", "foo"), ("--tenant", "acme")],
)
def test_a_folder_and_a_server_at_once_are_refused(capsys, novel, command, words):
    if command == "serve":
        pytest.importorskip("mcp.server", reason="the mcp extra is not installed")
    assert main([command, str(novel), *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"armarius: {words[0]} is of projects on a server; leave out the folder {novel}, or {words[0]}\n"
    )
