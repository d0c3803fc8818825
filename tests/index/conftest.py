from collections import Counter

import pytest

from armarius.index.derived import mentions_by_document
from armarius.index.project_index import ProjectIndex

PROFILES = (
    "# 人物\n\n## 林小雨\n\n- 类型：人物\n- 别名：小雨\n- 描述：林默的妹妹\n\n## 林默\n\n- 类型：人物\n- 描述：钟表匠\n"
)
NOVEL = {
    "chapters/ch001.md": "# 第一章 雨夜\n\n林默推开门，小雨站在雨里。\n\n钟停了。\n",
    "chapters/ch002.md": "# 第二章 钟楼\n\n林小雨没有说话。\n\n林默修好了钟。\n",
    "spec/people.md": PROFILES,
    "outline.md": "# 大纲\n\n- 第一章：雨夜\n- 第二章：钟楼\n",
}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def novel(tmp_path):
    root = tmp_path / "novel"
    for path, text in NOVEL.items():
        put(root, path, text)
    return root


@pytest.fixture
def index(novel, cache):
    with ProjectIndex.open(novel) as index:
        yield index


def counts_of(index, path):
    """Entity to number of mentions inside paragraphs, as the index holds them."""
    return mentions_by_document(index.store).get(path, Counter())


def put(root, path, content=""):
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return target
