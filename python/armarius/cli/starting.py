"""`armarius new`, `armarius completion` and `armarius studio`."""

import argparse
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from armarius.cli.terminal import add_project, add_series, note
from armarius.engine import open as open_engine
from armarius.errors import ProjectError
from armarius.io.write import make_folder, write_atomic
from armarius.studio.serving import serve


def add_new_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
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
    print(f"{folder}: {len(files)} files. Look at what a model would get:")
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


def add_studio_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    command = subparsers.add_parser(
        "studio",
        help="look at prompts, chapters and people in a browser, live",
        description="Prints an address of this machine and opens it. Everybody who has the address may read and change "
        "the project. Needs armarius[studio].",
    )
    add_project(command, alone=True)
    add_series(command)
    command.add_argument("--port", type=int, default=0, metavar="N", help="the port (default: a free one)")
    command.add_argument("--no-browser", action="store_true", help="print the address only")
    command.set_defaults(run=_studio)


def _studio(arguments: argparse.Namespace) -> int:
    with open_engine(arguments.path, with_=arguments.series) as engine:
        note("armarius: studio; Ctrl-C ends it")
        serve(engine, port=arguments.port, browser=not arguments.no_browser, say=lambda text: print(text, flush=True))
    return 0


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands of this file to the parser."""
    add_new_commands(subparsers)
    add_studio_commands(subparsers)
