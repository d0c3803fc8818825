"""Nothing that was guessed about a project keeps out what plain search finds best."""

import json
import math
import random
import re
from collections import Counter
from pathlib import Path

import pytest

import armarius
from armarius._core import terms
from armarius.prompt.pack import CLEAR_SHARE, plain_share
from armarius.search.passages import CLEAR

GUIDE = "".join(
    f"## Rule {n}\n\nSay less than you know; keep the river and the weather in view of rule {n}.\n\n"
    for n in range(300)
)
STORY = {
    f"chapters/ch{n:02}.md": f"# Chapter {n}\n\nMara walked to the quay on day {n}. The tide was low.\n\n"
    f"The harbour master counted {n} boats and wrote the number into the ledger of the pier.\n"
    for n in range(1, 7)
}
FACT = "Mara wrapped the logbook in oilcloth and hid it below the third stair of the lamp house."


def normal(text):
    return re.sub(r"\s+", "", text)


def best_stretches(documents, query):
    """Plain BM25 over chunks of 400 code points, best first: (not clear, score, path, paragraphs).

    Clear ones, which hold most of the rarity of the words, come first.

    The words of the headings above a paragraph count twice for it, but for a chapter's own title.
    """
    chunks = []
    for document in documents:
        extent = 400
        for one in document.paragraphs:
            if extent >= 400:
                chunks.append((document.path, []))
                extent = 0
            above = one.heading_path[1:] if document.kind == "chapter" else one.heading_path or (document.title,)
            text = document.text[one.start : one.end]
            chunks[-1][1].append((one.role, text, " ".join(above if one.role == "body" else ())))
            extent += one.end - one.start
    counts = [Counter(term for _, text, above in rows for term in terms(text) + 2 * terms(above)) for _, rows in chunks]
    lengths = [sum(len(terms(text)) for _, text, _ in rows) for _, rows in chunks]
    mean, wanted = sum(lengths) / len(lengths), set(terms(query))
    held = {word: sum(word in one for one in counts) for word in wanted}
    rarity = {word: math.log(1 + (len(chunks) - held[word] + 0.5) / (held[word] + 0.5)) for word in wanted}
    scored = []
    for (path, rows), count, length in zip(chunks, counts, lengths, strict=True):
        spread = 1.2 * (0.25 + 0.75 * length / mean)
        score = sum(rarity[word] * count[word] * 2.2 / (count[word] + spread) for word in wanted)
        if score > 0:
            clear = sum(rarity[word] for word in wanted if count[word]) >= CLEAR * sum(rarity.values())
            scored.append((not clear, -score, path, [text for role, text, _ in rows if role != "heading"]))
    return sorted(scored)


def is_said(text, prompt):
    """Whether a prompt has a paragraph, or all values of its labelled lines: a card says them in another form."""
    return normal(text) in prompt or all(normal(one.rpartition("：")[2]) in prompt for one in text.splitlines())


def missing(engine, query, budget):
    """The best stretches within the share of plain search of which a paragraph is not in the prompt."""
    counter = armarius.TokenCounter.for_model("gpt-4o")
    pack = engine.assemble(query, budget=budget, model="gpt-4o")
    room = int(budget * 0.9) - 64 - sum(one.tokens for one in pack.items if not one.source.startswith("rag:"))
    found, prompt, used = [], normal(pack.prompt), 0
    for rest, score, path, texts in best_stretches(engine.documents(), query):
        used += 40 + sum(counter.count(text) + 12 for text in texts)  # with its headings
        if used > int(room * (plain_share(room) if rest else CLEAR_SHARE)):
            break
        found.append(((rest, round(score, 3)), path, all(is_said(text, prompt) for text in texts)))
    worst = found[-1][0] if found else (False, 0)  # of what is worth the same any may be the last
    return [one for one in found if not one[2] and one[0] < worst]


SYLLABLES = ["ba", "ke", "lo", "mi", "nu", "pra", "stel", "vor", "dun", "gri", "ash", "ol", "ten", "qua"]
CHARACTERS = "山水火木金石云雨风雪灯船桥城门塔钟琴剑书酒茶马鹿鹤龙虎狼狐松柳梅兰竹菊春夏秋冬晨暮星月"


class Folder:
    """Generated files of one layout, and questions about what stands in them."""

    def __init__(self, seed, layout):
        self.random = random.Random(seed)
        self.chinese = layout == "网文"
        self.words = ["".join(self.random.sample(self._parts(), self.random.randint(2, 3))) for _ in range(240)]
        self.people = [word.capitalize() for word in self.random.sample(self.words, 4)]
        self.files = dict(getattr(self, {"网文": "novel", "book": "book", "archive": "archive"}[layout])())

    def _parts(self):
        return CHARACTERS if self.chinese else SYLLABLES

    def sentence(self):
        words = self.random.choices(self.words, k=self.random.randint(4, 14))
        words[self.random.randrange(len(words))] = self.random.choice(self.people)
        return "，".join(words) + "。" if self.chinese else " ".join(words).capitalize() + "."

    def prose(self, paragraphs):
        return "\n\n".join(
            (" " * (not self.chinese)).join(self.sentence() for _ in range(self.random.randint(1, 5)))
            for _ in range(paragraphs)
        )

    def novel(self):
        """The form of a web novel: chapters and settings, a guide, reviews, an assistant's instructions."""
        for n in range(1, 9):
            yield f"正文/第{n:03}章.md", f"# 第{n}章 {self.words[n]}\n\n{self.prose(12)}\n"
            yield f"审查/第{n:03}章审查.md", f"# 第{n}章审查报告\n\n{self.prose(3)}\n"
        people = (f"## {name}\n\n- 类型：人物\n- 描述：{self.sentence()}\n\n{self.prose(3)}\n" for name in self.people)
        yield "设定/人物.md", "# 人物\n\n" + "\n".join(people)
        yield "大纲.md", "# 大纲\n\n" + "\n".join(f"- 第{n}章：{self.sentence()}" for n in range(1, 12))
        yield "写作风格.md", "# 风格\n\n" + "\n".join(f"## {self.words[n]}\n\n{self.prose(4)}\n" for n in range(30))
        yield "AGENTS.md", f"# 说明\n\n{self.prose(6)}\n"

    def book(self):
        """The form of a book with notes, drafts, a copy of its chapters, and files of every ending."""
        chapters = {n: f"# Chapter {n}\n\n{self.prose(12)}\n" for n in range(1, 7)}
        for n, text in chapters.items():
            yield f"chapters/ch{n:02}.md", text
        yield "build/whole.md", "\n".join(chapters.values())
        yield "bible/people.md", "\n".join(f"## {name}\n\n{self.prose(3)}\n" for name in self.people)
        yield "style-guide.md", "".join(f"## Rule {n}\n\n{self.prose(2)}\n\n" for n in range(40))
        yield "templates/person.md", f"# Person\n\n- Name: \n- Home: {self.sentence()}\n"
        for name in ("README.md", "AGENTS.md", "notes.org", "reviews/ch02.md", "extra.qmd", "todo.rst", "scene.tex"):
            yield name, f"{self.prose(4)}\n"

    def archive(self):
        """The form of an archive: numbered records with tables, an index, rows of data."""
        for n in range(20):
            rows = "\n".join(f"| {self.random.choice(self.words)} | {self.sentence()} |" for _ in range(4))
            yield f"records/R-{n:03}.md", f"# R-{n:03}\n\n{self.prose(3)}\n\n| key | value |\n| - | - |\n{rows}\n"
        yield "index.md", "\n".join(f"- R-{n:03}: {self.sentence()}" for n in range(20)) + "\n"
        yield "data/people.json", json.dumps([{"name": name, "says": self.sentence()} for name in self.people])
        yield "production/report.md", f"# Report\n\n{self.prose(8)}\n"

    def questions(self, number):
        for n in range(number):
            words = self.random.sample(self.words, 3)
            if n % 3 == 0:
                words[0] = self.random.choice(self.people)
            yield (
                "、".join(words) + "是什么？"
                if self.chinese
                else f"What do {', '.join(words[:-1])} say of {words[-1]}?"
            )

    def write(self, folder):
        for path, text in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("layout", ["网文", "book", "archive"])
def test_the_best_stretches_of_any_folder_are_in_the_prompt_up_to_their_share(tmp_path, layout, seed):
    folder = Folder(seed, layout)
    folder.write(tmp_path / "p")
    with armarius.open(tmp_path / "p", watch=False, index_dir=tmp_path / "index") as engine:
        assert {one.path for one in engine.documents()} == folder.files.keys()
        for query in folder.questions(8):
            for budget in (2000, 4000, 8000):
                assert not missing(engine, query, budget), (query, budget)


@pytest.mark.parametrize("query", ["铜怀表是谁的？", "白鹭号什么时候沉的？", "谁在钟表铺里修表？", "林小雨住在哪里？"])
def test_the_best_stretches_of_the_example_are_in_the_prompt_up_to_their_share(tmp_path, query):
    novel = Path(__file__).parents[2] / "examples" / "novel"
    with armarius.open(novel, watch=False, index_dir=tmp_path / "index") as engine:
        assert not [one for budget in (2000, 4000, 8000) for one in missing(engine, query, budget)]


@pytest.mark.parametrize("budget", [2000, 4000, 8000])
@pytest.mark.parametrize(
    "query",
    [
        "What did Mara wrap in oilcloth?",
        "Where is the ledger of the pier kept?",
        "Who runs the checks before each commit?",
    ],
)
def test_what_was_guessed_of_a_file_holds_no_stretch_of_it_back(tmp_path, query, budget):
    folder = tmp_path / "book"
    files = {
        **STORY,
        "style-guide.md": f"# Style\n\n{GUIDE}",
        "AGENTS.md": f"# Instructions for the agent\n\nRun the checks before each commit.\n\n{FACT}\n",
        "templates/person.md": "# Person\n\n- Name: Tobin\n- Boat: the ledger keeper's\n",
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    with armarius.open(folder, watch=False, index_dir=tmp_path / "index") as engine:
        assert not missing(engine, query, budget)


HELD = [
    {"exclude": ["notes/lamp.md"]},
    {"kinds": ["chapter"]},
    {"exclude": ["notes/lamp.md#1"]},
]


@pytest.mark.parametrize("wish", HELD)
def test_mutes_and_scope_hold_a_stretch_back(tmp_path, wish):
    files = {**STORY, "notes/lamp.md": f"# The lamp house\n\n{FACT}\n"}
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        asked = "In what did Mara wrap the logbook?"
        assert "oilcloth" in engine.assemble(asked, budget=4000).prompt
        assert "oilcloth" not in engine.assemble(asked, budget=4000, **wish).prompt


def test_as_of_and_a_declared_kind_hold_a_stretch_back(tmp_path):
    asked = "In what did Mara wrap the logbook?"
    for path, text in {**STORY, "chapters/ch05.md": f"# Chapter 5\n\n{FACT}\n"}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        assert "oilcloth" in engine.assemble(asked, budget=4000, as_of=5).prompt
        assert "oilcloth" not in engine.assemble(asked, budget=4000, as_of=4).prompt
    (tmp_path / "AGENTS.md").write_text(f"# Agent\n\n{FACT.replace('oilcloth', 'sailcloth')}\n", "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        assert "sailcloth" in engine.assemble(asked, budget=4000).prompt
    (tmp_path / "armarius.toml").write_text('[documents]\n"AGENTS.md" = "tool"\n', "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        assert "sailcloth" not in engine.assemble(asked, budget=4000).prompt


def test_a_row_of_plain_search_says_so(tmp_path):
    for path, text in {**STORY, "notes/lamp.md": f"# The lamp house\n\n{FACT}\n"}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        pack = engine.assemble("In what did Mara wrap the logbook?", budget=4000)
        (row,) = (one for one in pack.items if one.source == "rag:passage:notes/lamp.md#1")
        assert row.code == "words.plain"
        assert "shares the most words with the question" in row.reason


def test_each_wording_feeds_plain_search(tmp_path):
    for path, text in {**STORY, "AGENTS.md": f"# Agent\n\n{FACT}\n"}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        wordings = ["What covers the tide diary by the pier?", "the logbook in oilcloth below the stair"]
        pack = engine.assemble("What did the harbour master wrap?", also=wordings, budget=4000)
        (row,) = (one for one in pack.items if one.source == "rag:passage:AGENTS.md#1")
        assert row.code == "words.plain"


def test_what_a_copy_says_is_shown_from_the_main_edition(tmp_path):
    folder = Folder(7, "book")
    folder.write(tmp_path / "p")
    with armarius.open(tmp_path / "p", watch=False, index_dir=tmp_path / "index") as engine:
        assert next(one.edition for one in engine.map() if one.path == "build/whole.md") == "copy"
        for query in folder.questions(6):
            pack = engine.assemble(query, budget=4000)
            assert "build/whole.md" not in pack.documents


def test_a_style_guide_of_27_kilobytes_takes_no_room_of_a_question(tmp_path):
    for path, text in {**STORY, "style-guide.md": f"# Style\n\n{GUIDE}"}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    (tmp_path / "chapters/ch03.md").write_text(f"# Chapter 3\n\n{FACT}\n", "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        pack = engine.assemble("In what did Mara wrap the logbook?", budget=4000)
        assert "oilcloth" in pack.prompt
        assert pack.layers.settings.token_count == 0
        assert "style:style-guide.md" in {one.source for one in pack.omitted}
        writing = engine.assemble("Continue", document="chapters/ch06.md", budget=4000)
        assert 0 < writing.layers.settings.token_count < 1600
        assert "## Rule 0" in writing.prompt
        assert "## Rule 299" not in writing.prompt


def test_a_greeting_brings_nothing_of_plain_search(tmp_path):
    for path, text in STORY.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        assert engine.assemble("Hello!", budget=4000).layers.retrieved.token_count == 0


def test_texts_of_different_numbers_are_no_copies_of_each_other(tmp_path):
    refrain = "".join(f"The bell of the harbour rings, and verse {n} begins again.\n\n" for n in range(8))
    for n in range(1, 5):
        (tmp_path / "a").mkdir(exist_ok=True)
        (tmp_path / "b").mkdir(exist_ok=True)
        (tmp_path / "a" / f"ch{n:02}.md").write_text(f"# Chapter {n}\n\n{refrain}Day {n} was long.\n", "utf-8")
        (tmp_path / "b" / f"ch{n + 4:02}.md").write_text(
            f"# Chapter {n + 4}\n\n{refrain}Day {n + 4} was short.\n", "utf-8"
        )
    with armarius.open(tmp_path, watch=False) as engine:
        assert {one.edition for one in engine.map()} == {"main"}
