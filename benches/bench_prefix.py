"""How much of each prompt continues the previous one, over three writing tasks of 320 assemblies each.

Two ceilings are reported. *Any order*: the tokens of a prompt whose material (items, and text of the
window) stood in the previous prompt; no arrangement of that material can share more. *Layer order*:
the same, except that a prompt with a new retrieved item cannot share its immediate layer, because the
contract puts that layer last.

What continuity costs is reported beside it, against the prompt of the same request without history: the share
of the value (sum of scores) of its retrieved items that the continued prompt holds, a form shorter than the other's
counting by its share of the tokens, and the share of its window's text that the continued window shows.
Where tokens are lost is reported by kind of step and by the first layer that differs.
"""

import os
import statistics
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from benches.prefix_peers import Material, contestants
from benches.record import record
from benches.replay import conversations, replay

import armarius
from armarius.prompt.counter import common_prefix
from armarius.prompt.report.pack import Pack

MODEL = "deepseek-chat"
BUDGETS = (3000, 4000, 6000)
SEEDS = (7, 8, 9)
QUESTION_BUDGETS = (8000, 16000)


def shareable(pack: Pack, before: Pack, counter: armarius.TokenCounter) -> tuple[int, int]:
    """Tokens of `pack` that stood in `before`: in any order, and in the order of the layers."""
    old = {(item.layer, item.id): before.prompt[slice(*item.span)] for item in before.items}
    total = {"immediate": 0, "other": 0}
    new = False
    for item in pack.items:
        text = pack.prompt[slice(*item.span)]
        was = old.get((item.layer, item.id), "")
        where = "immediate" if item.layer == "immediate" else "other"
        if text == was:
            total[where] += item.tokens
        elif item.part is not None or item.layer == "immediate":
            total[where] += overlap(text, was, counter)
        else:
            new |= item.layer == "retrieved"
    frame = pack.token_count - sum(item.tokens for item in pack.items)
    everything = min(pack.token_count, total["other"] + total["immediate"] + frame)
    return everything, min(pack.token_count, total["other"] + frame) if new else everything


def overlap(text: str, was: str, counter: armarius.TokenCounter) -> int:
    """Tokens of the longest beginning that the two have in common, wherever one starts in the other, and of the end."""
    if not text or not was:
        return 0
    at, here = was.find(text[:48]), text.find(was[:48])
    moved = common_prefix(was, text[here:]) if here >= 0 else 0
    length = common_prefix(was[at:], text) if at >= 0 else moved
    rest = text[length:]
    end = common_prefix(was[::-1], rest[::-1])
    return counter.count(text[:length]) + (counter.count(rest[len(rest) - end :]) if end >= 48 else 0)


@pytest.fixture(scope="module")
def corpus():
    folder = Path(os.environ.get("ARMARIUS_CORPUS", ""))
    if not (folder / "chapters").is_dir():
        pytest.skip("ARMARIUS_CORPUS names no folder with chapters/")
    return folder


def held_value(fresh: Pack, pack: Pack) -> float | None:
    """The share of the value of `fresh`'s retrieved items that `pack` holds; None when there are none."""
    has = {item.id: item.tokens for item in pack.items if item.layer == "retrieved"}
    wanted = [item for item in fresh.items if item.layer == "retrieved"]
    total = sum(item.score for item in wanted)
    held = sum(item.score * min(1.0, has.get(item.id, 0) / item.tokens) for item in wanted)
    return held / total if total > 0 else None


def shown(fresh: Pack, pack: Pack) -> float | None:
    """The share of the text of `fresh`'s window that `pack`'s window shows; None without a window."""
    spans = []
    for one in (fresh, pack):
        item = next((item for item in one.items if item.source == "editor:cursor-window"), None)
        if item is None:
            return None
        spans.append(item.part or (0, item.span[1] - item.span[0]))
    (low, high), (start, end) = spans
    return max(0, min(high, end) - max(low, start)) / max(1, high - low)


class Tally:
    """One budget's figures, over all replays."""

    def __init__(self) -> None:
        self.tokens, self.shared, self.lost = Counter(), Counter(), Counter()
        self.used: dict[str, list[float]] = {}
        self.any_order = self.layer_order = 0
        self.values: dict[str, list[float]] = {"all": [], "ask": []}
        self.windows: list[float] = []

    def add(self, other: "Tally") -> None:
        for name in ("tokens", "shared", "lost"):
            getattr(self, name).update(getattr(other, name))
        for mine, theirs in ((self.used, other.used), (self.values, other.values)):
            for name, values in theirs.items():
                mine.setdefault(name, []).extend(values)
        self.any_order += other.any_order
        self.layer_order += other.layer_order
        self.windows += other.windows

    def of_ceiling(self) -> float:
        return self.shared["armarius"] / self.any_order

    def figures(self) -> dict[str, object]:
        ours, total = self.shared["armarius"], self.tokens["armarius"]
        return {
            "assemblies": len(self.used["armarius"]),
            "share of prompt tokens that continue the previous prompt": {
                name: round(self.shared[name] / self.tokens[name], 3) for name in self.tokens
            },
            "mean budget use": {name: round(statistics.mean(values), 3) for name, values in self.used.items()},
            "ceiling in any order": round(self.any_order / total, 3),
            "ceiling in layer order": round(self.layer_order / total, 3),
            "armarius, of the ceiling in any order": round(self.of_ceiling(), 3),
            "armarius, of the ceiling in layer order": round(ours / self.layer_order, 3),
            "value of the items of a prompt without history that is held": {
                "mean": round(statistics.mean(self.values["all"]), 3),
                "mean, asking": round(statistics.mean(self.values["ask"]), 3),
                "least": round(min(self.values["all"]), 3),
            },
            "text of the window of a prompt without history that is shown": {
                "mean": round(statistics.mean(self.windows), 3),
                "least": round(min(self.windows), 3),
            },
            "share of prompt tokens lost, by step and first layer that differs": {
                f"{kind}, {layer}": round(count / total, 4) for (kind, layer), count in self.lost.most_common(8)
            },
        }


def run(corpus: Path, budget: int, seed: int) -> Tally:
    counter = armarius.TokenCounter.for_model(MODEL)
    limit = budget * 95 // 100
    tally = Tally()
    last: dict[str, str] = {}
    others = contestants(counter)
    previous = engine = None
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "project"
        for step in replay(corpus, folder, seed=seed):
            engine = engine or armarius.open(folder)
            request = {"document": step.document, "cursor": step.cursor, "query": step.query, "model": MODEL}
            fresh = engine.assemble(**request, budget=budget)
            pack = engine.assemble(**request, budget=budget, previous=previous)
            assert pack.token_count == counter.count(pack.prompt) <= budget
            text = (folder / step.document).read_text(encoding="utf8")[: step.cursor]
            material = Material(
                stable=fresh.stable_prefix,
                retrieved=tuple(fresh.prompt[slice(*item.span)] for item in fresh.items if item.layer == "retrieved"),
                paragraphs=tuple(part for part in text.split("\n\n") if part.strip()),
                query=step.query,
            )
            prompts = {"armarius": pack.prompt, **{name: make(material, limit) for name, make in others.items()}}
            for name, prompt in prompts.items():
                count = counter.count(prompt)
                tally.used.setdefault(name, []).append(count / budget)
                if name in last:
                    tally.tokens[name] += count
                    tally.shared[name] += counter.count(prompt[: common_prefix(last[name], prompt)])
            if previous is not None:
                everything, ordered = shareable(pack, previous, counter)
                tally.any_order += everything
                tally.layer_order += ordered
                difference = pack.prefix.first_difference
                if difference is not None:
                    tally.lost[step.kind, difference[0]] += pack.token_count - pack.prefix.shared_tokens
                value, window = held_value(fresh, pack), shown(fresh, pack)
                tally.values["all"] += [] if value is None else [value]
                tally.values["ask"] += [] if value is None or step.kind != "ask" else [value]
                tally.windows += [] if window is None else [window]
            last, previous = prompts, pack
        engine.close()
    return tally


def ask(corpus: Path, budget: int) -> dict[str, float]:
    """Conversations of four questions: what continues, and what of a prompt without history is held."""
    counter = armarius.TokenCounter.for_model(MODEL)
    tokens = shared = everything = 0
    used, held = [], []
    with armarius.open(corpus, watch=False) as engine:
        for conversation in conversations(corpus):
            previous = None
            for step in conversation:
                request = {"document": step.document, "cursor": step.cursor, "query": step.query, "model": MODEL}
                pack = engine.assemble(**request, budget=budget, previous=previous)
                used.append(pack.token_count / budget)
                if previous is not None:
                    value = held_value(engine.assemble(**request, budget=budget), pack)
                    held += [] if value is None else [value]
                    tokens += pack.token_count
                    shared += counter.count(pack.prompt[: common_prefix(previous.prompt, pack.prompt)])
                    everything += shareable(pack, previous, counter)[0]
                previous = pack
    return {
        "prompts": len(used),
        "share of prompt tokens that continue the previous prompt": round(shared / tokens, 3),
        "ceiling in any order": round(everything / tokens, 3),
        "of the ceiling in any order": round(shared / everything, 3),
        "mean budget use": round(statistics.mean(used), 3),
        "value of the items of a prompt without history that is held": round(statistics.mean(held), 3),
    }


def test_four_questions_in_a_row_continue_each_other(corpus):
    figures = {f"budget {budget}": ask(corpus, budget) for budget in QUESTION_BUDGETS}
    assert all(one["value of the items of a prompt without history that is held"] >= 0.85 for one in figures.values())
    record("prefix_questions", figures)


def test_prompts_continue_each_other_over_a_writing_task(corpus):
    figures = {}
    for budget in BUDGETS:
        whole, each = Tally(), []
        for seed in SEEDS:
            tally = run(corpus, budget, seed)
            each.append(round(tally.of_ceiling(), 3))
            whole.add(tally)
        figures[f"budget {budget}"] = {**whole.figures(), "of the ceiling in any order, by replay": each}
        assert whole.of_ceiling() >= 0.85
        assert statistics.mean(whole.used["armarius"]) >= 0.85
        assert statistics.mean(whole.values["all"]) >= 0.95
    record("prefix", figures, peers=["langchain-core", "prompt-poet", "cendor-contextkit"])
