"""A page as an editor saves it in the middle of a line: every reader of text goes on to the end of it.

Counted are lines of Python, which no busy machine changes.
"""

import json

import pytest
from tests.steps import DoesNotEnd, steps

from armarius import activate
from armarius.arguments import read_messages
from armarius.codex.codex_json import parse_codex_json, read_tree
from armarius.codex.load import profiles_in
from armarius.codex.profile_fields import parse_page
from armarius.codex.profiles import parse_profiles
from armarius.codex.protocol import read_blocks
from armarius.corpus.story import volume_plan
from armarius.documents.classify import DATA_SUFFIXES, PROSE_SUFFIXES
from armarius.documents.decode import Undecodable
from armarius.documents.document import make_document
from armarius.documents.kinds import CARD_KINDS
from armarius.documents.titles import parse_front_matter
from armarius.errors import ArmariusError
from armarius.io.toml import settings_of
from armarius.lorebooks import read_book
from armarius.lorebooks.importing import split
from armarius.trust.settings import Config

LINES = (
    "#", "# ", "#   ", "# #", "## ##", "#\t#", "#\u3000", "#+", "#+begin_", "- ", "-", "- ：", "- :", "- **",
    "- **：", "- [", "- [ ]", "- a:", "* ", "* TODO", "+ ", "1. ", "1)", "|", "||", "| |", "| a", "|-|", "|---", "--",
    "---", "----", "=", "==", "===", "**", "***", "_", "__", "~", "[", "[[", "]]", "[[entity", "[[entity]",
    "[[entity]]", "id =", 'id = "', '"', "'", '"""', "'''", ">", "> ", "> - ", "> # ", "```", "``", "~~~", "<", "</",
    "<!--", "-->", "/*", "{", "}", "{{", '{"a":', "第", "第章", "第一章", "第1", "：", ":", ":a:", "a:", "a: ",
    "a: |", "a: >", "&a", "*a", "!", "? ", "【", "【】", "（", "\\", "\\begin{", "\\section{", "\\chapter", "%", "@",
    "@char:", ".. ", ".. a::", "....", "++++", "INT. ", "\t", " ", "\u3000", "\r", "\x0c", "\u2028", "-\n-", "#\n#",
    "|\n|", "---\n---", "a\n--", "a\n===",
)  # fmt: skip
AROUND = "小雨\n{0}", "# 人物\n\n## 小雨\n{0}\n- 年龄：16\n\n{0}\n{0}\n", "---\n{0}\n---\n\n  {0}\n"
MOST = 3_000_000  # lines of Python for one page; what the first reading loads and compiles is among them


def document(suffix):
    def read(text):
        outline = Config(kinds=(("outline", "*"),))
        for config in (Config(), outline):
            found = make_document(f"大纲{suffix}", text.encode(), config=config)
            profiles_in(found, found.path)
            volume_plan(found, 1)

    return read


def book(text):
    read_book(text.encode(), name="a.md")


def entry(text):
    data = {"entries": {"0": {"uid": 0, "key": [text, "小雨"], "content": text}}}
    activate([read_book(json.dumps(data).encode(), name="a.json")], text=text)


def described(text):
    person = {"id": "a", "name": "小雨", "aliases": [text], "description": text, "facts": [{"text": text}]}
    parse_codex_json("codex.json", json.dumps({"entities": [person]}))


MANUSCRIPTS = ".html", ".fountain", ".rtf"
READERS = {
    **{f"profiles of {kind}": lambda text, kind=kind: parse_profiles("人物.md", text, kind) for kind in CARD_KINDS},
    **{f"document {suffix}": document(suffix) for suffix in sorted({*PROSE_SUFFIXES, *DATA_SUFFIXES, *MANUSCRIPTS})},
    "sections": lambda text: parse_page(text, lambda key: len(key) < 4),
    "front matter": parse_front_matter,
    "TOML blocks": read_blocks,
    "settings": lambda text: settings_of(text, name="armarius.toml"),
    "data": read_tree,
    "codex.json": lambda text: parse_codex_json("codex.json", text),
    "words in codex.json": described,
    "a lorebook of Markdown": book,
    "an entry of a lorebook": entry,
    "messages": lambda text: read_messages([{"role": "user", "content": text}]),
    "a manuscript that is cut": split,
}


@pytest.mark.parametrize("reader", READERS)
def test_half_typed_lines_are_read_in_few_steps(reader):
    for line in LINES:
        for around in AROUND:
            text = around.format(line)
            try:
                steps(lambda text=text: _refused(READERS[reader], text), most=MOST)
            except DoesNotEnd as error:
                pytest.fail(f"{text!r}: {error}")


def _refused(read, text):
    try:
        read(text)
    except (ArmariusError, Undecodable, ValueError):
        return


def test_a_reading_that_does_not_move_on_is_noticed():
    def stands():
        while True:
            pass

    with pytest.raises(DoesNotEnd):
        steps(stands, most=MOST)
