"""A guide of style says what somebody has filled in."""

CHAPTERS = {
    f"chapters/{n:02}.md": f"# Chapter {n}\n\nThe lamp went out over the harbour. Mara counted {n} boats.\n"
    for n in (1, 2)
}


def test_a_style_guide_shows_only_what_is_filled_in(project):
    guide = "# Style Guide\n\nVoice:\n- Tense: past.\n- Tone:\n\nNumbers:\n- Dates:\n\n## Dialogue\n"
    engine = project({**CHAPTERS, "Style Guide.md": guide})
    said = engine.assemble("Continue", document="chapters/02.md", budget=6000).prompt
    assert "- Tense: past." in said
    assert not any(label in said for label in ("Tone:", "Numbers:", "Dates:", "## Dialogue"))


def test_an_empty_style_guide_stands_in_no_prompt(project):
    engine = project({**CHAPTERS, "Style Guide.md": "---\ntitle: Style\n---\n\n# Style Guide\n\n- Tone:\n- {{pov}}\n"})
    pack = engine.assemble("Continue", document="chapters/02.md", budget=6000)
    assert not [item for item in pack.items if item.source.startswith("style:")]
