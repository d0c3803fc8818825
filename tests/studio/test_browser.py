"""The studio in a real Chromium: every page opened, clicked and photographed; nothing refused, nothing thrown."""

import json
import os
import re
import shutil
import threading
import time

import pytest
from tests.studio.test_pages import ROOT

import armarius
from armarius.studio import serve

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


@pytest.fixture
def page(request, chromium, address):
    page = opened(chromium, address[0], *getattr(request, "param", ("light", DESK)), "en-GB")
    yield page
    assert page.wrong == []
    page.context.close()


on_a_phone_too = pytest.mark.parametrize(
    "page", [("light", DESK), ("dark", PHONE)], ids=["desk", "phone"], indirect=True
)


def fits(page):
    """Nothing is wider than the window; what is, otherwise."""
    wide = "[...document.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
    wide += ".filter(e => !e.closest('summary, .ready'))"  # which are cut off, and slid
    return page.evaluate(f"{wide}.map(e => e.outerHTML.slice(0, 90))") or page.evaluate(
        "document.documentElement.scrollWidth > innerWidth ? [document.documentElement.scrollWidth] : []"
    )


CHAPTER = "/chapter/chapters/ch003.md?cursor=206"


def ground(page):
    return page.url.partition("/?")[0].rstrip("/")


def copied(page):
    """What one press of a key puts on the clipboard."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    before = page.locator("#said").inner_text()
    page.keyboard.press("Control+Shift+C")
    page.wait_for_function(
        "before => document.querySelector('#said').textContent !== before || /\\d/.test(before)", arg=before
    )
    return page.evaluate("navigator.clipboard.readText()")


def drop(page, name, text):
    """Drop a file on the text."""
    page.locator("#text").evaluate(
        """(over, [name, text]) => {
          const data = new DataTransfer();
          data.items.add(new File([text], name));
          over.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        [name, text],
    )


def at(page):
    """Where the address says the cursor is."""
    return int(page.url.rpartition("=")[2])


@pytest.mark.parametrize(("language", "said"), [("zh-CN", "每次都有"), ("en-GB", "Every time")])
@pytest.mark.parametrize(("scheme", "size"), [("dark", DESK), ("light", PHONE)], ids=["desk", "phone"])
def test_one_page_has_the_book_the_text_and_the_prompt_in_one_language(chromium, address, scheme, size, language, said):
    page = opened(chromium, address[0], scheme, size, language)
    playwright.expect(page.locator("#prompt h3").first).to_contain_text(said)
    total = page.locator("#prompt .sum b").text_content()
    rows = page.locator("#prompt h3 .number").all_text_contents()
    assert sum(int(one.replace(",", "")) for one in rows) == int(total.replace(",", ""))
    assert page.locator("html").get_attribute("lang") == language[:2]
    assert (fits(page), page.wrong, "token" in page.url) == ([], [], False)
    page.context.close()


@on_a_phone_too
def test_the_prompt_at_the_cursor_is_copied_by_one_key(page, address):
    page.goto(f"{ground(page)}{CHAPTER}")
    playwright.expect(page.locator("#prompt .sum")).to_be_attached()
    prompt = copied(page)
    assert "是被人裁掉的。”<cursor/>" in prompt
    playwright.expect(page.locator("#said")).to_contain_text(page.locator("#prompt .sum b").text_content())
    page.locator("#strip input").fill("小雨的烫伤在哪只手")
    page.locator("#copy").click()
    page.wait_for_function("async () => (await navigator.clipboard.readText()).includes('小雨的烫伤在哪只手')")


def test_the_cursor_is_seen_moved_by_arrow_keys_and_kept_on_reload(page):
    page.goto(f"{ground(page)}{CHAPTER}")
    caret = page.locator("#caret")
    playwright.expect(caret).to_be_visible()
    page.locator("#text").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**cursor=204")
    page.keyboard.press("ArrowDown")
    page.wait_for_function("!location.href.endsWith('=204')")
    down = at(page)
    assert down > 204
    page.keyboard.press("End")  # the address follows the key a moment later
    page.wait_for_function(f"!location.href.endsWith('={down}')")
    where = at(page)
    playwright.expect(page.locator("#prompt")).to_have_attribute("data-cursor", str(where))
    page.reload()
    playwright.expect(page.locator("#prompt")).to_have_attribute("data-cursor", str(where))


def test_the_typeface_is_chosen_and_kept(page):
    page.goto(f"{ground(page)}{CHAPTER}")
    page.locator("#face").click()
    page.reload()
    playwright.expect(page.locator("#text")).to_have_class("sans")
    page.locator("#face").click()
    playwright.expect(page.locator("#text")).not_to_have_class("sans")


@on_a_phone_too
def test_a_row_opens_its_text_stays_out_this_time_and_comes_back(page):
    page.goto(f"{ground(page)}{CHAPTER}")
    playwright.expect(page.locator("#prompt .sum")).to_be_attached()
    if page.viewport_size == PHONE:
        page.locator("#handle").click()
    row = page.locator("#prompt > .row", has_text="沈砚秋")
    row.locator("summary").click()
    playwright.expect(row.locator("pre")).to_contain_text("档案馆")
    row.get_by_role("button", name="Not this time").click()
    playwright.expect(row).to_have_count(0)
    page.locator("#prompt .out").get_by_role("button", name="Bring it in: 沈砚秋", exact=True).click()
    playwright.expect(row).to_have_count(1)
    page.locator("#why input").fill("无此人")
    page.keyboard.press("Enter")
    playwright.expect(page.locator("#because")).to_contain_text("does not know this name")


@on_a_phone_too
def test_a_page_opens_beside_the_text_and_escape_closes_it(page):
    page.goto(f"{ground(page)}{CHAPTER}")
    for name in ("To look at", "Rules and memories", "Import"):
        if page.viewport_size == PHONE and not page.locator("#binder").is_visible():
            page.locator("#menu").click()
        page.locator("#binder .more a", has_text=name).click()
        playwright.expect(page.locator("#drawn h1")).to_have_text(name)
        assert fits(page) == [], name
        page.keyboard.press("Escape")
        playwright.expect(page.locator("#drawer")).to_be_hidden()
    assert page.url.endswith(CHAPTER)


def test_both_sides_of_a_conflict_lead_to_the_paragraph(page):
    page.goto(f"{ground(page)}/inbox")
    sides = page.locator("main blockquote")
    playwright.expect(sides.filter(has_text="右手手背")).to_have_count(1, timeout=20_000)
    sides.filter(has_text="左手的手背").get_by_role("link").click()
    playwright.expect(page.locator("#text > div:target")).to_contain_text("左手的手背")


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
    paths = [*(f"/entity/{one}" for one in known), "/entities", "/inbox"]
    chapters = [f"/chapter/chapters/ch{i:03}.md" for i in range(0, len(hostile), 5)]
    for path in (*paths, *chapters):
        page.goto(ground + path)
        assert page.url.startswith(ground), path
        assert page.get_by_role("banner").is_visible(), path
        assert fits(page) == [], path
    for text in hostile[::8]:
        page.locator("#strip input").fill(text)
        playwright.expect(page.locator("#prompt .row.here b").last).to_be_attached()
        copied(page)
    assert page.wrong == []
    page.context.close()
    engine.close()


AXE = ROOT / ".cache" / "code-tools" / "node_modules" / "axe-core" / "axe.min.js"
needs_axe = pytest.mark.skipif(not AXE.exists(), reason="axe is not installed: make code-tools (needs npm)")


def violations(page):
    page.evaluate(f"(() => {{ {AXE.read_text(encoding='utf-8')} }})()")
    return page.evaluate("axe.run().then(r => r.violations.map(v => [v.id, v.nodes.length, v.nodes[0].html]))")


@needs_axe
@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
@pytest.mark.parametrize(("scheme", "size"), [("light", DESK), ("dark", PHONE)], ids=["desk", "phone"])
def test_nothing_that_opens_over_the_text_breaks_a_rule_of_accessibility(chromium, address, scheme, size, language):
    page = opened(chromium, address[0], scheme, size, language)
    page.goto(f"{ground(page)}{CHAPTER}")
    playwright.expect(page.locator("#prompt .sum")).to_be_attached()
    page.keyboard.press("F8")
    playwright.expect(page.locator("#drawn .looking")).to_have_count(0, timeout=20_000)
    playwright.expect(page.locator("#drawn article").first).to_be_visible()
    assert violations(page) == [], "inbox"
    drop(page, "雪.txt", "# 第一章 雪\n\n下雪了。\n\n# 第二章 冰\n\n结冰了。\n")
    playwright.expect(page.locator("#brought")).to_contain_text("第二章 冰")
    assert violations(page) == [], "import"
    page.keyboard.press("Escape")
    page.locator("#text .name", has_text="沈老师").first.click()
    page.keyboard.press("Enter")
    playwright.expect(page.locator("#card textarea")).to_be_focused()
    assert violations(page) == [], "card"
    page.locator("#card h2 a").click()
    playwright.expect(page.locator("#drawn h1")).to_have_text("沈砚秋")
    assert (violations(page), fits(page), page.wrong) == ([], [], []), "person"
    page.context.close()


@needs_axe
@on_a_phone_too
def test_no_page_breaks_a_rule_of_accessibility(page, address):
    ground = page.url.partition("/?")[0].rstrip("/")
    for path in (
        *(
            "/",
            "/chapter/chapters/ch003.md?cursor=206",
            "/entities",
            "/entity/lin-xiaoyu",
            "/inbox",
            "/notes",
            "/question",
        ),
        *("/search?words=1", "/bring", "/entity/x", "/book/lore?text=%E9%93%9C%E9%B1%BC"),
    ):
        page.goto(ground + path)
        for closed in page.locator("main details").all():
            closed.evaluate("one => one.open = true")
        if page.locator("#desk").count():
            playwright.expect(page.locator("#prompt .sum")).to_be_attached()
        assert violations(page) == [], path
    page.wrong.clear()  # /entity/x is none


@pytest.fixture
def restored(address):
    """The folder of the book, whose chapters are as they were after the test."""
    chapters = {path: path.read_bytes() for path in (address[1] / "chapters").iterdir()}
    yield address[1]
    for path, data in chapters.items():
        path.write_bytes(data)


def write(path, text):
    path.write_text(text, encoding="utf-8")


def test_a_text_that_is_saved_outside_is_drawn_anew_with_the_cursor_at_the_change(page, restored):
    path = restored / "chapters" / "ch003.md"
    before, live = path.read_text(encoding="utf-8"), page.locator("#live")
    page.goto(f"{ground(page)}{CHAPTER}")
    playwright.expect(live).to_have_attribute("data-generation", re.compile(r"\d+"))
    at_, new = before.index("“我去了档案馆"), "林默放下了镊子。"
    write(path, before[:at_] + new + before[at_:])
    playwright.expect(page.locator("#text")).to_contain_text(new, timeout=10_000)
    playwright.expect(live).to_contain_text("files changed")
    page.wait_for_url(f"**cursor={at_ + len(new)}")
    playwright.expect(page.locator("#prompt")).to_have_attribute("data-cursor", str(at_ + len(new)))
    playwright.expect(page.locator("#caret")).to_be_visible()


def test_the_chapter_that_was_saved_last_is_opened_and_followed(page, restored):
    now = time.time()
    for chapter in (restored / "chapters").iterdir():
        age = 3600 if chapter.name == "ch002.md" else 7200
        os.utime(chapter, (now - age, now - age))
    page.goto(f"{ground(page)}/")
    playwright.expect(page.locator("#text")).to_have_attribute("data-path", "chapters/ch002.md")
    playwright.expect(page.locator("#live")).to_have_attribute("data-generation", re.compile(r"\d+"))
    path = restored / "chapters" / "ch005.md"
    write(path, path.read_text(encoding="utf-8") + "\n雾又起了。\n")
    playwright.expect(page.locator("#text")).to_have_attribute("data-path", "chapters/ch005.md", timeout=10_000)
    playwright.expect(page.locator("#text")).to_contain_text("雾又起了。")
    playwright.expect(page.locator("#content .place code")).to_have_text("chapters/ch005.md")
    playwright.expect(page.locator("#content .place [name=path]")).to_have_value("chapters/ch005.md")


def test_an_edit_elsewhere_in_a_book_of_one_file_is_followed(chromium, tmp_path):
    path = tmp_path / "book.txt"
    text = "".join(f"第{n}章 夜{n}\n\n" + f"第{n}夜雾散了。\n\n" * 90 for n in range(1, 5))
    path.write_text(text, "utf-8")
    engine, told = studio_of(tmp_path)
    page = opened(chromium, told, "light", DESK, "zh-CN")
    live, shown, title = page.locator("#live"), page.locator("#text"), page.locator("#binder [aria-current]")
    ground = told.partition("/?")[0]
    for chapter, begin in ((2, "/"), (1, "/chapter/book.txt"), (3, f"/chapter/book.txt?cursor={len(text)}")):
        page.goto(ground + begin)
        playwright.expect(live).to_have_attribute("data-generation", re.compile(r"\d+"))
        new = f"铜鱼{chapter}只。"
        at_ = text.index(f"第{chapter}夜")
        text = text[:at_] + new + text[at_:]
        write(path, text)
        playwright.expect(shown).to_contain_text(new, timeout=10_000)
        playwright.expect(title).to_contain_text(f"第{chapter}章")
        playwright.expect(page.locator("#prompt")).to_have_attribute("data-cursor", str(at_ + len(new)))
        playwright.expect(page.locator("#caret")).to_be_in_viewport()
    page.goto(ground)
    playwright.expect(shown).to_contain_text("铜鱼3只。")  # the last change
    assert page.wrong == []
    page.context.close()
    engine.close()


@on_a_phone_too
def test_a_name_in_the_text_shows_its_card_and_is_edited_there(page, address):
    page.goto(f"{ground(page)}{CHAPTER}")
    playwright.expect(page.locator("#prompt .sum")).to_be_attached()
    page.locator("#text .name", has_text="沈老师").first.hover()
    card, file = page.locator("#card"), address[1] / "spec" / "characters.md"
    playwright.expect(card.get_by_role("heading")).to_contain_text("沈砚秋")
    before, who = file.read_bytes(), card.get_by_label("Who it is")
    said = who.input_value()
    who.fill(f"{said}他戴眼镜。")
    who.blur()
    playwright.expect(page.locator("#saved")).to_contain_text("spec/characters.md:")
    assert "他戴眼镜。" in file.read_text(encoding="utf-8")
    assert page.locator("#drawer").is_hidden()
    with page.expect_response("**/change/undo"):
        page.locator("#saved").get_by_role("button", name="Undo").click()
    assert file.read_bytes() == before
    page.locator("#text").focus()
    page.keyboard.press("Escape")
    playwright.expect(card).to_have_count(0)


def test_the_cursor_in_a_name_opens_its_card_by_enter(page):
    page.goto(f"{ground(page)}{CHAPTER}")
    playwright.expect(page.locator("#prompt .sum")).to_be_attached()
    page.locator("#text .name", has_text="沈老师").first.click()
    page.keyboard.press("Enter")
    playwright.expect(page.locator("#card textarea")).to_be_focused()
    page.keyboard.press("Escape")
    playwright.expect(page.locator("#text")).to_be_focused()


def test_a_draft_stands_for_the_chapter_and_is_kept_in_this_browser(page, address):
    path = address[1] / "chapters" / "ch003.md"
    before = path.read_bytes()
    page.goto(f"{ground(page)}{CHAPTER}")
    page.get_by_role("button", name="My draft").click()
    draft = page.locator("#draft")
    draft.fill("白鹭推开门。")
    playwright.expect(page.locator("#prompt > .row", has_text="白鹭")).to_have_count(1)
    assert "白鹭推开门。<cursor/>" in copied(page)
    page.reload()
    playwright.expect(draft).to_have_value("白鹭推开门。")
    playwright.expect(page.locator("#prompt > .row", has_text="白鹭")).to_have_count(1)
    here = page.url
    page.goto(here.partition("/chapter/")[0] + "/chapter/chapters/ch004.md")
    playwright.expect(draft).to_be_hidden()
    page.goto(here)
    playwright.expect(draft).to_have_value("白鹭推开门。")
    draft.fill("")
    page.get_by_role("button", name="My draft").click()
    page.reload()
    playwright.expect(page.locator("#text")).to_be_visible()
    playwright.expect(draft).to_be_hidden()
    assert path.read_bytes() == before


def people(page):
    """Open the drawer of 铜怀表 beside the text."""
    page.goto(f"{ground(page)}{CHAPTER}")
    if page.viewport_size == PHONE:
        page.locator("#menu").click()
    page.locator("#binder summary", has_text="People").click()
    page.locator("#binder a", has_text="铜怀表").click()
    playwright.expect(page.locator("#drawn h1")).to_have_text("铜怀表")
    return page.locator("#drawn")


@on_a_phone_too
def test_a_person_is_saved_on_leaving_a_field_and_taken_back_by_one_press(page, address):
    drawer, file = people(page), address[1] / "spec" / "locations.md"
    before = file.read_bytes()
    drawer.get_by_label("In a prompt").select_option("when named")
    saved = page.locator("#saved")
    playwright.expect(saved).to_contain_text("spec/locations.md:")
    assert "- 注入：点名时" in file.read_text(encoding="utf-8")
    saved.get_by_role("button", name="Undo").click()
    playwright.expect(drawer.get_by_label("In a prompt")).to_have_value("when_detected")
    assert file.read_bytes() == before


def test_a_field_that_was_emptied_asks_before_it_is_saved(page, address):
    drawer, file = people(page), address[1] / "spec" / "locations.md"
    before, who = file.read_bytes(), drawer.get_by_label("Who it is")
    said = who.input_value()
    who.fill("")
    who.blur()
    ask = drawer.locator(".ask:not([hidden])")
    playwright.expect(ask).to_have_count(1)
    ask.get_by_role("button", name="Put it back").click()
    assert (who.input_value(), file.read_bytes()) == (said, before)
    who.fill("")
    who.blur()
    ask.get_by_role("button", name="Delete").click()
    playwright.expect(page.locator("#saved")).to_contain_text("spec/locations.md:")
    page.locator("#saved").get_by_role("button", name="Undo").click()
    playwright.expect(who).to_have_value(said)
    assert file.read_bytes() == before


def test_a_file_that_is_dropped_anywhere_is_looked_at_and_not_written(page, address):
    page.goto(f"{ground(page)}{CHAPTER}")
    drop(page, "雪.txt", "# 第一章 雪\n\n下雪了。\n\n# 第二章 冰\n\n结冰了。\n")
    playwright.expect(page.locator("#brought")).to_contain_text("第二章 冰")
    assert not list(address[1].rglob("*雪*"))


@on_a_phone_too
def test_the_question_for_a_model_is_copied_and_what_is_ticked_of_its_reply_is_declared(page, address):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{ground(page)}{CHAPTER}")
    playwright.expect(page.locator("#prompt .sum")).to_be_attached()
    page.keyboard.press("F8")
    page.locator("#drawn").get_by_role("button", name="Ask my AI what all this is").click()
    playwright.expect(page.locator("#asked [role=status]")).to_contain_text("Paste this question")
    page.wait_for_function("async () => (await navigator.clipboard.readText()).includes('GROUPS')")
    question = page.evaluate("navigator.clipboard.readText()")
    assert question == page.locator("#asked [data-copied]").text_content()
    assert "林默" in question
    page.get_by_label("Its reply").fill('{"people": [{"name": "Élodie Moreau", "aliases": ["Moreau"]}]}')
    page.get_by_role("button", name="Look", exact=True).click()
    playwright.expect(page.get_by_role("checkbox", name="Élodie Moreau")).to_be_checked()
    assert fits(page) == []
    page.get_by_role("button", name="Take over what is ticked").click()
    saved = page.locator("#saved")
    playwright.expect(saved).to_contain_text("armarius.toml")
    assert "[people]" in (address[1] / "armarius.toml").read_text("utf-8")
    with page.expect_response("**/change/undo"):
        saved.get_by_role("button", name="Undo").click()
    assert not (address[1] / "armarius.toml").exists()


@on_a_phone_too
def test_a_studio_that_is_gone_is_said(page):
    page.goto(f"{ground(page)}{CHAPTER}")
    playwright.expect(page.locator("#live")).to_have_attribute("data-generation", re.compile(r"\d+"))
    page.context.set_offline(True)
    page.locator("#strip input").fill("小雨")
    playwright.expect(page.locator("#live")).to_contain_text("The studio is not running")
    assert fits(page) == []
    page.wrong.clear()  # what was not answered


def test_an_error_stands_in_the_form_and_keeps_what_was_typed(page):
    page.goto(f"{ground(page)}/entities")
    form = page.locator("#create form")
    form.get_by_label("name", exact=True).fill("林默")
    form.get_by_label("Who it is").fill("另一个")
    page.keyboard.press("Control+Enter")
    playwright.expect(form.get_by_role("alert")).to_contain_text("There is one of that name already")
    assert form.get_by_label("Who it is").input_value() == "另一个"
    page.wrong.clear()  # the answer 400


def test_keys_search_and_explain_themselves(page):
    page.goto(f"{ground(page)}{CHAPTER}")
    page.keyboard.press("?")
    playwright.expect(page.get_by_role("dialog")).to_contain_text("Ctrl+Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("七点四十分")
    page.keyboard.press("Enter")
    page.locator("#drawn .said a").first.click()
    playwright.expect(page.locator("#text > div:target")).to_contain_text("七点四十分")
    page.keyboard.press("F8")
    playwright.expect(page.locator("#drawn h1")).to_have_text("To look at")
    playwright.expect(page.locator("#drawn .answers a").first).to_be_focused()


@on_a_phone_too
def test_a_budget_that_was_changed_is_taken_back_at_the_same_place(page, address):
    page.goto(f"{ground(page)}{CHAPTER}")
    playwright.expect(page.locator("#prompt .sum")).to_be_attached()
    if page.viewport_size == PHONE:
        page.locator("#handle").click()
    limits = page.locator(".limits")
    limits.locator("summary").click()
    limits.get_by_label("Budget").select_option("64000")
    limits.get_by_role("button", name="Save").click()
    page.wait_for_url("**saved=*")
    assert ("cursor=206" in page.url, (address[1] / "armarius.toml").exists()) == (True, True)
    with page.expect_response("**/change/undo"):
        page.locator("#saved").get_by_role("button", name="Undo").click()
    assert not (address[1] / "armarius.toml").exists()


def test_somebody_new_is_marked_in_the_text_that_is_open(chromium, tmp_path):
    write(tmp_path / "第1章.md", "# 第1章 雨\n\n沈青推开门，沈青没有说话。\n")
    engine, told = studio_of(tmp_path)
    page = opened(chromium, told, "light", DESK, "zh-CN")
    playwright.expect(page.locator("#live")).to_have_attribute("data-generation", re.compile(r"\d+"))
    playwright.expect(page.locator("#text .name")).to_have_count(0)
    write(tmp_path / "人物.md", "# 人物\n\n## 沈青\n\n- 类型：人物\n- 描述：守塔人。\n")
    playwright.expect(page.locator("#text .name")).to_have_count(2, timeout=10_000)
    assert page.wrong == []
    page.context.close()
    engine.close()


def test_an_inbox_that_was_closed_stays_closed_when_a_card_is_saved(page, address):
    page.goto(f"{ground(page)}{CHAPTER}")
    playwright.expect(page.locator("#prompt .sum")).to_be_attached()
    page.keyboard.press("F8")
    playwright.expect(page.locator("#drawn h1")).to_have_text("To look at")
    page.keyboard.press("Escape")
    page.locator("#text .name", has_text="沈老师").first.click()
    page.keyboard.press("Enter")
    playwright.expect(page.locator("#card textarea")).to_be_focused()
    page.keyboard.insert_text("他")
    page.keyboard.press("Tab")
    with page.expect_response("**/change/undo"):
        page.locator("#saved").get_by_role("button", name="Undo").click()
    assert page.locator("#drawer").is_hidden()
