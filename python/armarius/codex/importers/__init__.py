"""Files of other programs read as a codex."""
