"""Candidates of four layers to one prompt: budget, prefix, rendering, report."""
