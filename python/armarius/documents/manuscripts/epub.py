"""E-books (.epub): the chapters of the spine, in its order. Source: EPUB 3.3, 5 (package document) and 4.2 (OCF)."""

from posixpath import join, normpath
from urllib.parse import unquote

from armarius.documents.decode import Undecodable
from armarius.documents.manuscripts.html import into
from armarius.documents.manuscripts.markdown import Markdown
from armarius.documents.manuscripts.xml import local, parse_html, parse_xml
from armarius.files.archive import Archive

__all__ = ["read_epub"]

_PAGES = frozenset({"application/xhtml+xml", "text/html"})


def read_epub(archive: Archive) -> str:
    """The text of a book; a chapter that is damaged is left out, one without any raises.

    Raises:
        Undecodable: No package document, or nothing in its spine can be read.
    """
    container = parse_xml(archive.read("META-INF/container.xml"), archive.name)
    package = next((one.get("full-path") for one in container.iter() if local(one) == "rootfile"), None)
    if not package:
        raise Undecodable("an e-book without a package document")
    root = parse_xml(archive.read(package), package)
    items = {one.get("id"): one for one in root.iter() if local(one) == "item"}
    made = Markdown()
    read = 0
    for reference in (one for one in root.iter() if local(one) == "itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _PAGES:
            continue
        path = normpath(join(package.rpartition("/")[0], unquote(item.get("href") or "")))
        if path in archive.names:
            into(made, parse_html(archive.read(path), path))
            read += 1
    if not read:
        raise Undecodable("an e-book without readable chapters")
    return made.text()
