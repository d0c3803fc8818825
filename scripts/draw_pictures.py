"""Take the pictures of README and docs from the running studio: `python scripts/draw_pictures.py`.

Writes docs/pictures/studio-{beside,prompt}{,.zh}.png: of a small English book (tests/cases/half_hour.json) and of
examples/novel, in 128 colours. Needs Chromium, playwright, Pillow and a Chinese font.
"""

import json
import shutil
import tempfile
import threading
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import armarius
from armarius.studio import serve

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
SIZE = {"width": 1200, "height": 700}


def main() -> None:
    """Open both books, one after the other, and photograph two pages of each."""
    PICTURES.mkdir(exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        english, chinese = english_book(Path(place)), Path(place) / "渡口的灯"
        shutil.copytree(ROOT / "examples" / "novel", chinese)
        photograph(browser, english, "en", "chapter-1.md", "hand was red", "Which hand has the scar of Mara Lind?")
        photograph(browser, chinese, "zh", "chapters/ch003.md", "旧烫伤", "小雨的烫伤在哪只手？")
        browser.close()
    for picture in PICTURES.glob("studio-*.png"):
        Image.open(picture).convert("RGB").quantize(128).save(picture, optimize=True)


def english_book(place: Path) -> Path:
    """The book of the first half hour, with its two profiles."""
    case = json.loads((ROOT / "tests" / "cases" / "half_hour.json").read_text(encoding="utf-8"))["en"]
    folder = place / case["name"]
    folder.mkdir()
    for number, text in enumerate(case["chapters"], 1):
        (folder / case["file"].format(number=number)).write_text(text, encoding="utf-8")
    sections = [
        f"## {name}\n\n- {said['attributes'].replace(chr(10), f'{chr(10)}- ')}\n\n{said['description']}\n"
        for name, said in zip(case["people"], case["fields"], strict=True)
    ]
    (folder / "characters.md").write_text("\n".join(["# Characters\n", *sections]), encoding="utf-8")
    return folder


def photograph(browser: Browser, folder: Path, language: str, chapter: str, where: str, question: str) -> None:
    """The desk twice: with the cursor behind `where`, and with a question in the strip."""
    ready, told = threading.Event(), []

    def say(text: str) -> None:
        told.append(text)
        ready.set()

    ending = "" if language == "en" else f".{language}"
    with armarius.open(folder, index_dir=folder.parent / f"index-{language}") as engine:
        threading.Thread(target=serve, args=(engine,), kwargs={"browser": False, "say": say}, daemon=True).start()
        ready.wait(30)
        ground = told[0].partition("/?")[0]
        page = browser.new_context(locale=language, viewport=SIZE).new_page()
        page.goto(told[0])
        cursor = engine.document(chapter).text.index(where) + len(where)
        page.goto(f"{ground}/chapter/{chapter}?cursor={cursor}")
        page.locator("#prompt .sum").wait_for()
        page.screenshot(path=PICTURES / f"studio-beside{ending}.png")
        with page.expect_response("**/prompt"):
            page.locator("#strip input").fill(question)
        page.wait_for_timeout(1_000)  # until it is drawn
        page.locator("#prompt .row.found").first.scroll_into_view_if_needed()
        page.screenshot(path=PICTURES / f"studio-prompt{ending}.png")
        page.context.close()


if __name__ == "__main__":
    main()
