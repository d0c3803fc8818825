"""The studio in a real Chromium: every page opened, clicked and photographed; nothing refused, nothing thrown."""

import json
import re
import shutil
import threading

import pytest
from tests.studio.test_pages import ROOT

import armarius
from armarius.studio import serve
from armarius.studio.app import texts

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium")
PHONE, DESK = {"width": 390, "height": 800}, {"width": 1280, "height": 900}


def studio_of(folder):
    """An engine over `folder` and the address that its studio told."""
    ready, told = threading.Event(), []

    def say(text):
        told.append(text)
        ready.set()

    engine = armarius.open(folder)
    threading.Thread(target=serve, args=(engine,), kwargs={"browser": False, "say": say}, daemon=True).start()
    assert ready.wait(30)
    return engine, told[0]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studio") / "novel"
    shutil.copytree(ROOT / "examples" / "novel", folder)
    engine, told = studio_of(folder)
    world = {"entries": {"0": {"uid": 0, "key": ["铜鱼"], "content": "铜鱼沉在水底。", "comment": "鱼"}}}
    engine.importing.add(json.dumps(world).encode(), name="lore.json")
    yield told, folder
    engine.close()


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(chromium, address, scheme, size, locale):
    """A page that keeps what went wrong on it: errors, whatever is asked of somebody else, what a script asks for."""
    page = chromium.new_context(color_scheme=scheme, viewport=size, locale=locale).new_page()
    page.wrong = []
    page.on("console", lambda said: page.wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("dialog", lambda dialog: (page.wrong.append(dialog.message), dialog.dismiss()))
    page.on(
        "request",
        lambda one: None if one.url.startswith(("http://127.0.0.1:", "data:")) else page.wrong.append(one.url),
    )
    page.goto(address)
    return page


@pytest.fixture(params=[("light", DESK), ("dark", PHONE)], ids=["desk", "phone"])
def page(request, chromium, address):
    page = opened(chromium, address[0], *request.param, "en-GB")
    yield page
    assert page.wrong == []
    page.context.close()


def fits(page):
    """Nothing is wider than the window; what is, otherwise."""
    wide = "[...document.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
    return page.evaluate(f"{wide}.map(e => e.outerHTML.slice(0, 90))") or page.evaluate(
        "document.documentElement.scrollWidth > innerWidth ? [document.documentElement.scrollWidth] : []"
    )


def test_every_page_opens_fits_and_is_photographed(page, tmp_path):
    for name in ("Text", "People and things", "Conflicts", "Rules and memories", "Files", "Import", "Ask", "Start"):
        page.get_by_role("link", name=name, exact=True).first.click()
        assert page.get_by_role("main").is_visible()
        assert fits(page) == [], name
        assert len(page.screenshot(path=str(tmp_path / f"{name}.png"))) > 5_000
    assert "token" not in page.url


@pytest.mark.parametrize(("scheme", "size"), [("dark", DESK), ("light", PHONE)], ids=["desk", "phone"])
def test_a_chinese_browser_is_answered_in_chinese_on_every_page(chromium, address, tmp_path, scheme, size):
    page = opened(chromium, address[0], scheme, size, "zh-CN")
    for name, heading in (
        ("正文", "正文"),
        ("人物与事物", "人物与事物"),
        ("说法不一", "说法不一"),
        ("文件", "文件"),
        ("规则与记忆", "规则与记忆"),
    ):
        page.get_by_role("link", name=name, exact=True).first.click()
        assert page.get_by_role("heading", level=1).inner_text() == heading
        assert fits(page) == [], name
        assert len(page.screenshot(path=str(tmp_path / f"{name}.png"))) > 5_000
    page.get_by_role("link", name="提问", exact=True).first.click()
    page.get_by_label("问题").fill("小雨的伤在哪只手")
    page.get_by_role("button", name="组装").click()
    assert "精确计数" in page.locator(".sum").inner_text() or "估计" in page.locator(".sum").inner_text()
    assert fits(page) == []
    page.get_by_role("link", name="English").click()
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.wrong == []
    page.context.close()


def test_both_sides_of_a_conflict_are_read_beside_each_other_and_lead_to_the_paragraph(page):
    page.get_by_role("link", name="Conflicts", exact=True).click()
    sides = page.locator("main blockquote")
    playwright.expect(sides.filter(has_text="右手手背")).to_have_count(1, timeout=20_000)
    sides.filter(has_text="左手的手背").get_by_role("link").click()
    target = page.locator("span:target")
    assert "左手的手背" in target.inner_text()
    assert fits(page) == []


def test_a_cursor_is_put_in_a_chapter_and_somebody_is_muted_from_the_prompt(page, address):
    page.get_by_role("link", name="Text", exact=True).click()
    page.get_by_role("link", name="第三章 雨夜").click()
    page.locator("a.here").nth(3).click()
    playwright.expect(page.locator("#beside")).to_have_attribute("data-cursor", re.compile(r"\d+"))
    page.get_by_role("main").get_by_role("link", name="Ask").click()
    assert int(page.get_by_label("Cursor").input_value()) > 0
    page.get_by_label("Question").fill("铜怀表")
    page.get_by_role("button", name="Assemble").click()
    mute = page.get_by_role("button", name="Mute: 铜怀表", exact=True)
    mute.first.click()
    page.wait_for_url("**/again/*")
    out = page.locator(".rows.out > details", has_text="outside of what")
    out.locator("> summary").click()
    assert "muted by the project" in out.inner_text()
    page.get_by_role("link", name="Rules and memories", exact=True).click()
    page.locator("#pins").get_by_role("button", name="Undo").first.click()
    playwright.expect(page.locator("#pins li form")).to_have_count(0)


def test_hostile_names_and_texts_run_nothing_and_break_no_page(chromium, tmp_path):
    hostile = json.loads((ROOT / "tests" / "studio" / "hostile.json").read_text(encoding="utf-8"))
    (tmp_path / "chapters").mkdir()
    entities = [{"id": f"e{i}", "name": text, "type": text[:20], "description": text} for i, text in enumerate(hostile)]
    (tmp_path / "codex.json").write_text(json.dumps({"entities": entities}), encoding="utf-8")
    for i, text in enumerate(hostile):
        (tmp_path / "chapters" / f"ch{i:03}.md").write_text(f"# {text}\n\n{text} came in.\n", encoding="utf-8")
    engine, told = studio_of(tmp_path)
    page = opened(chromium, told, "light", PHONE, "en-GB")
    ground = told.partition("/?")[0]
    known = [one.id for one in engine.entities()]
    assert len(known) >= 50
    paths = [*(f"/entity/{one}" for one in known), "/entities", "/chapters", "/files"]
    paths += [f"/chapter/chapters/ch{i:03}.md" for i in range(0, len(hostile), 5)]
    for path in paths:
        page.goto(ground + path)
        assert page.url.startswith(ground), path
        assert page.get_by_role("navigation").first.is_visible(), path
        assert fits(page) == [], path
    for text in hostile[::8]:
        page.goto(ground + "/ask")
        page.get_by_label("Question").fill(text)
        page.get_by_role("button", name="Assemble").click()
        playwright.expect(page.locator("pre#text")).to_be_visible()
    assert page.wrong == []
    page.context.close()
    engine.close()


def test_a_question_is_asked_read_slid_and_compared(page):
    page.get_by_role("link", name="Ask", exact=True).first.click()
    page.get_by_label("Question").fill("检查第3章的角色一致性")
    page.get_by_label("Document").select_option("chapters/ch003.md")
    page.get_by_role("button", name="Assemble").click()
    assert "of 8,000" in page.locator(".sum").inner_text()
    assert page.locator("pre#text .kept").count() > 0
    page.locator("input[type=range]").fill("2000")
    playwright.expect(page.locator(".sum").first).to_contain_text("of 2,000")
    page.get_by_label("Question").fill("灯塔")
    page.get_by_role("button", name="Assemble").click()
    page.get_by_role("button", name="Compare").click()
    assert page.locator("main pre.text").count() == 2
    assert fits(page) == []


def test_a_mention_leads_to_its_card_and_on_along_a_relation(page):
    page.get_by_role("link", name="Text", exact=True).click()
    page.get_by_role("link", name="第三章 雨夜").click()
    page.locator("pre.prose a", has_text="小雨").first.click()
    assert page.get_by_role("heading", level=1).inner_text() == "林小雨"
    page.locator("svg.web a", has_text="林默").first.click()
    assert page.get_by_role("heading", level=1).inner_text() == "林默"
    assert page.locator("svg.plot a").count() == 8
    assert fits(page) == []


def test_a_keyboard_reaches_the_content_and_every_field_has_a_name(page):
    page.get_by_role("link", name="Text", exact=True).click()
    page.wait_for_url("**/chapters", wait_until="load")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.wait_for_url("**#content")
    fields = "[...document.querySelectorAll('input:not([type=hidden]), select, textarea')]"
    unnamed = f"{fields}.filter(e => !e.labels.length).length"
    for name in ("Ask", "People and things"):
        page.get_by_role("link", name=name, exact=True).first.click()
        assert page.evaluate(unnamed) == 0


def test_no_page_breaks_a_rule_of_accessibility(page, address):
    axe = ROOT / ".cache" / "code-tools" / "node_modules" / "axe-core" / "axe.min.js"
    if not axe.exists():
        pytest.skip("axe is not installed: make code-tools (needs npm)")
    ground = page.url.partition("/?")[0].rstrip("/")
    chapter = "/chapter/chapters/ch003.md?cursor=300"
    for path in (
        *(
            "/",
            "/ask",
            "/pack?query=%E7%81%AF%E5%A1%94&budget=2000",
            "/diff?a=1&b=1",
            "/chapters",
            chapter,
            "/entities",
        ),
        *("/entity/lin-xiaoyu", "/conflicts", "/notes", "/files", "/propose", "/search?words=1", "/bring", "/entity/x"),
        *("/book/lore?text=%E9%93%9C%E9%B1%BC", "/why/1?what=style.md", "delete"),
    ):
        if path == "delete":
            page.goto(f"{ground}/entity/小雨点")
            page.locator("details.edit summary").click()
            page.get_by_role("button", name="Delete").last.click()
            playwright.expect(page.locator("pre.diff")).to_have_count(1)
        else:
            page.goto(ground + path)
        page.evaluate(f"(() => {{ {axe.read_text(encoding='utf-8')} }})()")
        found = page.evaluate("axe.run().then(r => r.violations.map(v => [v.id, v.nodes.length, v.nodes[0].html]))")
        assert found == [], path
    page.wrong.clear()  # /entity/x is none


def test_a_saved_file_is_seen_while_one_looks(page, address):
    live = page.locator("#live")
    playwright.expect(live).to_have_attribute("data-generation", re.compile(r"\d+"))
    path = address[1] / "chapters" / "ch001.md"
    path.write_text(path.read_text(encoding="utf-8") + "\n\n又下雨了。\n", encoding="utf-8")
    playwright.expect(live).to_contain_text("files changed", timeout=10_000)


def test_a_level_is_changed_in_the_page_and_in_the_file(page, address):
    page.get_by_role("link", name="People and things", exact=True).click()
    page.get_by_role("link", name="铜怀表").click()
    page.get_by_label("In a prompt").select_option("when named")
    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()
    playwright.expect(page.get_by_label("In a prompt")).to_have_value("manual_only")
    assert "- 注入：点名时" in (address[1] / "spec" / "locations.md").read_text(encoding="utf-8")


def test_a_click_into_the_text_shows_what_the_model_will_know_there(page):
    page.get_by_role("link", name="Text", exact=True).click()
    page.get_by_role("link", name="第三章 雨夜").click()
    page.locator("#p3").click()
    beside = page.locator("#beside")
    playwright.expect(beside).to_have_attribute("data-cursor", re.compile(r"\d+"))
    pill = beside.locator(".row", has=page.locator("summary b", has_text="沈砚秋"))
    pill.locator("summary").click()
    assert "档案馆" in pill.locator("pre").inner_text()
    pill.get_by_role("button", name="Mute").click()
    playwright.expect(beside.locator(".pins")).to_contain_text("muted: 沈砚秋")
    beside.locator(".pins").get_by_role("button", name="Undo").click()
    playwright.expect(beside.locator(".pins")).to_have_count(0)
    page.get_by_role("button", name="Paste").click()
    page.get_by_label("Text as you are writing it").fill("周老板来了。")
    playwright.expect(beside).to_contain_text("周远山")
    assert fits(page) == []


def test_a_selected_name_becomes_the_name_of_somebody_new(page):
    page.get_by_role("link", name="Text", exact=True).click()
    page.get_by_role("link", name="第三章 雨夜").click()
    page.wait_for_url("**/chapter/**", wait_until="load")
    page.evaluate("""() => {
      const text = document.querySelector("#p2").lastChild, range = document.createRange();
      range.setStart(text, 0);
      range.setEnd(text, 3);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    }""")
    name = page.evaluate("getSelection().toString()")
    page.locator("#person").click()
    assert page.locator("#create").get_by_label("name", exact=True).input_value() == name


def test_a_file_that_is_dropped_is_looked_at_and_not_written(page, address):
    page.get_by_role("link", name="Import", exact=True).click()
    page.wait_for_url("**/bring", wait_until="load")
    page.evaluate("""() => {
      const data = new DataTransfer();
      data.items.add(new File(["# 第一章 雪\\n\\n下雪了。\\n\\n# 第二章 冰\\n\\n结冰了。\\n"], "雪.txt"));
      document.querySelector("#bring").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
    }""")
    playwright.expect(page.locator("#brought")).to_contain_text("第二章 冰")
    assert not list(address[1].rglob("*雪*"))


def test_an_error_stands_in_the_form_and_keeps_what_was_typed(page):
    page.get_by_role("link", name="People and things", exact=True).click()
    form = page.locator("#create form")
    form.get_by_label("name", exact=True).fill("林默")
    form.get_by_label("Description").fill("另一个")
    page.keyboard.press("Control+Enter")
    playwright.expect(form.get_by_role("alert")).to_contain_text("There is one of that name already")
    assert form.get_by_label("Description").input_value() == "另一个"
    page.wrong.clear()  # the answer 400


def test_keys_search_and_explain_themselves(page):
    page.get_by_role("link", name="Files", exact=True).click()
    page.wait_for_url("**/files")
    page.keyboard.press("?")
    playwright.expect(page.get_by_role("dialog")).to_contain_text("Ctrl+Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("七点四十分")
    page.keyboard.press("Enter")
    page.get_by_role("main").get_by_role("link").first.click()
    assert "七点四十分" in page.locator("span:target").inner_text()


class Writer:
    """Somebody at the studio in one language, whose clicks, choices of a file and sent forms are counted."""

    def __init__(self, page, language):
        self.page, self.said, self.clicks, self.main = page, texts(language), 0, page.get_by_role("main")

    def click(self, role, key, *, of=None, exact=True):
        self.clicks += 1
        (of or self.page).get_by_role(role, name=self.said.get(key, key), exact=exact).first.click()

    def describe(self, name, fields):
        self.click("link", name, of=self.main)
        self.clicks += 1
        self.main.locator("details.edit summary").click()
        form = self.main.locator("details.edit form").first
        for key, value in fields.items():
            form.locator(f"[name={key}]").fill(value)
        self.click("button", "show_change")
        self.click("button", "write_change")
        playwright.expect(self.main.locator("details.edit")).to_have_count(1)
        assert fields["description"] in self.main.locator("pre.text").first.inner_text()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_first_half_hour_takes_twenty_four_clicks(chromium, tmp_path, language):
    case = json.loads((ROOT / "tests" / "cases" / "half_hour.json").read_text(encoding="utf-8"))[language]
    folder = tmp_path / case["name"]
    if "copy" in case:
        shutil.copytree(ROOT / case["copy"], folder)
    for number, text in enumerate(case.get("chapters", ()), 1):
        folder.mkdir(exist_ok=True)
        (folder / case["file"].format(number=number)).write_text(text, encoding="utf-8")
    card = tmp_path / "card.json"
    card.write_text(json.dumps({"spec": "chara_card_v2", "spec_version": "2.0", "data": case["card"]}), "utf-8")
    engine, told = studio_of(folder)
    page = opened(chromium, told, "light", DESK, {"zh": "zh-CN", "en": "en-GB"}[language])
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    writer = Writer(page, language)
    writer.click("link", "propose")
    for name in case["people"]:
        writer.clicks += 1
        page.get_by_role("checkbox", name=re.compile(name)).first.check(timeout=20_000)
    writer.click("button", "add_ticked")
    writer.describe(case["people"][0], case["fields"][0])
    writer.click("link", "people")
    writer.describe(case["people"][1], case["fields"][1])
    writer.click("link", "chapters")
    writer.click("link", case["chapter"])
    muted = page.locator("#beside").get_by_role("button", name=f"{writer.said['mute']}: {case['people'][1]}")
    writer.clicks += 1
    muted.click()
    playwright.expect(page.locator("#beside .pins")).to_contain_text(case["people"][1])
    writer.click("link", "ask", of=page.get_by_role("navigation").first)
    page.get_by_label(writer.said["question"]).fill(case["question"])
    page.keyboard.press("Control+Enter")
    playwright.expect(page.locator(".rows").first).to_contain_text(case["people"][0])
    page.get_by_label(writer.said["why_not"]).fill(case["why"])
    page.keyboard.press("Enter")
    playwright.expect(page.locator("#why")).to_contain_text(writer.said["left_out"])
    writer.click("button", "copy")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert case["question"] in copied
    writer.click("link", "conflicts")
    playwright.expect(page.locator("main blockquote").first).to_be_visible(timeout=20_000)
    writer.click("button", "settle")
    playwright.expect(page.locator("main > section")).to_have_count(0)
    writer.click("link", "bring")
    writer.clicks += 1
    page.locator("input[type=file]").set_input_files(card)
    writer.click("button", "preview")
    playwright.expect(page.locator("#brought")).to_contain_text(case["card"]["name"])
    writer.click("button", "add_it")
    playwright.expect(page.locator("#brought")).to_contain_text(writer.said["was_added"])
    assert (case["card"]["name"] in {one.name for one in engine.entities()}, page.wrong) == (True, [])
    assert writer.clicks == 24
    page.context.close()
    engine.close()
