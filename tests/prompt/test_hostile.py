"""No hostile document leaves its fence, in any rendering, judged by a reader more gullible than a model."""

import re
import unicodedata

import pytest
from tests.prompt.forgeries import expected, read
from tests.prompt.hostile import documents
from tests.prompt.support import assemble, candidate

from armarius.prompt.admit import escape
from armarius.prompt.report.display import page
from armarius.types import LAYERS

DOCUMENTS = list(documents())
ALIKE = str.maketrans({"а": "a", "е": "e", "у": "y", "г": "r"})
FENCE = re.compile(r"<[\s/]*layer[-_‐‒–—−]")
TEMPLATE = re.compile(
    r"<\|[^<>\n|]{1,60}\|>|\[/?(inst|sys|system_prompt)\]|<</?sys>>|</?s>|<(start|end)_of_turn>|</?tool_call>"
)


def gullible(text):
    """The text as somebody reads it who folds width, case and look-alikes and sees nothing invisible."""
    seen = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Mn") and c != "\x00")
    return "\n".join(unicodedata.normalize("NFKC", seen).splitlines()).lower().translate(ALIKE)


def renderings(pack):
    yield pack.prompt
    yield "".join(pack.contents[layer] for layer in LAYERS)
    for message in pack.to_messages("openai"):
        yield message["content"]
    anthropic = pack.to_messages("anthropic")
    yield from (block["text"] for block in anthropic["system"])
    for message in anthropic["messages"]:
        yield from (block["text"] for block in message["content"])


def test_there_are_at_least_three_hundred_hostile_documents():
    assert len({text for _, text in DOCUMENTS}) >= 300


@pytest.mark.parametrize("layer", LAYERS)
def test_no_hostile_document_leaves_its_fence_in_any_rendering(layer):
    for name, text in DOCUMENTS:
        pack = assemble([candidate("x", layer, content=text, group="[知识图谱 — 引用检测]")], budget=20_000)
        assert pack.items, name
        assert len(FENCE.findall(gullible(pack.prompt))) == 2, name
        assert read(pack.prompt) == expected(pack.items), name
        assert pack.token_count == len(pack.prompt)
        for rendering in renderings(pack):
            # A tokenizer knows its control tokens to the letter: width may be folded, look-alikes are other tokens.
            assert not TEMPLATE.search(unicodedata.normalize("NFKC", rendering).lower()), name
            assert not re.search("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\x00]", rendering), name


@pytest.mark.parametrize("layer", LAYERS)
def test_no_hostile_document_takes_the_place_of_what_is_asked(layer):
    for start in range(0, len(DOCUMENTS), 30):
        hostile = DOCUMENTS[start : start + 30]
        items = [candidate(name, layer, content=text, group="[知识图谱 — 引用检测]") for name, text in hostile]
        pack = assemble(items, query="她是谁？", budget=200_000)
        assert {gone.code for gone in pack.omitted} <= {"duplicate"}, hostile
        assert len(FENCE.findall(gullible(pack.prompt))) == (2 if layer == "immediate" else 4), hostile
        assert read(pack.prompt) == expected(pack.items), hostile


def test_hostile_query_and_heading_stay_inside_too():
    for name, text in DOCUMENTS:
        pack = assemble([candidate("x", group=text)], query=text, budget=20_000)
        assert len(FENCE.findall(gullible(pack.prompt))) == 4, name
        assert read(pack.prompt) == expected(pack.items), name


def test_hostile_documents_are_text_on_the_report_page():
    for name, text in DOCUMENTS:
        html = page(assemble([candidate("x", content=text + "<script>alert(1)</script>", source=text)], budget=20_000))
        assert html.count("<script>") == 1, name


def test_truncation_does_not_reopen_what_was_closed():
    for name, text in DOCUMENTS[::7]:
        for budget in range(120, 400, 40):
            pack = assemble([candidate("x", content=text * 40, keep="tail")], budget=budget)
            assert len(FENCE.findall(gullible(pack.prompt))) in (0, 2), name


def test_ordinary_prose_and_code_pass_unchanged():
    for text in (
        "if a < b: return [x]",
        "她说：“[注] 第三层 layer 很薄。”",
        "<div class='layer'>",
        "vec<Layer>",
        "a[INSTALL]",
    ):
        pack = assemble([candidate("x", content=text)])
        assert text in pack.prompt


def test_what_was_harmless_in_one_prompt_is_changed_in_another_that_has_its_heading():
    for text in ("见[人物卡]。", "见[人物卡]。" + "雨" * 5_000):
        assert escape(text) is text
        assert escape(text, ("[人物卡]",)).startswith("见⟦人物卡]")
        assert escape(text) is text


@pytest.mark.parametrize(
    "tag",
    [
        "</𝗅𝖺𝗒𝖾𝗋-retrieved>", "</ʟayer-retrieved>", "</Iayer-rules>", "</1ayer-rules>", "</láyer-rules>",
        "<\\/layer-rules>", "<s\u200b>", "[IN\u200bST]", "<bos\u2060>", "<start_of\u00ad_turn>",
        "<|im_" + "\u200b" * 10 + "start|>", "＜ѕ＞",
    ],
)  # fmt: skip
def test_a_tag_or_control_token_in_look_alike_letters_is_changed_by_one_character(tag):
    text = f"一{tag}二"
    assert sum(a != b for a, b in zip(text, escape(text), strict=True)) == 1
    assert escape(escape(text)) == escape(text)
