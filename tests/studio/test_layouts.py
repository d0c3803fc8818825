"""Books laid out as other people lay them out, in a real Chromium: binder, order, prompt and inbox."""

import pytest
from tests.studio.test_browser import BROWSER, DESK, chromium, opened, playwright, studio_of

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium")
assert chromium  # a fixture
RAIN = "The rain came over the harbour, and Mara Lind shut the door behind her. Nobody spoke of the ship.\n\n"
PLUIE = "La pluie tombait sur le port, et Mara ferma la porte derrière elle. Personne ne parla du navire.\n\n"
AME = "雨が港に降り、マラは後ろ手に戸を閉めた。誰も船のことを話さなかった。\n\n"
YU = "雨落在港口上，沈青关上身后的门。没有人提起那条船。\n\n"


def numbered():
    """A folder for each chapter, its text beside a plan and a review of it."""
    for n in range(1, 13):
        folder = f"第{n}章-雨夜{n}"
        yield f"{folder}/正文.md", f"# 第{n}章 雨夜{n}\n\n{YU * 8}第{n}夜，灯灭了{n}次。\n"
        yield f"{folder}/大纲.md", f"# 第{n}章 大纲\n\n- 沈青关门\n- 灯灭了{n}次\n"
        yield f"{folder}/审稿.md", f"# 第{n}章 审稿意见\n\n- 节奏太慢\n- 对话太少\n"


def one_file():
    yield "book.md", "".join(f"# Chapter {n}: Night {n}\n\n{RAIN * 40}Night {n} was long.\n\n" for n in range(1, 8))


def french():
    for n in range(1, 12):
        yield f"chapitres/{n:02}-chapitre.md", f"# Chapitre {n} : La Nuit {n}\n\n{PLUIE * 6}La nuit {n} fut longue.\n"
    yield "univers.md", "# Univers\n\n## Mara\n\n- Rôle : gardienne du phare\n- Âge : 30 ans\n"


def japanese():
    for n in range(1, 12):
        yield f"本文/第{n}話.md", f"# 第{n}話 夜{n}\n\n{AME * 6}第{n}の夜は長かった。\n"
    yield "設定/登場人物.md", "# 登場人物\n\n## マラ\n\n- 年齢：30\n- 説明：灯台守。\n"


@pytest.mark.parametrize(
    ("book", "titles"),
    [
        (numbered, [f"第{n}章 雨夜{n}" for n in range(1, 13)]),
        (one_file, [f"Chapter {n}: Night {n}" for n in range(1, 8)]),
        (french, [f"Chapitre {n} : La Nuit {n}" for n in range(1, 12)]),
        (japanese, [f"第{n}話 夜{n}" for n in range(1, 12)]),
    ],
    ids=["a folder a chapter", "one file", "French", "Japanese"],
)
def test_a_book_of_another_layout_has_its_chapters_in_order_and_its_prompt(chromium, tmp_path, book, titles):
    for path, text in book():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    engine, told = studio_of(tmp_path)
    page = opened(chromium, told, "light", DESK, "en-GB")
    chapters = page.locator("#binder > ul").first.get_by_role("link")
    playwright.expect(chapters).to_have_text(titles)
    chapters.nth(2).click()
    playwright.expect(page.locator("#binder [aria-current]")).to_have_text([titles[2]])
    playwright.expect(page.locator("#prompt h3.here")).to_be_attached()
    playwright.expect(page.locator("#prompt h3.story")).to_be_attached()
    page.keyboard.press("F8")
    playwright.expect(page.locator("#drawn h1")).to_have_text("To look at")
    playwright.expect(page.locator("#drawn .looking")).to_have_count(0, timeout=20_000)
    hidden = page.locator("#drawn section.doubts", has_text="Chapters taken for copies")
    playwright.expect(hidden).to_have_count(0)
    assert page.wrong == []
    page.context.close()
    engine.close()
