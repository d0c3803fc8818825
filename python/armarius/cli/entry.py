"""Parser and entry point of the command line."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from armarius._core import __version__
from armarius.errors import ArmariusError

BAD_INPUT = 2
_FAILED = 1
_INTERRUPTED = 130
_SLIP = 2  # characters that a misspelt name of a folder has more, or less


_FILES = {
    name: file
    for file, names in {
        "prompts": "assemble inspect ask",
        "retrieving": "detect entities propose find read retrieve evidence evaluate",
        "indexing": "index watch embed code-index subgraph",
        "doctor": "doctor map understand summaries",
        "lorebooks": "import export",
        "starting": "new completion studio",
        "servers": "serve channel server",
        "trusting": "trust",
    }.items()
    for name in names.split()
}
"""Command to its file, in the order of the help."""


def _suggest_name(wanted: str, names: Sequence[str]) -> str:
    from armarius.validation import near, suggestion  # what compares is loaded when something is wrong

    return suggestion(near(wanted, names))


def _near_folders(path: Path) -> str:
    from armarius.validation import near, suggestion

    try:
        names = [entry.name for entry in os.scandir(path.parent) if entry.is_dir()]
    except OSError:
        return ""
    close = near(path.name, [name for name in names if abs(len(name) - len(path.name)) <= _SLIP])
    return suggestion([str(path.parent / name) for name in close])


_UNRECOGNISED = "unrecognized arguments: "  # as argparse says it


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    _mixing = False

    def error(self, message: str) -> NoReturn:
        unknown = message.removeprefix(_UNRECOGNISED).split()
        if message.startswith(_UNRECOGNISED) and unknown:
            wanted = unknown[0].partition("=")[0]
            near = _suggest_name(wanted, [option for option in self._options() if option.startswith("--")])
            message += near if wanted.startswith("-") else "; quote a text of several words"
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401
        """As the base; the folder may be left out before another argument, and a query is all words that are left."""
        places = [action for action in self._actions if not action.option_strings]
        if self._mixing or len(places) < 2 or places[0].nargs != "?":
            return super().parse_known_args(args, namespace)
        self._mixing = True
        try:
            result, rest = self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False
        folder, words = (getattr(result, action.dest) for action in places[:2])
        if folder is places[0].default and os.path.isdir(words if isinstance(words, str) else words[0]):  # noqa: PTH112
            self.error(f"the following arguments are required: {places[1].dest}")  # a folder, and nothing to look for
        if isinstance(words, list):  # the words of a query, the first of which may have been taken for the folder
            if folder is not places[0].default and not os.path.isdir(folder):  # noqa: PTH112
                is_path = len(folder.parts) > 1 or not {f"{folder}/", f"{folder}{os.sep}"}.isdisjoint(args or ())
                if (close := _near_folders(folder)) or is_path:
                    self.error(f"{str(folder)!r} is no folder{close}; or quote the query")
                words, result.path = [str(folder), *words], places[0].default
            setattr(result, places[1].dest, " ".join(words))
        return result, rest

    def _options(self) -> list[str]:
        """The options of this command and of those below it."""
        options: list[str] = []
        for action in self._actions:
            options += action.option_strings
            if isinstance(action, argparse._SubParsersAction):
                options += [option for parser in action.choices.values() for option in parser._options()]
        return options

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401
        choices = None if action.choices is None else [str(choice) for choice in action.choices]
        if choices is not None and value not in choices and not isinstance(value, int):
            close = _suggest_name(str(value), choices) or f"; there are {', '.join(choices)}"
            raise argparse.ArgumentError(action, f"unknown: {value!r}{close}")
        super()._check_value(action, value)


def build_parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser of all commands; with the `words` of a command line, of the commands that they may mean."""
    parser = _Parser(
        prog="armarius",
        description="Exactly the context a language model needs, and why. `armarius FOLDER` opens a book in a browser, "
        "`armarius FILE` the book that a file is of; the commands below take a folder too.",
    )
    parser.add_argument("--version", action="version", version=f"armarius {__version__}")
    subparsers = parser.add_subparsers(metavar="command", required=True, parser_class=_Parser)
    if words[:1] == ["--version"]:
        return parser
    from armarius.cli.options import COMMANDS, add_command, explain

    for name in words[:1] if words and words[0] in _FILES else _FILES:
        import_module(f"armarius.cli.{_FILES[name]}")
        add_command(subparsers, name)
    if not words or {"-h", "--help"}.intersection(words):
        for name, command in subparsers.choices.items():
            explain(command)
            command.epilog = f"example: {COMMANDS[name].example}"
    return parser


def _add_command(words: Sequence[str]) -> Sequence[str]:
    """The words of a command line; where the first is a folder or a file, or there is none, the studio's before them.

    Raises:
        SystemExit: The first is neither, nor a command; says what is near it.
    """
    first = words[0] if words else os.curdir
    if first in _FILES or first.startswith("-"):
        return words
    if not os.path.exists(first):  # noqa: PTH110 - any text
        from armarius.io.files import near_entries
        from armarius.validation import near, shown, suggestion

        close = suggestion(dict.fromkeys((*near(first, _FILES), *near_entries(Path(first)))))
        _Parser(prog="armarius").error(f"{shown(first)} is no command, folder or file{close}")
    return ["studio", *words]


def main(argv: Sequence[str] | None = None, *, ready: Callable[[], None] = lambda: None) -> int:
    """Run one command.

    Args:
        argv: The words after `armarius`; those of the process when not given.
        ready: Called when the words have been understood, before the command runs.

    Returns:
        The exit status: 0 done, 1 failed, 2 bad input, 130 interrupted.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or getattr(stream, "closed", False):  # `print` would take None for standard output
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - as long as the process
            setattr(sys, name, stream)
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        words = _add_command(sys.argv[1:] if argv is None else argv)
        arguments = build_parser(words).parse_args(words)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    return _run(arguments.run, arguments, ready)


def _run(command: Callable[[argparse.Namespace], int], arguments: argparse.Namespace, ready: Callable[[], None]) -> int:
    try:
        ready()
        status = command(arguments)
        sys.stdout.flush()
    except ArmariusError as error:
        return _print_error(error, BAD_INPUT)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader went away (`| head`); nothing more can be written, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _print_error(f"{error.filename or 'input or output'}: {error.strerror or error}", BAD_INPUT)
    except Exception as error:
        if os.environ.get("ARMARIUS_DEBUG"):
            raise
        hint = "set ARMARIUS_DEBUG=1 for the traceback"
        return _print_error(f"this should not happen: {type(error).__name__}: {error} ({hint})", _FAILED)
    return status


def _print_error(what: object, status: int) -> int:
    print(f"armarius: {' '.join(str(what).split())}", file=sys.stderr)
    return status
