"""The outputs of the two example projects are byte for byte the recorded ones.

After a change of prompts on purpose: `python -m tests.golden.record --write tests/golden/examples.jsonl examples/novel
examples/code-project --symbol burning_time`, and the commit says why.

Novels and projects of others are not in the repository; `digests.json` has digests of their outputs. They are compared
where ARMARIUS_GOLDEN names the folders that hold these projects, separated as in PATH.
"""

import json
import os
from pathlib import Path

import pytest
from tests.golden.record import DIGESTS, digest, digest_of_texts, outputs, recorded

ROOT = Path(__file__).parents[2]
RECORDED = recorded(Path(__file__).parent / "examples.jsonl")


@pytest.mark.parametrize("name", ["novel", "code-project"])
def test_outputs_of_an_example_are_as_recorded(name):
    found = {f"{name}/{label}": output for label, output in outputs(ROOT / "examples" / name, "burning_time")}
    assert len(found) > 40
    for key, output in found.items():
        assert output == RECORDED[key], key


def _folders():
    places = [Path(one) for one in os.environ.get("ARMARIUS_GOLDEN", "").split(os.pathsep) if one]
    projects = json.loads(DIGESTS.read_text("utf-8"))["projects"]
    return [(name, place / name, one["texts"]) for name, one in projects.items() for place in places]


@pytest.mark.skipif("ARMARIUS_GOLDEN" not in os.environ, reason="ARMARIUS_GOLDEN names no folder of projects")
def test_outputs_of_projects_of_others_have_the_recorded_digests():
    known = recorded(DIGESTS)
    compared = 0
    for name, folder, texts in _folders():
        if folder.is_dir():
            assert digest_of_texts(folder) == texts, f"{name}: not the text that was recorded"
            found = {f"{name}/{label}": digest(output) for label, output in outputs(folder)}
            assert found == {key: one for key, one in known.items() if key.startswith(f"{name}/")}
            compared += len(found)
    assert compared


def test_recorded_digests_are_of_eight_projects_and_hold_no_text():
    held = json.loads(DIGESTS.read_text("utf-8"))
    assert {key.partition("/")[0] for key in held["outputs"]} == set(held["projects"])
    assert len(held["projects"]) == 8
    assert len(held["outputs"]) >= 400
    assert all(len(one) == 16 and int(one, 16) >= 0 for one in held["outputs"].values())
