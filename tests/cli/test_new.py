import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

import armarius
from armarius.cli import main

ROOT = Path(__file__).resolve().parents[2]


def tree(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_what_the_package_carries_is_the_example():
    assert tree(ROOT / "python/armarius/cli/starter") == tree(ROOT / "examples/novel")


def test_a_new_project_opens_and_answers(tmp_path, capsys):
    assert main(["new", str(tmp_path / "my-novel"), "--example"]) == 0
    assert "my-novel" in capsys.readouterr().out
    with armarius.open(tmp_path / "my-novel", watch=False) as engine:
        assert engine.detect("小雨来了")[0].entity_id == "lin-xiaoyu"


@pytest.mark.parametrize(
    ("language", "environment", "chapter"),
    [("zh", "C", "章节/第一章.md"), ("en", "zh_CN", "chapters/chapter-1.md"), (None, "zh_CN.UTF-8", "章节/第一章.md")],
)
def test_an_empty_book_has_its_pages_without_a_doubt_and_describes_nobody(
    tmp_path, capsys, monkeypatch, language, environment, chapter
):
    monkeypatch.setenv("LC_ALL", environment)
    assert main(["new", str(tmp_path / "mine"), *(["--language", language] if language else [])]) == 0
    assert chapter in capsys.readouterr().out
    with armarius.open(tmp_path / "mine", watch=False) as engine:
        assert not engine.entities()
        assert {one.kind for one in engine.documents()} == {"chapter", "outline", "setting", "note"}
        assert not engine.index.map.doubtful
        assert engine.assemble("续写", document=chapter).layers.retrieved.token_count == 0


@pytest.mark.parametrize(("language", "page"), [("zh", "人物.md"), ("en", "characters.md")])
def test_the_form_that_a_new_book_shows_is_read_as_it_stands(tmp_path, language, page):
    assert main(["new", str(tmp_path / "mine"), "--language", language]) == 0
    shown = tmp_path / "mine" / page
    shown.write_text(shown.read_text("utf-8").replace("<!--", "").replace("-->", ""), "utf-8")
    with armarius.open(tmp_path / "mine", watch=False) as engine:
        (one,) = engine.codex
        assert (one.level, list(one.attributes.values()), len(one.aliases)) == ("when_detected", ["16"], 1)
        assert one.description in {"守灯塔的姑娘，怕水。", "Keeps the lighthouse; afraid of water."}
        assert not engine.codex.problems()


@pytest.fixture
def served(monkeypatch):
    opened = []

    def serve(engine, *, port, browser, say, new_token):
        opened.append(engine.project_id)
        say("http://127.0.0.1:1/?token=t")

    monkeypatch.setattr("armarius.cli.starting.serve", serve)
    return opened


@pytest.mark.parametrize("words", [[], ["."], ["../novel"], ["studio"], ["style.md"], ["chapters/ch003.md"]])
def test_without_a_command_the_studio_opens_and_says_what_else_there_is(served, monkeypatch, capsys, words):
    monkeypatch.chdir(ROOT / "examples/novel")
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert (served, out) == (["novel"], "http://127.0.0.1:1/?token=t\n")
    assert [line.split()[:2] for line in err.splitlines()] == [["armarius", one] for one in ("doctor", "ask", "--help")]


def test_a_file_opens_the_book_that_it_is_of(served, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "me")
    book = tmp_path / "me" / "my book" / "小说.txt"
    book.parent.mkdir(parents=True)
    book.write_text("第一章\n\n白鹭来了。\n", "utf-8")
    assert main([str(book)]) == 0
    (tmp_path / "me" / ".git").mkdir()  # that the home is a repository makes it no book
    (tmp_path / "me" / "a.txt").write_text("x", "utf-8")
    assert main([str(book)]) == 0
    assert served == ["my book", "my book"]
    assert main([str(tmp_path / "me" / "a.txt")]) == 2
    assert "holds more than a book" in capsys.readouterr().err


@pytest.mark.parametrize("where", ["home", "above home", "no text"])
def test_outside_a_book_nothing_is_opened(served, monkeypatch, tmp_path, capsys, where):
    home = tmp_path / "above" / "me"
    home.mkdir(parents=True)
    (home / "a.md").write_text("some text", "utf-8")
    monkeypatch.setattr(Path, "home", lambda: home)
    (tmp_path / "bare").mkdir()
    monkeypatch.chdir({"home": home, "above home": home.parent, "no text": tmp_path / "bare"}[where])
    assert main([]) == 2
    assert "Which folder?" in capsys.readouterr().err
    assert served == []


def test_without_the_extra_the_door_says_what_there_is_and_how_to_get_it(monkeypatch, capsys):
    def missing(*_, **__):
        raise armarius.errors.MissingExtra("armarius.studio", "studio")

    monkeypatch.setattr("armarius.cli.starting.serve", missing)
    assert main(["examples/novel"]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("novel: 8 chapters, 18 people and things\n")
    assert "pip install 'armarius[studio]'" in err


@pytest.mark.parametrize("words", [["ask", "谁守灯塔"], ["find", "灯塔"], ["inspect"], ["evidence", "林默"]])
def test_a_command_takes_the_folder_that_one_stands_in(monkeypatch, capsys, words):
    monkeypatch.chdir(ROOT / "examples/novel")
    assert main(words) == 0
    assert main([words[0], ".", *words[1:]]) == 0


@pytest.mark.parametrize("command", ["ask", "find", "read", "retrieve", "subgraph"])
def test_a_folder_without_a_question_is_no_question(capsys, command):
    assert main([command, "examples/novel"]) == 2
    assert "arguments are required" in capsys.readouterr().err


@pytest.mark.parametrize("there", ["a folder", "a file"])
def test_what_is_there_is_never_written_over(tmp_path, capsys, there):
    target = tmp_path / "mine"
    if there == "a folder":
        target.mkdir()
        (target / "a.md").write_text("mine", encoding="utf-8")
    else:
        target.write_text("mine", encoding="utf-8")
    before = tree(tmp_path)
    assert main(["new", str(target)]) == 2
    assert "nothing was written" in capsys.readouterr().err
    assert tree(tmp_path) == before


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_every_command(capsys, shell):
    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert all(command in out for command in ("assemble", "evaluate", "--budget", "code-index"))


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes_a_command_and_an_option():
    script = ROOT / "python/armarius/cli/completions/armarius.bash"
    ask = (
        f"source {shlex.quote(str(script))}; COMP_WORDS=(armarius {{}}); COMP_CWORD=$((${{{{#COMP_WORDS[@]}}}}-1)); "
        "$(complete -p armarius | sed 's/.*-F \\([^ ]*\\).*/\\1/'); echo ${{COMPREPLY[@]}}"
    )
    for typed, wanted in (("ass", "assemble"), ("retrieve --lim", "--limit")):
        done = subprocess.run(["bash", "-c", ask.format(typed)], capture_output=True, text=True, check=True, timeout=30)
        assert wanted in done.stdout.split()
