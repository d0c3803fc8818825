"""The studio in a real Chromium: every page opened, clicked and photographed; nothing refused, nothing thrown."""

import re
import shutil
import threading

import pytest
from tests.studio.test_pages import ROOT

import armarius
from armarius.studio.serving import serve

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium")
PHONE, DESK = {"width": 390, "height": 800}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studio") / "novel"
    shutil.copytree(ROOT / "examples" / "novel", folder)
    ready, told = threading.Event(), []

    def say(text):
        told.append(text)
        ready.set()

    engine = armarius.open(folder)
    threading.Thread(target=serve, args=(engine,), kwargs={"browser": False, "say": say}, daemon=True).start()
    assert ready.wait(30)
    yield told[0], folder
    engine.close()


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=[("light", DESK), ("dark", PHONE)], ids=["desk", "phone"])
def page(request, chromium, address):
    scheme, size = request.param
    context = chromium.new_context(color_scheme=scheme, viewport=size, locale="en-GB")
    page = context.new_page()
    page.wrong = []
    page.on("console", lambda said: page.wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on(
        "request",
        lambda one: None if one.url.startswith(("http://127.0.0.1:", "data:")) else page.wrong.append(one.url),
    )
    page.goto(address[0])
    yield page
    assert page.wrong == []
    context.close()


def fits(page):
    """Nothing is wider than the window; what is, otherwise."""
    wide = "[...document.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
    return page.evaluate(f"{wide}.map(e => e.outerHTML.slice(0, 90))") or page.evaluate(
        "document.documentElement.scrollWidth > innerWidth ? [document.documentElement.scrollWidth] : []"
    )


def test_every_page_opens_fits_and_is_photographed(page, tmp_path):
    for name in ("Chapters", "People and things", "Health", "Ask"):
        page.get_by_role("link", name=name, exact=True).first.click()
        assert page.get_by_role("main").is_visible()
        assert fits(page) == [], name
        assert len(page.screenshot(path=str(tmp_path / f"{name}.png"))) > 5_000
    assert "token" not in page.url


def test_a_question_is_asked_read_slid_and_compared(page):
    page.get_by_label("Question").fill("检查第3章的角色一致性")
    page.get_by_label("Document").select_option("chapters/ch003.md")
    page.get_by_role("button", name="Assemble").click()
    assert "of 8,000" in page.locator(".sum").inner_text()
    assert page.locator("pre.text .kept").count() > 0
    page.locator("input[type=range]").fill("2000")
    playwright.expect(page.locator(".sum").first).to_contain_text("of 2,000")
    page.get_by_label("Question").fill("灯塔")
    page.get_by_role("button", name="Assemble").click()
    page.get_by_role("button", name="Compare").click()
    assert page.locator("main pre.text").count() == 2
    assert fits(page) == []


def test_a_mention_leads_to_its_card_and_on_along_a_relation(page):
    page.get_by_role("link", name="Chapters", exact=True).click()
    page.get_by_role("link", name="第三章 雨夜").click()
    page.locator("pre.text a", has_text="小雨").first.click()
    assert page.get_by_role("heading", level=1).inner_text() == "林小雨"
    page.locator("svg.web a", has_text="林默").first.click()
    assert page.get_by_role("heading", level=1).inner_text() == "林默"
    assert page.locator("svg.plot a").count() == 8
    assert fits(page) == []


def test_a_keyboard_reaches_the_content_and_every_field_has_a_name(page):
    page.get_by_role("link", name="Chapters", exact=True).click()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.url.endswith("#content")
    fields = "[...document.querySelectorAll('input:not([type=hidden]), select, textarea')]"
    unnamed = f"{fields}.filter(e => !e.labels.length).length"
    for name in ("Ask", "People and things"):
        page.get_by_role("link", name=name, exact=True).first.click()
        assert page.evaluate(unnamed) == 0


def test_a_saved_file_is_seen_while_one_looks(page, address):
    live = page.locator("#live")
    playwright.expect(live).to_have_attribute("data-generation", re.compile(r"\d+"))
    path = address[1] / "chapters" / "ch001.md"
    path.write_text(path.read_text(encoding="utf-8") + "\n\n又下雨了。\n", encoding="utf-8")
    playwright.expect(live).to_contain_text("files changed", timeout=10_000)


def test_a_level_is_changed_in_the_page_and_in_the_file(page, address):
    page.get_by_role("link", name="People and things", exact=True).click()
    page.get_by_role("link", name="铜怀表").click()
    page.get_by_label("Level").select_option("manual_only")
    page.get_by_role("button", name="Save").click()
    playwright.expect(page.get_by_label("Level")).to_have_value("manual_only")
    assert "manual_only" in (address[1] / ".armarius" / "codex.toml").read_text(encoding="utf-8")
