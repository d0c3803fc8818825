"""The outputs of the two example projects are byte for byte the recorded ones.

After a change of prompts on purpose: `python -m tests.golden.record --write tests/golden/examples.jsonl examples/novel
examples/code-project --symbol burning_time`, and the commit says why.
"""

from pathlib import Path

import pytest
from tests.golden.record import outputs, recorded

ROOT = Path(__file__).parents[2]
RECORDED = recorded(Path(__file__).parent / "examples.jsonl")


@pytest.mark.parametrize("name", ["novel", "code-project"])
def test_outputs_of_an_example_are_as_recorded(name):
    found = {f"{name}/{label}": output for label, output in outputs(ROOT / "examples" / name, "burning_time")}
    assert len(found) > 40
    for key, output in found.items():
        assert output == RECORDED[key], key
