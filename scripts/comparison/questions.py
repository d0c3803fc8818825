"""Questions as writers ask them, and texts to search for, made of a book's own words."""

import random
import re
from collections.abc import Callable, Mapping

from comparison.book import Book

__all__ = ["fragment", "phrase", "question"]

# {label} a chapter as its heading calls it, {number} in digits, {title} the rest of its heading, {name} and {other} two
# entities, {alias} another name, {attribute} a key of attributes, {fragment} a few words of the text, {symbol} of code.
_QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "zh": (
        "检查第{number}章的角色一致性",
        "{label}里{name}做了些什么",
        "{label}和第{number}章的情节连贯吗",
        "{name}是谁",
        "{alias}是谁，住在哪里",
        "{name}和{other}是什么关系",
        "{name}的{attribute}是什么，前后有没有矛盾",
        "{name}的父亲是谁？他的妹妹呢",
        "“{fragment}”出自哪一章",
        "{fragment}这一段是谁说的",
        "{fragment}",
        "上一章{name}到哪里去了",
        "后来{name}怎么样了，结局如何",
        "{name}第一次见到{other}是在哪一回",
        "{title}讲了什么",
        "谁告诉{name}这件事的",
        "{name}现在多大年纪，在{label}以前呢",
        "续写这一段，注意{name}的语气",
        "全书的大纲里{name}的伏笔有哪些",
        "为什么{fragment}",
    ),
    "en": (
        "Check the consistency of the characters in chapter {number}",
        "What does {name} do in {label}?",
        "Does {label} agree with chapter {number}?",
        "Who is {name}?",
        "Where does {alias} live?",
        "How is {name} related to {other}?",
        "What is the {attribute} of {name}, and does the book contradict itself?",
        "Who is the father of {name}? And the sister?",
        'Which chapter has "{fragment}"?',
        "Who says {fragment}",
        "{fragment}",
        "Where did {name} go in the previous chapter?",
        "What becomes of {name} in the end?",
        "When does {name} first meet {other}?",
        "Summarise {title}",
        "Who told {name} about it?",
        "How old is {name} before {label}?",
        "Continue this passage in the voice of {name}",
        "What does the outline plan for {name}?",
        "Why {fragment}?",
    ),
    "code": (
        "What does {symbol} do?",
        "Who calls {symbol} and why",
        "What would break if {symbol} were renamed?",
        "{symbol} and {symbol2}",
        "Where is {symbol} tested",
    ),
}

_WORD = re.compile(r"[\w'’]+")


def question(book: Book, chooser: random.Random) -> str:
    """A question of the book's language; of a project without prose, one about its code."""
    pick: Callable[[tuple[str, ...]], str] = chooser.choice
    if not book.sentences:
        words = {"symbol": pick(book.symbols), "symbol2": pick(book.symbols)}
        return pick(_QUESTIONS["code"]).format(**words)
    chapter = pick(book.chapters)
    heading = book.headings[chapter][0] if book.headings[chapter] else chapter
    label, _, title = heading.partition(" ")
    names = book.names or (fragment(book, chooser),)
    words = {
        "label": heading if book.language == "en" else label,
        "number": str(book.number(pick(book.chapters))),
        "title": title or heading,
        "name": pick(names),
        "other": pick(names),
        "alias": pick(book.aliases or names),
        "attribute": pick(book.attributes or ("age",)),
        "fragment": fragment(book, chooser),
    }
    return pick(_QUESTIONS[book.language]).format(**words)


def phrase(book: Book, chooser: random.Random) -> str:
    """What somebody types into a search box: a name, two, a quoted phrase, words of a heading."""
    if not book.sentences:
        return chooser.choice(book.symbols)
    names = book.names or (fragment(book, chooser),)
    heading = chooser.choice([title for titles in book.headings.values() for title in titles] or list(names))
    forms = (
        chooser.choice(names),
        f"{chooser.choice(names)} {chooser.choice(names)}",
        chooser.choice(book.aliases or names),
        f"“{fragment(book, chooser)}”",
        fragment(book, chooser),
        heading,
    )
    return chooser.choice(forms)


def fragment(book: Book, chooser: random.Random) -> str:
    """A few words in a row out of the text: 4 to 12 characters of Chinese, 3 to 6 words of English."""
    sentence = chooser.choice(book.sentences)[2]
    if book.language == "zh":
        clause = max(re.split(r"[，、；：“”‘’\s]+", sentence), key=len)
        length = chooser.randint(4, 12)
        start = chooser.randint(0, max(0, len(clause) - length))
        return clause[start : start + length]
    words = _WORD.findall(sentence)
    length = chooser.randint(3, 6)
    start = chooser.randint(0, max(0, len(words) - length))
    return " ".join(words[start : start + length])
