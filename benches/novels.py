"""Texts of any length for benchmarks, made by rule: one without neighbourhoods, one with those of a real model.

`chinese` strings random words together: nothing is near anything, which is the worst case for an approximate index.
`english` tells scenes (a place, people, what they do, what they feel about it), so that a model that was trained on
English puts paragraphs about the same things near each other, as it does with a novel.
"""

import random
from collections.abc import Callable
from pathlib import Path

__all__ = ["chinese", "english", "english_question", "write"]

_SYLLABLES = "山河月夜风雨灯火书信门窗街巷桥船马车刀剑酒茶花树雪霜云雾星辰钟鼓琴棋诗画兄弟姐妹父母师徒主仆官商农匠"
_VERBS = "走看听说想问答笑哭来去进出开关写读唱画修种买卖寻找等待离开回到"

_PEOPLE = """
Marta|the ferryman|old Tobias|the harbour master|Ilse|her younger brother|the surgeon|Captain Reuss|the
baker's widow|Anselm|the schoolmistress|a boy from the tannery|the clerk|her grandmother|Doctor Vale|the
lamplighter|two of the sailors|the abbot|Jonas|the innkeeper|a stranger in a grey coat|the twins|the bell
founder|Countess Arden|the gardener
"""
_PLACES = """
on the quay|in the salt market|behind the chapel|in the attic|at the ford|under the railway bridge|in the
archive|on the frozen lake|in the vineyard|at the mill|in the sickroom|on the north road|in the kitchen|by the
lighthouse|in the theatre|at the border post|in the observatory|below the dam|in the pawnshop|at the
graveside|in the orchard|aboard the night train|in the courtroom|on the roof|in the cellar
"""
_DEEDS = """
counted the coins twice|burned the letter unread|mended a torn sail|asked for the key to the tower|fed the
last of the bread to the dog|copied the map by candlelight|refused to sign the confession|played the old waltz
again|set the broken arm|hid the pistol among the flour sacks|planted three rows of beans|swore never to
gamble again|learned that the mine would close|forgave the debt|measured the height of the flood|sold the
silver spoons|waited for the verdict|taught the child to whistle|dreamed of the drowned village|lost the way
in the fog|carved a name into the bench|watched the comet rise|quarrelled about the inheritance|wrapped the
clock in a blanket|sang to keep awake
"""
_MOODS = """
and nobody spoke of it afterwards|which was the beginning of the feud|because the winter had been long|though
the fever had not broken|while the bells rang for vespers|and felt lighter than in years|as if the war had
never been|with the patience of a heron|and wept from sheer relief|for love rather than money|and the rain
came through the roof|so that the debt was forgotten|with a shame that would not fade|and the whole street
laughed|before the ship was sighted
"""
_DETAILS = """
The air smelled of tar and oranges|A single lamp was burning|Snow lay against the door|Somewhere a violin was
being tuned|The ledger had been cut with a knife|Gulls fought over the nets|The soup had gone cold|Dust
covered the piano|The ink was still wet|Wolves had been heard that week|The apples were ripe|The clock had
stopped at seven|Smoke hung over the valley|Someone had left a red glove|The wine was sour|The river ran the
colour of rust|The shutters banged all night
"""
_LINKS = """
That evening|Before dawn|On the third day|Years later|At the turn of the tide|In the week of the fair|Without
a word
"""


def _choices(text: str) -> list[str]:
    return [" ".join(choice.split()) for choice in text.split("|")]


_LISTS = {name: _choices(value) for name, value in globals().copy().items() if isinstance(value, str) and "|" in value}


def _sentence(chooser: random.Random) -> str:
    def pick(name: str) -> str:
        return chooser.choice(_LISTS[name])

    told = f"{pick('_PEOPLE')} {pick('_DEEDS')} {pick('_PLACES')}"
    shape = chooser.randrange(4)
    if shape == 0:
        return f"{pick('_LINKS')} {told}, {pick('_MOODS')}."
    if shape == 1:
        return f"{pick('_DETAILS')}, and {told}."
    if shape == 2:
        return f"{told[0].upper()}{told[1:]} with {pick('_PEOPLE')}, {pick('_MOODS')}."
    return f"{told[0].upper()}{told[1:]}. {pick('_DETAILS')}."


def english(chooser: random.Random) -> str:
    """A paragraph of one or two sentences, 15 to 50 words."""
    return " ".join(_sentence(chooser) for _ in range(chooser.choice((1, 2))))


def english_question(chooser: random.Random) -> str:
    """A question about what such a paragraph might tell, not in its words' order."""
    person, place, deed = (chooser.choice(_LISTS[name]) for name in ("_PEOPLE", "_PLACES", "_DEEDS"))
    return chooser.choice(
        (f"Who {deed} {place}?", f"What did {person} do {place}?", f"When was it that {person} {deed}?")
    )


def chinese(chooser: random.Random) -> str:
    """A clause of four random words of three characters."""
    words = ["".join(chooser.choices(_SYLLABLES, k=2)) + chooser.choice(_VERBS) for _ in range(4)]
    return "，".join(words) + "。"


def write(root: Path, paragraph: Callable[[random.Random], str], count: int, *, per_chapter: int = 500) -> None:
    """A project of `count` paragraphs, `per_chapter` in each chapter."""
    chooser = random.Random(3)
    (root / "chapters").mkdir(parents=True)
    for number in range(1, count // per_chapter + 1):
        body = "\n\n".join(paragraph(chooser) for _ in range(per_chapter))
        (root / "chapters" / f"ch{number:04}.md").write_text(f"# 第{number}章\n\n{body}\n", "utf-8")
