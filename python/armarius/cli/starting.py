"""`armarius new` and `armarius completion`: what the installed package carries for the first hour."""

import argparse
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from armarius.errors import ProjectError
from armarius.files.write import make_folder, write_atomic

__all__ = ["add_commands"]


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add both commands."""
    command = subparsers.add_parser(
        "new",
        help="a small novel to start from, in a new folder",
        description="Writes the example: seven short chapters, profiles, an outline, a style and a codex, to look at "
        "and to write over.",
    )
    command.add_argument("path", type=Path, help="the folder; new, or empty")
    command.set_defaults(run=_new)
    completion = subparsers.add_parser(
        "completion",
        help="what a shell reads to complete commands and options",
        description="bash: armarius completion bash > ~/.local/share/bash-completion/completions/armarius; "
        "zsh: into _armarius in a folder of $fpath; fish: into ~/.config/fish/completions/armarius.fish",
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    completion.set_defaults(run=_completion)


def _new(arguments: argparse.Namespace) -> int:
    folder: Path = arguments.path
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ProjectError(f"{folder}: there is something already; nothing was written")
    files = list(_files(resources.files("armarius.cli").joinpath("starter"), ""))
    make_folder(folder)
    for path, data in files:
        make_folder((folder / path).parent, below=folder)
        write_atomic(folder / path, data, below=folder)
    print(f"{folder}: {len(files)} files. Look at what a model would be told:")
    print(f"  armarius assemble {folder} --query 检查第3章的角色一致性 --document chapters/ch003.md --budget 8000")
    print(f"  armarius inspect {folder} --query 检查第3章的角色一致性 --document chapters/ch003.md --budget 8000")
    return 0


def _completion(arguments: argparse.Namespace) -> int:
    folder = resources.files("armarius.cli").joinpath("completions")
    print(folder.joinpath(f"armarius.{arguments.shell}").read_text(encoding="utf-8"), end="")
    return 0


def _files(folder: Traversable, before: str) -> "list[tuple[str, bytes]]":
    found = []
    for one in sorted(folder.iterdir(), key=lambda one: one.name):
        if one.is_dir():
            found += _files(one, f"{before}{one.name}/")
        else:
            found.append((f"{before}{one.name}", one.read_bytes()))
    return found
