"""Display helpers: result lists as tables in terminal and notebook, camelCase names, terminal detection."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, SupportsIndex, TextIO, TypeVar, overload

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from armarius.errors import ContextWarning

Row = TypeVar("Row")

_NAMED = 3  # rows that a repr names


class ResultList(list[Row]):
    """A list with a repr of one line, printed as a table; otherwise an ordinary list.

    A subclass says what its rows are called, one and many; the columns; and how a row is named and parted into cells.

    Attributes:
        warnings: What the list may lack, such as `INDEX_STALE`. A slice has none.
    """

    warnings: "tuple[ContextWarning, ...]" = ()
    noun: ClassVar[tuple[str, str]]
    columns: ClassVar[tuple[str, ...]]

    @classmethod
    def brief(cls, row: Row, /) -> str:
        """A row in a word or two."""
        raise NotImplementedError

    @classmethod
    def cells(cls, row: Row, /) -> Sequence[str]:
        """A row of the table: one text for each column."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Row: ...
    @overload
    def __getitem__(self, index: slice, /) -> "ResultList[Row]": ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> "Row | ResultList[Row]":
        """The row at `index`; a slice shows itself as the whole does."""
        return type(self)(list.__getitem__(self, index)) if isinstance(index, slice) else super().__getitem__(index)

    def __repr__(self) -> str:
        named = ", ".join(self.brief(row) for row in self[:_NAMED])
        more = ", …" * (len(self) > _NAMED)
        warned = f"; {counted(len(self.warnings), 'warning')}" if self.warnings else ""
        return f"<{len(self)} {self.noun[len(self) != 1]}{': ' * bool(self)}{named}{more}{warned}>"

    def __rich__(self) -> "Table":
        """The table that a terminal with rich shows."""
        return rich_table(self.columns, map(self.cells, self))

    def _repr_html_(self) -> str:
        """The table that a notebook shows."""
        return html_table(self.columns, map(self.cells, self))


def counted(number: int, noun: str, many: str = "") -> str:
    """`3 entities`, `1 entity`."""
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"


def rich_table(
    columns: Sequence[str], rows: "Iterable[Sequence[str | Text]]", *, right: Collection[str] = ()
) -> "Table":
    """A table for a terminal; cells are text, never markup. Without a heading when no column has a name.

    Args:
        columns: Their names.
        rows: A cell for each column.
        right: Columns whose cells stand at the right.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=any(columns))
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def html_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table for a notebook, everything escaped. Without a heading when no column has a name."""
    from html import escape

    names = "".join(f"<th>{escape(column)}</th>" for column in columns)
    head = f"<thead><tr>{names}</tr></thead>" if any(columns) else ""
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{head}<tbody>{body}</tbody></table>"


def camel_case(name: str) -> str:
    """A snake_case name in camelCase: `heading_path` is `headingPath`; one without underscores is itself."""
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether `stream` is a terminal; not one that is None (`pythonw` has no console), closed or cannot tell."""
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):  # put there by a host; closed
        return False
