"""Rich text (.rtf). Styles are not in the text that comes out: lines that name a chapter become headings."""

from armarius.documents.decode import Undecodable
from armarius.documents.manuscripts.markdown import Markdown
from armarius.documents.numerals import chapter_number, volume_number
from armarius.errors import MissingExtra

__all__ = ["read_rtf"]

_LONGEST_TITLE = 60


def read_rtf(data: bytes) -> str:
    """The text of a document.

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
        text = str(rtf_to_text(data.decode("latin-1"), errors="ignore"))  # type: ignore[no-untyped-call]
    except (ValueError, IndexError, KeyError, AttributeError, TypeError, LookupError, OverflowError) as error:
        raise Undecodable(f"damaged rich text: {type(error).__name__}") from None
    made = Markdown()
    for line in text.split("\n"):
        title = line.strip()
        if 0 < len(title) <= _LONGEST_TITLE and title[-1] not in ".。！？!?，," and _is_title(title):
            made.heading(title, 1)
        else:
            made.paragraph(line)
    return made.text()


def _is_title(line: str) -> bool:
    return chapter_number(line[:_LONGEST_TITLE]) is not None or volume_number(line) is not None
