"""Every `>>>`, `$ armarius` and `$ printf` in the README and in docs/ is run, and its printed answer compared."""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.vectors.conftest import write_tiny

ROOT = Path(__file__).resolve().parents[2]
# A page in Chinese has the blocks of the English one, which are run.
PAIRS = {page: page.with_name(f"{page.stem}.zh.md") for page in (ROOT / "docs").glob("*.md")}
PAIRS = {ROOT / "README.md": ROOT / "README.zh.md"} | {one: other for one, other in PAIRS.items() if other.exists()}
PAGES = [ROOT / "README.md", *sorted({*(ROOT / "docs").glob("*.md")} - {*PAIRS.values()})]
QUICK_STARTS = ("start-repl", "start-writing-app", "start-agent", "start-command-line", "server")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: Path, language: str) -> str:
    return "\n".join(body for name, body in FENCE.findall(page.read_text(encoding="utf8")) if name == language)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the examples, so that a page may write; the index stays inside it. The model is a tiny stand-in."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    write_tiny(tmp_path / "models" / "text2vec-base-chinese")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.fixture
def started(page, folder, monkeypatch):
    """A server with tables for the page that shows how to use one; each test has tables of its own."""
    if "armarius server" not in blocks(page, "console"):
        yield
        return
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    from scripts.temporary_postgres import NotInstalled, TemporaryPostgres

    from armarius.cli import main

    try:
        running = TemporaryPostgres().start()
    except NotInstalled as why:
        pytest.skip(str(why))
    monkeypatch.setenv("ARMARIUS_DSN", running.dsn)
    assert main(["server", "migrate"]) == 0
    yield
    running.close()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_sessions_print_what_the_page_says(page, folder, started):
    if "ARMARIUS_DSN" in os.environ:
        from armarius.cli import main

        assert main(["server", "push", "examples/novel", "--project", "novel-1", "--tenant", "acme"]) == 0
    session = blocks(page, "python")
    if ">>>" not in session:
        return
    test = doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)
    output: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=output.append)
    assert not output, "".join(output)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_print_what_the_page_says(page, folder, started, capfd):
    for chunk in re.split(r"^\$ ", blocks(page, "console"), flags=re.MULTILINE):
        command, _, expected = chunk.partition("\n")
        if not command.startswith(("armarius ", "printf ")):
            continue
        status, said, complaint = run(command, capfd, alone=page.name == "README.md")
        said = re.sub(r" +$", "", said, flags=re.MULTILINE)
        assert status == 0, f"{page.name}: $ {command}\n{complaint}"
        if expected.strip():
            pattern = ".*".join(re.escape(part.strip()) for part in re.split(r"…|\.\.\.", expected.strip()))
            assert re.search(pattern, said, re.DOTALL), f"{page.name}: $ {command}\n{said}"


def run(command, capfd, *, alone):
    """Status, output and errors; a command of ours is run in this process unless a shell is needed, or `alone`."""
    if not alone and command.startswith("armarius ") and not set(command) & set("|<>;&$`"):
        from armarius.cli import main

        status = main(shlex.split(command)[1:])
        return status, *capfd.readouterr()
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment["PYTHONWARNINGS"] = "ignore::RuntimeWarning"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, env=environment, check=False, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("page", sorted(PAIRS), ids=lambda page: page.name)
def test_a_page_in_chinese_has_the_same_blocks(page):
    ours, theirs = (FENCE.findall(one.read_text(encoding="utf8")) for one in (page, PAIRS[page]))
    assert ours == theirs


def test_readme_and_quick_starts_are_there_in_chinese():
    assert {ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in QUICK_STARTS)} <= PAIRS.keys()


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r"[\w.-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf8")))
    assert listed == {page.name for page in (ROOT / "docs").glob("*.md")}


def test_the_index_links_every_page():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf8")
    linked = set(re.findall(r"\]\(([\w.-]+\.md)", index))
    assert linked == {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}


def test_the_readme_is_read_in_two_minutes():
    assert (ROOT / "README.md").read_text(encoding="utf8").count("\n") <= 100


@pytest.mark.parametrize("page", sorted({*PAGES, *PAIRS.values(), *ROOT.glob("*.md")}), ids=lambda page: page.name)
def test_links_lead_to_files_that_are_there(page):
    text = re.sub(r"^```.*?^```|^    .*?$|`[^`]*`", "", page.read_text(encoding="utf8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_files_that_contributors_are_sent_to_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf8")
    named = re.findall(r"\b(?:tests|docs|scripts|benches|examples)/[\w./-]*\w", text)
    assert len(named) > 5
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_generated_pages_say_what_the_code_says():
    script = [sys.executable, str(ROOT / "scripts" / "write_reference.py"), "--check"]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore::RuntimeWarning"}
    done = subprocess.run(script, capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
