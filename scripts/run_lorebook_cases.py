"""Run a file of lorebook cases through the public interface: `N of M` per section, and what failed.

    python scripts/run_lorebook_cases.py CASES.json [-v]

The form: an object with lists `behaviour` (file, scan, expect under a profile), `detection` (what a file is), `mapping`
(what is read), `roundtrip` (what is given back), `loss` (what the report names); `file_ref` lies beside the file.
"""

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

warnings.filterwarnings("ignore", message="armarius was built without optimisation")

import armarius  # noqa: E402
from armarius.lorebooks.activation import known_settings  # noqa: E402

BY_INDEX = {"kobold-lite", "koboldai", "agnai", "novelai"}
AS_SETS = {"character-card-spec", "novelai", "novelcrafter", "obsidian"}
SCAN_KEYS = {"messages", "text", "story", "turns"}
SOURCES = {
    "personaDescription": "persona",
    "characterDescription": "character",
    "characterPersonality": "personality",
    "characterDepthPrompt": "depth_prompt",
    "scenario": "scenario",
    "creatorNotes": "creator_notes",
    "memory": "memory",
    "authors_note": "note",
}
QUESTION = {"trigger", "tags", "sources", "greeting", "user", "turn"}


def book_of(case: Mapping[str, Any], folder: Path) -> armarius.lorebooks.Book:
    """The book of a case, under its profile."""
    if "file_ref" in case:
        return armarius.lorebooks.read_book(folder / case["file_ref"], profile=case.get("profile"))
    file = json.loads(json.dumps(case["file"]))
    if sizes := case.get("entry_sizes"):
        rows = file["entries"] if isinstance(file, dict) else file
        for row, size in zip(rows.values() if isinstance(rows, dict) else rows, sizes, strict=True):
            field = next(name for name in ("entry", "content", "text", "value") if name in row)
            row[field] = "x" * size
    if case.get("format", "").startswith("obsidian") and "files" not in file:
        file = {"armarius": "vault", "files": file}  # notes by path
    data = json.dumps(file).encode()
    return armarius.lorebooks.read_book(data, name=case["id"], profile=case.get("profile"))


def ids(found: armarius.lorebooks.Activation, profile: str) -> list[Any]:
    """The active entries as the form names them."""
    if profile == "risu":
        return [one.entry.name for one in found]
    if profile in BY_INDEX:
        return [one.entry.source.path[-1] for one in found]
    return [one.entry.id for one in found]


def same(expected: list[Any], got: list[Any], profile: str) -> bool:
    """Equal as lists, or as sets where the form says so; an id may be a number or its text."""
    left, right = [str(one) for one in expected], [str(one) for one in got]
    return sorted(left) == sorted(right) if profile in AS_SETS else left == right


def behaves(case: Mapping[str, Any], folder: Path) -> str:
    """What is wrong with a behaviour case, "" when nothing is."""
    book = book_of(case, folder)
    profile, scan, expect = book.profile, case["scan"], case["expect"]
    said = {**case.get("settings", {}), **{key: case[key] for key in case if key not in ("file", "settings")}, **scan}
    known = known_settings(profile)
    question: dict[str, Any] = {
        "settings": {key: value for key, value in case.get("settings", {}).items() if key in known},
        "character": said.get("character", said.get("active_character", "Char")),
        "user": "User",
        "sources": {source: said[key] for key, source in SOURCES.items() if isinstance(said.get(key), str)},
    }
    question |= {key: value for key, value in scan.items() if key in QUESTION}
    question |= {key: case[key] for key in QUESTION if key in case}
    if isinstance(scan.get("story"), str):
        question["story"] = book.settings.get("story")
    elif "story" in scan:
        question["story"] = scan["story"]
    state = None
    wrong = []
    steps = scan.get("turns") or [scan.get("messages", [])]
    for number, messages in enumerate(steps):
        found = armarius.activate(
            [book],
            messages=messages,
            text=scan.get("text", ""),
            rolls=case.get("rolls", ()),
            state=armarius.lorebooks.State() if "turns" in scan and state is None else state,
            **question,
        )
        state = found.state if "turns" in scan else None
        wanted = expect.get("turns", [None] * len(steps))[number] if "turns" in expect else expect.get("active")
        if wanted is not None and not same(wanted, ids(found, profile), profile):
            wrong.append(f"turn {number}: expected {wanted}, got {ids(found, profile)}")
        if "placed" in expect and (problem := misplaced(expect["placed"], found)):
            wrong.append(problem)
    for row in expect.get("by_roll", ()):
        found = armarius.activate(
            [book], messages=scan.get("messages", []), text=scan.get("text", ""), rolls=row["rolls"], **question
        )
        if not same(row["active"], ids(found, profile), profile):
            wrong.append(f"rolls {row['rolls']}: expected {row['active']}, got {ids(found, profile)}")
    if "one_of" in expect:
        found = armarius.activate([book], messages=scan.get("messages", []), text=scan.get("text", ""), **question)
        if not any(same(one, ids(found, profile), profile) for one in expect["one_of"]):
            wrong.append(f"expected one of {expect['one_of']}, got {ids(found, profile)}")
    return "; ".join(wrong)


ROLES = {"system": 0, "user": 1, "assistant": 2}
SLOTS = {
    "before": "before",
    "after": "after",
    "note_top": "note_top",
    "note_bottom": "note_bottom",
    "an_top": "note_top",
    "an_bottom": "note_bottom",
    "examples_before": "examples_before",
    "examples_after": "examples_after",
    "em_top": "examples_before",
    "em_bottom": "examples_after",
}


def misplaced(expected: Any, found: armarius.lorebooks.Activation) -> str:  # noqa: ANN401
    """What is wrong with where the entries go."""
    if isinstance(expected, list):
        got: Any = [
            {
                "source": one.entry.name,
                "pos": "depth" if one.place.slot == "at_depth" else one.place.name,
                "depth": one.place.depth or 0,
                "role": one.place.role,
                "prompt": one.text,
            }
            for one in sorted(found, key=lambda one: one.order)
        ]
        return "" if got == expected else f"placed: expected {expected}, got {got}"
    depths: dict[tuple[int | None, str], list[str]] = {}
    slots: dict[str, list[str]] = {}
    for one in found.placed():
        if one.place.slot == "at_depth":
            depths.setdefault((one.place.depth, one.place.role), []).append(one.text)
        else:
            slots.setdefault(one.place.slot, []).append(one.text)
    for name, wanted in expected.items():
        if name == "at_depth":
            got = [{"depth": depth, "entries": texts, "role": ROLES[role]} for (depth, role), texts in depths.items()]
            if sorted(map(str, got)) != sorted(map(str, wanted)):
                return f"placed at depth: expected {wanted}, got {got}"
        elif name in ("outlet", "outlets"):
            got = {}
            for one in found.placed():
                if one.place.slot == "outlet":
                    got.setdefault(one.place.name, []).insert(0, one.text)  # in an outlet the higher order stands first
            if got != wanted:
                return f"placed in outlets: expected {wanted}, got {got}"
        elif (got := slots.get(SLOTS.get(name, name), [])) != wanted and "\n".join(got) != wanted:
            return f"placed {name}: expected {wanted}, got {got}"
    return "" if expected or not (slots or depths) else f"placed: expected nothing, got {slots} {depths}"


def detected(case: Mapping[str, Any], folder: Path) -> str:
    """What is wrong with a detection case."""
    got = armarius.lorebooks.detect_book(folder / case["file_ref"])
    return "" if got == case["format"] else f"expected {case['format']}, got {got}"


def values(entry: armarius.lorebooks.Entry) -> dict[str, Any]:
    """An entry in the words of the form."""
    match, share, range_ = entry.match, entry.share, entry.match.range
    return {
        "keys": [key.text for key in match.keys if key.kind != "regex"],
        "regex": [key.text for key in match.keys if key.kind == "regex"],
        "scan_chars": range_.count if range_ is not None and range_.unit == "characters" else None,
        "scan_messages": range_.count if range_ is not None and range_.unit == "messages" else None,
        "keep_priority": share.keep_priority,
        "order": share.order,
        "max_tokens": share.max_tokens,
        "max_tokens_share": share.max_share,
        "reserved_tokens": share.reserved,
        "prefix": share.prefix,
        "suffix": share.suffix,
        "woken_by_entries": entry.wake.by_entries,
        "level": entry.level,
        "text": entry.text,
        "name": entry.name,
        "folder": entry.folder,
        "type": entry.type,
        "probability": entry.chance.probability,
        "sticky": entry.timing.sticky,
        "cooldown": entry.timing.cooldown,
        "delay": entry.timing.delay,
        "role": entry.place.role,
        "depth": entry.place.depth,
        "slot": entry.place.slot,
        "groups": list(entry.chance.groups),
    }


def mapped(case: Mapping[str, Any], folder: Path) -> str:
    """What is wrong with a mapping case."""
    book = armarius.lorebooks.read_book(folder / case["file_ref"])
    wrong = []
    if "entry_count" in case and len(book) != case["entry_count"]:
        wrong.append(f"expected {case['entry_count']} entries, got {len(book)}")
    for name, wanted in case.get("entries", {}).items():
        got = values(book.entry(name))
        wrong += [
            f"{name}.{key}: expected {value!r}, got {got.get(key, 'nothing')!r}"
            for key, value in wanted.items()
            if got.get(key, "nothing") != value
        ]
    return "; ".join(wrong)


def given_back(case: Mapping[str, Any], folder: Path) -> str:
    """What is wrong with a round trip: the file itself must come back, and its book read the same again."""
    path = folder / case["file_ref"]
    book = armarius.lorebooks.read_book(path)
    data = book.export()
    if data != path.read_bytes():
        return "other bytes"
    again = armarius.lorebooks.read_book(data, name=path.name)
    return "" if again.entries == book.entries else "reads otherwise"


def lost(case: Mapping[str, Any], folder: Path) -> str:
    """What the report of a file does not name."""
    told = "\n".join(str(loss) for loss in armarius.lorebooks.read_book(folder / case["file_ref"]).losses)
    missing = [word for word in case["must_name"] if word not in told]
    return f"not named: {', '.join(missing)}" if missing else ""


SECTIONS: dict[str, Callable[[Mapping[str, Any], Path], str]] = {
    "behaviour": behaves,
    "detection": detected,
    "mapping": mapped,
    "roundtrip": given_back,
    "loss": lost,
}


def main() -> int:
    """Run the cases of a file; the status is 1 when a case that is no quirk failed."""
    parser = argparse.ArgumentParser(description="Run lorebook cases through the public interface.")
    parser.add_argument("cases", type=Path)
    parser.add_argument("-v", "--verbose", action="store_true", help="also the cases that passed")
    arguments = parser.parse_args()
    cases = json.loads(arguments.cases.read_text("utf-8"))
    bad = 0
    for section, run in SECTIONS.items():
        rows = cases.get(section, [])
        if not rows:
            continue
        failed, quirks = [], []
        for case in rows:
            name = case.get("id") or case.get("file_ref")
            try:
                problem = run(case, arguments.cases.resolve().parent)
            except armarius.ArmariusError as error:
                problem = f"{type(error).__name__}: {error}"
            if problem:
                (quirks if case.get("quirk") else failed).append(f"  {name}: {problem}")
            elif arguments.verbose:
                print(f"  {name}: as expected")
        bad += len(failed)
        print(f"{section}: {len(rows) - len(failed) - len(quirks)} of {len(rows)}")
        print(*failed, *(f"{line} (a quirk)" for line in quirks), sep="\n", end="\n" if failed or quirks else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
