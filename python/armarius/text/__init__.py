"""Text: names found in it, tokens counted, cut, searched."""
