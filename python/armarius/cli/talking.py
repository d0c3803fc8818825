"""`--messages`: the conversation that a question stands in, as chat hosts write it down."""

import argparse
import json
from pathlib import Path

from armarius.cli.terminal import words
from armarius.errors import ContractError
from armarius.files import read_file
from armarius.messages import Turn, checked_messages

__all__ = ["add_include", "add_messages", "messages_of"]

_MOST_BYTES = 64 * 1024 * 1024


def add_messages(parser: argparse.ArgumentParser) -> None:
    """Add the option that hands over a conversation."""
    parser.add_argument(
        "--messages",
        metavar="FILE",
        help='the conversation before the query: a JSON list of {"role", "content"}, oldest first; - is standard input',
    )


def add_include(parser: argparse.ArgumentParser) -> None:
    """Add the option that shows turns of it."""
    parser.add_argument(
        "--include-messages",
        type=int,
        default=0,
        metavar="N",
        help="the newest N turns stand in the prompt",
    )


def messages_of(arguments: argparse.Namespace) -> tuple[Turn, ...]:
    """The messages of `--messages`.

    Raises:
        ContractError: The file cannot be read, is no JSON, or holds no messages.
    """
    given = arguments.messages
    if given is None:
        return ()
    if given == "-":
        text = words(given, "--messages")
    else:
        try:
            text = read_file(Path(given), limit=_MOST_BYTES, follow=True).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ContractError(f"--messages {given} is not UTF-8 at byte {error.start}") from None
        except OSError as error:
            raise ContractError(f"--messages {given}: {error.strerror or error}") from None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ContractError(f"--messages {given} is no JSON: {error}") from None
    return checked_messages(found)
