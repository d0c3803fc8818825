"""The studio without a browser: what is answered to whom, and what a change writes."""

import json
import os
import re
import shutil
import socket
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

import armarius

pytest.importorskip("starlette", reason="armarius[studio]")
from starlette.testclient import TestClient

from armarius.errors import ArmariusError, ContractError
from armarius.io import folder_lock
from armarius.io.write import cache_of
from armarius.studio import join, serve
from armarius.studio.app import build_app
from armarius.studio.drawing import Appearance, blocks, plot
from armarius.studio.pages import stretch

ROOT = Path(__file__).resolve().parents[2]
BASE = "http://127.0.0.1:8123"
ORIGIN = {"origin": BASE}
HAN = re.compile("[\u4e00-\u9fff]")
TERMS = re.compile(
    r"armarius\.toml|Armarius|token|Markdown|\[documents\]|\.(?:md|txt|docx)|Ctrl|Enter|JSON|AI|Shift|Esc|DeepSeek|ChatGPT",
    re.IGNORECASE,
)


def attributes(page):
    found = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            found.extend(name for name, _ in attributes)

    Reader().feed(page)
    return found


@pytest.fixture
def engine(tmp_path):
    shutil.copytree(ROOT / "examples" / "novel", tmp_path / "novel")
    with armarius.open(tmp_path / "novel", watch=False) as engine:
        yield engine


@pytest.fixture
def client(engine):
    client = TestClient(build_app(engine, "secret", 8123), base_url=BASE)
    client.get("/?token=secret")
    return client


def prompt_of(client, to="/prompt", **fields):
    return unescape(client.post(to, data=fields, headers=ORIGIN).text)


def drawn(page):
    """The text of a chapter's page, as a browser counts its characters."""
    return unescape(re.sub(r"<[^>]+>", "", re.search(r'<div id="text"[^>]*>(.*?</div>)</div>', page, re.DOTALL)[1]))


@pytest.mark.parametrize("query", ["", "?token=", "?token=Secret", "?token=secretsecret"])
def test_nobody_is_answered_without_the_token(engine, query):
    client = TestClient(build_app(engine, "secret", 8123), base_url=BASE)
    for path in ("/", "/entities", "/static/studio.js", "/events", "/change/memory"):
        assert client.get(path + query).status_code == 403


def test_the_token_leaves_the_address_for_a_cookie(engine):
    client = TestClient(build_app(engine, "secret", 8123), base_url=BASE, follow_redirects=False)
    answer = client.get("/entities?token=secret&lang=en")
    assert (answer.status_code, answer.headers["location"]) == (303, "/entities?lang=en")
    assert {"HttpOnly", "SameSite=strict", "Max-Age=31536000"} <= set(answer.headers["set-cookie"].split("; "))


@pytest.mark.parametrize(("language", "said"), [("zh-CN", "终端里"), ("en", "in the terminal")])
def test_a_page_without_the_token_says_where_it_is_in_the_language_of_the_browser(engine, language, said):
    client = TestClient(build_app(engine, "secret", 8123), base_url=BASE, headers={"accept-language": language})
    assert said in client.get("/").text


@pytest.fixture
def studio(engine, monkeypatch):
    """Serves the book as often as it is called, without answering; returns the address, after `inside`."""

    def serving(inside=lambda: None, **how):
        monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: inside())
        said = []
        serve(engine, browser=False, say=said.append, **how)
        return said[0]

    return serving


def test_a_folder_keeps_its_port_and_token_until_a_new_one_is_asked_for(engine, studio):
    address = studio()
    (kept,) = cache_of(engine.root, "studio").glob("session.json")
    assert os.name == "nt" or (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert studio() == address
    renewed = studio(new_token=True)
    assert (renewed == address, renewed.partition("?")[0]) == (False, address.partition("?")[0])
    assert studio() == renewed
    kept.write_text('{"port": 1}', encoding="utf-8")
    assert studio() != renewed


def test_a_port_that_is_taken_is_another_one_and_one_that_was_asked_for_is_an_error(studio):
    port = int(re.search(r":(\d+)/", studio())[1])
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        assert f":{port}/" not in studio()
        with pytest.raises(ContractError, match=f"port {port}"):
            studio(port=port)


def test_a_studio_that_runs_is_opened_and_not_started_again(engine, studio):
    root, said, second = engine.root, [], []

    def elsewhere(act):  # another thread waits for the lock of the folder as another process does
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(act).result()

    def running():
        assert elsewhere(lambda: join(root, browser=False, say=said.append))
        elsewhere(lambda: serve(engine, browser=False, say=second.append))
        with pytest.raises(ContractError, match="end it first"):
            elsewhere(lambda: serve(engine, browser=False, say=second.append, new_token=True))

    assert not join(root, browser=False, say=said.append)
    calls = iter([running])
    address = studio(lambda: next(calls, lambda: None)())
    assert said == [address]
    assert (len(second), second[0] == address) == (1, False)
    assert not join(root, browser=False, say=said.append)


@pytest.mark.parametrize("path", ["//evil.example/?token=secret", "/\\evil.example?token=secret"])
def test_the_way_in_leads_to_this_host_only(engine, path):
    client = TestClient(build_app(engine, "secret", 8123), base_url=BASE, follow_redirects=False)
    where = client.get(BASE + path).headers.get("location", "/")
    assert not where.startswith("//")
    assert "://" not in where


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8123", "127.0.0.1:9", "127.0.0.1.evil.example:8123", ""]
)
def test_a_name_that_leads_to_this_machine_is_refused(client, host):
    assert client.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("origin", [None, "http://evil.example", "http://127.0.0.1:9", "null"])
def test_a_form_of_another_page_changes_nothing(client, engine, origin):
    headers = {} if origin is None else {"origin": origin}
    assert client.post("/change/memory", data={"text": "x"}, headers=headers).status_code == 403
    assert engine.memories.list() == ()


def test_every_answer_forbids_whatever_is_not_the_studios_own(client):
    for path in ("/", "/entity/nobody", "/static/studio.css", "/nowhere"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy


def test_the_pages_name_nobody_else_and_carry_no_script_or_style():
    for page in files("armarius.studio").joinpath("templates").iterdir():
        text = page.read_text(encoding="utf-8")
        assert "://" not in text
        assert not re.search(r"\sstyle=|\son\w+=|<style|<script(?! src=\"/static/)", text), page.name
        assert "|safe" not in text.replace(" ", "")


def test_a_book_in_one_file_is_shown_by_its_chapters_each_opened_at_its_line(tmp_path):
    volumes = {1: "第一卷 沉船\n\n", 3: "第二卷 点灯\n\n"}
    text = "".join(f"{volumes.get(n, '')}第{n}章 夜{n}\n\n" + f"第{n}夜雾散了。\n\n" * 90 for n in range(1, 5))
    (tmp_path / "book.txt").write_text(text, "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        client = TestClient(build_app(engine, "secret", 8123), base_url=BASE)
        home = client.get("/?token=secret&lang=zh").text
        rows = re.findall(r'href="(/chapter/[^"]*)"[^>]*>(第\d章 夜\d)</a>', home)
        assert [title for _, title in rows] == [f"第{n}章 夜{n}" for n in range(1, 5)]
        for number, (href, title) in enumerate(rows, 1):
            page = client.get(href).text
            assert drawn(page).strip().startswith(title)
            assert drawn(page).count("雾散了") == 90
            assert re.search(r'aria-current="page">([^<]*)<', page)[1] == title
            assert f"第{number}夜" in drawn(page)


def test_the_rows_of_a_prompt_add_up_to_its_total_in_its_order(client, engine):
    asked = {"path": "chapters/ch003.md", "cursor": "206", "wish": "检查第3章的角色一致性"}
    page = prompt_of(client, **asked)
    pack = engine.assemble(asked["wish"], document=asked["path"], cursor=206)
    heads = re.findall(r'<h3 class="(\w+)">.*?<span class="number">([\d,]+)</span>', page)
    rows = re.findall(r'data-span="(\d+),(\d+)"', page)
    assert sum(int(tokens.replace(",", "")) for _, tokens in heads) == pack.token_count
    assert [int(start) for start, _ in rows] == sorted(int(start) for start, _ in rows)
    assert {part for part, _ in heads} == {"always", "mentioned", "found", "here", "frame"}
    assert f"<b>{pack.token_count:,}</b>" in page
    assert "林小雨" in page
    copied = client.post("/text", data=asked, headers=ORIGIN).text
    assert unescape(re.sub(r"<[/]?pre[^>]*>", "", copied)).strip() == pack.prompt.strip()


def test_paragraphs_of_a_chapter_are_one_row(client, engine):
    page = prompt_of(client, path="chapters/ch003.md", wish="检查第3章的角色一致性")
    passages = [one.path for one in engine.assemble("检查第3章的角色一致性", document="chapters/ch003.md").items
                if one.source.startswith("rag:passage")]  # fmt: skip
    assert len(passages) > page.count('class="row found"') >= len(set(passages))


def test_budget_and_model_are_those_of_the_project_and_kept_there(client, engine):
    config = engine.root / "armarius.toml"
    config.write_text("# mine\n[budget]\ntokens = 12000\n", encoding="utf-8")
    engine.refresh()
    assert "/ 12,000" in prompt_of(client, path="chapters/ch003.md")
    assert '<option value="12000" selected>' in client.get("/").text
    client.post("/change/limits", data={"budget": "32000", "model": "deepseek-chat"}, headers=ORIGIN)
    kept = tomllib.loads(config.read_text(encoding="utf-8"))
    assert (kept["budget"]["tokens"], kept["assembly"]["model"]) == (32000, "deepseek-chat")
    assert config.read_text(encoding="utf-8").startswith("# mine")
    assert "/ 32,000" in prompt_of(client, path="chapters/ch003.md")
    for wrong in ({"budget": "x", "model": "a"}, {"budget": "0", "model": "a"}, {"budget": "9", "model": " "}):
        assert client.post("/change/limits", data=wrong, headers=ORIGIN).status_code == 400
    assert tomllib.loads(config.read_text(encoding="utf-8")) == kept


def test_what_is_not_wanted_this_time_stays_out_and_is_kept_nowhere(client, engine):
    asked = {"path": "chapters/ch003.md", "cursor": "206"}
    out = prompt_of(client, **asked, exclude="entity:lin-xiaoyu").partition('class="out"')
    assert 'data-drop="entity:lin-xiaoyu"' not in out[0]
    assert 'data-add="entity:lin-xiaoyu"' in out[2]
    assert 'value="lin-xiaoyu"' in out[2]
    inside = prompt_of(client, **asked, include="entity:白鹭").partition('class="out"')[0]
    assert 'data-drop="entity:白鹭"' in inside
    assert engine.pins.list() == ()


def test_a_pin_and_a_mute_reach_the_prompt_and_the_file(client, engine):
    client.post("/change/pin", data={"target": "chapters/ch006.md#1"}, headers=ORIGIN)
    client.post("/change/pin", data={"target": "lin-xiaoyu", "mute": "yes"}, headers=ORIGIN)
    page = prompt_of(client, path="chapters/ch003.md", wish="小雨")
    assert "pinned by the project" in page
    assert "kept out of this book" in page
    pins = engine.pins.list()
    assert [(one.target, one.mute) for one in pins] == [("chapters/ch006.md#1", False), ("lin-xiaoyu", True)]
    for one in pins:
        client.post("/change/unpin", data={"id": one.id}, headers=ORIGIN)
    assert engine.pins.list() == ()


MARKED = (
    "---\ntitle: x\n---\n\n# Ode *to* sea\n\n"
    "A **bold** _soft_ [[mara|Mara]] and [a](b) snake_case_name 2 * 3 * 4.\n\n\n> said\n"
)


@pytest.mark.parametrize("text", [MARKED, "", "\n\n", "林小雨推开门。\n", "  # x\n" * 5, "[[" * 9 + "**" * 9])
def test_pieces_joined_are_the_text_and_the_signs_of_markdown_are_hidden(tmp_path, text):
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    (tmp_path / "b.md").write_text("# One\n\nx.\n", encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        document = next((one for one in engine.documents() if one.path == "a.md"), None)
        if document is None:
            return
        names = [(one.start, one.start + 2, "x") for one in document.paragraphs]
        found = blocks(document, 0, len(document.text), names)
        assert "".join(piece.text for one in found for piece in one.pieces) in (document.text, "")
        if text == MARKED:
            seen = "".join(piece.text for one in found for piece in one.pieces if piece.look != "mark")
            assert seen.endswith("Ode to seaA bold soft Mara and a snake_case_name 2 * 3 * 4.said")


def test_of_a_long_text_what_is_around_the_cursor_is_shown_and_the_rest_is_a_click_away(tmp_path):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "ch001.md").write_text("# Chapter 1\n\n" + "Rain fell on the quay.\n\n" * 40_000, "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        client = TestClient(build_app(engine, "secret", 8123), base_url=BASE)
        document = engine.document("chapters/ch001.md")
        for cursor in (0, 400_000, len(document.text), None):
            start, end = stretch(document, cursor)
            assert start <= (len(document.text) if cursor is None else cursor) <= end
            page = client.get(f"/chapter/{document.path}", params={"token": "secret", "cursor": cursor}).text
            assert drawn(page) == document.text[start:end]
            assert len(page) < 300_000
        assert (">↑ earlier" in page, ">↓ further" in page) == (True, False)


@pytest.fixture(scope="module")
def long_book(tmp_path_factory):
    """3,000 files: 2,500 chapters and 500 people, and a chapter of a megabyte in which they are named."""
    root = tmp_path_factory.mktemp("long")
    for folder in ("chapters", "people"):
        (root / folder).mkdir()
    for n in range(1, 2_500):
        (root / "chapters" / f"第{n}章.md").write_text(
            f"# 第{n}章 夜{n}\n\n人物{n % 500}号守着灯。\n", encoding="utf-8"
        )
    for n in range(500):
        (root / "people" / f"人物{n}号.md").write_text(f"# 人物{n}号\n\n- 类型：人物\n", encoding="utf-8")
    lines = (f"人物{n % 500}号说，雨下了一夜，江上的灯灭了又亮，没有人回来{n}。\n\n" for n in range(10_500))
    (root / "chapters" / "第2500章.md").write_text(f"# 第2500章 长\n\n{''.join(lines)}", encoding="utf-8")
    with armarius.open(root, watch=False) as engine:
        client = TestClient(build_app(engine, "secret", 8123), base_url=BASE, headers={"accept-language": "zh"})
        client.get("/?token=secret")
        yield client


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/chapter/chapters/第100章.md", "/chapter/chapters/第2500章.md?cursor=200000", "/entity/人物5号"),
        *("/entities", "/inbox", "/search?words=号", "/notes", "/card/人物5号"),
    ],
)
def test_a_page_of_a_book_of_3000_files_is_below_300_kb(long_book, path):
    answer = long_book.get(path)
    assert (answer.status_code, len(answer.content) < 300_000) == (200, True)


def test_chapters_of_a_long_book_are_listed_by_the_hundred_and_found_by_their_number(long_book):
    page = long_book.get("/chapter/chapters/第1873章.md").text
    binder = page.partition('id="binder"')[2].partition("</nav>")[0]
    assert (binder.count(">第18"), binder.count(">第19")) == (99, 1)
    assert 'href="/chapter/chapters/%E7%AC%AC1%E7%AB%A0.md">1 – 100</a>' in page
    assert "2401 – 2500</a>" in page
    assert 'href="/chapter/chapters/%E7%AC%AC1873%E7%AB%A0.md"' in long_book.get("/search?words=1873").text


def test_a_paragraph_of_a_book_in_one_file_opens_the_chapter_that_it_is_in(tmp_path):
    text = "".join(f"第{n}章 夜{n}\n\n" + f"第{n}夜雾散了。\n\n" * 90 + f"铜鱼{n}沉了。\n\n" for n in range(1, 5))
    (tmp_path / "book.txt").write_text(text, "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        client = TestClient(build_app(engine, "secret", 8123), base_url=BASE)
        found = client.get("/search?token=secret&words=铜鱼2沉").text
        (href,) = re.findall(r'href="(/chapter/book.txt\?paragraph=\d+#p\d+)"', found)
        page = client.get(href).text
        assert drawn(page).strip().startswith("第2章")
        assert f'id="{href.partition("#")[2]}"' in page


def test_beside_a_text_stands_what_the_model_would_know_and_the_text_is_never_saved(client, engine):
    path = "chapters/ch003.md"
    before = (engine.root / path).read_bytes()
    there = prompt_of(client, path=path, text="沈老师推开门。", cursor="3")
    assert 'data-drop="entity:沈砚秋"' in there
    assert (engine.root / path).read_bytes() == before
    assert client.post("/prompt", data={"path": path, "cursor": "x"}, headers=ORIGIN).status_code == 400


def test_why_something_is_not_in_a_prompt_is_answered_by_name_and_by_title(client):
    asked = {"path": "chapters/ch003.md", "cursor": "206"}
    assert "Not in it" in prompt_of(client, "/why", **asked, what="周远山")
    assert "第五章" in prompt_of(client, "/why", **asked, what="周家父子")
    assert 'href="/entities?name=' in prompt_of(client, "/why", **asked, what="无此人")


def test_a_chapter_names_who_is_mentioned_and_people_show_where_they_appear(client):
    assert 'data-of="/entity/lin-xiaoyu"' in client.get("/chapter/chapters/ch003.md").text
    page = client.get("/entity/lin-xiaoyu").text
    assert page.count('<rect class="column"') == 8
    assert "competes" not in page
    assert "≠" in page
    assert "林默 – 林小雨: 兄妹" in page


def test_a_change_goes_into_the_same_files_as_the_api_and_the_prompt_follows(client, engine):
    def kept():
        page = prompt_of(client, path="chapters/ch001.md", wish="掌灯的小姑娘")
        return "entity:lin-xiaoyu" in page.partition('class="out"')[0]

    assert not kept()
    answer = client.post("/change/alias", data={"id": "lin-xiaoyu", "alias": "掌灯的小姑娘"}, headers=ORIGIN)
    assert answer.status_code == 200
    assert "掌灯的小姑娘" in (engine.root / "spec" / "characters.md").read_text(encoding="utf-8")
    assert kept()
    client.post("/change/entity", data={"id": "lin-xiaoyu", "level": "never"}, headers=ORIGIN)
    assert engine.codex.get("lin-xiaoyu").level == "never"
    client.post("/change/memory", data={"text": "作者不喜欢感叹号"}, headers=ORIGIN)
    (memory,) = engine.memories.list()
    assert memory.text == "作者不喜欢感叹号"
    client.post("/change/forget", data={"id": memory.id}, headers=ORIGIN)
    assert engine.memories.list() == ()


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/change/pin", {"target": ""}),
        ("/change/unpin", {"id": "nobody"}),
        ("/change/entity", {"id": "lin-xiaoyu", "level": "loud"}),
        ("/change/entity", {"id": "nobody", "level": "never"}),
        ("/change/entity", {}),
        ("/change/alias", {"id": "lin-xiaoyu", "alias": " "}),
        ("/change/alias", {"id": "lin-xiaoyu", "alias": "林默"}),
        ("/change/alias", {"id": "lin-xiaoyu", "alias": "lin  mo"}),
        ("/change/memory", {"text": ""}),
        ("/change/forget", {"id": "nobody"}),
    ],
)
def test_a_wrong_change_is_told_and_writes_nothing(client, engine, path, data):
    answer = client.post(path, data=data, headers=ORIGIN)
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert not (engine.root / ".armarius" / "codex.toml").exists()


@pytest.mark.parametrize(
    "path",
    [
        "/chapter/../../etc/passwd",
        "/chapter/chapters/ch001.md?cursor=x",
        "/chapter/chapters/ch001.md?cursor=999999999999",
        "/entity/%00",
        "/static/../app.py",
        "/search?words=%ED%A0%80",
    ],
)
def test_a_wrong_question_is_an_answer_not_a_crash(client, path):
    assert client.get(path).status_code in (200, 400, 404)


def test_every_text_is_there_in_every_language():
    table = tomllib.loads(files("armarius.studio").joinpath("texts.toml").read_text(encoding="utf-8"))
    rows = {key: row for key, row in table.items() if isinstance(row, list)}
    rows |= {
        f"{group}.{key}": row for group, said in table.items() if isinstance(said, dict) for key, row in said.items()
    }
    assert not [key for key, row in rows.items() if len(row) != 2 or not all(one.strip() for one in row)]
    assert not [key for key, (en, _) in rows.items() if HAN.search(en)]
    assert not [key for key, (_, zh) in rows.items() if re.search("[A-Za-z]{2,}", TERMS.sub("", zh))]


def test_the_end_of_the_chapter_before_is_called_so_in_the_language_of_the_page(client):
    for language, title in (("en", "<b>Ending: 第六章 灯</b>"), ("zh", "<b>结尾：第六章 灯</b>")):
        page = prompt_of(client, f"/prompt?lang={language}", path="chapters/ch007.md", wish="")
        assert title in page


def test_a_long_attribute_is_shown_whole(client, engine):
    long = "；".join(["修得好一切会走的东西"] * 12)
    engine.codex.update(engine.entity("林默").id, attributes={"手艺": long})
    page = client.get(f"/entity/{engine.entity('林默').id}").text
    assert re.search(rf'<textarea name="value" rows="\d+">{long}</textarea>', page)


def test_every_page_is_in_one_language_but_for_what_the_book_says(tmp_path):
    words = {
        "zh": ("人物", "章节", "## 甲子\n- 别名：小甲\n- 年龄：60\n", "# 第{}章 雨\n\n甲子守着塔，小甲六十岁。\n"),
        "en": (
            "characters",
            "chapters",
            "## Mara Lind\n- Age: 60\n",
            "# Chapter {}: Rain\n\nMara Lind kept the light.\n",
        ),
    }
    for language, (people, folder, profile, chapter) in words.items():
        root = tmp_path / {"zh": "书", "en": "book"}[language]
        (root / folder).mkdir(parents=True)
        (root / f"{people}.md").write_text(f"# {people}\n\n{profile}", encoding="utf-8")
        for number in (1, 2):
            (root / folder / f"{number:03}.md").write_text(chapter.format(number), encoding="utf-8")
        with armarius.open(root, watch=False) as engine:
            client = TestClient(build_app(engine, "secret", 8123), base_url=BASE)
            client.get(f"/?token=secret&lang={language}")
            client.get(f"/?lang={language}")
            (who,) = engine.entities()
            engine.memories.create("1")
            world = {"entries": {"0": {"uid": 0, "key": [who.name], "content": who.name, "comment": who.name}}}
            engine.importing.add(json.dumps(world).encode(), name="1.json")
            (book,) = engine.books
            here = {"path": f"{folder}/002.md", "what": who.name}
            for path in (
                *("/", "/entities", "/notes", "/bring", "/inbox", "/question", "/nope"),
                *("/search?words=1", f"/entity/{who.id}", f"/chapter/{folder}/002.md", f"/book/{book}?text={who.name}"),
                *("/prompt", "/why", "/change/entity"),
            ):
                fields = {**here, "id": who.id, "key": "60", "value": "60"}
                posted = path in ("/prompt", "/why", "/change/entity")
                answer = client.post(path, data=fields, headers=ORIGIN) if posted else client.get(path)
                page = answer.text.partition("<body>")[2] or answer.text
                page = re.sub(r"<(header|dialog)\b.*?</\1>", "", page, flags=re.DOTALL)
                page = re.sub(r"<(code|small|pre|datalist|title)\b.*?</\1>", "", page, flags=re.DOTALL)
                said = re.sub(
                    r"<option[^>]*>|<[^>]*?(?:title|aria-label|placeholder)=\"([^\"]*)\"[^>]*>", r" \1 ", page
                )
                said = unescape(re.sub(r"<[^>]+>", "", said)).replace(who.name, "")
                foreign = HAN.findall(said) if language == "en" else re.findall("[A-Za-z]{2,}", TERMS.sub("", said))
                assert foreign == [], (path, said)


def test_no_page_of_an_english_book_has_chinese_characters_or_marks(tmp_path):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "ch001.md").write_text("# Chapter 1\n\nMara Lind kept the light. Bo helped.\n", "utf-8")
    people = "# Characters\n\n## Mara Lind\n- Aliases: Mara, Ma\n- Habits:\n  - hums\n  - forgets keys\n- Mentor: Bo\n"
    (tmp_path / "characters.md").write_text(f"{people}\n## Bo\n- Age: 60\n", "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        client = TestClient(build_app(engine, "secret", 8123), base_url=BASE)
        client.get("/?token=secret&lang=en")
        for path in ("/entity/mara-lind", "/entities", "/inbox", "/chapter/chapters/ch001.md"):
            page = client.get(path).text.replace("中文", "")
            assert (path, re.findall("[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]", page)) == (path, [])
        assert "## Character: Mara Lind" in client.get("/entity/mara-lind").text


def test_the_language_is_the_browsers_until_one_is_chosen(client):
    assert 'lang="zh"' in client.get("/", headers={"accept-language": "zh-CN,zh;q=0.9"}).text.partition(">")[2][:40]
    client.get("/?lang=zh")
    assert '<html lang="zh">' in client.get("/", headers={"accept-language": "en"}).text


def looked_through(client, path):
    for _ in range(200):
        page = client.get(path).text
        if 'class="looking"' not in page:
            return page
        time.sleep(0.02)
    raise AssertionError(f"{path}: still looking")


def test_conflicts_are_shown_with_both_sides_and_lead_to_where_they_stand(client):
    page = looked_through(client, "/inbox")
    left, _, right = page.partition("右手手背")[2].partition("左手的手背上")
    assert 'href="/chapter/spec/characters.md?paragraph=' in left
    assert 'href="/chapter/chapters/ch003.md?paragraph=' in right
    assert page.count("<blockquote>") >= 2
    place = re.search(r"/chapter/chapters/ch003.md[^\"]*#(p\d+)", right)[1]
    assert f'id="{place}"' in client.get("/chapter/chapters/ch003.md").text


def test_an_inbox_without_a_doubt_says_so(tmp_path):
    (tmp_path / "chapters").mkdir()
    for number in (1, 2, 3):
        (tmp_path / "chapters" / f"ch{number:03}.md").write_text(f"# Chapter {number}\n\nIt rained.\n", "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        client = TestClient(build_app(engine, "secret", 8123), base_url=BASE)
        client.get("/?token=secret")
        assert "All clear." in looked_through(client, "/inbox")
        assert "都清楚了。" in client.get("/inbox?lang=zh").text


@pytest.fixture
def doubtful(tmp_path):
    """A book with a doubt of many kinds: 甲子's age, a name without a profile, an empty chapter, an old summary."""
    case = json.loads((ROOT / "tests" / "cases" / "half_hour.json").read_text(encoding="utf-8"))["en"]
    mara = "\n".join(case["chapters"]).replace("Tobias Reed", "the man")
    for path, text in {
        "人物.md": "# 人物\n\n## 甲子\n\n- 年龄：60\n\n## 丁卯\n\n" + f"- 描述：{'守塔的人，话少。' * 400}\n",
        "章节/第1章.md": f"# 第1章 雨\n\n雨说：“甲子才四十岁。”甲子没有说话。\n\n{mara.replace('# ', '')}",
        "章节/第2章.md": "# 第2章 雪\n",
        "章节/第3章.md": "# 第3章 风\n\n丁卯守着塔。雨停了。\n",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        engine.summaries.set("章节/第3章.md", "丁卯守塔")
        (tmp_path / "章节/第3章.md").write_text("# 第3章 风\n\n丁卯不守塔了。雨停了。\n", encoding="utf-8")
        engine.refresh()
        client = TestClient(build_app(engine, "secret", 8123), base_url=BASE, headers={"accept-language": "zh"})
        client.get("/?token=secret")
        yield client, engine


def doubts_of(client):
    """The groups of the inbox by heading: the text of each."""
    page = looked_through(client, "/inbox").partition("<main")[2].partition("<datalist")[0]
    parts = re.split(r'<section class="doubts"><h2>([^<]*?) <small>', page)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_the_inbox_has_every_doubt_with_answers_and_answered_ones_go(doubtful):
    client, engine = doubtful
    groups = doubts_of(client)
    assert set(groups) == {
        "档案与正文说法不一",
        "还没有档案的名字",
        "没有正文的章节",
        "正文之后改过的梗概",
        "太长的卡片",
    }
    assert ("四十岁" in groups["档案与正文说法不一"], groups["还没有档案的名字"].count("<blockquote>")) == (True, 2)
    forms = {
        "entity": form_of(groups["档案与正文说法不一"], "entity", key="年龄") | {"value": "40"},
        "propose": form_of(groups["还没有档案的名字"], "propose"),
        "settle": form_of(groups["没有正文的章节"], "settle"),
        "summary": form_of(groups["正文之后改过的梗概"], "summary"),
        "settle ": form_of(groups["太长的卡片"], "settle"),
    }
    for path, fields in forms.items():
        assert client.post(f"/change/{path.strip()}", data=fields, headers=ORIGIN).status_code == 200, path
    assert doubts_of(client) == {}
    assert (engine.entity("Mara Lind").type, engine.entity("甲子").attributes["年龄"]) == ("character", "40")
    assert engine.summaries.stale() == ()
    settled = client.get("/inbox").text.partition("<summary>已处理 (2)")[2]
    client.post("/change/settle", data=form_of(settled, "settle"), headers=ORIGIN)
    assert len(doubts_of(client)) == 1


def test_a_name_of_the_text_is_said_to_be_somebody_known(doubtful):
    client, engine = doubtful
    fields = form_of(doubts_of(client)["还没有档案的名字"], "alias") | {"id": "丁卯"}
    answer = client.post("/change/alias", data=fields, headers=ORIGIN)
    assert (answer.url.path, engine.entity("丁卯").aliases) == ("/inbox", ("Mara Lind",))
    assert "还没有档案的名字" not in doubts_of(client)


def test_files_that_may_be_something_else_are_one_question_a_folder(client, engine):
    (engine.root / "bank").mkdir()
    for name in ("alpha", "beta", "gamma"):
        (engine.root / "bank" / f"{name}.md").write_text(f"# {name}\n\nSome words about {name}.\n", encoding="utf-8")
    engine.refresh()
    doubtful = {one.path for one in engine.index.map.doubtful}
    page = looked_through(client, "/inbox").partition("Files that may be something else")[2]
    assert page.count("<code>bank/</code>") == 1
    form = re.search(r'<form method="post" action="/change/kind" class="small"><input.*?</form>', page)[0]
    paths = re.findall(r'name="path" value="([^"]*)"', form)
    assert set(paths) <= doubtful
    client.post("/change/kind", data={"path": paths, "kind": "note"}, headers=ORIGIN)
    assert {engine.index.map.files[one].kind for one in paths} == {"note"}
    assert not {one.path for one in engine.index.map.doubtful}.intersection(paths)


def test_what_a_model_replies_is_shown_and_what_is_ticked_is_declared(client, engine):
    question = client.get("/question").text
    reply = json.dumps({
        "files": [{"path": "style.md", "kind": "template"}, {"path": "chapters/**", "kind": "outline"}],
        "people": [{"name": "Élodie Moreau", "aliases": ["Moreau", "she"]}], "about": {"unit": "章"},
    })  # fmt: skip
    assert unescape(question).count("GROUPS") == 1
    shown = client.post("/change/understood", data=form_of(question, "understood") | {"reply": reply}, headers=ORIGIN)
    page = shown.text.partition("<main")[2]
    ticks = {unescape(name): bool(on) for name, on in re.findall(r'name="tick" value="([^"]*)"( checked)?', page)}
    assert ticks.pop("project unit")
    assert ticks == {"files style.md": False, "files chapters/**": False, "person Élodie Moreau": True}
    assert not (engine.root / "armarius.toml").exists()
    fields = form_of(page, "understood") | {"tick": ["files style.md", "person Élodie Moreau"]}
    done = client.post("/change/understood", data=fields, headers=ORIGIN)
    said = tomllib.loads((engine.root / "armarius.toml").read_text("utf-8"))
    assert said == {"documents": {"style.md": "template"}, "people": {"Élodie Moreau": ["Moreau"]}}
    assert engine.index.map.files["style.md"].declared
    client.post("/change/undo", data=saved_in(done.text)[1], headers=ORIGIN)
    assert not (engine.root / "armarius.toml").exists()
    (engine.root / "chapters/ch099.md").write_text("# 又一章\n", "utf-8")
    late = client.post("/change/understood", data=fields, headers=ORIGIN)
    assert (late.status_code, "Copy it again" in late.text) == (400, True)


def test_chapters_taken_for_copies_are_asked_about_and_put_into_the_story(tmp_path):
    for folder in ("书", "书 副本"):
        (tmp_path / folder).mkdir()
        for number in range(1, 5):
            text = f"# 第{number}章 夜\n\n" + f"第{number}夜，陶渡守着灯，听见河上有人说话。\n\n" * 20
            (tmp_path / folder / f"第{number}章.md").write_text(text, encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        client = TestClient(build_app(engine, "secret", 8123), base_url=BASE)
        client.get("/?token=secret&lang=zh")
        hidden = {path for path in engine.index.map.hidden if engine.index.map.files[path].edition != "main"}
        assert len(hidden) == 4
        page = looked_through(client, "/inbox?lang=zh").partition("当成副本的章节")[2]
        form = re.search(r'<form method="post" action="/change/kind" class="small"><input.*?</form>', page)[0]
        paths = re.findall(r'name="path" value="([^"]*)"', form)
        assert set(paths) == hidden
        client.post("/change/kind", data={"path": paths, "kind": "chapter"}, headers=ORIGIN)
        assert {engine.index.map.files[one].edition for one in paths} == {"main"}


def test_hostile_names_and_texts_are_text_on_every_page(tmp_path):
    hostile = json.loads((ROOT / "tests" / "studio" / "hostile.json").read_text(encoding="utf-8"))
    assert len(hostile) >= 50
    (tmp_path / "chapters").mkdir()
    entities = [
        {"id": f"e{i}", "name": f"{text}", "type": text[:20], "description": text} for i, text in enumerate(hostile)
    ]
    (tmp_path / "codex.json").write_text(json.dumps({"entities": entities}), encoding="utf-8")
    for i, text in enumerate(hostile):
        (tmp_path / "chapters" / f"ch{i:03}.md").write_text(f"# {text}\n\n{text} came in. {text}\n", encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        client = TestClient(build_app(engine, "secret", 8123), base_url=BASE)
        client.get("/?token=secret")
        pages = [
            "/entities",
            "/notes",
            "/",
            "/inbox",
            *(f"/chapter/chapters/ch{i:03}.md" for i in range(len(hostile))),
        ]
        pages += [f"/entity/{one.id}" for one in engine.entities()]
        answers = [client.get(page) for page in pages]
        for i, text in enumerate(hostile):
            here = {"path": f"chapters/ch{i:03}.md", "wish": text, "what": text}
            answers += [client.post(path, data=here, headers=ORIGIN) for path in ("/prompt", "/why", "/text")]
        foreign = re.compile(r"<(?:img|iframe|object|embed|base|script(?! src=\"/static/studio))", re.IGNORECASE)
        for answer in answers:
            assert answer.status_code in (200, 404)
            assert not foreign.search(answer.text)
            assert not [name for name in attributes(answer.text) if name.startswith("on") or name == "style"]
            assert not re.search(r"\s(?:href|action)=\"(?!/|#|\?|data:,)", answer.text)
            assert not re.search(r"(?:href|action)=\"/[/\\\\]", answer.text)


def saved_in(page):
    """The file and line that a page says something was saved at, and the form that undoes it."""
    return re.search(r'<div id="saved"[^>]*>[^<]*<code>([^<]*)</code>', page)[1], form_of(page, "undo")


def test_a_field_is_written_into_the_page_as_it_is_left_and_one_press_takes_it_back(client, engine):
    page = engine.root / "spec" / "characters.md"
    before = page.read_bytes()
    fields = form_of(client.get(f"/entity/{engine.entity('林默').id}").text, "entity", key="年龄")
    answer = client.post("/change/entity", data={**fields, "value": "27"}, headers=ORIGIN)
    line = page.read_text(encoding="utf-8").splitlines().index("- 年龄：27") + 1
    place, undo = saved_in(answer.text)
    assert place == f"spec/characters.md:{line}"
    undone = client.post("/change/undo", data=undo, headers=ORIGIN)
    assert (page.read_bytes(), engine.entity("林默").attributes["年龄"]) == (before, "26")
    client.post("/change/undo", data=saved_in(undone.text)[1], headers=ORIGIN)  # what was undone can be undone
    assert engine.entity("林默").attributes["年龄"] == "27"
    assert not (engine.root / ".armarius" / "codex.toml").exists()


def test_what_was_changed_since_is_not_undone(client, engine):
    page = engine.root / "spec" / "characters.md"
    answer = client.post("/change/alias", data={"id": "林默", "alias": "默默"}, headers=ORIGIN)
    page.write_text(page.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    now, undo = page.read_bytes(), saved_in(answer.text)[1]
    refused = client.post("/change/undo", data=undo, headers=ORIGIN)
    assert (refused.status_code, "changed meanwhile" in refused.text, page.read_bytes()) == (400, True, now)
    gone = client.post("/change/undo", data={**undo, "id": "999"}, headers=ORIGIN)
    assert (gone.status_code, page.read_bytes()) == (400, now)


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("alias", {"id": "林默", "alias": "默默"}),
        ("alias", {"id": "林默", "alias": "阿默", "gone": "yes"}),
        ("create", {"name": "新人", "type": "character", "description": "高。"}),
        ("create", {"name": "Mole Pier", "type": "location", "description": "Wet."}),
        ("delete", {"id": "沈砚秋"}),
        ("entity", {"id": "林默", "more": "他怕水。"}),
        ("entity", {"id": "林默", "level": "never"}),
        ("fact", {"id": "林默", "text": "怕水", "since": "2"}),
        ("kind", {"path": "spec/**", "kind": "note"}),
        ("limits", {"budget": "64000", "model": "glm-4.6"}),
        ("merge", {"id": "林默", "other": "周远"}),
        ("pin", {"target": "林默", "mute": "yes"}),
        ("propose", {"name": '["甲乙", "person", ["小甲"]]'}),
        ("relate", {"id": "林默", "other": "周远", "type": "旧识"}),
        ("rule", {"text": "不写梦"}),
        ("settle", {"id": "c-1", "about": "林默"}),
        ("style", {"path": "style.md", "text": "短句。", "expect": ""}),
        ("summary", {"document": "chapters/ch001.md", "text": "怀表来了"}),
    ],
)
def test_every_change_can_be_undone_and_leaves_every_file_as_it_was(client, engine, path, data):
    if path == "style":
        data = form_of(client.get("/notes").text, "style") | {"text": "短句。"}

    def files():
        own = (".lock", "undo.json")
        return {one: one.read_bytes() for one in engine.root.rglob("*") if one.is_file() and one.name not in own}

    before = files()
    done = client.post(f"/change/{path}", data=data, headers=ORIGIN)
    assert (done.status_code, files() == before) == (200, False)
    assert client.post("/change/undo", data=saved_in(done.text)[1], headers=ORIGIN).status_code == 200
    assert files() == before


def form_of(page, action, **holds):
    """The fields that a browser sends for the first form with this action and these fields."""
    for form in re.findall(rf'<form method="post" action="/change/{action}".*?</form>', page, re.DOTALL):
        fields = dict(re.findall(r'<input[^>]* name="(\w+)"[^>]* value="([^"]*)"', form))
        fields |= dict(re.findall(r'<textarea name="(\w+)"[^>]*>(.*?)</textarea>', form, re.DOTALL))
        for name, options in re.findall(r'<select name="(\w+)"[^>]*>(.*?)</select>', form, re.DOTALL):
            if chosen := re.search(r'value="([^"]*)" selected', options):
                fields[name] = chosen[1]
        fields = {name: unescape(value).replace("\n", "\r\n") for name, value in fields.items()}
        if holds.items() <= fields.items():
            return fields
    raise AssertionError(action)


def test_a_form_writes_its_field_and_what_the_page_says_now_of_others_stays(client, engine):
    page = engine.root / "人物.md"
    before = (
        "# 人物\n\n## 陶渡\n\n- 别名：老陶、陶师傅\n- 年龄：40\n- 籍贯：临江\n\n修船的人。\n\n## 陆灯\n\n守灯的人。\n"
    )
    page.write_text(before, encoding="utf-8")
    fields = form_of(client.get("/entity/陶渡").text, "entity", key="籍贯")
    after = before.replace("陶师傅", "陶匠").replace("40", "41").replace("修船的人", "修表的人")
    page.write_text(after, encoding="utf-8")
    assert client.post("/change/entity", data={**fields, "value": "上游"}, headers=ORIGIN).status_code == 200
    assert page.read_text(encoding="utf-8") == after.replace("临江", "上游")


def test_a_field_that_is_sent_as_it_was_changes_nothing(client, engine):
    for one in engine.entities():
        page = client.get(f"/entity/{one.id}").text
        for form in re.findall(r'<form method="post" action="/change/entity" class="auto">.*?</form>', page, re.DOTALL):
            answer = client.post("/change/entity", data=form_of(form, "entity"), headers=ORIGIN)
            assert (answer.status_code, 'id="saved" role="status"></div>' in answer.text) == (200, True)
    assert {one.name for one in (engine.root / ".armarius").iterdir()} == {".lock"}


def test_a_sentence_of_the_book_is_taken_over_into_the_profile(client, engine):
    fields = form_of(client.get(f"/entity/{engine.entity('林默').id}").text.partition('class="said"')[2], "entity")
    before = engine.entity("林默").description
    client.post("/change/entity", data=fields, headers=ORIGIN)
    assert engine.entity("林默").description == f"{before}\n{fields['more']}"


def test_what_the_book_says_of_somebody_stands_newest_first_and_each_sentence_has_its_place(client):
    said = client.get("/entity/lin-xiaoyu").text.rpartition("<h2>What the project says")[2]
    chapters = [int(one) for one in re.findall(r"/chapter/chapters/ch(\d+)\.md\?paragraph=\d+#p\d+", said)]
    assert chapters == sorted(chapters, reverse=True)
    assert len(set(chapters)) > 1


def test_the_strip_of_a_long_book_has_at_most_150_columns():
    chapters = [Appearance(f"{n}.md", n, "x", n % 7) for n in range(2_500)]
    assert str(plot(chapters)).count('class="column"') == 148
    assert str(plot(chapters[:3])).count('class="column"') == 3
    assert str(plot([])) == ""


def test_a_field_that_was_changed_here_and_elsewhere_is_refused_and_one_that_was_not_stays(client, engine):
    engine.constraints.create("不写梦")
    memory = engine.memories.create("短句\n好")
    engine.summaries.set("chapters/ch001.md", "怀表来了")
    world = {"entries": {"0": {"uid": 0, "key": ["铜鱼"], "content": "铜鱼沉在水底。", "comment": "鱼"}}}
    engine.importing.add(json.dumps(world).encode(), name="lore.json")
    (book,) = engine.books
    entry, rule = engine.books[book].entries[0], engine.constraints.list()[0]
    notes, who = client.get("/notes").text, client.get("/entity/lin-xiaoyu").text
    forms = {
        "entity": (form_of(who, "entity", was_level="when_detected"), "level", "manual_only"),
        "entity ": (form_of(who, "entity", key="年龄"), "value", "18"),
        "kind": (form_of(client.get("/chapter/style.md").text, "kind"), "kind", "setting"),
        "entry": (form_of(client.get(f"/book/{book}").text, "entry"), "level", "manual_only"),
        "rule": (form_of(notes, "rule", id=rule.id), "text", "不写雨"),
        "memory": (form_of(notes, "memory", id=memory.id), "text", "长句"),
        "summary": (form_of(notes, "summary", document="chapters/ch001.md"), "text", "怀表走了"),
    }

    def state():
        return (
            engine.codex.get("lin-xiaoyu").level,
            engine.codex.get("lin-xiaoyu").attributes["年龄"],
            engine.index.map.files["style.md"].kind,
            engine.books[book].entries[0].level,
            engine.constraints.get(rule.id).text,
            engine.memories.get(memory.id).text,
            engine.summaries.get("chapters/ch001.md").text,
        )

    engine.codex.update("lin-xiaoyu", level="never", attributes={"年龄": "17"})
    engine.set_kind("style.md", "outline")
    engine.books.update(engine.books[book].with_entry(entry.changed(level="never")))
    engine.constraints.update(rule.id, text="不写雪")
    engine.memories.update(memory.id, text="不长不短")
    engine.summaries.set("chapters/ch001.md", "怀表停了")
    before = state()
    for path, (fields, name, other) in forms.items():
        assert client.post(f"/change/{path.strip()}", data=fields, headers=ORIGIN).status_code == 200, path
        refused = client.post(f"/change/{path.strip()}", data={**fields, name: other}, headers=ORIGIN)
        assert (refused.status_code, "changed elsewhere" in refused.text) == (400, True), path
    assert state() == before


def test_of_budget_and_model_the_one_that_was_changed_is_written(client, engine):
    fields = form_of(client.get("/").text, "limits")
    config = engine.root / "armarius.toml"
    config.write_text("[budget]\ntokens = 12000\n", encoding="utf-8")
    assert client.post("/change/limits", data={**fields, "model": "glm-4.6"}, headers=ORIGIN).status_code == 200
    kept = tomllib.loads(config.read_text(encoding="utf-8"))
    assert (kept["budget"]["tokens"], kept["assembly"]["model"]) == (12000, "glm-4.6")
    assert client.post("/change/limits", data={**fields, "budget": "64000"}, headers=ORIGIN).status_code == 400
    assert tomllib.loads(config.read_text(encoding="utf-8")) == kept


def test_a_contradiction_that_is_meant_so_is_remembered_until_it_is_undone(client, engine):
    page = looked_through(client, "/inbox")
    id_ = re.search(r'name="id" value="(c-\w+)"', page)[1]
    client.post("/change/settle", data={"id": id_, "about": "林小雨"}, headers=ORIGIN)
    assert id_ in (engine.root / ".armarius" / "studio.toml").read_text(encoding="utf-8")
    assert id_ not in looked_through(client, "/inbox").partition("<details><summary>Settled")[0]
    client.post("/change/settle", data={"id": id_, "undo": "yes"}, headers=ORIGIN)
    assert id_ in looked_through(client, "/inbox").partition("<details><summary>Settled")[0]


@pytest.mark.parametrize(
    ("path", "data", "file", "said"),
    [
        (
            "create",
            {"name": "新人", "type": "character", "aliases": "小新、阿新"},
            "spec/characters.md",
            "- 别名：小新、阿新",
        ),
        ("create", {"name": "Mole Pier", "type": "location", "description": "Wet."}, "places.md", "## Mole Pier"),
        ("create", {"name": "铜铃", "type": "item"}, ".armarius/codex.toml", "铜铃"),
        ("relate", {"id": "林默", "other": "周远", "type": "旧识", "since": "3"}, ".armarius/codex.toml", "旧识"),
        ("fact", {"id": "林默", "text": "怕水", "since": "2"}, ".armarius/codex.toml", "怕水"),
        ("propose", {"name": '["甲乙", "person", ["小甲"]]'}, "spec/characters.md", "小甲"),
        ("rule", {"text": "不写梦"}, ".armarius/constraints.toml", "不写梦"),
        ("summary", {"document": "chapters/ch001.md", "text": "怀表来了"}, ".armarius/summaries.toml", "怀表来了"),
        ("kind", {"path": "style.md", "kind": "setting"}, "armarius.toml", '"style.md" = "setting"'),
    ],
)
def test_a_form_writes_what_the_api_writes(client, engine, path, data, file, said):
    assert client.post(f"/change/{path}", data=data, headers=ORIGIN).status_code == 200
    assert said in (engine.root / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_somebody_new_stands_behind_the_last_person_of_the_page_that_has_most_of_them(tmp_path, end):
    people = "# 设定\n\n## 人物\n\n### 陶渡\n\n- 类型：人物\n\n修船的人。\n\n"
    people += "### 陆灯\n\n- 类型：人物\n\n## 体系\n\n灯有三等。\n"
    for path, text in (
        ("设定.md", people),
        ("陈默.md", "# 陈默\n\n- 类型：人物\n"),
        ("第1章.md", "# 第一章 雨\n\n陶渡来了。\n"),
    ):
        (tmp_path / path).write_bytes(text.replace("\n", end).encode())
    with armarius.open(tmp_path, watch=False) as engine:
        client = TestClient(build_app(engine, "secret", 8123), base_url=BASE)
        client.get("/?token=secret")
        made = {"name": "新人", "type": "character", "aliases": "小新"}
        assert client.post("/change/create", data=made, headers=ORIGIN).status_code == 200
        written = people.replace("\n## 体系", "\n### 新人\n\n- 类型：人物\n- 别名：小新\n\n## 体系").replace("\n", end)
        assert (tmp_path / "设定.md").read_bytes().decode() == written
        (tmp_path / "设定.md").chmod(0o444)
        if not os.access(tmp_path / "设定.md", os.W_OK):
            refused = client.post("/change/create", data={**made, "name": "陶匠", "aliases": ""}, headers=ORIGIN)
            assert (refused.status_code, "read-only" in refused.text) == (400, True)
        assert (tmp_path / "设定.md").read_bytes().decode() == written


@pytest.mark.parametrize(("language", "person", "place"), [("zh", "人物", "地点"), ("en", "person", "place")])
def test_the_type_of_somebody_is_a_word_of_the_page_and_is_read_as_one(client, engine, language, person, place):
    shown = client.get(f"/entity/林小雨?lang={language}").text
    assert f'name="type" value="{person}"' in shown
    assert "- 类型：character" not in shown or language == "en"  # a card of a Chinese book is Chinese
    for word, type_ in ((place, "location"), ("mage", "mage"), (person, "character")):
        was = {"was_type": dict(zip(("location", "mage", "character"), (person, place, "mage"), strict=True))[type_]}
        client.post("/change/entity", data={"id": "林小雨", "type": word, **was}, headers=ORIGIN)
        assert engine.entity("林小雨").type == type_


@pytest.fixture
def one_file(tmp_path):
    """A book in one file, whose chapters have their own words, with the studio over it."""
    calm = "The river was calm that night, and the ferry lay at its rope.\n\n" * 20
    told = [
        f"Chapter {n}: Pier {n}\n\nThe lamp of pier {n} burned.\n\n{calm}Nobody came to pier {n}.\n\n"
        for n in range(1, 9)
    ]
    (tmp_path / "book.txt").write_text("".join(told), encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        client = TestClient(build_app(engine, "secret", 8123), base_url=BASE)
        client.get("/?token=secret&lang=en")
        yield client, engine.document("book.txt")


def test_a_chapter_of_one_file_has_its_own_name_and_a_link_the_cursor_at_its_end(one_file):
    client, document = one_file
    (href,) = re.findall(r'href="(/chapter/[^"]*)">Chapter 3: Pier 3<', client.get("/").text)
    page = client.get(href).text
    assert "<title>Chapter 3: Pier 3" in page
    assert document.text[: int(href.partition("cursor=")[2])].endswith("Nobody came to pier 3.")
    shown = client.post(
        "/prompt", data={"path": "book.txt", "cursor": href.partition("cursor=")[2]}, headers=ORIGIN
    ).text
    assert "Chapter 3: Pier 3" in shown
    assert "Chapter 1: Pier 1" not in shown


def test_a_link_to_a_paragraph_has_the_cursor_behind_it(one_file):
    client, document = one_file
    paragraph = next(one for one in document.paragraphs if document.text.startswith("The lamp of pier 2", one.start))
    assert f'data-cursor="{paragraph.end}"' in client.get(f"/chapter/book.txt?paragraph={paragraph.index}").text


def test_a_draft_stands_for_the_chapter_that_is_shown_and_not_for_the_file(one_file):
    client, document = one_file
    start, end = (document.text.index(f"Chapter {n}:") for n in (4, 5))
    draft = {"path": "book.txt", "text": "Pier 4 sank.", "cursor": "12", "start": str(start), "end": str(end)}
    prompt = client.post("/text", data=draft, headers=ORIGIN).text
    assert "Pier 4 sank.&lt;cursor/&gt;" in prompt
    assert ("lamp of pier 4" in prompt, "Nobody came to pier 3" in prompt) == (False, True)


@pytest.mark.parametrize(
    ("exclude", "wish", "said"), [("林默", "检查", "点 + 放回来"), ("", "", "在问题里提到它，或固定它")]
)
def test_the_advice_is_of_the_reason_why_something_is_out(client, exclude, wish, said):
    what = exclude or "周远山"
    asked = {"path": "chapters/ch003.md", "wish": wish, "exclude": exclude, "what": what, "lang": "zh"}
    assert said in client.post("/why?lang=zh", data=asked, headers=ORIGIN).text


@pytest.mark.parametrize(("text", "words"), [("Mara's lamp – 12 men.", 4), ("灯塔，亮了。", 4), ("Lin 默 came", 3)])
def test_words_are_counted_and_characters_of_chinese_each(tmp_path, text, words):
    (tmp_path / "ch1.md").write_text(text, encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        client = TestClient(build_app(engine, "secret", 8123), base_url=BASE)
        client.get("/?token=secret")
        assert f"<small>{words} words</small>" in client.get("/?lang=en").text


def test_somebody_new_has_a_page_made_where_none_describes_people(tmp_path):
    (tmp_path / "第1章.md").write_text("# 第一章 雨\n\n雨下了一夜。\n" * 2_000, encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        client = TestClient(build_app(engine, "secret", 8123), base_url=BASE)
        client.get("/?token=secret")
        client.post("/change/create", data={"name": "新人", "type": "character"}, headers=ORIGIN)
        assert (tmp_path / "人物.md").read_text(encoding="utf-8") == "# 人物\n\n## 新人\n\n- 类型：人物\n"
        assert engine.entity("新人").type == "character"


def test_a_file_is_looked_at_before_it_is_brought_in(client, engine):
    text = "第一章 雨\n\n下雨了。\n\n第二章 晴\n\n天晴了。\n".encode()
    shown = client.post("/change/bring", files={"file": ("雨.txt", text)}, headers=ORIGIN).text
    assert "第二章 晴" in shown
    assert all("天晴了" not in one.text for one in engine.documents())
    card = json.dumps({"entries": {"0": {"key": ["铜鱼"], "content": "铜鱼沉在水底。", "uid": 0, "comment": "铜鱼"}}})
    for write in ("", "yes"):
        file = {"file": ("lore.json", card.encode())}
        shown = client.post("/change/bring", files=file, data={"write": write}, headers=ORIGIN).text
        assert ("铜鱼" in shown, len(engine.books)) == (True, int(write == "yes"))


def test_two_that_are_the_same_are_merged_into_one(client, engine):
    engine.codex.create("阿默", type="character", attributes={"血型": "O"}, description="修表的人", force=True)
    engine.codex.relate("阿默", "周远", "旧识", since=3)
    other = engine.codex.get("阿默").id
    assert client.post("/change/merge", data={"id": "林默", "other": other}, headers=ORIGIN).status_code == 200
    merged = engine.entity("林默")
    assert ("阿默" in merged.aliases, merged.attributes["血型"]) == (True, "O")
    assert [one.since for one in engine.codex.relations() if (one.source, one.type) == (merged.id, "旧识")] == [3]
    assert engine.entity("阿默").id == merged.id
    assert client.post("/change/merge", data={"id": "林默", "other": "林默"}, headers=ORIGIN).status_code == 400


def test_what_goes_along_with_somebody_deleted_stands_beside_the_button(client, engine):
    def beside():
        return unescape(client.get("/entity/%E7%99%BD%E9%B9%AD%E5%AE%A2").text).partition("/change/delete")[2]

    engine.codex.create("白鹭客", id="白鹭客", type="character")
    assert "旧识" not in beside()
    engine.codex.relate("白鹭客", "周远", "旧识")
    assert "旧识" in beside()


def test_what_a_file_outside_the_studio_says_is_not_deleted(client, engine):
    answer = client.post("/change/delete", data={"id": "灯塔重燃"}, headers=ORIGIN)
    assert (answer.status_code, "a file that is not edited here" in answer.text) == (400, True)


def test_what_holds_from_a_chapter_on_is_added_and_taken_back(client, engine):
    client.post("/change/fact", data={"id": "林默", "text": "怕水", "since": "2"}, headers=ORIGIN)
    assert [(one.text, one.since) for one in engine.entity("林默").facts][1:] == [("怕水", 2)]
    of_file, ours = (one.text for one in engine.entity("林默").facts)
    client.post("/change/unfact", data={"id": "林默", "text": ours}, headers=ORIGIN)
    assert [one.text for one in engine.entity("林默").facts] == [of_file]
    assert client.post("/change/unfact", data={"id": "林默", "text": of_file}, headers=ORIGIN).status_code == 400


def test_entries_of_a_lorebook_are_switched_and_tried_on_a_text(client, engine):
    world = {"entries": {"0": {"uid": 0, "key": ["铜鱼"], "content": "铜鱼沉在水底。", "order": 90, "comment": "鱼"}}}
    engine.importing.add(json.dumps(world).encode(), name="lore.json")
    (book,) = engine.books
    tried = client.get(f"/book/{book}", params={"text": "铜鱼游过"}).text
    assert ("<b>it is in</b>" in tried, ">90<" in tried, "<code>铜鱼</code>" in tried) == (True, True, True)
    entry = engine.books[book].entries[0].id
    client.post("/change/entry", data={"id": book, "entry": entry, "level": "never"}, headers=ORIGIN)
    assert engine.books[book].entries[0].level == "never"
    assert "<b>it is in</b>" not in client.get(f"/book/{book}", params={"text": "铜鱼游过"}).text
    client.post("/change/unbook", data={"id": book}, headers=ORIGIN)
    assert not engine.books


def test_a_folder_of_files_gets_a_kind_at_once(client, engine):
    client.post("/change/kind", data={"path": "spec/**", "kind": "note"}, headers=ORIGIN)
    assert {engine.index.map.files[one].kind for one in engine.index.map.files if one.startswith("spec/")} == {"note"}


def test_the_style_is_written_unless_the_file_changed_meanwhile(client, engine):
    page = engine.root / "style.md"
    expect = re.search(r'name="expect" value="(\w+)"', client.get("/notes").text)[1]
    form = {"path": "style.md", "text": "短句。", "expect": expect}
    for path, expected in (("chapters/ch001.md", expect), ("../style.md", ""), ("other.md", ""), ("style.md", "0")):
        refused = client.post("/change/style", data={**form, "path": path, "expect": expected}, headers=ORIGIN)
        assert refused.status_code == 400, path
    assert page.read_text(encoding="utf-8") != "短句。\n"
    assert client.post("/change/style", data=form, headers=ORIGIN).status_code == 200
    assert page.read_text(encoding="utf-8") == "短句。\n"
    assert client.post("/change/style", data=form, headers=ORIGIN).status_code == 400


def test_a_style_of_another_encoding_is_written_in_it_with_its_ends_of_line(client, engine):
    page, said = engine.root / "style.md", "- 句子短，少用形容词；景物先于情绪，不写旁人的心理。"
    page.write_bytes(page.read_text("utf-8").replace("\n", "\r\n").encode("gb18030"))
    form = form_of(client.get("/notes").text, "style") | {"text": f"# 风格\n{said}"}
    assert client.post("/change/style", data=form, headers=ORIGIN).status_code == 200
    assert page.read_bytes() == f"# 风格\r\n{said}\r\n".encode("gb18030")


def test_the_look_at_a_field_and_its_writing_are_under_one_lock_between_processes(client, engine):
    """A form that waited for another process looks at what that one has written."""
    page = engine.root / "spec" / "characters.md"
    form = form_of(client.get("/entity/%E6%9E%97%E9%BB%98").text, "entity", was_level="always") | {"level": "never"}
    with ThreadPoolExecutor(1) as pool:
        with folder_lock(engine.root / ".armarius", below=engine.root):
            answer = pool.submit(client.post, "/change/entity", data=form, headers=ORIGIN)
            with pytest.raises(TimeoutError):
                answer.result(0.3)
            other = page.read_text("utf-8").replace("- 注入：always", "- 注入：manual_only", 1)
            page.write_text(other, "utf-8")
        assert answer.result().status_code == 400
    assert page.read_text("utf-8") == other


def test_somebody_whom_relations_of_codex_json_name_is_not_deleted_and_they_are_named(client, engine):
    refused = unescape(client.post("/change/delete", data={"id": "林渡"}, headers=ORIGIN).text)
    assert "林渡 -父子-> 林默 (codex.json)" in refused
    assert engine.entity("林渡")


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("create", {"name": "新\0人", "type": "character"}),
        ("create", {"name": "新人", "type": "character", "description": "高\x0c瘦"}),
        ("alias", {"id": "林默", "alias": "阿\x1b默"}),
        ("style", {"path": "style.md", "text": "短\0句。"}),
    ],
)
def test_a_control_character_in_a_form_is_refused_and_no_page_is_written(client, engine, path, data):
    data["expect"] = re.search(r'name="expect" value="(\w+)"', client.get("/notes").text)[1]
    before = {one: one.read_bytes() for one in engine.root.rglob("*.md")}
    answer = client.post(f"/change/{path}", data=data, headers=ORIGIN)
    assert (answer.status_code, "holds the control character" in answer.text) == (400, True)
    assert {one: one.read_bytes() for one in engine.root.rglob("*.md")} == before


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("写第99章", r"问题点名的第 99 章还没有写。"),
        ("/nope", r"没有这个页面。"),
    ],
)
def test_what_is_wrong_is_said_in_the_language_of_the_page_alone(client, path, said):
    asked = {"data": {"wish": path}, "headers": {**ORIGIN, "accept-language": "zh"}}
    page = client.get(path, headers=asked["headers"]).text if path[0] == "/" else client.post("/prompt", **asked).text
    assert re.search(said, page)
    assert not re.search(r"<small[^>]*lang=\"en\">", page)


@pytest.mark.parametrize(
    ("path", "data", "said"),
    [
        ("create", {"name": "林默"}, "已经有叫这个名字的了。"),
        ("alias", {"id": "林默", "alias": "小雨"}, "已经有叫这个名字的了。"),
        ("delete", {"id": "ending"}, "描述它的文件不在这里编辑"),
        ("style", {"path": "style.md", "text": "短句", "expect": "-"}, "文件在此期间有改动"),
        ("rule", {"text": " "}, "这一栏是空的。"),
        ("fact", {"id": "林默", "text": "怕水", "since": "二"}, "这里要填数字。"),
        ("entity", {"id": "nobody", "level": "always"}, "这里没有这个。"),
        ("entity", {"id": "林默", "level": "sometimes"}, "不能这样写"),
    ],
)
def test_the_class_of_an_error_chooses_its_sentence_and_its_words_do_not(client, monkeypatch, path, data, said):
    monkeypatch.setattr(ArmariusError, "message", property(lambda _: "xyzzy"))
    answer = client.post(f"/change/{path}", data=data, headers={**ORIGIN, "accept-language": "zh"})
    assert (answer.status_code, said in answer.text) == (400, True)


def test_a_path_that_is_no_page_is_answered_with_a_page(client):
    answer = client.get("/nope")
    assert (answer.status_code, "<nav" in answer.text) == (404, True)


def test_every_text_is_used_by_a_template():
    table = tomllib.loads(files("armarius.studio").joinpath("texts.toml").read_text(encoding="utf-8"))
    templates = [one.read_text("utf-8") for one in files("armarius.studio").joinpath("templates").iterdir()]
    used = set(re.findall(r"\bt\.(\w+)", "".join(templates)))
    assert {key for key, row in table.items() if isinstance(row, list)} == used


def test_who_is_left_out_this_time_stands_once_and_without_codes(client):
    form = {"path": "chapters/ch003.md", "wish": "林默是谁", "exclude": "entity:林默"}
    for language in ("zh", "en"):
        page = client.post("/prompt", data=form, headers={**ORIGIN, "accept-language": language}).text
        assert page.count('<input type="hidden" name="target" value="林默">') == 1, language
        assert "mute." not in page, language


def test_a_merge_that_is_refused_has_written_nothing(client, engine):
    (engine.root / "别处.md").write_text(
        "# 别处的人物\n\n## 阿默\n\n- 类型：人物\n- 描述：打渔的。\n", encoding="utf-8"
    )
    engine.refresh()
    before = {path: path.read_bytes() for path in engine.root.rglob("*.md")}
    answer = client.post("/change/merge", data={"id": engine.entity("林默").id, "other": "阿默"}, headers=ORIGIN)
    assert (answer.status_code, "No file was changed." in answer.text) == (400, True)
    assert {path: path.read_bytes() for path in engine.root.rglob("*.md")} == before
