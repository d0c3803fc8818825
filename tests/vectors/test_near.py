import numpy as np
import pytest

from armarius.vectors.embedder import noise_floor, probes


def group(similarity, count=12, dimension=64, spread=0.02):
    """Vectors whose cosine to the first axis is about `similarity`."""
    rng = np.random.default_rng(count)
    cosines = similarity + spread * rng.normal(size=count)
    rest = rng.normal(size=(count, dimension - 1))
    rest *= (np.sqrt(1 - cosines**2) / np.linalg.norm(rest, axis=1))[:, None]
    return np.column_stack([cosines, rest]).astype(np.float32)


SAMPLE = np.tile(np.eye(1, 64, dtype=np.float32), (50, 1))


def test_what_stands_out_lies_above_what_unrelated_questions_reach():
    least = noise_floor(SAMPLE, [group(0.1)], 50)
    assert 0.1 + 2 * 0.02 < least < 0.1 + 5 * 0.02


def test_a_larger_project_asks_for_more():
    assert noise_floor(SAMPLE, [group(0.1)], 100_000) > noise_floor(SAMPLE, [group(0.1)], 50)


def test_a_script_that_the_model_finds_alike_everywhere_decides():
    both = noise_floor(SAMPLE, [group(0.1), group(0.8)], 50)
    assert both == noise_floor(SAMPLE, [group(0.8)], 50)


@pytest.mark.parametrize(("sample", "count"), [(SAMPLE[:0], 10), (SAMPLE, 1)])
def test_nothing_stands_out_of_next_to_nothing(sample, count):
    assert noise_floor(sample, [group(0.1)], count) == 1.0


def test_probes_of_both_languages_ask_the_same():
    english, chinese = probes()
    assert len(english) == len(chinese) == len(set(english)) == len(set(chinese))
