"""Embedders, the embedding queue and the approximate index."""
