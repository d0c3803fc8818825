"""Recall by meaning."""
