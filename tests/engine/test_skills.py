"""What the prompts of twelve skills of a writing app hold, layer by layer, in Chinese and in English.

A row says what is asked, where the writer is (`at`: the cursor stands behind these words; "" is the end) or what is
selected, what each layer holds (`prompt`: whichever), and what no layer says.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

import armarius

ROOT = Path(__file__).resolve().parents[2]
NOVELS = {"zh": ROOT / "examples" / "novel", "en": ROOT / "tests" / "data" / "saltern"}
ROWS = json.loads((ROOT / "tests" / "cases" / "skills.json").read_text(encoding="utf8"))
BUDGET = 3000


@pytest.fixture(scope="module")
def engines(tmp_path_factory):
    opened = {
        language: armarius.open(novel, watch=False, index_dir=tmp_path_factory.mktemp("index"))
        for language, novel in NOVELS.items()
    }
    yield opened
    for engine in opened.values():
        engine.close()


def asked(engine, row):
    text = engine.document(row["document"]).text
    place = {}
    if "select" in row:
        at = text.index(row["select"])
        place["selection"] = (at, at + len(row["select"]))
    elif row["at"]:
        place["cursor"] = text.index(row["at"]) + len(row["at"])
    # The buffer of an editor, not the file: a space is typed behind the last line.
    return engine.assemble(
        row["query"], document=row["document"], text=f"{text} ", skill=row["skill"], budget=BUDGET, **place
    )


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['skill']}-{row['language']}" for row in ROWS])
def test_a_skill_s_prompt_holds_what_it_needs(engines, row):
    pack = asked(engines[row["language"]], row)
    for layer, wanted in row["holds"].items():
        content = pack.prompt if layer == "prompt" else pack.contents[layer]
        assert [one for one in wanted if one not in content] == [], layer
    assert [one for one in row["lacks"] if one in pack.prompt] == []
    assert pack.token_count <= BUDGET


def test_every_skill_has_a_row_in_both_languages():
    assert Counter(row["language"] for row in ROWS) == {"zh": 12, "en": 12}
    assert {row["skill"] for row in ROWS if row["language"] == "zh"} == {
        row["skill"] for row in ROWS if row["language"] == "en"
    }
    assert len({row["skill"] for row in ROWS}) == 12
