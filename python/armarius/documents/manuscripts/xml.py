"""XML and HTML parsed with nothing fetched, no entity expanded, depth and size within libxml2's own limits."""

from typing import Any

from armarius.documents.decode import Undecodable
from armarius.errors import MissingExtra

__all__ = ["children", "local", "parse_html", "parse_xml"]


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
    """The root element of a page, however it was written.

    Raises:
        Undecodable: Nothing of it can be read.
        MissingExtra: lxml is not installed.
    """
    etree = _etree()
    declared = b"charset" in data[:2048].lower() or data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"))
    encoding = None
    if not declared:
        try:
            data.decode("utf-8")
            encoding = "utf-8"
        except UnicodeDecodeError:
            encoding = None
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
    """The name of an element without its namespace; "" for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def children(element: Any, *names: str) -> list[Any]:  # noqa: ANN401
    """The children of these names."""
    return [child for child in element if local(child) in names]
