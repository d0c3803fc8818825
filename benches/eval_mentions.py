"""How well mentions are found in a corpus whose truth is known: python benches/eval_mentions.py CORPUS_FOLDER

The folder holds codex.json, chapters/*.md and truth/mentions.jsonl (one paragraph per line: path, text, entities,
mentions with code-point spans, false_candidates, ambiguous). The folder is opened without truth/, as a user would, and
three answers are scored: `engine.mentions` of each paragraph, and for comparison the matcher on its own, with the rules
of reading and with the names alone. Written to benches/results/mentions-FOLDER.json.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import armarius
from armarius import EntityMatcher, Mention
from eval_retrieval import copy_of
from record import record

Row = dict[str, Any]


def figures(right: int, wrong: int, missed: int) -> dict[str, float]:
    """Precision, recall, F1 of counts."""
    return {
        "precision": round(right / (right + wrong), 4) if right + wrong else 0.0,
        "recall": round(right / (right + missed), 4) if right + missed else 0.0,
        "f1": round(2 * right / (2 * right + wrong + missed), 4) if right else 0.0,
    }


def score(truth: list[Row], found: list[list[Mention]]) -> Row:
    """Entities per paragraph and exact mentions, micro-averaged; what the truth calls ambiguous is ignored."""
    entity, mention, rejected, traps = [0, 0, 0], [0, 0, 0], 0, 0
    for row, mentions in zip(truth, found, strict=True):
        gold = set(row["entities"])
        unclear = {candidate for one in row["ambiguous"] for candidate in one["candidates"]} - gold
        got = {one.entity_id for one in mentions} - unclear
        gold_spans = {(one["entity"], one["start"], one["end"]) for one in row["mentions"]}
        unclear_spans = {(one["start"], one["end"]) for one in row["ambiguous"]}
        spans = {(m.entity_id, m.start, m.end) for m in mentions if (m.start, m.end) not in unclear_spans}
        for total, want, have in ((entity, gold, got), (mention, gold_spans, spans)):
            total[0] += len(want & have)
            total[1] += len(have - want)
            total[2] += len(want - have)
        for trap in row["false_candidates"]:
            traps += 1
            rejected += (trap["wrong_entity"], trap["start"], trap["end"]) not in spans
    return {"entity": figures(*entity), "mention": figures(*mention), "traps rejected": f"{rejected}/{traps}"}


def differences(truth: list[Row], found: list[list[Mention]]) -> list[str]:
    """Every span that differs from the truth, with its surroundings."""
    lines = []
    for row, mentions in zip(truth, found, strict=True):
        text, unclear = row["text"], {(one["start"], one["end"]) for one in row["ambiguous"]}
        gold = {(one["entity"], one["start"], one["end"]) for one in row["mentions"]}
        got = {(m.entity_id, m.start, m.end) for m in mentions if (m.start, m.end) not in unclear}
        for sign, spans in (("+", got - gold), ("-", gold - got)):
            for who, start, end in sorted(spans):
                shown = f"{text[max(0, start - 8) : start]}[{text[start:end]}]{text[end : end + 8]}"
                lines.append(f"{sign} {row['id']} {who} {shown!r}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--differences", action="store_true", help="list every span that differs from the truth")
    arguments = parser.parse_args()
    folder: Path = arguments.corpus
    lines = (folder / "truth" / "mentions.jsonl").read_text(encoding="utf8").splitlines()
    truth = [json.loads(line) for line in lines if line.strip()]
    texts = [row["text"] for row in truth]
    with tempfile.TemporaryDirectory() as scratch:
        project = copy_of(folder, Path(scratch) / folder.name, codex=True)
        with armarius.open(project, watch=False) as engine:
            entities = engine.entities()
            short = engine.index.snapshot.short_names
            untyped = [{"id": one.id, "name": one.name, "aliases": one.aliases} for one in entities]
            answers = {
                "names alone": EntityMatcher(untyped).find_batch(texts),
                "with readings": EntityMatcher(entities).find_batch(texts),
                "engine.mentions": [engine.mentions(text) for text in texts],
            }
    table = {}
    for name, found in answers.items():
        table[name] = score(truth, found)
        print(f"{name:16} {table[name]}")
    if arguments.differences:
        print(*differences(truth, answers["engine.mentions"]), sep="\n")
    print(*short, sep="\n")
    print(record(f"mentions-{folder.name}", {"paragraphs": len(truth), "table": table}))


if __name__ == "__main__":
    main()
