"""Requests to candidates, one fetcher or more for each layer."""
