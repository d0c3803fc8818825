"""`armarius new`, `armarius completion` and `armarius studio`."""

import argparse
import os
import shlex
import tomllib
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from armarius.cli.options import PROJECT, SERIES, command, flag, note, option
from armarius.documents.document import walk_files
from armarius.documents.kinds import STORY_KINDS
from armarius.engine import open as open_engine
from armarius.errors import MissingExtra, ProjectError
from armarius.io import project_folder, stat_of
from armarius.io.write import make_folder, write_atomic
from armarius.studio import join, serve
from armarius.trust.settings import CONFIG_NAME, load_config


@command(
    "new", "a book of your own, in a new folder", option("path", "the folder; new, or empty", type=Path),
    flag("--example", "the small novel instead"),
    option("--language", "of an empty book (default: that of the environment, else en)", choices=["en", "zh"]),
    description="Writes pages to fill: people, places, an outline, a style, the first chapter. With --example a small "
    "novel: seven short chapters, profiles and a codex, to look at.",
    example="my-novel",
)  # fmt: skip
def _new_project(arguments: argparse.Namespace) -> int:
    folder: Path = arguments.path
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ProjectError(f"{folder}: there is something already; nothing was written")
    carried = resources.files("armarius.cli")
    if arguments.example:
        files = _files(carried.joinpath("starter"), "")
    else:
        book = tomllib.loads(carried.joinpath("blank.toml").read_text(encoding="utf-8"))
        files = [(path, text.encode()) for path, text in book[arguments.language or _language()].items()]
    make_folder(folder)
    for path, data in files:
        make_folder((folder / path).parent, below=folder)
        write_atomic(folder / path, data, below=folder)
    print(f"{folder}: {', '.join(path for path, _ in files) if len(files) < 9 else f'{len(files)} files'}")
    print(f"  armarius {shlex.quote(str(folder))}      see what a model would be told, in a browser")
    if arguments.example:
        print(f"  armarius inspect {folder} --query 检查第3章的角色一致性 --document chapters/ch003.md --budget 8000")
    return 0


def _language() -> str:
    """The language that the environment asks of programs, as POSIX has it; "en" for any other than Chinese."""
    value = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "zh" if value.lower().startswith("zh") else "en"


@command(
    "completion", "what a shell reads to complete commands and options",
    option("shell", choices=("bash", "zsh", "fish")),
    description="bash: armarius completion bash > ~/.local/share/bash-completion/completions/armarius; "
    "zsh: into _armarius in a folder of $fpath; fish: into ~/.config/fish/completions/armarius.fish",
    example="zsh",
)  # fmt: skip
def _completion(arguments: argparse.Namespace) -> int:
    folder = resources.files("armarius.cli").joinpath("completions")
    print(folder.joinpath(f"armarius.{arguments.shell}").read_text(encoding="utf-8"), end="")
    return 0


def _files(folder: Traversable, before: str) -> "list[tuple[str, bytes]]":
    files = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            files += _files(entry, f"{before}{entry.name}/")
        else:
            files.append((f"{before}{entry.name}", entry.read_bytes()))
    return files


@command(
    "studio", "look at prompts, chapters and people in a browser, live", PROJECT, SERIES,
    option("--port", "the port (default: that of the folder, if free)", type=int, default=0, metavar="N"),
    flag("--no-browser", "print the address only"),
    flag("--new-token", "shut out every page that was open before"),
    description="Prints an address of this machine and opens it; where a studio runs, that one. Everybody who has the "
    "address may read and change the project. Port and token stay those of the folder. Needs armarius[studio].",
    example="novel/ --no-browser",
)  # fmt: skip
def _studio(arguments: argparse.Namespace) -> int:
    folder = _book(arguments.path)
    own = arguments.port or arguments.new_token
    if not own and join(folder, browser=not arguments.no_browser, say=_print_address):
        return 0
    with open_engine(folder, with_=arguments.series) as engine:
        try:
            browser, new = not arguments.no_browser, arguments.new_token
            serve(engine, port=arguments.port, browser=browser, say=_print_address, new_token=new)
        except MissingExtra:
            status = engine.status()
            chapters = sum(document.kind in STORY_KINDS for document in engine.documents())
            print(f"{engine.project_id}: {chapters:,} chapters, {status.entities:,} people and things")
            print(_ELSE)
            raise
    return 0


_ELSE = """  armarius doctor                       what is taken for what, what is wrong, what to do next
  armarius ask 'who is she?' | llm      the prompt for a question, to be piped to a model
  armarius --help                       everything else"""


def _print_address(address: str) -> None:
    print(address, flush=True)
    note(_ELSE)


_MARKS = (".armarius", CONFIG_NAME, "codex.json", ".obsidian", ".git")


def _book(path: Path) -> Path:
    """The folder, if it may be a book: neither a home, nor what homes lie in, nor without any text.

    A file is of the nearest folder above it that has one of `_MARKS`, else of its own.

    Raises:
        ProjectError: It is not; nothing was opened.
    """
    homes = (Path.home(), *Path.home().parents)
    if path.is_file():
        above = [folder for folder in path.absolute().parents if folder not in homes]
        marked = (folder for folder in above if any((folder / mark).exists() for mark in _MARKS))
        path = next(marked, path.parent)
    root = project_folder(path).resolve()
    if root in homes:
        why = "holds more than a book"
    elif not walk_files(root, load_config(root))[0] and stat_of(root / ".armarius", below=root) is None:
        why = "has no text"
    else:
        return path
    raise ProjectError(f"{root} {why}. Which folder? `armarius FOLDER`; `armarius new NAME` begins a book")
