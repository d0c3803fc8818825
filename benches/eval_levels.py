"""Whether the level `never` holds for texts: python benches/eval_levels.py CORPUS_FOLDER [--at-once 1]

The folder holds chapters/*.md, spec/ and codex.json. Every entity that has a profile is set to `never` in turn, or
`--at-once` of them together, and is asked about twenty times: by name, in the words of its own profile, with whom it is
related, in a check, while a chapter that names it is continued, pinned by name, path and paragraph, with its profile
open and edited. A sentence of its profile that stands nowhere else must be in no layer but the immediate one, which is
the user's own. Prints what was found, if anything, and how many requests were made.
"""

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import armarius
from armarius import ContextEngine, Entity

REQUESTS = 20
BUDGET = 8_000
PARTS = re.compile(r"[^。！？；;\n]+[。！？；;]?")
SENTENCES = re.compile(r"(?<=[.!?])\s+")
SHORTEST = 6  # code points without the label: “性别：男” says nothing


def profile(engine: ContextEngine, entity: Entity) -> Iterator[str]:
    """What the section says in which its profile was read, sentence by sentence, labels left out."""
    for origin in entity.origins:
        if not origin.path.endswith(".md"):
            continue
        lines = engine.document(origin.path).text.split("\n")[origin.line :]
        section = []
        for line in lines:
            if line.startswith("#"):
                break
            section.append(re.sub(r"^- [^：:]{1,16}[：:]\s*", "", line))
        for part in PARTS.findall("\n".join(section)):
            yield from (one.strip() for one in SENTENCES.split(part) if len(one.strip()) >= SHORTEST)
    if entity.description:
        yield from (one.strip() for one in PARTS.findall(entity.description) if len(one.strip()) >= SHORTEST)


def asked(
    engine: ContextEngine, one: Entity, others: Sequence[Entity], said: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Requests that would bring it, again and again with other words of its profile."""
    chinese = re.search("[\u4e00-\u9fff]", one.name) is not None
    chapters = [document for document in engine.documents() if document.kind == "chapter"]
    named = next((document for document in chapters if one.name in document.text), chapters[0])
    path = next((origin.path for origin in one.origins if origin.path.endswith(".md")), "")
    text = engine.document(path).text if path else ""
    other = others[0].name
    yield {"query": one.name}
    yield {"query": f"{one.name}是谁？" if chinese else f"Who is {one.name}?"}
    yield {"query": f"{one.name}和{other}是什么关系" if chinese else f"How are {one.name} and {other} related?"}
    yield {"query": f"{one.name}多大了，住在哪里" if chinese else f"How old is {one.name}, and where is the home?"}
    yield {"query": "检查第3章的角色一致性" if chinese else "Check chapter 3 for consistency"}
    yield {"query": "检查人物设定的一致性" if chinese else "Check the characters for consistency"}
    yield {"query": "", "document": named.path, "cursor": max(named.text.find(one.name), 0)}
    yield {"query": "续写" if chinese else "continue", "document": named.path}
    yield {"query": other, "additional_input": f"{one.name} {other}", "document": named.path}
    yield {"query": other, "include": [one.id]}
    if path:
        yield {"query": one.name, "include": [path], "budget": 4 * BUDGET}
        yield {"query": one.name, "document": path, "text": "# 新\n\n第一行。\n\n" + text, "cursor": 0}
    for words in cycle([*said, *one.aliases, one.name]):
        yield {"query": words}
        yield {"query": words, "kinds": ("setting", "outline", "note")}


def main() -> int:
    """Try one folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--at-once", type=int, default=1)
    arguments = parser.parse_args()
    made = leaks = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / arguments.folder.name
        shutil.copytree(arguments.folder, folder, ignore=shutil.ignore_patterns(".armarius", "truth"))
        with armarius.open(folder, watch=False, index_dir="index") as engine:
            everybody = [one for one in engine.entities() if any(o.path.endswith(".md") for o in one.origins)]
            profiles = {one.id: tuple(dict.fromkeys(profile(engine, one))) for one in everybody}
            texts = {document.path: document.text for document in engine.documents()}
            for at in range(0, len(everybody), arguments.at_once):
                together = everybody[at : at + arguments.at_once]
                ids = {one.id for one in together}
                elsewhere = "\n".join(
                    [
                        *(text for path, text in texts.items() if path.startswith("chapters/")),
                        *(sentence for id_, said in profiles.items() if id_ not in ids for sentence in said),
                    ]
                )
                levels = {one.id: one.level for one in together}
                secret = [s for id_ in ids for s in profiles[id_] if s not in elsewhere]
                for id_ in ids:
                    engine.codex.update(id_, level="never")
                others = [one for one in everybody if one.id not in ids]
                for one in together:
                    for request in islice(asked(engine, one, others, profiles[one.id]), REQUESTS):
                        pack = engine.assemble(**{"budget": BUDGET, **request})
                        made += 1
                        shown = "\n".join(text for layer, text in pack.contents.items() if layer != "immediate")
                        for sentence in (s for s in secret if s in shown):
                            leaks += 1
                            print(f"{one.name}: {request.get('query')!r} {sorted(request)}: {sentence}")
                for id_, level in levels.items():
                    engine.codex.update(id_, level=level)
    print(f"{folder.name}: {len(everybody)} profiles, {made} requests, {leaks} sentences too many")
    return 1 if leaks else 0


if __name__ == "__main__":
    sys.exit(main())
