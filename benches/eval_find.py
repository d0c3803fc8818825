"""What an agent reads until it has seen the sentence that answers: `find` and `read`, beside `grep` and `sed`.

    python benches/eval_find.py [--questions FOLDER --projects FOLDER] [--most N] [--misses] [--no-record]

FOLDER of questions has `<name>.json`, `{"questions": [{"question", "quote", "also"}]}`, of the project `<name>` in the
other; without it the few of `benches/data/questions`, on the example. Nobody thinks here: both agents are mechanical,
which flatters neither. The question is asked as it stands, no word of the answer is guessed, and both stop when the
quote (or one of `also`) has been printed, as one who knows the answer would, or after 20,000 characters. Figures: how
many were answered within so many characters.

- grep: the words of the question (of Chinese and Japanese the longest pieces that the project has), the rarest first,
  one after the other, whose counts cost nothing; of each at most 20 rows, cut to 200 characters around the word.
- find: its pages, one after the other.
- Both, after each answer: ten lines around the row that has the most words of the question and was not read yet.

A model does better with either: it guesses words of the text, and it skips what looks wrong.
"""

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benches.record import record

import armarius

HERE = Path(__file__).parent
LIMITS = (1_500, 2_500, 5_000, 10_000, 20_000)
ROWS, ROW, AROUND, READ = 20, 200, 5, 2_000
QUESTIONS = HERE / "data" / "questions"
WORD = re.compile(r"[^\W_]+")
HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
PLAIN = re.compile(r"\s+|\*\*|\[\[|\]\]")


def plain(text):
    return PLAIN.sub("", text)


def lines_of(root):
    """Every line of every text, as `grep -rnI` goes through them: no hidden folders, no binary files."""
    found = {}
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if path.is_file() and not any(part.startswith(".") for part in inside.parts):
            try:
                found[str(inside)] = path.read_text("utf-8").splitlines()
            except UnicodeDecodeError:
                continue
    return found


def words_of(question, whole):
    """What a grep for is worth while: words of two letters and more; pieces of Chinese as long as the project has."""
    found = []
    for run in WORD.findall(question.casefold()):
        at = 0
        while HAN.search(run) and at < len(run):
            size = next((n for n in range(len(run) - at, 1, -1) if run[at : at + n] in whole), 0)
            found += [run[at : at + size]] if size else []
            at += size or 1
        if not HAN.search(run) and len(run) > 1:
            found.append(run[:-1] if len(run) > 3 and run.endswith("s") else run)
    return list(dict.fromkeys(found))


class Reader:
    """What one agent has printed: how much, and whether the answer is in it."""

    def __init__(self, files, question, quotes):
        self.files, self.words, self.quotes = files, question, quotes
        self.characters, self.calls, self.read, self.answered = 0, 0, set(), False

    def saw(self, printed, text):
        """Whether to go on, after an answer that printed so much and has this text in it."""
        self.calls += 1
        self.characters += len(printed)
        self.answered = self.answered or any(one in plain(text) for one in self.quotes)
        return not self.answered and self.characters < LIMITS[-1]

    def around(self, rows):
        """Read ten lines around the best row."""
        fresh = [(path, line) for path, line, _ in rows if (path, line // AROUND) not in self.read]
        near = {(path, line): text for path, line, text in rows}
        if not fresh:
            return True
        path, line = max(fresh, key=lambda one: sum(word in near[one].casefold() for word in self.words))
        self.read.add((path, line // AROUND))
        part = self.files.get(path, [])[max(0, line - 1 - AROUND) : line + AROUND]
        shown = "\n".join(f"{number} {one}" for number, one in enumerate(part, max(1, line - AROUND)) if one.strip())
        return self.saw(shown[:READ], "\n".join(part)[:READ])


def by_grep(reader):
    count = {
        word: sum(word in line.casefold() for one in reader.files.values() for line in one) for word in reader.words
    }
    for word in sorted((word for word in reader.words if count[word]), key=count.get):
        rows = []
        for path, lines in reader.files.items():
            for number, line in enumerate(lines, 1):
                if len(rows) < ROWS and (at := line.casefold().find(word)) >= 0:
                    begin = max(0, at - ROW // 2)
                    rows.append((path, number, line[begin : begin + ROW]))
        printed = "\n".join(f"{path}:{number}:{text}" for path, number, text in rows)
        if not reader.saw(printed, "\n".join(text for *_, text in rows)) or not reader.around(rows):
            break


def by_find(reader, engine, question):
    cursor = 0
    while cursor is not None:
        found = engine.find(question, cursor=cursor)
        cursor = found.next_cursor
        rows = [(hit.path, hit.line, hit.text) for hit in found]
        if not reader.saw(str(found), "\n".join(text for *_, text in rows)) or not reader.around(rows):
            break


def asked(root, questions, *, misses=False):
    files = lines_of(root)
    whole = "\n".join(line for lines in files.values() for line in lines).casefold()
    figures = {name: Counter() for name in ("find", "grep")}
    with tempfile.TemporaryDirectory() as index, armarius.open(root, watch=False, index_dir=index) as engine:
        for one in questions:
            words, quotes = (
                words_of(one["question"], whole),
                [plain(each) for each in (one["quote"], *one.get("also", ()))],
            )
            for name, row in figures.items():
                reader = Reader(files, words, quotes)
                by_find(reader, engine, one["question"]) if name == "find" else by_grep(reader)
                row.update(answered=reader.answered, characters=reader.characters, calls=reader.calls)
                row.update({most: reader.answered and reader.characters <= most for most in LIMITS})
                if misses and not reader.answered:
                    print(f"  {name}: {one['question']}")
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--projects", type=Path, default=HERE.parent / "examples")
    parser.add_argument("--most", type=int, help="so many questions of each project, the first")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--no-record", action="store_true")
    arguments = parser.parse_args()
    total, number, projects = {name: Counter() for name in ("find", "grep")}, 0, 0
    for file in sorted(arguments.questions.glob("*.json")):
        questions = json.loads(file.read_text("utf-8")).get("questions", [])[: arguments.most]
        if not questions or not (arguments.projects / file.stem).is_dir():
            continue
        figures = asked(arguments.projects / file.stem, questions, misses=arguments.misses)
        number, projects = number + len(questions), projects + 1
        print(
            f"{file.stem:18}{len(questions):4}", *(f"{name} {dict(row)}" for name, row in figures.items()), flush=True
        )
        for name, row in figures.items():
            total[name].update(row)
    found = {"questions": number, "projects": projects, **{name: dict(row) for name, row in total.items()}}
    print(json.dumps(found))
    if not arguments.no_record:
        record("find", found)


if __name__ == "__main__":
    main()
