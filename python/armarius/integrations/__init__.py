"""Thin adapters to hosts; each is an extra."""
