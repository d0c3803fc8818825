"""Every crate has a licence of `deny.toml`, and every crate in the wheel one that the wheel's metadata name.

Reads `cargo metadata`; with cargo-deny, runs that instead: it checks advisories, sources and bans too.
Without a network its database of advisories cannot be fetched: then that one check is left out, and said to be.
A crate in the wheel that is under MIT alone is named in `licenses/MIT.txt`, for its copyright.
"""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def satisfied(expression: str, allowed: set[str]) -> bool:
    """Whether an SPDX expression can be met by allowed licences: OR by any, AND by all; `/` is an old OR."""
    text = expression.replace("/", " OR ")
    terms = re.findall(r"\(|\)|[^()\s]+(?: WITH \S+)?", text)

    def any_of(at: int) -> tuple[bool, int]:
        good, at = all_of(at)
        while at < len(terms) and terms[at] == "OR":
            other, at = all_of(at + 1)
            good = good or other
        return good, at

    def all_of(at: int) -> tuple[bool, int]:
        good, at = one(at)
        while at < len(terms) and terms[at] == "AND":
            other, at = one(at + 1)
            good = good and other
        return good, at

    def one(at: int) -> tuple[bool, int]:
        if terms[at] == "(":
            good, at = any_of(at + 1)
            return good, at + 1
        return terms[at] in allowed, at + 1

    return any_of(0)[0]


def unnamed() -> list[str]:
    """Crates in the wheel whose licence, or whose copyright, the wheel does not name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = set(project["license"].split(" AND "))
    under_mit = re.findall(r"[\w-]+", (ROOT / "licenses/MIT.txt").read_text("utf-8"))
    command = ["cargo", "tree", "--locked", "--features=python", "--target=all", "--edges=normal,no-proc-macro"]
    tree = subprocess.run([*command, "--prefix=none", "--format={p}|{l}"], cwd=ROOT, check=True, capture_output=True)
    lines = tree.stdout.decode().splitlines()
    crates = {line.removesuffix(" (*)") for line in lines if not line.startswith("armarius ")}
    wrong = []
    for crate, _, licence in (crate.partition("|") for crate in sorted(crates)):
        if not satisfied(licence, named):
            wrong.append(f"{crate}: {licence} is not in the license of pyproject.toml")
        elif not satisfied(licence, named - {"MIT"}) and crate.split()[0] not in under_mit:
            wrong.append(f"{crate}: under MIT, and not named in licenses/MIT.txt")
    return wrong


def main() -> int:
    """0 when every licence is allowed, and named where the wheel is."""
    if wrong := unnamed():
        print("\n".join(wrong), file=sys.stderr)
        return 1
    if shutil.which("cargo-deny"):
        checks = ["licenses", "bans", "sources"]
        ran = subprocess.run(["cargo", "deny", "check", *checks], cwd=ROOT, check=False)
        advised = subprocess.run(["cargo", "deny", "check", "advisories"], cwd=ROOT, check=False, capture_output=True)
        if advised.returncode and b"failed to fetch" in advised.stderr:
            print("licences: the advisories could not be fetched and are not checked", file=sys.stderr)
            return ran.returncode
        sys.stderr.buffer.write(advised.stderr)
        return ran.returncode or advised.returncode
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text("utf-8"))["licenses"]["allow"])
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--all-features"]
    ran = subprocess.run(command, cwd=ROOT, check=False, capture_output=True)
    if ran.returncode:
        sys.stderr.buffer.write(ran.stderr)
        return ran.returncode
    packages = json.loads(ran.stdout)["packages"]
    wrong = [
        f"{one['name']} {one['version']}: {one['license'] or 'no licence'}"
        for one in packages
        if not satisfied(one["license"] or "NONE", allowed)
    ]
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    print(f"licences: {len(packages)} crates; cargo-deny is not installed, so advisories are not checked")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
