"""Which reader a manuscript has."""

from pathlib import PurePosixPath

from armarius.documents.decode import Undecodable
from armarius.errors import BookError, MissingExtra
from armarius.files.archive import Archive

__all__ = ["extract"]


def extract(path: str, data: bytes) -> str:
    """The text of a manuscript as Markdown.

    Args:
        path: Its suffix says how it is read.
        data: Its bytes.

    Raises:
        Undecodable: Damaged, above a limit, not what its suffix says, or its reader is not installed; the message is
            the reason, with the extra to install, and leaves it to the caller to name the file.

    Cost: linear in what it unpacks to, which is limited.
    """
    suffix = PurePosixPath(path).suffix.lower()
    name = PurePosixPath(path).name
    try:
        return _read(suffix, data, name)
    except (BookError, Undecodable) as error:
        raise Undecodable(str(error).removeprefix(f"{name}: ")) from None
    except MissingExtra as error:
        raise Undecodable(str(error)) from None
    except RecursionError:
        raise Undecodable("nested too deeply") from None


def _read(suffix: str, data: bytes, name: str) -> str:
    if suffix == ".docx":
        from armarius.documents.manuscripts.word import read_docx

        return read_docx(Archive(data, name))
    if suffix == ".odt":
        from armarius.documents.manuscripts.opendocument import read_odt

        return read_odt(Archive(data, name))
    if suffix == ".epub":
        from armarius.documents.manuscripts.epub import read_epub

        return read_epub(Archive(data, name))
    if suffix == ".rtf":
        from armarius.documents.manuscripts.rtf import read_rtf

        return read_rtf(data)
    if suffix == ".fountain":
        from armarius.documents.manuscripts.fountain import read_fountain

        return read_fountain(data)
    from armarius.documents.manuscripts.html import read_html

    return read_html(data, name)
