"""Profiles in prose files: sections read as entities."""
