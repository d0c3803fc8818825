"""Manuscripts of word processors, e-books, pages and screenplays, as Markdown text; read only, never written.

The reader of each suffix and its extra: .docx, .odt, .epub, .rtf, .fountain; HTML; XML without network access.
What must hold: headings and footnotes are kept, emphasis is dropped; spans refer to the extracted text. No other file
is read, and the unpacked size is limited before unpacking.
"""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from posixpath import join, normpath
from typing import Any
from urllib.parse import unquote

from armarius.documents.decode import Undecodable, decode
from armarius.documents.units import chapter_number, volume_number
from armarius.errors import BookError, MissingExtra
from armarius.io import Archive

_SPACE = re.compile(r"[ \t\r\n\f\v\u00a0]+")
_POSING = re.compile(r"^(?=#{1,6}(?:\s|$)|---\s*$|```|~~~)", re.MULTILINE)
_MOST_BLOCKS = 500_000  # of a Word document empty ones too, which a small archive holds any number of


def one_line(text: str) -> str:
    """White space as single spaces."""
    return _SPACE.sub(" ", text).strip()


class Markdown:
    """Collects blocks; `text()` is the document.

    Args:
        limit: Maximum UTF-8 bytes of all blocks and notes. More raises `Undecodable` at once: a small archive may
            unpack to any length, or repeat one note or chapter many times.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._bytes, self._added = limit, 0, 0
        self._blocks: list[str] = []
        self._notes: list[str] = []

    def heading(self, text: str, level: int) -> None:
        """Add a heading of level 1 to 6; an empty one is ignored."""
        self._count()
        if text := one_line(text):
            self._blocks.append(self._check_size(f"{'#' * min(max(level, 1), 6)} {text}"))

    def paragraph(self, text: str) -> None:
        """Add a paragraph with its line breaks, escaped so that it is no heading."""
        self._count()
        lines = [" ".join(line.split()) for line in text.split("\n")]
        if text := "\n".join(line for line in lines if line):
            self._blocks.append(self._check_size(_POSING.sub(r"\\", text)))

    def note(self, text: str) -> str:
        """Add a footnote; returns its mark for the text."""
        self._notes.append(self._check_size(one_line(text)))
        return f"[^{len(self._notes)}]"

    def text(self) -> str:
        """The whole text, notes last."""
        notes = [f"[^{number}]: {text}" for number, text in enumerate(self._notes, 1)]
        return "\n\n".join((*self._blocks, *notes)) + ("\n" if self._blocks or notes else "")

    def _count(self) -> None:
        self._added += 1
        if self._added > _MOST_BLOCKS:
            raise Undecodable(f"too large: more than {_MOST_BLOCKS:,} paragraphs")

    def _check_size(self, text: str) -> str:
        self._bytes += len(text.encode("utf-8", "replace"))
        if self._bytes > self._limit:
            raise Undecodable(f"too large: more than {self._limit} bytes of text, documents.max_bytes is {self._limit}")
        return text


def _etree() -> Any:  # noqa: ANN401
    try:
        from lxml import etree
    except ImportError:
        raise MissingExtra("reading manuscripts", "manuscripts") from None
    return etree


def parse_xml(data: bytes, name: str) -> Any:  # noqa: ANN401
    """The root element.

    Raises:
        Undecodable: Not XML, or beyond the parser's limits.
        MissingExtra: lxml is not installed.
    """
    etree = _etree()
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Undecodable(f"{name}: not readable XML: {error}") from None


def parse_html(data: bytes, name: str) -> Any:  # noqa: ANN401
    """The root element of a page, also of invalid HTML.

    Raises:
        Undecodable: It cannot be read at all.
        MissingExtra: lxml is not installed.
    """
    etree = _etree()
    declared = b"charset" in data[:2048].lower() or data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"))
    encoding = None
    if not declared:
        with suppress(UnicodeDecodeError):
            data.decode("utf-8")
            encoding = "utf-8"
    parser = etree.HTMLParser(
        no_network=True, huge_tree=False, remove_comments=True, remove_pis=True, encoding=encoding
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, etree.ParserError, ValueError, LookupError) as error:
        raise Undecodable(f"{name}: not a readable page: {error}") from None
    if root is None:
        raise Undecodable(f"{name}: an empty page")
    return root


def local(element: Any) -> str:  # noqa: ANN401
    """The name of an element without its namespace; "" for other nodes."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def children(element: Any, *names: str) -> list[Any]:  # noqa: ANN401
    """The children of these names."""
    return [child for child in element if local(child) in names]


_SKIPPED = frozenset({"script", "style", "head", "nav", "template", "noscript", "svg", "math", "iframe", "object"})
_BLOCKS = frozenset(
    {
        "p", "div", "section", "article", "main", "body", "html", "blockquote", "ul", "ol", "li", "table", "tr", "td",
        "th", "tbody", "thead", "figure", "figcaption", "header", "footer", "aside", "pre", "dl", "dt", "dd", "hr",
        "form", "center", "address", "details", "summary", "caption",
    }
)  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def read_html(data: bytes, name: str, made: Markdown) -> None:
    """Add the text of a page to `made`, without navigation, scripts and styles."""
    add_page(made, parse_html(data, name))


def add_page(made: Markdown, root: Any) -> None:  # noqa: ANN401
    """Append a page."""
    line: list[str] = []
    _walk(root, made, line, _Notes(_notes_of(root)))
    _flush(made, line)


@dataclass(slots=True)
class _Notes:
    """The notes of a page by id, and the marks of referenced ones; a second reference reuses the mark."""

    elements: dict[str, Any]
    marks: dict[str, str] = field(default_factory=dict)


def _notes_of(root: Any) -> dict[str, Any]:  # noqa: ANN401
    """Id to element of the notes that this page refers to."""
    wanted = {target for node in root.iter() if (target := _note_of(node))}
    return {node.get("id"): node for node in root.iter() if wanted and node.get("id") in wanted}


def _note_of(element: Any) -> str:  # noqa: ANN401
    """The id of the note that a link refers to, "" for any other element."""
    if local(element) != "a" or not _kinds(element) & {"noteref", "doc-noteref"}:
        return ""
    return str(element.get("href") or "").rpartition("#")[2]


def _kinds(element: Any) -> set[str]:  # noqa: ANN401
    values = (element.get("epub:type"), element.get("{http://www.idpf.org/2007/ops}type"), element.get("role"))
    return {word for words in values if words for word in words.split()}


def _words(element: Any) -> str:  # noqa: ANN401
    """The text of a note without its back link."""
    if not local(element) or _kinds(element) & {"backlink", "doc-backlink"}:
        return ""
    return (element.text or "") + "".join(_words(child) + (child.tail or "") for child in element)


def _flush(made: Markdown, line: list[str]) -> None:
    if text := "\n".join(one_line(part) for part in "".join(line).split("\x00")) if line else "":
        made.paragraph(text)
    line.clear()


def _walk(element: Any, made: Markdown, line: list[str], notes: _Notes) -> None:  # noqa: ANN401
    name = local(element)
    if notes.elements and name and notes.elements.get(element.get("id")) is element:
        return
    if notes.elements and name and (target := _note_of(element)) in notes.elements:
        if target not in notes.marks:
            notes.marks[target] = made.note(_words(notes.elements[target]))
        line.append(notes.marks[target])
    elif name in _HEADINGS:
        _flush(made, line)
        made.heading("".join(element.itertext()), _HEADINGS[name])
    elif name == "br":
        line.append("\x00")
    elif name and name not in _SKIPPED:
        block = name in _BLOCKS
        if block:
            _flush(made, line)
        if element.text:
            line.append(element.text)
        for child in element:
            _walk(child, made, line, notes)
            if child.tail:
                line.append(child.tail)
        if block:
            _flush(made, line)


__all__ = ["extract", "read_docx", "read_epub", "read_fountain", "read_odt", "read_rtf"]


def extract(path: str, data: bytes, *, limit: int) -> str:
    """The text of a manuscript as Markdown.

    Args:
        path: Its suffix selects the reader.
        data: Its bytes.
        limit: Maximum bytes of its text.

    Raises:
        Undecodable: Damaged, above a limit, of another format than its suffix, or its reader is not installed; the
            message is the reason (with the extra to install), without the file name.

    Cost: linear in the unpacked size, which is limited.
    """
    suffix = PurePosixPath(path).suffix.lower()
    name = PurePosixPath(path).name
    made = Markdown(limit)
    try:
        _read(suffix, data, name, made)
        return made.text()
    except (BookError, Undecodable) as error:
        raise Undecodable(str(error).removeprefix(f"{name}: ")) from None
    except MissingExtra as error:
        raise Undecodable(str(error)) from None
    except RecursionError:
        raise Undecodable("nested too deeply") from None


def _read(suffix: str, data: bytes, name: str, made: Markdown) -> None:
    """Add the text of a manuscript to `made`."""
    archived = {".docx": read_docx, ".odt": read_odt, ".epub": read_epub}
    if suffix in archived:
        archived[suffix](Archive(data, name), made)
    elif suffix == ".rtf":
        read_rtf(data, made)
    elif suffix == ".fountain":
        read_fountain(data, made)
    else:
        read_html(data, name, made)


_PAGES = frozenset({"application/xhtml+xml", "text/html"})


def read_epub(archive: Archive, made: Markdown) -> None:
    """Add the text of an e-book to `made`: each page once, at its first place in the spine.

    Raises:
        Undecodable: No package document, or no readable page in its spine.
    """
    container = parse_xml(archive.read("META-INF/container.xml"), archive.name)
    package = next((node.get("full-path") for node in container.iter() if local(node) == "rootfile"), None)
    if not package:
        raise Undecodable("an e-book without a package document")
    root = parse_xml(archive.read(package), package)
    names = frozenset(archive.names)
    items = {node.get("id"): node for node in root.iter() if local(node) == "item"}
    read: set[str] = set()
    for reference in (node for node in root.iter() if local(node) == "itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _PAGES:
            continue
        path = normpath(join(package.rpartition("/")[0], unquote(item.get("href") or "")))
        if path in names and path not in read:
            add_page(made, parse_html(archive.read(path), path))
            read.add(path)
    if not read:
        raise Undecodable("an e-book without readable chapters")


_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MOST_STYLES = 20  # styles followed to one with a level
_HEADING = re.compile(r"(?:heading|标题|標題|überschrift|titre|título|заголовок)\s*(\d)", re.IGNORECASE)
_TITLES = frozenset({"title", "标题", "標題"})


def read_docx(archive: Archive, made: Markdown) -> None:
    """Add the text of a document to `made`, without tracked deletions."""
    levels = _levels(archive)
    notes = _notes(archive)
    root = parse_xml(archive.read("word/document.xml"), archive.name)
    for block in root.iter(f"{_W}p"):
        style = block.find(f"{_W}pPr/{_W}pStyle")
        outline = block.find(f"{_W}pPr/{_W}outlineLvl")
        level = levels.get("" if style is None else style.get(f"{_W}val", ""), 0)
        if outline is not None and (outline.get(f"{_W}val") or "").isdigit():
            level = int(outline.get(f"{_W}val")) + 1
        text = _text(block, notes, made)
        if 1 <= level <= 6:
            made.heading(text, level)
        else:
            made.paragraph(text)


def _text(block: Any, notes: dict[str, str], made: Markdown) -> str:  # noqa: ANN401
    parts = []
    for node in block.iter():
        name = local(node)
        if name == "t":
            parts.append(node.text or "")
        elif name == "tab":
            parts.append(" ")
        elif name in ("br", "cr"):
            parts.append("\n")
        elif name in ("footnoteReference", "endnoteReference"):
            text = notes.get(f"{name[0]}{node.get(f'{_W}id')}", "")
            if text:
                parts.append(made.note(text))
    return "".join(parts)


def _notes(archive: Archive) -> dict[str, str]:
    """Note key (`f` or `e` and the id) to its text."""
    notes = {}
    for member, kind in (("word/footnotes.xml", "footnote"), ("word/endnotes.xml", "endnote")):
        if member in archive.names:
            for note in parse_xml(archive.read(member), member).iter(f"{_W}{kind}"):
                text = " ".join("".join(t.text or "" for t in p.iter(f"{_W}t")) for p in note.iter(f"{_W}p"))
                notes[f"{kind[0]}{note.get(f'{_W}id')}"] = text
    return notes


def _levels(archive: Archive) -> dict[str, int]:
    """Id of a paragraph style to its heading level; the title style has level 1.

    A style without a level inherits it from its base style.
    """
    if "word/styles.xml" not in archive.names:
        return {}
    levels: dict[str, int] = {}
    based: dict[str, str] = {}
    for style in parse_xml(archive.read("word/styles.xml"), "word/styles.xml").iter(f"{_W}style"):
        id_ = style.get(f"{_W}styleId", "")
        names = [id_, *(node.get(f"{_W}val", "") for node in children(style, "name"))]
        outline = style.find(f"{_W}pPr/{_W}outlineLvl")
        number = next((int(match[1]) for name in names if (match := _HEADING.fullmatch(name.strip()))), 0)
        if number:
            levels[id_] = number
        elif outline is not None and (outline.get(f"{_W}val") or "").isdigit():
            levels[id_] = int(outline.get(f"{_W}val")) + 1
        elif any(name.lower() in _TITLES for name in names):
            levels[id_] = 1
        elif (parent := style.find(f"{_W}basedOn")) is not None and outline is None:
            based[id_] = parent.get(f"{_W}val", "")
    for id_ in based:
        parent_id = id_
        for _ in range(_MOST_STYLES):
            parent_id = based.get(parent_id, "")
            if parent_id in levels:
                levels[id_] = levels[parent_id]
                break
    return levels


_UNREAD = frozenset({"tracked-changes", "annotation", "annotation-end", "sequence-decls", "forms"})


def read_odt(archive: Archive, made: Markdown) -> None:
    """Add the text of a document to `made`, without tracked deletions and comments."""
    root = parse_xml(archive.read("content.xml"), archive.name)
    body = next((node for node in root.iter() if local(node) == "text" and local(node.getparent()) == "body"), root)
    _blocks(body, made)


def _blocks(element: Any, made: Markdown) -> None:  # noqa: ANN401
    for child in element:
        name = local(child)
        if name == "h":
            level = next((value for key, value in child.attrib.items() if key.endswith("outline-level")), "1")
            made.heading(_text_of_odt(child, made), int(level) if level.isdigit() else 1)
        elif name == "p":
            made.paragraph(_text_of_odt(child, made))
        elif name not in _UNREAD:
            _blocks(child, made)


def _text_of_odt(element: Any, made: Markdown) -> str:  # noqa: ANN401
    parts = [element.text or ""]
    for child in element:
        name = local(child)
        if name == "note":
            body = next((node for node in child if local(node) == "note-body"), None)
            if body is not None:
                parts.append(made.note(" ".join(_text_of_odt(node, made) for node in body)))
        elif name in ("s", "tab"):
            parts.append(" ")
        elif name == "line-break":
            parts.append("\n")
        elif name not in _UNREAD:
            parts.append(_text_of_odt(child, made))
        parts.append(child.tail or "")
    return "".join(parts)


_LONGEST_TITLE = 60
_RTF_NOTE = re.compile(r"\{\\footnote(?![a-z])(?:\\ftnalt)?")
_BRACE = re.compile(r"\\[{}\\]|[{}]")
_MOVED = re.compile(r"\[\^(\d+)\]: (.*)")


def read_rtf(data: bytes, made: Markdown) -> None:
    """Add the text of a document to `made`.

    Raises:
        Undecodable: Not rich text, or damaged.
        MissingExtra: striprtf is not installed.
    """
    if not data.lstrip().startswith(b"{\\rtf"):
        raise Undecodable("not rich text")
    try:
        from striprtf.striprtf import rtf_to_text
    except ImportError:
        raise MissingExtra("reading rich text", "manuscripts") from None
    try:
        source, count = _notes_behind(data.decode("latin-1"))
        text = str(rtf_to_text(source, errors="ignore"))  # type: ignore[no-untyped-call]
    except (ValueError, IndexError, KeyError, AttributeError, TypeError, LookupError, OverflowError) as error:
        raise Undecodable(f"damaged rich text: {type(error).__name__}") from None
    for line in text.split("\n"):
        moved = _MOVED.match(line) if count else None
        if moved is not None and int(moved[1]) <= count:
            made.note(moved[2])
            continue
        title = line.strip()
        if 0 < len(title) <= _LONGEST_TITLE and title[-1] not in ".。！？!?，," and _is_title(title):
            made.heading(title, 1)
        else:
            made.paragraph(line)


def _notes_behind(source: str) -> tuple[str, int]:
    """The document with a mark for each footnote and the notes as last paragraphs; the number of notes.

    Otherwise a note, a group inside the text, would be skipped like other groups.
    """
    parts: list[str] = []
    notes: list[str] = []
    at = 0
    while (match := _RTF_NOTE.search(source, at)) is not None:
        depth, end = 1, -1
        for brace in _BRACE.finditer(source, match.end()):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if depth == 0:
                end = brace.end()
                break
        if end < 0:
            break
        note = source[match.end() : end - 1].replace("\\par\n", " ").replace("\\par ", " ")
        notes.append(f"\\par {{[^{len(notes) + 1}]: {note}}}")
        parts += [source[at : match.start()], f"[^{len(notes)}]"]
        at = end
    last = source.rfind("}")
    if not notes or last < at:
        return source, 0
    return "".join([*parts, source[at:last], *notes, source[last:]]), len(notes)


def _is_title(line: str) -> bool:
    return chapter_number(line[:_LONGEST_TITLE]) is not None or volume_number(line) is not None


_BONEYARD = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_NOTE = re.compile(r"\[\[(?:(?!\[\[).)*?\]\]", re.DOTALL)
_SCENE = re.compile(r"(?:int|ext|est|int\./ext|int/ext|i/e)[. ]", re.IGNORECASE)
_SECTION = re.compile(r"(#{1,6})\s*(\S.*)")
_TITLE_PAGE = re.compile(r"(?:[A-Za-z ]{2,30}:.*(?:\n(?:[ \t]+.*))*\n?)+(?:\n|\Z)")
_TITLE = re.compile(r"^title:[ \t]*(.*(?:\n[ \t]+.*)*)", re.IGNORECASE | re.MULTILINE)
_MARK = re.compile(r"[*_]")
# End of emphasis: the same mark without a space before it. The longest mark is tried first.
_ENDS = {mark: re.compile(r"(?<=\S)" + re.escape(mark)) for mark in ("***", "**", "*", "_")}


def read_fountain(data: bytes, made: Markdown) -> None:
    """Add the text of a screenplay to `made`, without notes and comments; sections and scenes are headings.

    Raises:
        Undecodable: Not text.
    """
    text = decode(data).text.replace("\r\n", "\n").replace("\r", "\n")
    page = _TITLE_PAGE.match(text)
    if page is not None:
        if title := _TITLE.search(page[0]):
            made.heading(_strip_emphasis(title[1]), 1)
        text = text[page.end() :]
    text = _BONEYARD.sub("", text)
    last = text.rfind("]]") + 2  # no further note: skip the search for its end
    text = _NOTE.sub("", text[:last]) + text[last:]
    for block in re.split(r"\n[ \t]*\n", text):
        block = block.strip("\n")
        line = block.strip()
        if section := _SECTION.fullmatch(line):
            made.heading(_strip_emphasis(section[2]), len(section[1]))
        elif _SCENE.match(line) or (line.startswith(".") and not line.startswith("..")):
            first, _, rest = line.partition("\n")
            made.heading(_strip_emphasis(first.lstrip(".")), 3)
            made.paragraph(_strip_emphasis(rest))
        elif not line.startswith(("=", ">")) or line.startswith("==="):
            made.paragraph(_strip_emphasis(block.replace("===", "")))


def _strip_emphasis(text: str) -> str:
    """`text` without marks of emphasis; emphasis does not cross lines."""
    return "\n".join(_plain_line(line) for line in text.split("\n"))


def _plain_line(line: str) -> str:
    parts: list[str] = []
    done = at = 0
    ends = dict(_ENDS)
    while (match := _MARK.search(line, at)) is not None:
        start = match.start()
        at = start + 1
        for mark in [sign for sign in ends if line.startswith(sign, start)]:
            first = start + len(mark)
            if not line[first : first + 1].strip():
                continue
            end = ends[mark].search(line, first + 1)
            if end is None:
                del ends[mark]  # later ones do not end either
                continue
            parts += [line[done:start], line[first : end.start()]]
            done = at = end.end()
            break
    return "".join([*parts, line[done:]])
