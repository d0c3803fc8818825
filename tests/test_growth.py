"""What a file holds twice as much of takes about twice the work: every countable thing that a file can choose, doubled.

Counted are the calls that Python makes and the peak of the memory that it traces; no clock, which would measure the
machine. What happens inside one call of C is not seen here: patterns are judged by tests/test_patterns.py, automata by
how they are built (rust/text/ballast.rs), and benches/bench_growth.py reads the clock.
"""

import io
import json
import threading
import tracemalloc
import zipfile
from cProfile import Profile

import pytest

import armarius
from armarius import activate
from armarius.documents.document import make_document
from armarius.lorebooks import read_book

MOST = 2.5  # for twice as many
FEW = 1_000  # calls; what takes fewer does not depend on how many there are


def packed(members):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for name, text in members.items():
            target.writestr(name, text)
    return made.getvalue()


def epub(pages, spine):
    items = "".join(f'<item id="{name}" href="{name}" media-type="text/html"/>' for name in pages)
    references = "".join(f'<itemref idref="{name}"/>' for name in spine)
    return packed({
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>',
        "b.opf": f"<package><manifest>{items}</manifest><spine>{references}</spine></package>",
        **pages,
    })  # fmt: skip


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TEXT = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
)
PAGE = "<html><body><p>小雨来了。</p></body></html>"
NOTE = '<w:p><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'


def docx(body, **more):
    return packed({"word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>", **more})


def odt(body):
    return packed({
        "content.xml": f"<office:document-content {TEXT}><office:body><office:text>{body}</office:text></office:body>"
        "</office:document-content>"
    })  # fmt: skip


def codex(entities, relations=()):
    return {"codex.json": json.dumps({"entities": entities, "relations": list(relations)}, ensure_ascii=False)}


def people(many, **more):
    return [{"id": f"a{n}", "name": f"人{n}", **more} for n in range(many)]


def lore(keys):
    return json.dumps(
        {"entries": {str(n): {"uid": n, "key": key, "content": "说"} for n, key in enumerate(keys)}}
    ).encode()


def pages(many):
    return dict.fromkeys([f"{n}.html" for n in range(many)], PAGE)


# A file of a project by how many things it holds; the project is opened, and asked for a prompt.
PROJECTS = {
    "entities of one alias": (200, lambda n: codex(people(n, aliases=["小雨"], description="小雨的朋友"))),
    "entities of one name": (200, lambda n: codex([{"id": f"a{k}", "name": "小雨"} for k in range(n)])),
    "entities": (200, lambda n: codex(people(n))),
    "aliases": (1000, lambda n: codex([{"id": "a", "name": "小雨", "aliases": [f"雨{k}" for k in range(n)]}])),
    "attributes": (
        1000,
        lambda n: codex([{"id": "a", "name": "小雨", "attributes": {f"项{k}": "值" for k in range(n)}}]),
    ),
    "relations": (
        200,
        lambda n: codex(people(n), [{"source": f"a{k}", "target": f"a{k * 7 % n}", "type": "友"} for k in range(1, n)]),
    ),
    "relations of one": (
        200,
        lambda n: codex(people(n), [{"source": "a0", "target": f"a{k}", "type": "友"} for k in range(1, n)]),
    ),
    "relations of two": (
        200,
        lambda n: codex(people(2), [{"source": "a0", "target": "a1", "type": f"友{k}"} for k in range(n)]),
    ),
    "files": (60, lambda n: {f"chapters/ch{k:04}.md": f"# 第{k}章\n\n小雨来了{k}次。\n" for k in range(1, n + 1)}),
}


# A page of Markdown by its parts: it is opened as settings, and asked for a prompt.
PAGES = {
    "brackets": (4000, lambda n: "[" * n),
    "links": (200, lambda n: "# 小雨\n\n" + "[[小雨]]和[[老周|他]]。\n\n" * n),
    "headings": (150, lambda n: "# 小雨\n\n" + "".join(f"## 人物{k}\n\n- 类型：人物\n\n" for k in range(n))),
    "headings of one name": (150, lambda n: "# 人物\n\n" + "## 小雨\n\n- 类型：人物\n- 年龄：3\n\n" * n),
    "chapters of one file": (150, lambda n: "".join(f"# 第{k}章\n\n小雨来了。\n\n" for k in range(1, n + 1))),
    "headings nested": (150, lambda n: "".join(f"{'#' * (k % 6 + 1)} 题{k}\n\n小雨。\n\n" for k in range(n))),
    "rules under a paragraph": (400, lambda n: "小雨\n来\n" + "---\n" * n),
    "items": (400, lambda n: "# 小雨\n\n" + "- 来了\n" * n),
    "items nested under one": (400, lambda n: "# 小雨\n\n- 类型\n" + "  - 来了\n" * n),
    "items nested in each other": (
        200,
        lambda n: "# 小雨\n\n" + "".join(f"{' ' * (k % 20)}- 来了\n" for k in range(n)),
    ),
    "labelled lines": (200, lambda n: "# 小雨\n\n- 类型：人物\n" + "".join(f"- 项{k}：值\n" for k in range(n))),
    "labelled lines of one label": (200, lambda n: "# 小雨\n\n- 类型：人物\n" + "- 项：值\n" * n),
    "lines of aliases": (200, lambda n: "# 小雨\n\n- 类型：人物\n" + "".join(f"- 别名：雨{k}\n" for k in range(n))),
    "lines of relations": (
        200,
        lambda n: "# 小雨\n\n- 类型：人物\n\n## 关系\n\n" + "".join(f"- 人{k}：朋友\n" for k in range(n)),
    ),
    "rows of a table": (
        200,
        lambda n: "| 姓名 | 年龄 |\n|---|---|\n" + "".join(f"| 人{k} | {k} |\n" for k in range(n)),
    ),
    "cells of a row": (1000, lambda n: "| 姓名 " * n + "|\n" + "|---" * n + "|\n" + "| 小雨 " * n + "|\n"),
    "paragraphs of one profile": (200, lambda n: "# 小雨\n\n- 类型：人物\n\n" + "他来了。\n\n" * n),
    "lines of one paragraph": (1000, lambda n: "# 小雨\n\n" + "he came\n" * n),
    "facts": (200, lambda n: "# 小雨\n\n- 类型：人物\n" + "".join(f"- 第{k}章起：来了\n" for k in range(1, n + 1))),
    "front matter": (300, lambda n: "---\n" + "".join(f"k{k}: v\n" for k in range(n)) + "---\n\n# 小雨\n\n来了。\n"),
    "fences": (400, lambda n: "```\na\n```\n\n" * n),
    "quotes": (400, lambda n: "> 小雨来了\n" * n),
}


# A manuscript by its parts: it is read as a document.
MANUSCRIPTS = {
    "spine items of one page": ("a.epub", 1000, lambda n: epub({"a.html": PAGE}, ["a.html"] * n)),
    "pages of a book": (
        "a.epub",
        200,
        lambda n: epub(pages(n), pages(n)),
    ),
    "members of an archive": (
        "a.docx",
        1000,
        lambda n: docx("<w:p><w:r><w:t>x</w:t></w:r></w:p>", **{f"word/media/{k}": "" for k in range(n)}),
    ),
    "paragraphs of a document": ("a.docx", 500, lambda n: docx("<w:p><w:r><w:t>小雨</w:t></w:r></w:p>" * n)),
    "references to one note": (
        "a.docx",
        500,
        lambda n: docx(
            NOTE * n,
            **{
                "word/footnotes.xml": f'<w:footnotes {W}><w:footnote w:id="2"><w:p><w:r><w:t>灯'
                "</w:t></w:r></w:p></w:footnote></w:footnotes>"
            },
        ),
    ),
    "cells of a document": ("a.odt", 500, lambda n: odt(f"<text:list>{'<text:p>小雨</text:p>' * n}</text:list>")),
    "cells of a page": ("a.html", 500, lambda n: b"<table>" + b"<tr><td>x" * n),
    "empty cells of a page": ("a.html", 500, lambda n: b"<tr><td>" * n),
    "items of a page": ("a.html", 1000, lambda n: b"<ul>" + b"<li>x" * n),
    "notes of a page": (
        "a.html",
        300,
        lambda n: "".join(
            f'<p>x<a role="doc-noteref" href="#n{k}">1</a></p><aside id="n{k}">y</aside>' for k in range(n)
        ).encode(),
    ),
    "marks of emphasis": ("a.fountain", 1000, lambda n: b"**a " * n),
    "open notes of a screenplay": ("a.fountain", 1000, lambda n: b"[[" * n),
    "scenes": ("a.fountain", 500, lambda n: b"INT. HARBOUR\n\nAlma waits.\n\n" * n),
    "paragraphs of rich text": ("a.rtf", 500, lambda n: b"{\\rtf1 " + b"heron\\par " * n + b"}"),
    "notes of rich text": ("a.rtf", 300, lambda n: b"{\\rtf1 " + b"heron{\\footnote tide}\\par " * n + b"}"),
}


# A lorebook by its entries: it is read, and searched.
BOOKS = {
    "entries of a lorebook": (200, lambda n: lore([f"键{k}"] for k in range(n))),
    "entries of one key": (200, lambda n: lore([["小雨"]] * n)),
    "keys of one entry": (500, lambda n: lore([[f"键{k}" for k in range(n)]])),
}


def work(call):
    """Calls that Python makes, in every thread, and bytes at the peak, while `call` runs."""
    counted = [Profile()]

    def begin(*event):
        counted.append(Profile())
        counted[-1].enable()

    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    threading.setprofile(begin)
    counted[0].enable()
    try:
        call()
    finally:
        counted[0].disable()
        threading.setprofile(None)
        peak = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
    return sum(row.callcount for one in counted for row in one.getstats()), peak


def grows(call, many):
    """Assert that `call` of twice as many takes less than `MOST` times the work; calls that two take are apart."""
    call(2)  # loads modules
    for _ in range(3):  # threads that wait are counted too: a busy machine adds calls, a quadratic step stays
        (few, _), (once, peak), (twice, higher) = (work(lambda n=n: call(n)) for n in (2, many, 2 * many))
        if twice - few < MOST * max(once - few, FEW) and higher < MOST * peak:
            return
    assert twice - few < MOST * max(once - few, FEW)
    assert higher < MOST * peak


@pytest.fixture
def asked(tmp_path):
    """Opens a project of these files and asks it for a prompt."""
    made = iter(range(99))

    def ask(files):
        root = tmp_path / str(next(made))
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8")
        (root / "chapters").mkdir(exist_ok=True)
        (root / "chapters" / "now.md").write_text("小雨和人1来了。\n", "utf-8")
        with armarius.open(root, watch=False) as engine:
            engine.assemble("小雨和人1是谁", document="chapters/now.md", cursor=3, budget=4000)

    return ask


@pytest.mark.parametrize("what", PROJECTS)
def test_twice_as_many_in_a_project_is_about_twice_the_work(what, asked):
    many, files = PROJECTS[what]
    grows(lambda n: asked(files(n)), many)


@pytest.mark.parametrize("what", PAGES)
def test_twice_as_many_on_a_page_is_about_twice_the_work(what, asked):
    many, text = PAGES[what]
    grows(lambda n: asked({"settings/a.md": text(n)}), many)


@pytest.mark.parametrize("what", MANUSCRIPTS)
def test_twice_as_many_in_a_manuscript_is_about_twice_the_work(what):
    name, many, data = MANUSCRIPTS[what]
    grows(lambda n: make_document(name, data(n)), many)


@pytest.mark.parametrize("what", BOOKS)
def test_twice_as_many_in_a_lorebook_is_about_twice_the_work(what):
    many, data = BOOKS[what]
    grows(lambda n: activate([read_book(data(n), name="a.json")], text="小雨和键1来了"), many)
