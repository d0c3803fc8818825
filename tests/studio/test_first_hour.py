"""The first hour of a writer with a bare text, in a real Chromium: what it takes in clicks and keys."""

import json

import pytest
from tests.studio.test_browser import BROWSER, DESK, ROOT, chromium, drop, opened, playwright, studio_of

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium")
assert chromium  # a fixture
TABLE = json.loads((ROOT / "benches" / "results" / "first_hour.json").read_text(encoding="utf-8"))["figures"]
BOOKS = {
    "en": {
        "who": ("Mara Lind", "Tobias Reed", "Old Quinn"),
        "says": "Keeps the lamp; says little. An old scar on her right hand.",
        "out": "Tobias Reed",
    },
    "zh": {
        "who": ("小雨", "林默", "周远"),
        "says": "钟表铺的女儿。右手手背有一道旧烫伤。",
        "out": "林默",
    },
}
HALF_HOUR = json.loads((ROOT / "tests" / "cases" / "half_hour.json").read_text(encoding="utf-8"))
QUINN = (
    '\n\nOld Quinn poured the tea. "Sit down," said Old Quinn. "Not yet," said Old Quinn, and Old Quinn laughed.\n\n'
)


class Hand:
    """Counts what a writer does: presses of the mouse, keys beside the typed text, texts that are typed."""

    def __init__(self, page):
        self.page, self.taken = page, {}

    def begins(self, step):
        self.step = self.taken[step] = {"clicks": 0, "keys": 0}

    def click(self, what):
        what.click()
        self.step["clicks"] += 1

    def press(self, key):
        self.page.keyboard.press(key)
        self.step["keys"] += 1

    def opens_card(self, name):
        self.click(self.page.locator("#text .name", has_text=name).first)
        self.press("Enter")
        playwright.expect(self.page.locator("#card textarea")).to_be_focused()

    def types(self, text):
        self.page.keyboard.insert_text(text)


def bare_text(language):
    chapters = sorted((ROOT / HALF_HOUR["zh"]["copy"]).iterdir())
    texts = HALF_HOUR["en"]["chapters"] if language == "en" else [path.read_text(encoding="utf-8") for path in chapters]
    text = "\n\n".join(texts).replace("# ", "")
    return text + QUINN * 3 if language == "en" else text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_first_hour_takes_the_clicks_and_keys_of_the_table(chromium, tmp_path, language):
    case, card = BOOKS[language], HALF_HOUR[language]["card"]
    first, second, _ = case["who"]
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "book.txt").write_text(bare_text(language), encoding="utf-8")
    engine, told = studio_of(tmp_path / "book")
    page = opened(chromium, told, "light", DESK, language)
    page.set_default_timeout(8000)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expect, hand, drawn = playwright.expect, Hand(page), page.locator("#drawn")

    hand.begins("open a bare text")
    expect(page.locator("#prompt .sum")).to_be_attached()
    expect(page.locator("#binder > ul").first.get_by_role("link")).to_have_count(3 if language == "en" else 7)

    hand.begins("find and add three people")
    hand.press("F8")
    for name in case["who"]:
        row = drawn.locator("article", has=page.locator("h3", has_text=name))
        hand.click(row.locator("[action$=propose] button"))
        expect(row).to_have_count(0)
    assert {item.name for item in engine.entities()} == {*case["who"]}

    for name in case["who"]:  # the text is drawn anew with each; a card that is open then loses the focus
        expect(page.locator("#text .name", has_text=name)).not_to_have_count(0)
    page.wait_for_timeout(500)

    hand.begins("describe one")
    hand.press("Escape")
    hand.opens_card(first)
    hand.types(case["says"])
    with page.expect_response("**/change/entity"):
        hand.press("Tab")
    assert engine.entity(first).description == case["says"]

    hand.begins("correct one: when it is put in")
    hand.press("Escape")
    hand.opens_card(second)
    hand.press("Tab")
    with page.expect_response("**/change/entity"):
        hand.press("ArrowUp")
    assert engine.entity(second).level == "always"

    hand.begins("keep one out of every prompt")
    hand.press("Escape")
    row = page.locator("#prompt .row", has_text=case["out"])
    hand.click(row.locator("[data-drop]").first)
    with page.expect_response("**/change/pin"):
        hand.click(page.locator("#prompt .out .row", has_text=case["out"]).locator("[action$=pin] button"))
    expect(page.locator("#prompt .pins")).to_contain_text(case["out"])

    hand.begins("take that back")
    with page.expect_response("**/change/undo"):
        hand.click(page.locator("#saved button"))
    expect(page.locator("#prompt .pins")).to_have_count(0)

    hand.begins("copy the prompt at the cursor")
    hand.press("Control+Shift+C")
    page.wait_for_function("async () => (await navigator.clipboard.readText()).includes('<cursor/>')")

    hand.begins("settle a contradiction")
    hand.press("F8")
    conflict = drawn.locator("article:has(.two)")
    hand.click(conflict.locator("[action$=settle] button"))
    expect(conflict).to_have_count(0)

    hand.begins("import a card")
    hand.press("Escape")
    drop(page, "card.json", json.dumps({"spec": "chara_card_v2", "data": card}))
    hand.click(page.locator("#brought button, #bring button[name=write]").last)
    expect(page.locator("#brought")).to_contain_text("Added." if language == "en" else "已加入。")
    assert engine.entity(card["name"]).name == card["name"]

    hand.begins("why is one not in it")
    hand.press("Escape")
    hand.click(page.locator("#why input"))
    hand.types(card["name"])
    hand.press("Enter")
    expect(page.locator("#because")).to_contain_text(card["name"])

    assert page.wrong == []
    page.context.close()
    engine.close()
    assert hand.taken == {step: row["now"] for step, row in TABLE[language].items()}
