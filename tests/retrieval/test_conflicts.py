"""What is said of one attribute, and nothing that is said of another."""

import os
import subprocess
import sys

import pytest

import armarius

from .conftest import write

TOWN = {
    "chapters/第一章.md": (
        "# 第一章 潮声\n\n砚青正在擦灯。她用左手按着灯罩，缺了一截的小指从来不碰玻璃。\n\n"
        "顾砚青今年三十二岁，一双眼睛黑得像井水，看人时一动不动。\n"
    ),
    "chapters/第二章.md": "# 第二章 归船\n\n砚青提着灯下楼，砚青没有说话。船靠岸的时候，砚青先看见了帆。\n",
    "spec/人物.md": (
        "# 人物\n\n## 顾砚青\n\n- 类型：人物\n- 年龄：二十七岁\n- 眼睛：灰色\n- 描述：左手缺一截小指，爱喝凉茶。\n\n"
        "## 罗九\n\n- 类型：人物\n- 描述：船夫。\n"
    ),
}


@pytest.fixture
def town(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    with armarius.open(write(tmp_path / "town", TOWN), watch=False) as engine:
        yield engine


def test_a_short_name_that_is_found_in_the_text_is_a_name_to_ask_by(town):
    assert [one.entity_id for one in town.detect("砚青")] == [one.id for one in town.entities() if one.name == "顾砚青"]
    assert town.evidence("砚青", attribute="年龄") == town.evidence("顾砚青", attribute="年龄") != []


def test_the_table_of_evidence_is_the_same_in_every_process(town):
    shown = set()
    for seed in ("1", "2", "5"):
        command = [sys.executable, "-m", "armarius", "evidence", str(town.root), "顾砚青"]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        shown.add(subprocess.run(command, capture_output=True, env=environment, check=True).stdout)
    assert len(shown) == 1
    assert "年龄".encode() in shown.pop()
