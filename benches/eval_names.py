"""How well names are proposed from the chapters alone: python benches/eval_names.py CORPUS_FOLDER

The folder holds chapters/*.md and codex.json, whose names and aliases with at least ten mentions are the truth; the
profiles themselves are not read. For comparison the most frequent words (capitalised, or two to four Chinese characters
in a row), as many as were proposed. Names of people whom the codex does not describe count as wrong. Written to
benches/results/names-FOLDER.json.
"""

import argparse
import json
import re
import time
from collections import Counter
from pathlib import Path

from armarius.codex import propose_names
from record import record

LEAST = 10
TYPES = frozenset({"character", "location", "item", "faction"})
HAN = re.compile("[\u4e00-\u9fff]+")


def truth(folder: Path, whole: str) -> dict[str, str]:
    """Name or alias to the entity's id."""
    found = {}
    for entity in json.loads((folder / "codex.json").read_text("utf8"))["entities"]:
        for name in (entity["name"], *entity.get("aliases", [])):
            pattern = rf"\b{re.escape(name)}\b" if name.isascii() else re.escape(name)
            if (
                entity["type"] in ("character", "location", "item", "faction")
                and len(re.findall(pattern, whole)) >= LEAST
            ):
                found[name] = entity["id"]
    return found


def frequent(whole: str, count: int) -> set[str]:
    """The plain list."""
    words = Counter(re.findall(r"\b[A-Z][a-z]+\b", whole))
    for run in HAN.findall(whole):
        for size in (2, 3, 4):
            words.update(run[at : at + size] for at in range(len(run) - size + 1))
    return {word for word, _ in words.most_common(count)}


def main() -> None:
    """Score one folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    texts = [(path.name, path.read_text("utf8")) for path in sorted((folder / "chapters").rglob("*.md"))]
    whole = "\n".join(text for _, text in texts)
    wanted = truth(folder, whole)
    start = time.process_time()
    found = propose_names(texts, least=LEAST)
    took = time.process_time() - start
    forms = {form for one in found for form in (one.name, *one.aliases)}
    plain = frequent(whole, len(forms))
    figures = {
        "names": len(wanted),
        "proposals": len(found),
        "forms": len(forms),
        "precision": len(forms & wanted.keys()) / len(forms),
        "recall": len(forms & wanted.keys()) / len(wanted),
        "recall_entities": len({wanted[one] for one in forms & wanted.keys()}) / len(set(wanted.values())),
        "frequency_list": {
            "precision": len(plain & wanted.keys()) / len(plain),
            "recall": len(plain & wanted.keys()) / len(wanted),
        },
        "seconds": took,
    }
    record(f"names-{folder.name}", figures)
    print(json.dumps(figures, indent=2))
    assert figures["precision"] > figures["frequency_list"]["precision"]
    assert figures["recall"] > figures["frequency_list"]["recall"]


if __name__ == "__main__":
    main()
