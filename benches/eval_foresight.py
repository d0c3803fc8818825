"""Of those who are named next, how many does a prompt for continuing know? `python benches/eval_foresight.py FOLDER…`.

At random points of a book's chapters the rest of the chapter is cut off and the prompt for "continue" assembled.
Counted are entities that are named within the next 1,500 characters and were named before: those whom the prompt names
(by a card, a line of the outline, a passage, the window), beside those whom its window alone names, and as many of the
most named so far as the prompt names. Later chapters lie in the folder, as for a writer who goes back to an earlier
one; `as_of` is the open chapter.
"""

import argparse
import json
import random
from collections import Counter
from pathlib import Path

import armarius

_NEXT = 1_500  # characters that are foreseen


def measure(folder: Path, points: int, budget: int, query: str, seed: int) -> dict[str, object]:
    """Shares and tokens over one book."""
    chosen = random.Random(seed)
    with armarius.open(folder, watch=False) as engine:
        chapters = [one for one in engine.documents() if one.kind == "chapter" and one.chapter is not None]
        chapters.sort(key=lambda one: (one.chapter or 0, one.path))
        named = [[mention.entity_id for mention in engine.mentions(one.text)] for one in chapters]
        wanted = ours = window = frequent = spent = asked = 0
        for _ in range(points):
            number = chosen.randrange(1, len(chapters))
            chapter = chapters[number]
            at = chosen.randrange(len(chapter.text) // 4, max(len(chapter.text) // 4 + 1, len(chapter.text) - _NEXT))
            before, after = chapter.text[:at], chapter.text[at : at + _NEXT]
            so_far = Counter(id_ for ids in named[:number] for id_ in ids)
            so_far.update(mention.entity_id for mention in engine.mentions(before))
            coming = {mention.entity_id for mention in engine.mentions(after)} & so_far.keys()
            if not coming:
                continue
            pack = engine.assemble(
                query,
                document=chapter.path,
                text=before,
                cursor=at,
                budget=budget,
                skill="continue",
                as_of=chapter.chapter,
            )
            shown = {mention.entity_id for mention in engine.mentions(pack.prompt)}
            shown |= {
                item.source.rpartition(":")[2] for item in pack.items if item.source.startswith("codex:detected:")
            }
            inside = {mention.entity_id for mention in engine.mentions(pack.contents["immediate"])}
            most = {id_ for id_, _ in so_far.most_common(len(shown))}
            asked += 1
            wanted += len(coming)
            ours += len(coming & shown)
            window += len(coming & inside)
            frequent += len(coming & most)
            spent += sum(item.tokens for item in pack.items if item.source.startswith(("codex:", "story:", "kg:")))
    total = max(wanted, 1)
    best = max(window, frequent)
    return {
        "book": folder.name,
        "points": asked,
        "named next": wanted,
        "prompt": round(ours / total, 3),
        "window": round(window / total, 3),
        "most frequent": round(frequent / total, 3),
        "over the better": round(ours / best, 2) if best else None,
        "tokens of cards and story": round(spent / max(asked, 1)),
    }


def main() -> None:
    """Measure each folder and print one line of JSON a book."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--budget", type=int, default=8_000)
    parser.add_argument("--query", default="续写")
    parser.add_argument("--seed", type=int, default=16)
    arguments = parser.parse_args()
    for folder in arguments.folders:
        found = measure(folder, arguments.points, arguments.budget, arguments.query, arguments.seed)
        print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
