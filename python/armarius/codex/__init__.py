"""Entities, relations and context levels, and where they are read from."""
