"""The report page: complete in itself, safe, and working in a real browser."""

import io
import re
import shutil
import subprocess
from datetime import UTC, datetime
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console
from tests.prompt.support import assemble, candidate

import armarius
from armarius.errors import ContextWarning
from armarius.prompt.report.display import Highlight, overview, page
from armarius.testing import FakeFetcher
from armarius.types import Evidence, Omission

ROOT = Path(__file__).resolve().parents[2]
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Reader(HTMLParser):
    """Collects tags, attributes and article texts."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.articles, self._depth = [], [], 0
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "article":
            self.articles.append([dict(attributes), ""])
            self._depth = 1

    def handle_endtag(self, tag):
        if tag == "article":
            self._depth = 0

    def handle_data(self, data):
        if self._depth:
            self.articles[-1][1] += data


@pytest.fixture
def pack():
    why = (Evidence("mention", "小雨 in the query", path="chapters/ch003.md", span=(3, 5)),)
    fetcher = FakeFetcher(
        [
            candidate("r", "rules"),
            candidate("a", content="小雨推开门 <b>&</b>", evidence=why),
            candidate("big", content="x" * 9000),
        ],
        omitted=[Omission("hidden", "retrieved", "codex:detected:hidden", "level", "manual_only")],
        warnings=[ContextWarning("KG_UNAVAILABLE", "<script>alert(1)</script>")],
    )
    return assemble([fetcher], budget=2000)


def test_every_item_and_omission_is_a_row_with_its_reason(pack):
    rows = {attributes["data-kind"]: [] for attributes, _ in Reader(page(pack)).articles}
    for attributes, text in Reader(page(pack)).articles:
        rows[attributes["data-kind"]].append(text)
    assert len(rows["kept"]) == len(pack.items)
    assert len(rows["omitted"]) == len(pack.omitted)
    assert any("manual_only" in text and "level" in text for text in rows["omitted"])
    assert any("小雨 in the query" in text for text in rows["kept"])


def test_page_loads_nothing_from_elsewhere(pack):
    tags = Reader(page(pack)).tags
    assert not [tag for tag, attributes in tags if "src" in attributes or tag in ("link", "iframe", "img", "object")]
    assert "default-src 'none'" in page(pack)


def test_content_is_text_never_markup(pack):
    html = page(pack, title="<img src=x>")
    assert "<b>&</b>" not in html
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in html
    assert html.count("<script>") == 1
    assert "<img" not in html


def test_mentions_are_marked_where_they_stand(pack):
    at = pack.prompt.index("小雨推开门")
    html = page(pack, highlights=[Highlight(at, at + 2, "林小雨"), Highlight(at + 1, at + 3, "overlapping")])
    assert '<mark title="林小雨">小雨</mark>推开门' in html
    assert html.count("<mark") == 2  # with the item, and in the whole prompt


@pytest.fixture(scope="module")
def novel():
    with armarius.open(ROOT / "examples" / "novel", watch=False) as engine:
        yield engine.assemble(
            "检查第3章的角色一致性", document="chapters/ch003.md", cursor=120, model="deepseek-chat", budget=8000
        )


def test_the_page_says_what_was_asked_of_which_model_and_when(novel):
    html = page(novel, when=datetime(2026, 11, 22, 4, 0, tzinfo=UTC))
    assert re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", html) == [
        ("question", "检查第3章的角色一致性"),
        ("document", "chapters/ch003.md, cursor at 120"),
        ("model", "deepseek-chat"),
        ("date", "2026-11-22 04:00"),
    ]


def test_the_whole_prompt_stands_on_the_page_to_be_read(novel):
    shown = page(novel).partition('<pre class="whole">')[2].partition("</pre>")[0]
    assert unescape(re.sub(r"</?mark[^>]*>", "", shown)) == novel.prompt


def test_names_stand_beside_ids_on_the_page_and_in_the_table(novel):
    assert "<b>林小雨</b> <code>entity:lin-xiaoyu</code>" in page(novel)
    console = Console(width=200, file=io.StringIO(), force_terminal=False)
    console.print(overview(novel))
    table = console.file.getvalue()
    assert "林小雨 entity:lin-xiaoyu" in table
    assert table.startswith("question: 检查第3章的角色一致性")
    assert "model: deepseek-chat" in table
    assert "林默 entity:林默 " in table


def test_what_a_layer_has_beyond_its_grant_is_said_to_be_what_was_left():
    with armarius.open(ROOT / "examples" / "novel", watch=False) as engine:
        pack = engine.assemble("小雨的怀表", budget=8000)
    more = pack.layers.retrieved.token_count - pack.granted["retrieved"]
    assert more > 0
    assert f"{more:,} more of what was left" in page(pack)
    console = Console(width=80, file=io.StringIO(), force_terminal=False)
    console.print(overview(pack))
    assert f"{pack.granted['retrieved']:,} + {more:,}" in console.file.getvalue()


def test_same_pack_gives_the_same_page(pack):
    assert page(pack) == page(pack)


def browse(tmp_path, html, *flags, anchor=""):
    place = tmp_path / "report.html"
    place.write_text(html, encoding="utf8")
    quiet = (
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    )
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        *quiet,
        f"--user-data-dir={tmp_path / 'profile'}",
        *flags,
        place.as_uri() + anchor,
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=True).stdout


needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")


@needs_browser
@pytest.mark.parametrize(
    ("anchor", "shown"), [("", {"kept", "omitted"}), ("#kept", {"kept"}), ("#omitted", {"omitted"})]
)
def test_filter_hides_the_other_rows_in_a_browser(pack, tmp_path, anchor, shown):
    rows = Reader(browse(tmp_path, page(pack), "--dump-dom", anchor=anchor)).articles
    assert {attributes["data-kind"] for attributes, _ in rows if "hidden" not in attributes} == shown


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_painted_in_both_colour_schemes(pack, tmp_path, scheme):
    picture = tmp_path / "page.png"
    dark = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0") if scheme == "dark" else ()
    browse(tmp_path, page(pack), f"--screenshot={picture}", "--window-size=1000,1400", *dark)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 10_000
    assert re.search(r"prefers-color-scheme: dark", page(pack))
