"""The first answers over the channel's methods, while the files of a new project have not been read yet."""

import json
import threading

import pytest

import armarius
from armarius.index.source import FolderSource
from armarius.verbs import methods_of

PEOPLE = "# 人物\n\n## 林默\n\n- 注入：always\n- 性格：沉默\n\n## 林小雨\n\n- 性格：开朗\n"
CODEX = {
    "relations": [
        {"source": "林默", "target": "林小雨", "type": "父女"},
        {"source": "林默", "target": "无名氏", "type": "仇人"},
    ]
}
PIN = '[[pin]]\nid = "p"\ntarget = "{}"\n'
REQUEST = {"projectId": "", "documentId": "", "cursorPosition": 0, "skillId": "", "query": "林默是谁", "budget": 4000}
WRONG = {"CODEX_INVALID: codex.json: relations[1]: target: no entity with the id or name '无名氏'"}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Profiles in a page, relations in codex.json, a rule, and pins of somebody and of nobody."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "project"
    for path, text in {
        "settings/people.md": PEOPLE,
        "chapters/ch001.md": "# 第一章\n\n林默走进了灯塔。\n",
        "codex.json": json.dumps(CODEX, ensure_ascii=False),
        ".armarius/constraints.toml": '[[constraint]]\nid = "c"\ntext = "不写梦境"\n',
        ".armarius/pins.toml": PIN.format("林小雨") + "\n" + PIN.format("无此人").replace('"p"', '"q"'),
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return root


@pytest.fixture
def unread(monkeypatch):
    """No file is read before this is set; `begun` on it says that reading is to begin."""
    read, go_on = FolderSource.read, threading.Event()
    go_on.begun = threading.Event()

    def later(*arguments, **options):
        go_on.begun.set()
        go_on.wait(60)
        yield from read(*arguments, **options)

    monkeypatch.setattr(FolderSource, "read", later)
    yield go_on
    go_on.set()


def accusations(answer):
    return {one for one in answer["warnings"] if one.startswith(("CODEX_INVALID", "PIN_UNKNOWN"))}


def test_nobody_is_accused_before_the_files_have_been_read(project, unread):
    with armarius.open(project, watch=False, wait=False) as engine:
        call = methods_of(engine)
        status, answer = call["index:status"]({}), call["context:prompt:assemble"](REQUEST)
        assert status["state"] == "building"
        assert accusations(status) == accusations(answer) == set()
        assert any(one.startswith("INDEX_STALE: the index is being built") for one in answer["warnings"])
        assert answer["layers"]["rules"]["source"] == ["constraint:user:c"]
        unread.set()
        assert engine.index.wait(60)
        status, answer = call["index:status"]({}), call["context:prompt:assemble"](REQUEST)
        assert accusations(status) == WRONG
        assert accusations(answer) == WRONG | {"PIN_UNKNOWN: nothing is called '无此人' (pin q)"}
        assert not any(one.startswith("INDEX_STALE") for one in answer["warnings"])
        assert set(answer["layers"]["rules"]["source"]) == {"constraint:user:c", "kg:always:林默"}


def test_nobody_is_accused_after_a_build_that_was_cancelled(project, unread):
    with armarius.open(project, watch=False, wait=False) as engine:
        call = methods_of(engine)
        assert unread.begun.wait(60)
        engine.index.cancel()
        unread.set()
        assert engine.index.wait(60)
        status, answer = call["index:status"]({}), call["context:prompt:assemble"](REQUEST)
        assert status["state"] == "cancelled"
        assert accusations(status) == accusations(answer) == set()
        assert any(one.startswith("INDEX_STALE: building the index was cancelled") for one in answer["warnings"])


def test_an_index_that_is_opened_again_says_at_once_what_is_wrong(project):
    armarius.open(project, watch=False).close()
    with armarius.open(project, watch=False) as engine:
        assert accusations(methods_of(engine)["index:status"]({})) == WRONG
