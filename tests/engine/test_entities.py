"""The list of entities, and proposals beside it."""

import armarius
from armarius.cli import main

CHAPTER = "# Chapter {n}\n\n" + "The tide turned. Nobody warned Elijah Stoke, and Elijah went down to the quay. " * 6


def project(root):
    for path, text in {
        "characters/Elijah Stoke.md": "# Elijah Stoke\n\nA pilot.\n",
        "world/rules.md": "# World\n\n## Tolls And Tides\n\nPaid twice.\n",
        **{f"chapters/ch{n}.md": CHAPTER.format(n=n) for n in (1, 2)},
    }.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def test_entities_are_listed_with_their_mentions_and_with_what_was_no_entity(tmp_path):
    with armarius.open(project(tmp_path), watch=False) as engine:
        found = engine.entities()
        assert [one.name for one in found] == ["Elijah Stoke"]
        assert found.mentions == {found[0].id: 2 * 12 + 1}
        assert [(one.name, one.path, one.line) for one in found.rejected] == [("Tolls And Tides", "world/rules.md", 3)]
        assert "story" in found.rejected[0].reason


def test_mentions_in_what_is_in_no_prompt_are_not_counted(tmp_path):
    (project(tmp_path) / "reviews").mkdir()
    (tmp_path / "reviews/ch1.md").write_text("# Review\n\nScore: 3\n\nElijah is pale. Elijah drifts.\n", "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        assert engine.map().hidden == {"reviews/ch1.md"}
        found = engine.entities()
        assert found.mentions == {found[0].id: 2 * 12 + 1}


def test_the_command_prints_them_by_mentions_and_then_what_was_no_entity(tmp_path, capsys):
    assert main(["entities", str(project(tmp_path))]) == 0
    shown = capsys.readouterr().out
    assert shown.index("Elijah Stoke") < shown.index("Tolls And Tides")


def test_names_that_detect_derives_are_not_proposed(tmp_path):
    with armarius.open(project(tmp_path), watch=False) as engine:
        assert [one.entity_id for one in engine.detect("Where is Elijah?")] == [engine.entities()[0].id]
        assert engine.propose(least=5) == ()
