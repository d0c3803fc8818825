"""A question to ranked, explained documents."""
