"""The questions of `eval_retrieval.py` on the same novel under other names, without outline, in other folders.

    python benches/eval_variants.py FOLDER... [--seed N] [--misses] [--no-record]

A rule that only holds for the names, the outline or the layout of one folder falls here. Variants:

- renamed: every character has another family name and given name, made at random, in chapters, settings, `codex.json`
  and truth; what is derived from the name (given name, family name with a title) changes with it.
- no aliases: `codex.json` and profiles name nobody but in full; what the text calls them has to be derived. Questions
  that ask by an epithet cannot be answered then.
- no outline: files whose name says outline are left out.
- numbered texts: chapters are `001.txt` … with "第1章" or "Chapter 1" as their first line, no Markdown.
- volumes: chapters lie in folders of forty, named by number and title.

Figures go to `benches/results/variants-<folder>.json`, one table per variant.
"""

import argparse
import json
import random
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import record
from armarius.codex import load_codex
from armarius.codex.people import all_titles, split_name
from armarius.documents.document import list_documents
from armarius.text.unicode import is_han
from eval_retrieval import K, copy_of, evaluate, show

FAMILIES = "康乔虞戚骆郝邬梅童颜祝阮卓聂褚冉闵裘柯岑邢庞翟倪"
GIVEN = "澜岚珺恪峤苒菱湛聿骁翊妤瑾昭沅霁珩暄筠璟晗昀芮泓潇淇淳煊烨钰琮彧旻祺禛祎珞珂琬琰璎茗荻蓁蕙缨绮"
WORDS = (
    "Tamsin Orrin Delphie Brannoch Keziah Lorcan Ysolde Peverell Quentrell Harkaway Vosper Tregarth Ludlam Ansty",
    "Corvin Maudlin Severn Thackery Ossian Winmark Petrel Garrow Hesketh Lavery Mostyn Ravensdale Fairlie Bracken",
)
TITLES = ("Mr", "Mrs", "Miss", "Dr", "Sir", "Lady", "Captain", "Widow", "Old")
KIN = "大二三四五六七八九十小老少太姐妹哥弟叔伯舅婶姨姑嫂奶爷公婆娘夫人祖宗"
VOLUME = 40


def renaming(project, chooser):
    """Old string to new one, for every name of every character; names of other things stand for themselves."""
    entities = load_codex(project).entities
    text = "".join(document.text for document in list_documents(project).documents)
    old = sorted({parts[0] for entity in entities if (parts := split_name(entity.name))})
    families = dict(zip(old, chooser.sample(FAMILIES, len(FAMILIES)), strict=False))
    pool = " ".join(WORDS).split()
    words = iter(chooser.sample(pool, len(pool)))
    new_word, new = {}, {}
    for entity in entities:
        names = (entity.name, *entity.aliases)
        if entity.type != "character":
            new |= {name: name for name in names}
            continue
        for name in names:
            if name in new or set(name) <= set(KIN) or name in all_titles():
                continue
            if is_han(name):
                new[name] = _han(name, entity.name, families, new, text, chooser)
            else:
                for word in re.findall(r"[^\W\d_][\w-]+", name):
                    as_word = re.search(rf"\b{word.lower()}\b", text)  # one that is also a word stays
                    if word[0].isupper() and word not in TITLES and not as_word:
                        new_word.setdefault(word, next(words, word))
    return new | new_word


def _han(name, whole, families, new, text, chooser):
    parts = split_name(whole)
    if parts is None:
        return _fresh(len(name), text, new, chooser)
    family, given = parts
    if name == whole:
        while given:
            whole = families.get(family, family) + _fresh(len(given), text, new, chooser)
            if whole not in new.values():
                return whole
        return families.get(family, family) + name[len(family) :]
    renamed = new.get(whole, whole)
    if given and given in name:
        return name.replace(given, renamed[len(families.get(family, family)) :])
    if name.startswith(family):
        return families.get(family, family) + name[len(family) :]
    return _fresh(len(name), text, new, chooser)


def _fresh(length, text, new, chooser):
    for _ in range(1000):
        found = "".join(chooser.sample(GIVEN, length)) if length <= len(GIVEN) else ""
        if found and (length < 2 or found not in text) and found not in new.values():
            return found
    return "".join(chooser.sample(GIVEN, length))


def renamed(project, chooser):
    new = renaming(project, chooser)
    latin = [re.escape(old) for old in new if not is_han(old[0])]
    pieces = [re.escape(old) for old in new if is_han(old[0])] + [rf"\b{old}\b" for old in latin]
    pattern = re.compile("|".join(sorted(pieces, key=len, reverse=True)))
    for path in project.rglob("*"):
        if path.suffix in (".md", ".txt", ".json", ".jsonl"):
            content = path.read_text("utf-8")
            path.write_text(pattern.sub(lambda match: new[match[0]], content), "utf-8")


def no_aliases(project, chooser):
    label = re.compile(r"^\s*[-*]\s*\**(?:别名|Aliases?)\**\s*[:：].*\n", re.MULTILINE | re.IGNORECASE)
    for path in (project / "spec").rglob("*.md"):
        path.write_text(label.sub("", path.read_text("utf-8")), "utf-8")
    codex = project / "codex.json"
    if codex.exists():
        content = json.loads(codex.read_text("utf-8"))
        for entity in content["entities"]:
            entity["aliases"] = []
        codex.write_text(json.dumps(content, ensure_ascii=False), "utf-8")


def no_outline(project, chooser):
    for path in project.rglob("*outline*"):
        path.unlink()


def relaid(project, place):
    """Chapters moved to `place(number, title, latin)`, the truth with them."""
    chapters = [document for document in list_documents(project).documents if document.kind == "chapter"]
    moved = {}
    for number, document in enumerate(chapters, 1):
        latin = document.text.isascii() or not any(map(is_han, document.title))
        title = re.sub(r"^(?:第\S+?[章回]|Chapter \S+?:?|\w+:)\s*", "", document.title)
        target, heading = place(document.chapter or number, title, latin)
        body = re.sub(r"\A#[^\n]*\n", heading + "\n", document.text)
        (project / document.path).unlink()
        (project / target).parent.mkdir(parents=True, exist_ok=True)
        (project / target).write_text(body, "utf-8")
        moved[document.path] = target
    truth = project / "truth/queries.jsonl"
    rows = [json.loads(line) for line in truth.read_text("utf-8").splitlines() if line]
    for row in rows:
        row["relevant"] = {moved.get(path, path): grade for path, grade in row["relevant"].items()}
    truth.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def numbered_texts(project, chooser):
    def place(number, title, latin):
        return f"{number:03}.txt", f"Chapter {number}: {title}" if latin else f"第{number}章 {title}"

    relaid(project, place)


def volumes(project, chooser):
    def place(number, title, latin):
        volume = (number - 1) // VOLUME + 1
        if latin:
            return f"book {volume}/Chapter {number} - {title}.md".replace("?", ""), f"## Chapter {number}"
        return f"第{volume}卷/第{number:03}章 {title}.md", f"## {title}"

    relaid(project, place)


VARIANTS = {
    "renamed": renamed,
    "no aliases": no_aliases,
    "no outline": no_outline,
    "numbered texts": numbered_texts,
    "volumes": volumes,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--no-record", action="store_true")
    options = parser.parse_args()
    for folder in options.folders:
        figures = {}
        for name, change in VARIANTS.items():
            with tempfile.TemporaryDirectory() as scratch:
                project = copy_of(folder, Path(scratch) / folder.name, codex=True)
                shutil.copytree(folder / "truth", project / "truth")
                change(project, random.Random(options.seed))
                table, seconds = evaluate(project, codex=True, misses=options.misses)
            show(f"{folder.name}, {name}: {1000 * seconds['p50']:.2f} ms a question", table)
            figures[name] = table
        if not options.no_record:
            print(record.record(f"variants-{folder.name}", {"k": K, "seed": options.seed, "tables": figures}))


if __name__ == "__main__":
    main()
