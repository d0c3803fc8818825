"""A folder that somebody else made, programs that say that they ran, and what a user's configuration says."""

from pathlib import Path

NOVEL = "# 第一章\n\n白鹭来了。顾长明也来了。\n"
CODE = "def invoke():\n    pass\n"


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def witness(path: Path, mark: Path) -> str:
    """A program that leaves its own path, working folder and PATH in `mark`, and answers nothing."""
    put(path, f'#!/bin/sh\nprintf "%s\\n%s\\n%s\\n" "$0" "$PWD" "$PATH" > "{mark}"\n').chmod(0o755)
    return str(path)


def snapshot(folder: Path) -> dict[str, object]:
    """Every entry below a folder with its content: equal before and after when nothing was touched."""
    return {
        str(path.relative_to(folder)): path.readlink()
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in sorted(folder.rglob("*"))
    }
