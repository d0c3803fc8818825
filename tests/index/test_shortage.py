"""A machine that has run out of files says nothing about the folder: what was known stays, and that is said."""

import os
import resource
from contextlib import contextmanager
from pathlib import Path

import pytest

import armarius


@contextmanager
def no_more_files():
    """Nothing more can be opened by this process."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/proc/self/fd").iterdir())) + 20, before[1]))
    try:
        while True:
            try:
                held.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                break
        yield held
    finally:
        for one in held:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "novel"
    for number in range(12):
        path = root / f"part{number % 3}" / f"ch{number:02}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# 第{number + 1}章\n\n白鹭来了，又走了。\n", encoding="utf-8")
    (root / "codex.json").write_text('{"entities": [{"id": "bai", "name": "白鹭"}]}', encoding="utf-8")
    return root


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts its files in /proc")
@pytest.mark.parametrize("left", range(12))
def test_who_cannot_open_files_forgets_nothing_and_says_so_until_there_are_some_again(project, left):
    with armarius.open(project, watch=False) as engine:
        engine.constraints.create("白鹭不说话")
        before = engine.assemble("白鹭", budget=4000)
        with no_more_files() as held:
            for _ in range(left):
                os.close(held.pop())
            (project / "codex.json").touch()  # so that all is read again
            (project / ".armarius" / "constraints.toml").touch()
            while_short, status = engine.search("白鹭", limit=50), engine.status()
            prompt = engine.assemble("白鹭", budget=4000)
        assert len(while_short) == 12
        if left == 0:
            assert any("open files" in str(one) for one in status.warnings)
            assert any("open files" in str(one) for one in prompt.warnings)
        after = engine.assemble("白鹭", budget=4000)
        assert (after.prompt, after.warnings) == (before.prompt, ())
        assert engine.status().warnings == ()
        assert (engine.status().documents, engine.status().entities) == (12, 1)
