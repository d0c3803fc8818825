"""Thin adapters to frameworks; each is an extra, imported where it is used.

langchain.py   langgraph.py   llama_index.py   otel.py (spans and metrics)

An adapter translates and decides nothing: a rule that two adapters need belongs below. What must hold: without its
extra an adapter's import is an error that names the extra; wire names are those of `armarius.requests`; text of the
project leaves fenced. Tests of each run in the real framework.
"""
