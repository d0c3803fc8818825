"""Programs that tests hand to what they test."""

import shlex
import sys
from pathlib import Path


def python_program(path: Path, body: str, *options: str) -> Path:
    """A program at `path` that runs `body` with this Python, whose path may hold a blank; a `#!` line may not."""
    code = path.with_name(f"{path.name}.py")
    code.write_text(body, encoding="utf-8")
    return shell_program(path, shlex.join([sys.executable, *options, str(code)]))


def shell_program(path: Path, command: str) -> Path:
    """A program at `path` that is `command` of the shell with the program's own arguments."""
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path
