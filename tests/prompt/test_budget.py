import json
import os
import re
import signal
import subprocess
import sys
from importlib import resources

import pytest
from tests.io.conftest import KINDS, plant

import armarius
from armarius.codex.load import FolderAuthored
from armarius.errors import BudgetConflict, BudgetError, ConfigError, StoreFull
from armarius.prompt.profile import BudgetProfile, LayerBudget, ProfileStore
from armarius.prompt.report.pack import cache_rule
from armarius.types import LAYERS

NONE = dict.fromkeys(LAYERS, 0)


def test_defaults_are_those_of_the_contract():
    rows = BudgetProfile().rows(100_000, NONE)
    assert [(row.ratio, row.minimum) for row in rows] == [(1500, 500), (1000, 200), (2500, 0), (5000, 2000)]


def test_shares_are_of_what_is_available_beside_the_reserve():
    profile = BudgetProfile().with_layers({"retrieved": LayerBudget(min="10%", max="40%")})
    row = profile.rows(14_000, NONE)[2]
    assert (row.minimum, row.maximum) == (1400, 5600)


def test_minima_of_a_small_prompt_are_scaled_to_three_quarters_of_it():
    rows = BudgetProfile().rows(1000, NONE)
    assert sum(row.minimum for row in rows) <= 750
    assert rows[3].minimum > rows[0].minimum > rows[1].minimum > 0


@pytest.mark.parametrize("wrong", ["lots", "120%", "-1%", -1, 1.5, True, "40"])
def test_wrong_minimum_is_an_error_that_shows_it(wrong):
    with pytest.raises(BudgetError, match=repr(wrong)):
        LayerBudget(min=wrong)


def test_unknown_layer_and_empty_budget_are_errors():
    with pytest.raises(BudgetError, match="memory"):
        BudgetProfile(layers={"memory": LayerBudget()})
    with pytest.raises(BudgetError, match="0"):
        BudgetProfile(budget=0)


def test_profile_survives_its_file_and_a_stale_update_is_refused(tmp_path):
    store = ProfileStore(FolderAuthored(tmp_path), BudgetProfile())
    changed = store.update(BudgetProfile(budget=5000), version=1)
    assert store.read() == changed
    assert changed.version == 2
    with pytest.raises(BudgetConflict, match="CONTEXT_BUDGET_CONFLICT: the profile is at version 2"):
        store.update(BudgetProfile(), version=1)


@pytest.mark.parametrize(
    "content",
    ["{", "", "[]", '{"tokens": 1}', '{"layers": {"rules": {"least": 1}}}', '{"version": "2"}', "[" * 100_000],
)
def test_broken_profile_file_is_an_error_that_names_it(tmp_path, content):
    path = tmp_path / ".armarius" / "budget.json"
    path.parent.mkdir()
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"budget\.json"):
        ProfileStore(FolderAuthored(tmp_path), BudgetProfile()).read()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"x"', "Expecting"),
        ('{"version": 1, "profile": {}}', "unknown key profile; known: version, budget, warnPercent"),
        ('{"storyPercent": 51}', "storyPercent must be a whole number <= 50, got 51"),
        ('{"layers": {"rules": {"least": 1}}}', r"layers\['rules'\]: "),
        ('{"layers": 3}', "layers must be a mapping"),
    ],
)
def test_a_damaged_profile_costs_no_prompt_and_is_said_by_file(tmp_path, content, why):
    (tmp_path / "armarius.toml").write_text("[budget]\ntokens = 1234\n", encoding="utf-8")
    path = tmp_path / ".armarius" / "budget.json"
    path.parent.mkdir()
    path.write_text(content, encoding="utf-8")
    said = rf"^CODEX_INVALID: \.armarius/budget\.json: not a budget profile: .*{why}.*; the prompt is divided by the "
    with armarius.open(tmp_path, watch=False) as engine:
        pack = engine.assemble("x")
        (told,) = [str(one) for one in pack.warnings if "budget" in str(one)]
        assert re.search(said + "default profile$", told)
        assert pack.budget == 1234
        with pytest.raises(ConfigError, match=r"^\.armarius/budget\.json: not a budget profile: "):
            engine.budget_profile()
        path.write_text('{"version": 3, "budget": 4321}', encoding="utf-8")
        assert (engine.assemble("x").budget, engine.budget_profile().version) == (4321, 3)
        path.write_text(content, encoding="utf-8")
        pack = engine.assemble("x")
        (told,) = [str(one) for one in pack.warnings if "budget" in str(one)]
        assert re.search(said + "last profile that was right$", told)
        assert pack.budget == 4321


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["budget.json", ".lock"])
def test_what_is_no_file_in_the_place_of_the_profile_is_an_error_and_nothing_waits(tmp_path, kind, name):
    mine = tmp_path / "mine"
    mine.write_text("the user's own")
    root = tmp_path / "project"
    plant(root / ".armarius" / name, kind, mine)
    store = ProfileStore(FolderAuthored(root), BudgetProfile())
    signal.alarm(60)
    if name == "budget.json":
        with pytest.raises(ConfigError, match=r"budget\.json: not read: (symbolic link|not a regular file)"):
            store.read()
    with pytest.raises((ConfigError, StoreFull)):
        store.update(BudgetProfile(), version=1)
    signal.alarm(0)
    assert mine.read_text() == "the user's own"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_no_link_leads_the_profile_out_of_the_project(tmp_path):
    root, outside = tmp_path / "project", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / ".armarius").symlink_to(outside)
    store = ProfileStore(FolderAuthored(root), BudgetProfile())
    with pytest.raises(StoreFull, match="symbolic link"):
        store.update(BudgetProfile(), version=1)
    assert store.read() == BudgetProfile()
    assert list(outside.iterdir()) == []
    (root / ".armarius").unlink()
    (root / ".armarius").mkdir()
    (outside / "mine").write_text("the user's own")
    for name in ("budget.tmp", ".budget.json.tmp", "budget.json.tmp"):
        (root / ".armarius" / name).symlink_to(outside / "mine")
    assert store.update(BudgetProfile(), version=1) == store.read()
    assert (outside / "mine").read_text() == "the user's own"


@pytest.mark.parametrize("number", [28, 5, 30, 122])
def test_a_disk_that_fails_is_an_error_of_the_store_and_the_old_profile_stays(tmp_path, monkeypatch, number):
    store = ProfileStore(FolderAuthored(tmp_path), BudgetProfile())
    kept = store.update(BudgetProfile(budget=5000), version=1)
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(number, os.strerror(number))))
    with pytest.raises(StoreFull, match=rf"budget\.json: not written: {os.strerror(number)}"):
        store.update(BudgetProfile(), version=2)
    monkeypatch.undo()
    assert store.read() == kept
    assert sorted(path.name for path in (tmp_path / ".armarius").iterdir()) == [".lock", "budget.json"]


UPDATES = """
import sys
from pathlib import Path
from armarius.prompt.profile import BudgetProfile, ProfileStore
from armarius.codex.load import FolderAuthored
from armarius.errors import BudgetConflict
root, me, given = Path(sys.argv[1]), int(sys.argv[2]), 0
store = ProfileStore(FolderAuthored(root), BudgetProfile())
sys.stdin.read(1)
while given < 40:
    seen = store.read()
    try:
        stored = store.update(BudgetProfile(budget=1000 + me), version=seen.version)
    except BudgetConflict:
        continue
    given += 1
    print(stored.version, flush=True)
"""


def test_four_processes_that_update_are_given_every_version_exactly_once(tmp_path):
    command = [sys.executable, "-W", "ignore", "-c", UPDATES, str(tmp_path)]
    writers = [
        subprocess.Popen([*command, str(me)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for me in range(4)
    ]
    for writer in writers:
        writer.stdin.write(b"!")
        writer.stdin.flush()
    told = [writer.communicate(timeout=120) for writer in writers]
    assert [errors for _, errors in told] == [b""] * 4
    versions = [int(line) for output, _ in told for line in output.split()]
    assert sorted(versions) == list(range(2, 162))
    assert ProfileStore(FolderAuthored(tmp_path), BudgetProfile()).read().version == 161


@pytest.mark.parametrize(
    ("model", "provider", "minimum"),
    [
        ("claude-opus-4-5-20251101", None, 4096),
        ("anthropic/claude-sonnet-4-6", None, 2048),
        ("gpt-4o", None, 1024),
        ("deepseek-chat", None, 64),
        ("my-own-model", "openai", None),
    ],
)
def test_longest_prefix_of_the_model_name_decides_the_cache_rule(model, provider, minimum):
    rule = cache_rule(model, provider)
    assert rule.minimum_tokens == minimum


def test_every_cache_rule_is_dated_and_has_a_source():
    data = json.loads(resources.files("armarius.prompt.report").joinpath("providers.json").read_text(encoding="utf-8"))
    assert data["as_of"]
    assert all(provider["source"].startswith("https://") for provider in data["providers"].values())
    assert cache_rule("nobody-knows") is None


@pytest.mark.parametrize(
    ("layers", "named"),
    [
        ({"retrieved": None}, r"layers\['retrieved'\]"),
        ({"retrieved": {"max": [5]}}, r"layers\['retrieved'\]: max"),
        ({"retrieved": {"ratio": "much"}}, r"layers\['retrieved'\]: ratio"),
        ({"retrieved": {"min": 100, "max": 5}}, "min 100 is more than max 5"),
        ({"retrieved": LayerBudget(min="60%", max="5.5%")}, "min 60% is more than max 5.5%"),
        ({"retrieved": {"min": "60%"}, "settings": {"min": "60%"}}, "settings 60%, retrieved 60%"),
        ({7: {"max": 5}}, "no such layer: 7"),
        ([], "layers must be a mapping"),
        ("retrieved", "layers must be a mapping"),
    ],
)
def test_budgets_that_cannot_be_meant_are_refused_by_name(layers, named):
    with pytest.raises(BudgetError, match=named):
        BudgetProfile(layers=layers)


@pytest.mark.parametrize("profile", [BudgetProfile(), BudgetProfile(layers={"immediate": LayerBudget(min=3000)})])
def test_a_maximum_of_one_request_is_no_contradiction_to_the_profiles_minimum(profile):
    changed = profile.with_layers({"immediate": LayerBudget(max=5)})
    assert changed.layers["immediate"].max == 5
    assert changed.layers["immediate"].min == profile.layers["immediate"].min
    assert profile.layers["immediate"].max is None


def test_a_profile_with_a_small_maximum_is_stored_and_read_again():
    profile = BudgetProfile(layers={"immediate": LayerBudget(max=5)})
    assert BudgetProfile.from_wire(profile.to_wire()) == profile


COLOURS = "".join(f"- Swatch {n}: light {n * 37 % 256}, shade {n * 53 % 256}, a hex code\n" for n in range(160))


@pytest.fixture
def film(tmp_path):
    """A film bible: a sheet of colour codes with one sentence of plot in its middle, and a short sheet."""
    half = len(COLOURS) // 2
    cut = COLOURS.index("\n", half) + 1
    (tmp_path / "characters.md").write_text(
        f"# Characters\n\n## Orla\n\n- Type: character\n{COLOURS[:cut]}- Debt: She owes the ferryman a silver comb.\n"
        f"{COLOURS[cut:]}\n## Tobin\n\n- Type: character\n- Description: A ferryman with one eye.\n",
        "utf-8",
    )
    (tmp_path / "chapters").mkdir()
    for n in range(1, 6):
        text = "".join(f"Orla met Tobin at pier {n}, and on day {m} the river rose.\n\n" for m in range(30))
        (tmp_path / "chapters" / f"ch{n:02}.md").write_text(f"# Chapter {n}\n\n{text}", "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        yield engine


@pytest.mark.parametrize("budget", [2000, 4000, 8000])
def test_cards_of_whom_a_question_names_take_a_fifth_and_have_what_it_needs(film, budget):
    pack = film.assemble("Why does Orla avoid Tobin, and what silver thing does she owe?", budget=budget)
    cards = {one.id: one for one in pack.items if one.id.startswith("entity:")}
    assert 0 < sum(one.tokens for one in cards.values()) <= budget // 5
    orla, tobin = (pack.prompt[slice(*cards[f"entity:{name}"].span)] for name in ("orla", "tobin"))
    assert "Orla" in orla.splitlines()[0]
    assert "a silver comb" in orla
    assert "A ferryman with one eye" in tobin
    (warning,) = (one for one in pack.warnings if one.startswith("CONTEXT_SHARE_TRIMMED"))
    assert "codex:detected:orla" in warning
    assert "tobin" not in warning
    assert [name for name in ("orla", "tobin") if "share" in cards[f"entity:{name}"].reason] == ["orla"]


def test_a_pinned_card_is_whole(film):
    pack = film.assemble("What does Orla owe?", budget=8000, include=["Orla"])
    (card,) = (one for one in pack.items if one.id == "entity:orla")
    assert "shade" in pack.prompt[slice(*card.span)]
    assert card.tokens > 8000 // 5
    assert not [one for one in pack.warnings if one.startswith("CONTEXT_SHARE_TRIMMED")]


def test_a_chapter_to_rewrite_that_is_there_in_part_is_warned_of_with_its_paragraphs_and_tokens(film):
    pack = film.assemble("rewrite chapter 3", budget=600)
    (warning,) = (one for one in pack.warnings if one.startswith("CONTEXT_SHARE_TRIMMED"))
    part = re.search(r"ch03\.md \((\d+) of 30 paragraphs of (\d+) tokens\)", warning)
    assert pack.prompt.count("at pier 3") == int(part[1]) < 30
    whole = film.assemble("rewrite chapter 3", budget=8000)
    items = [item for item in whole.items if item.path == "chapters/ch03.md"]
    assert 0 <= sum(item.tokens for item in items) - int(part[2]) < 3 * len(items)  # what stands between them
    assert whole.prompt.count("at pier 3") == 30
    assert not [one for one in whole.warnings if one.startswith("CONTEXT_SHARE_TRIMMED")]
