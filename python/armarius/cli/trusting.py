"""`armarius trust`, and what `armarius doctor` says about it.

armarius trust novel/              # its armarius.toml counts as your own words from now on
armarius trust --revoke novel/
armarius trust --list              # those folders, and the books that make rules
armarius trust novel/ --rules-of eldoria      # the always active entries of this book, as it is now, are rules
"""

import argparse
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from armarius.cli.options import JSON, command, flag, note, option, printable, show_json
from armarius.errors import ConfigError, ContractError
from armarius.io import project_folder
from armarius.lorebooks.project_books import Books
from armarius.trust.folders import TRUSTED_ENV, display_path, revoke, trust, trusted, who_trusts
from armarius.trust.settings import MAY_SAY, Config, Ignored, Permissions, allowed_anywhere, load_config, value_of

_SOUND = "its armarius.toml names nothing outside it"


@dataclass(frozen=True, slots=True)
class TrustReport:
    """Who trusts a project, and which of its settings are ignored.

    Attributes:
        folder: The project, resolved.
        by: `trusted.toml` or `ARMARIUS_TRUSTED`; "" when nobody trusts it.
        configuration: The user's configuration file, whether or not it is there.
        ignored: The settings that are not heeded.
    """

    folder: Path
    by: str
    configuration: str
    ignored: tuple[Ignored, ...]

    def lines(self) -> list[str]:
        """As sentences, without what is ignored."""
        untrusted = "some of its armarius.toml is ignored" if self.ignored else _SOUND
        who = f"trusted by {self.by}" if self.by else f"not trusted: {untrusted}"
        return [f"project: {display_path(self.folder)}, {who}", f"configuration: {self.configuration}"]

    def to_wire(self) -> dict[str, Any]:
        """As JSON: `trusted`, `by`, `configuration`, `ignored` with `key value allowed` each."""
        return {
            "trusted": bool(self.by),
            "by": self.by,
            "configuration": self.configuration,
            "ignored": [asdict(item) for item in self.ignored],
        }


def trust_report(root: Path, config: Config) -> TrustReport:
    """What there is to say of the project at `root`.

    Raises:
        ConfigError: A file of the user's own configuration is wrong.
    """
    permissions = Permissions.of(root)
    by = who_trusts(permissions.root)
    return TrustReport(permissions.root, by, permissions.user.name, tuple(permissions.ignored(config)))


@command(
    "trust", "let a project's armarius.toml speak for you", option("path", "the project folder", type=Path, nargs="?"),
    option("--rules-of", "instead: let the always active entries of a lorebook be rules of every prompt, until the "
           "book changes", metavar="BOOK"),
    (flag("--revoke", "trust it, or the book, no longer"),
     flag("--list", "the folders that are trusted, and the books that make rules")), JSON,
    description="From now on the armarius.toml of this very folder may name programs and folders anywhere, and ckb "
    "and nervusdb are run over it. Trust what you would run. Servers learn of it when they are started again.",
    example="novel/",
)  # fmt: skip
def _trust(arguments: argparse.Namespace) -> int:
    if arguments.list and arguments.rules_of is not None:
        raise ContractError("--list takes no book; `armarius export PROJECT` says which books there are")
    if arguments.list:
        if arguments.path is not None:
            raise ContractError("--list takes no folder; `armarius doctor FOLDER` says whether one is trusted")
        return _list(as_json=arguments.json)
    if arguments.path is None:
        raise ContractError("which folder? `armarius trust FOLDER`, or --list")
    if arguments.rules_of is not None:
        return _rules_of(arguments.path, arguments.rules_of, allow=not arguments.revoke, as_json=arguments.json)
    return _revoke(arguments.path, arguments.json) if arguments.revoke else _add(arguments.path, arguments.json)


def _rules_of(folder: Path, name: str, *, allow: bool, as_json: bool) -> int:
    """Remember, or forget, that a book makes rules; says which texts those are."""
    books = Books(project_folder(folder))
    book = books[name]
    books.allow_rules(book.id, allow, lasting=allow)
    texts = [" ".join(entry.text.split()) for entry in book if entry.level == "always"]
    if as_json:
        show_json({"book": book.id, "rules": allow, "entries": texts})
    elif allow:
        print(printable(f"{book.id}: {len(texts)} always active entries are rules of every prompt, until it changes"))
        for text in texts:
            print(printable(f"  ! {text[:200]}"))
    else:
        print(printable(f"{book.id}: makes no rules"))
    return 0


def _list(*, as_json: bool) -> int:
    folders = [(str(path), who_trusts(path)) for path in trusted()]
    rules = [(path, id_, _no_effect_reason(path, id_)) for path, id_ in allowed_anywhere()]
    if as_json:
        rows = [{"project": str(path), "book": id_, "inForce": state == ""} for path, id_, state in rules]
        show_json({"folders": [{"path": path, "by": by} for path, by in folders], "rules": rows})
        return 0
    for at, by in folders:
        print(f"{display_path(Path(at))}  ({by})" if by == TRUSTED_ENV else display_path(Path(at)))
    if not folders:
        note("armarius: no folder is trusted")
    for path, id_, state in rules:
        print(printable(f"{display_path(path)}: book {id_} {state or 'makes rules'}"))
    return 0


def _no_effect_reason(project: Path, id_: str) -> str:
    """Why a permission has no effect now, or "" when the book is what it was given for."""
    if not project.is_dir():
        return "made rules; the project is not there"
    book = Books(project).snapshot().get(id_)
    if book is None:
        return "made rules; the project has no such book"
    return "" if book.rules else "made rules; it has changed since, and makes none"


def _add(folder: Path, as_json: bool) -> int:
    path = trust(folder)
    try:
        config = load_config(path)
        values = {key: value for key in MAY_SAY if isinstance(value := value_of(config, key), str)}
    except ConfigError as error:
        values, problem = {}, str(error)
    else:
        problem = ""
    if as_json:
        show_json({"trusted": True, "path": str(path), "asked": values})
    else:
        print(f"trusted: {display_path(path)}")
        for key, value in values.items():
            print(f"  its armarius.toml says {key} = {value!r}")
    if problem:
        note(f"! {problem}")
    return 0


def _revoke(folder: Path, as_json: bool) -> int:
    success, still = revoke(folder), who_trusts(folder)
    if as_json:
        show_json({"trusted": bool(still), "path": str(folder), "revoked": success})
    elif success:
        print(f"no longer trusted: {display_path(folder)}")
    else:
        note(f"armarius: {display_path(folder)} was not trusted")
    if still:
        note(f"! {still} still trusts it")
    return 0 if success and not still else 1
