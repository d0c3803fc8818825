"""Nothing that was guessed about a project keeps out what plain search finds best."""

import math
import re
from collections import Counter

import pytest

import armarius
from armarius._core import terms
from armarius.prompt.pack import plain_share

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
    """Plain BM25 over chunks of 400 code points, best first: (score, paragraphs)."""
    chunks = []
    for document in documents:
        extent = 400
        for one in document.paragraphs:
            if extent >= 400:
                chunks.append((document.path, []))
                extent = 0
            chunks[-1][1].append((one.role, document.text[one.start : one.end]))
            extent += one.end - one.start
    counts = [Counter(term for _, text in rows for term in terms(text)) for _, rows in chunks]
    lengths = [sum(count.values()) for count in counts]
    mean, wanted = sum(lengths) / len(lengths), set(terms(query))
    scored = []
    for (path, rows), count, length in zip(chunks, counts, lengths, strict=True):
        score = 0.0
        for word in wanted:
            held = sum(word in one for one in counts)
            rarity = math.log(1 + (len(chunks) - held + 0.5) / (held + 0.5))
            score += rarity * count[word] * 2.2 / (count[word] + 1.2 * (0.25 + 0.75 * length / mean))
        if score > 0:
            scored.append((-score, path, [text for role, text in rows if role != "heading"]))
    return sorted(scored)


@pytest.mark.parametrize("budget", [2000, 4000, 8000])
@pytest.mark.parametrize(
    "query",
    [
        "What did Mara wrap in oilcloth?",
        "Where is the ledger of the pier kept?",
        "Who runs the checks before each commit?",
    ],
)
def test_the_best_stretches_of_all_texts_are_in_the_prompt_up_to_their_share(tmp_path, query, budget):
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
        counter = armarius.TokenCounter.for_model("gpt-4o")
        pack = engine.assemble(query, budget=budget, model="gpt-4o")
        room = int(budget * 0.9 * plain_share(int(budget * 0.9)))
        for _, path, texts in best_stretches(engine.documents(), query):
            cost = sum(counter.count(text) + 16 for text in texts)
            if cost > room:
                break
            room -= cost
            assert all(normal(text) in normal(pack.prompt) for text in texts), path


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
