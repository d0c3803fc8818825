"""Write the pages of docs/ that say what the code says: `python scripts/write_reference.py`.

`docs/cli.md` from the command line's own parser, `docs/warnings.md` from the tables of warnings and errors,
`docs/decisions.md` from the pages under docs/decisions/. They are committed; a test holds them to the code.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from armarius import errors
from armarius.cli import build_parser
from armarius.warnings_table import TABLE

DOCS = Path(__file__).resolve().parent.parent / "docs"

_COMMANDS = """# The command line, whole

Status: 0 done, 1 failed, 2 bad input, 130 interrupted. `armarius COMMAND --help` says the same.
"""
_WARNINGS = """# Warnings and errors

A source that fails never fails the call: it becomes a warning beside the answer, `CODE: message`. Branch on the
code; several situations may share one.

| code | given when | text |
|---|---|---|
"""
_ERRORS = """
An unrecoverable request raises. Every exception is an `armarius.ArmariusError` with a stable `code`.

| exception | code | |
|---|---|---|
"""


def pages() -> dict[str, str]:
    """Name of each generated page to its text."""
    return {"cli.md": commands(), "warnings.md": warnings(), "decisions.md": decisions()}


def commands() -> str:
    """Every command with its options."""
    text = _COMMANDS
    for name, parser in _subparsers(build_parser()):
        about = parser.description or ""
        text += f"\n## armarius {name}\n\n{about}\n" if about else f"\n## armarius {name}\n"
        for row in _arguments(parser):
            text += row
    return text


def _subparsers(parser: argparse.ArgumentParser, before: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help for choice in action._choices_actions}
            for name, one in action.choices.items():
                one.description = one.description or (helps.get(name) or "").capitalize() or None
                yield f"{before}{name}", one
                yield from _subparsers(one, f"{before}{name} ")


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    rows = [action for action in parser._actions if action.help != argparse.SUPPRESS and action.dest != "help"]
    rows = [action for action in rows if not isinstance(action, argparse._SubParsersAction)]
    if rows:
        yield "\n| argument | |\n|---|---|\n"
    for action in rows:
        shown = ", ".join(action.option_strings) or str(action.metavar or action.dest)
        if action.option_strings and action.nargs != 0:
            choices = "\\|".join(map(str, action.choices)) if action.choices else ""
            shown += " " + (choices or str(action.metavar or action.dest.upper()))
        said = (action.help or "").replace("|", "\\|").replace("%%", "%")
        said = said.replace("%(default)s", str(action.default))
        yield f"| `{shown}` | {said} |\n"


def warnings() -> str:
    """Every code of a warning and of an error."""
    text = _WARNINGS
    for row in sorted(TABLE, key=lambda one: one.code):
        code = f"`{row.code}`" + (" (the text alone)" if row.bare else "")
        text += f"| {code} | {row.when} | {row.text.replace('|', chr(92) + '|')} |\n"
    text += _ERRORS
    for name in sorted(errors.__all__):
        kind = getattr(errors, name)
        if isinstance(kind, type) and issubclass(kind, errors.ArmariusError):
            about = (kind.__doc__ or "").partition("\n")[0]
            text += f"| `{name}` | `{kind.code}` | {about} |\n"
    return text


def decisions() -> str:
    """The pages under docs/decisions/, by number."""
    text = "# Decisions\n\nWhy it is so: one page each, with what was measured and what was weighed.\n\n"
    for page in sorted((DOCS / "decisions").glob("*.md")):
        title = page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ").strip()
        text += f"- [{title}](decisions/{page.name})\n"
    return text


if __name__ == "__main__":
    wrong = [name for name, text in pages().items() if "--check" in sys.argv and (DOCS / name).read_text() != text]
    if wrong:
        raise SystemExit(f"docs/{', docs/'.join(wrong)}: run scripts/write_reference.py")
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
