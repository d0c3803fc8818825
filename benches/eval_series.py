"""What each inference of the map is worth: python benches/eval_series.py ACCOUNTS CHECKOUTS

ACCOUNTS holds NAME.json for each project of CHECKOUTS: `roles`, [glob, role or `a|b`] rows of which the first that fits
counts, and `story`, the paths of the main edition in order. Figures with everything, and with each inference switched
off in turn: kinds (mean over the roles of a project, then over projects), files, order (texts with both neighbours
right), and of the files at .95 and more the share that is wrong. Written to benches/results/series.json.
"""

import argparse
import json
import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import armarius
from armarius.documents import decide, features, kinds, series
from armarius.documents.units import chapter_number
from eval_map import fits
from record import record

ROLES = {
    "chapter": "chapter manuscript",
    "draft": "chapter note manuscript",
    "settings": "setting",
    "manual": "note setting chapter",
}
SURE = 0.95


def measured(account: Mapping[str, Any], root: Path) -> tuple[Counter[str], float]:
    """Counts of one project, and the mean over its roles."""
    counted = Counter[str]()
    roles = defaultdict[str, list[bool]](list)
    with armarius.open(root, watch=False) as engine:
        files = {one.path: one for one in engine.map()}
    for path, one in files.items():
        role = next((role for glob, role in account["roles"] if fits(path, glob)), None)
        if role is not None:
            right = any(one.kind in ROLES.get(name, name).split() for name in role.split("|"))
            roles[role.split("|")[0]].append(right)
            counted.update(files=1, right=right, sure=one.confidence >= SURE)
            counted["sure and wrong"] += one.confidence >= SURE and not right
    told = sorted((one for one in files.values() if one.order is not None and one.edition == "main"), key=_order)
    main = ["", *(one.path for one in told), ""]
    story = ["", *(path for path in account["story"] if path in files), ""]
    near = {main[at]: main[at - 1 : at + 2] for at in range(1, len(main) - 1)}
    for at in range(1, len(story) - 1):
        found, asked = near.get(story[at], ["", "", ""]), story[at - 1 : at + 2]
        right = story[at] in near and all(one in ("", other) for one, other in zip(asked, found, strict=True))
        counted.update({"texts": 1, "in order": right})
    return counted, sum(sum(one) / len(one) for one in roles.values()) / len(roles)


def _order(one: Any) -> tuple[int, str]:
    return one.order, one.path


def figures(accounts: Path, checkouts: Path) -> dict[str, float]:
    """Of all projects; with a cache of its own, since evidence is stored."""
    counted, means = Counter[str](), list[float]()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["ARMARIUS_CACHE"] = cache
        for path in sorted(accounts.glob("*.json")):
            if (root := checkouts / path.stem).is_dir():
                one, mean = measured(json.loads(path.read_text("utf-8")), root)
                counted.update(one)
                means.append(mean)
    return {
        "kinds": round(sum(means) / len(means), 3),
        "files": round(counted["right"] / counted["files"], 3),
        "order": round(counted["in order"] / counted["texts"], 3),
        "sure": round(counted["sure"] / counted["files"], 3),
        "wrong of sure": round(counted["sure and wrong"] / counted["sure"], 3),
    }


def _anywhere(title: str) -> tuple[int, int] | None:
    number = chapter_number(title)
    return None if number is None else (number, number)


OFF: dict[str, tuple[Any, str, object]] = {
    "series": (decide, "series_of", lambda _: []),
    "companions": (series, "_pair_companions", lambda *_: None),
    "order that is written down": (decide, "orders_of", lambda *_: []),
    "alike in a series": (kinds._ROWS, "alike in its series", {}),
    "alike in a folder": (kinds._ROWS, "alike in its folder", {}),
    "runs": (decide, "_runs", lambda *_: None),
    "names of folders": (features, "_folder_clues", lambda *_: ()),
    "an item begins with its place": (features, "leading", _anywhere),
    "sentences make a text": (features, "_SENTENCES", -1.0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("accounts", type=Path)
    parser.add_argument("checkouts", type=Path)
    given = parser.parse_args()
    rows = {"all": figures(given.accounts, given.checkouts)}
    print("all", rows["all"], flush=True)
    for name, (where, what, stub) in OFF.items():
        with patch.dict(where, {what: stub}) if isinstance(where, dict) else patch.object(where, what, stub):
            rows[f"without {name}"] = figures(given.accounts, given.checkouts)
        print(name, rows[f"without {name}"], flush=True)
    record("series", {"projects": len([*given.accounts.glob("*.json")]), **rows})


if __name__ == "__main__":
    main()
