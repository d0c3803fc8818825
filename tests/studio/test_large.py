"""A project of 3,000 files: how much stands in a page, and what work it does not do."""

import asyncio
import os
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from tests.studio.test_looked import settled
from tests.studio.test_pages import BASE, client, engine

import armarius

pytest.importorskip("starlette", reason="armarius[studio]")
from starlette.testclient import TestClient

from armarius.studio.app import _sse_events, build_app

assert client, engine  # fixtures
CHAPTERS, PEOPLE, LONG = 2_500, 500, 350_000
MOST_BYTES, MOST_ELEMENTS, MOST_ROWS = 300_000, 5_000, 600
FIRST, SECOND = "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张", "雨明子浩欣若天静文海春秋山林石云月星风雪川谷松"


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    root = tmp_path_factory.mktemp("large") / "长夜"
    (root / "chapters").mkdir(parents=True)
    (root / "people").mkdir()
    names = [f"{family}{name}{SECOND[at - 1]}" for family in FIRST for at, name in enumerate(SECOND)][:PEOPLE]
    assert len(names) == PEOPLE
    for name in names:
        (root / "people" / f"{name}.md").write_text(f"# {name}\n\n- 住处：江城\n\n{name}常去码头。\n", encoding="utf-8")
    says = "{}走进了院子，看着窗外的雨。{}没有说话，只把灯点上，想起了去年的旧事。江上只有一盏灯，夜色很深。\n\n"
    for number in range(1, CHAPTERS + 1):
        text = says.format(names[number % len(names)], names[7 * number % len(names)])
        whole = text * (LONG // len(text)) if number == CHAPTERS else text * 2
        (root / "chapters" / f"{number:04}.md").write_text(f"# 第{number}章 夜行\n\n{whole}", encoding="utf-8")
    assert (root / "chapters" / f"{CHAPTERS}.md").stat().st_size > 1_000_000
    with armarius.open(root, watch=False, index_dir=root.parent / "index") as engine:
        client = TestClient(build_app(engine, "secret", 8123), base_url=BASE)
        client.get("/?token=secret&lang=zh")
        yield client, engine


def test_the_question_for_a_model_is_made_while_the_inbox_is_read(client, engine, monkeypatch):
    made, real = [], type(engine).understanding_request
    monkeypatch.setattr(type(engine), "understanding_request", lambda self: made.append(1) or real(self))
    client.get("/inbox")
    settled(SimpleNamespace(now=lambda: None))
    assert "GROUPS" in client.get("/question").text
    assert len(made) == 1


def test_every_view_of_3000_files_is_below_300_kb_and_has_few_rows(large):
    client, engine = large
    who = quote(engine.entities()[0].id, safe="")
    for path in (
        *("/", "/chapter/chapters/1000.md", f"/chapter/chapters/{CHAPTERS}.md?cursor=170000", "/entities", "/notes"),
        *(f"/entity/{who}", f"/card/{who}", "/inbox", "/question", f"/search?words={quote('码头')}", "/bring"),
    ):
        page = client.get(path)
        rows = page.text.partition('<nav id="binder"')[2].partition("</nav>")[0].count("<li>")
        assert (page.status_code, len(page.content) < MOST_BYTES, page.text.count("</") < MOST_ELEMENTS) == (
            *(200, True, True),
        ), path
        assert rows < MOST_ROWS, path
    page = client.get(f"/chapter/chapters/{CHAPTERS}.md?cursor=170000").text
    assert (page.count('id="later"><a'), page.count('id="earlier"><a')) == (1, 1)


def test_a_page_opens_no_file_for_each_chapter(large, monkeypatch):
    client, _ = large
    client.get("/")
    opened, real = [], os.open
    monkeypatch.setattr(os, "open", lambda *path, **how: opened.append(path[0]) or real(*path, **how))
    client.get("/")
    assert len(opened) < CHAPTERS // 10


def test_the_events_count_no_rows(large, monkeypatch):
    _, engine = large
    status = engine.index.status()
    moment = (status.state, status.generation, status.progress.done, status.progress.total)
    assert engine.index.moment() == moment
    monkeypatch.setattr(type(engine.index), "status", lambda index: pytest.fail("counts all rows"))

    async def connected():
        return False

    request = SimpleNamespace(is_disconnected=connected)
    assert asyncio.run(anext(_sse_events(engine, request))) == f'data: ["ready", {", ".join(map(str, moment[1:]))}]\n\n'
