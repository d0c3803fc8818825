"""What a file holds four times as much of takes about four times the work: every countable thing that it can choose.

Counted are the calls that Python makes and the peak of the memory that it traces; no clock, which would measure the
machine. What happens inside one call of C is seen by the slow tests, in seconds of the processor, with rows made from
the tables of readers, labels and tasks; patterns are judged by tests/test_patterns.py, automata by how they are built
(rust/text/ballast.rs).
"""

import io
import json
import threading
import time
import tracemalloc
import zipfile
from contextlib import suppress
from cProfile import Profile

import pytest
from tests.test_half_typed import LINES, READERS

import armarius
from armarius import activate
from armarius.codex import profile_fields as fields
from armarius.codex.profiles import parse_profiles
from armarius.documents.decode import Undecodable
from armarius.documents.document import make_document
from armarius.errors import ArmariusError
from armarius.lexicon import word_file
from armarius.lorebooks import read_book
from armarius.rewording import parse
from armarius.text.chat import read_answers

MOST = 5.0  # for four times as many
FLOOR = 0.3  # seconds; far over what a linear call of these sizes takes
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
    """Assert that `call` of four times as many takes less than `MOST` times the work; calls that two take are apart."""
    call(2)  # loads modules
    for _ in range(3):  # threads that wait are counted too: a busy machine adds calls, a quadratic step stays
        (few, _), (once, peak), (more, higher) = (work(lambda n=n: call(n)) for n in (2, many // 2, 2 * many))
        if more - few < MOST * max(once - few, FEW) and higher < MOST * peak:
            return
    assert more - few < MOST * max(once - few, FEW)
    assert higher < MOST * peak


def seconds(call, many):
    """Of the processor, by all threads."""
    begun = time.process_time()
    with suppress(ArmariusError, Undecodable, ValueError):
        call(many)
    return time.process_time() - begun


def squares(calls, many):
    """The names and seconds of the calls of which sixteen times as many take over 25 times (`MOST` squared) as long.

    Counted from a quarter of `many` to four times as many, by the least of three runs: over a factor of four alone, the
    caches of the processor weigh as much as the bound. A quadratic step takes 256 times as long.
    """
    found = []
    for name, call in calls:
        if (took := seconds(call, 4 * many)) > FLOOR and all(
            min(took, *(seconds(call, 4 * many) for _ in range(2)))
            > max(FLOOR, MOST * MOST * min(seconds(call, many // 4) for _ in range(3)))
            for _ in range(2 if took < 5 else 1)
        ):
            found.append((name, took))
    return found


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
def test_four_times_as_many_in_a_project_is_about_four_times_the_work(what, asked):
    many, files = PROJECTS[what]
    grows(lambda n: asked(files(n)), many)


@pytest.mark.parametrize("what", PAGES)
def test_four_times_as_many_on_a_page_is_about_four_times_the_work(what, asked):
    many, text = PAGES[what]
    grows(lambda n: asked({"settings/a.md": text(n)}), many)


@pytest.mark.parametrize("what", MANUSCRIPTS)
def test_four_times_as_many_in_a_manuscript_is_about_four_times_the_work(what):
    name, many, data = MANUSCRIPTS[what]
    grows(lambda n: make_document(name, data(n)), many)


@pytest.mark.parametrize("what", BOOKS)
def test_four_times_as_many_in_a_lorebook_is_about_four_times_the_work(what):
    many, data = BOOKS[what]
    grows(lambda n: activate([read_book(data(n), name="a.json")], text="小雨和键1来了"), many)


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_four_times_as_much_of_a_half_typed_line_is_read_in_about_four_times_the_time(reader):
    read = READERS[reader]
    rows = [
        (text, lambda n, text=text: read(text * (n // len(text)))) for line in LINES for text in (line, f"{line}\n")
    ]
    assert squares(rows, 4_000) == []


# Where a page has a label and what it says; the label is one of each role, and one of none.
PLACES = {
    "an item": "# 人物\n\n## 小雨\n\n- {label}：{text}\n",
    "front matter": "---\n{label}: {text}\n---\n\n# 小雨\n\n来了。\n",
    "a table": "| 姓名 | {label} |\n|---|---|\n| 小雨 | {text} |\n",
    "a heading": "# 人物\n\n## 小雨{text}\n\n- {label}：x\n",
}
LABELS = [*{role: word for word, role in fields.meanings("roles").items()}.values(), "外貌", "第3章起"]


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_four_times_as_much_of_a_value_is_read_in_about_four_times_the_time(place):
    def read(label, text, many):
        parse_profiles("人物.md", PLACES[place].format(label=label, text=text * (many // len(text))), "setting")

    rows = [
        ((label, text), lambda n, label=label, text=text: read(label, text, n))
        for label in LABELS
        for text in (line.replace("\n", " ") for line in LINES)
    ]
    assert squares(rows, 10_000) == []


def said():
    """Words of each task by language and of each relation, numbers, names, marks and blanks."""
    for row in word_file("intents").values():
        for value in row.values() if isinstance(row, dict) else ():
            for words in value.values() if isinstance(value, dict) else (value,):
                if isinstance(words, str) and (found := words.split()):
                    word = found[0].replace("-", " ")
                    yield from (word, f"{word} ", f"{word}，")
    yield from (
        "1",
        "1-",
        "1,111,",
        "第1章",
        "第1章、",
        "3到5、",
        "小雨",
        "小雨和",
        "小雨的哥哥",
        "谁",
        "的",
        "和",
        "不",
        "→",
    )
    yield from ("把A改名为B", *"《“「（[{\"'*?#@…")
    yield from (" ", "\n", "\t", "\u3000", "1 ", "and ", "not ", "who ", "chapter 1 ", "rename a to b ", "Name One, ")


@pytest.mark.slow
def test_four_times_as_long_a_question_is_answered_in_about_four_times_the_time(tmp_path):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "ch001.md").write_text("# 第一章\n\n小雨来了。\n\n林默走了。\n", "utf-8")
    (tmp_path / "人物.md").write_text("## 小雨\n\n- 年龄：16\n- 哥哥：林默\n\n## 林默\n\n- 年龄：20\n", "utf-8")
    (tmp_path / "大纲.md").write_text("# 大纲\n\n## 第1章 雨\n\n雨。\n\n## 第2章 雪\n\n雪。\n", "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        verbs = {
            "assemble": lambda query: engine.assemble(query, document="chapters/ch001.md", cursor=5, budget=2000),
            "retrieve": engine.retrieve,
        }
        rows = [
            ((verb, text), lambda n, ask=ask, text=text: ask(text * (n // len(text))))
            for text in dict.fromkeys(said())
            for verb, ask in verbs.items()
        ]
        assert squares(rows, 5_000) == []


@pytest.mark.slow
@pytest.mark.parametrize("read", [read_answers, parse], ids=["answers", "wordings"])
def test_four_times_as_long_a_reply_is_read_in_about_four_times_the_time(read):
    pieces = [
        '{"a":',
        '{"summary": "x"}',
        '{"summary":',
        "{}",
        "{]",
        '{"files":[{"g":1}]},',
        '"a":1,',
        "</think>",
        "\\u",
    ]
    rows = [(text, lambda n, text=text: read(text * (n // len(text)))) for text in (*pieces, *LINES)]
    assert squares(rows, 20_000) == []


ALL = [
    *((f"in a project: {what}", *PROJECTS[what], None) for what in PROJECTS),
    *((f"on a page: {what}", *PAGES[what], "settings/a.md") for what in PAGES),
]


@pytest.mark.slow
@pytest.mark.parametrize(("many", "made", "path"), [row[1:] for row in ALL], ids=[row[0] for row in ALL])
def test_four_times_as_many_take_about_four_times_the_time(many, made, path, asked):
    assert squares([("", lambda n: asked({path: made(n)} if path else made(n)))], 5 * many) == []
