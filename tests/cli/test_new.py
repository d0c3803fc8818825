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
    assert main(["new", str(tmp_path / "my-novel")]) == 0
    assert "my-novel" in capsys.readouterr().out
    with armarius.open(tmp_path / "my-novel", watch=False) as engine:
        assert engine.detect("小雨来了")[0].entity_id == "lin-xiaoyu"


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
    for typed, wanted in (("ass", "assemble"), ("search --lim", "--limit")):
        done = subprocess.run(["bash", "-c", ask.format(typed)], capture_output=True, text=True, check=True, timeout=30)
        assert wanted in done.stdout.split()
