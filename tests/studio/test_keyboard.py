"""Every activity of the desk by keyboard alone: from the text five keys at most, beside what is typed."""

import re
from urllib.parse import urljoin

import pytest
from tests.studio.test_browser import BROWSER, ROOT, address, chromium, page, playwright

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium")
assert all((address, chromium, page))  # fixtures
MOST = 5
SEARCHED = {"open a chapter": ("第五章 周家父子", "**/chapter/chapters/ch005.md**"), "open a person": ("沈砚秋", "")}


def press(page, *keys):
    """Press keys, or type what stands behind "="."""
    assert len([key for key in keys if not key.startswith("=")]) <= MOST
    for key in keys:
        page.keyboard.insert_text(key[1:]) if key.startswith("=") else page.keyboard.press(key)
        page.wait_for_timeout(250)  # until an answer of the server is drawn


def begin(page, cursor=206):
    page.goto(urljoin(page.url, f"/chapter/chapters/ch003.md?cursor={cursor}"))
    page.locator("#prompt .row").first.wait_for()
    page.locator("#text").focus()


@pytest.fixture
def desk(page):
    begin(page)
    return page


@pytest.mark.parametrize(("name", "to"), SEARCHED.values(), ids=SEARCHED)
def test_a_chapter_or_a_person_is_opened(desk, name, to):
    press(desk, "Control+k", f"={name}", "Enter", "Tab", "Enter")
    if to:
        desk.wait_for_url(to)
    else:
        playwright.expect(desk.locator("#drawn h1")).to_have_text(name)


def test_the_card_of_the_name_at_the_cursor_is_edited(desk):
    begin(desk, (ROOT / "examples/novel/chapters/ch003.md").read_text(encoding="utf-8").index("小雨") + 2)
    press(desk, "ArrowLeft", "Enter")
    playwright.expect(desk.locator("#card textarea")).to_be_focused()


def test_something_of_the_inbox_is_answered_and_undone(desk):
    doubt = desk.locator("#drawn article:has(.two)")
    press(desk, "F8")
    playwright.expect(doubt.locator(".answers a").first).to_be_focused(timeout=15_000)
    press(desk, "Tab", "Enter")
    playwright.expect(doubt).to_have_count(0)
    press(desk, "Control+z")
    playwright.expect(doubt).to_have_count(1)


def test_the_prompt_is_copied_and_what_the_ai_is_to_do_is_written(desk):
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    press(desk, "F6", "F6", "F6", "Tab")
    playwright.expect(desk.locator("#strip [data-wish]").nth(1)).to_be_focused()
    press(desk, "Control+Shift+C")
    playwright.expect(desk.locator("#said")).to_contain_text("token")


def test_the_budget_is_changed(desk):
    chosen = desk.locator("select[name=budget]")
    before = chosen.input_value()
    press(desk, "F6", "Enter", "Tab", "ArrowDown", "Control+Enter")
    playwright.expect(desk.locator(".limits summary")).not_to_contain_text(f"{int(before):,}")
    press(desk, "Control+z")


def test_a_row_is_left_out_and_something_is_brought_in(desk):
    left = desk.locator("#prompt [data-drop]").first.get_attribute("data-drop")
    press(desk, "F6", "Tab", "Tab", "Enter")
    playwright.expect(desk.locator(f'#prompt [data-drop="{left}"]')).to_have_count(0)
    begin(desk)
    press(desk, "F6", "F6", "=顾长河", "Enter", "Tab", "Enter")
    playwright.expect(desk.locator("#prompt .row", has_text="顾长河").first).to_be_attached()


def test_the_language_the_face_and_the_draft_are_changed(desk):
    press(desk, "Shift+Tab", "Enter")
    playwright.expect(desk.locator("#draft")).to_be_visible()
    press(desk, "Enter")
    press(desk, "Shift+Tab", "Enter")
    playwright.expect(desk.locator("#text")).to_have_class(re.compile("sans"))
    press(desk, "Control+k", "Tab", "Tab", "Enter")
    playwright.expect(desk.locator("html")).to_have_attribute("lang", "zh")


def test_what_stands_below_the_binder_is_opened(desk):
    for keys, href in (((), "/bring"), (("Shift+Tab",), "/notes"), (("Shift+Tab", "Shift+Tab"), "/inbox")):
        begin(desk)
        press(desk, "Shift+F6", *keys, "Enter")
        playwright.expect(desk.locator("#drawn")).to_have_attribute("data-path", href)


def test_ctrl_z_in_a_field_is_left_to_the_field(desk):
    press(desk, "Control+k", "=abc", "Control+z")
    playwright.expect(desk.locator("#words")).not_to_have_value("abc")
