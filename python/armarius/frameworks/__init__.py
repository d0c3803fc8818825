"""Thin adapters to hosts; each is an extra, imported where it is used.

langchain.py langgraph.py llama_index.py (frameworks)   mcp/ (agents)   channel.py (JSON lines, for other languages)
otel.py (spans and metrics)
methods/ (what may be asked over a wire, with its shapes)   handed.py (text handed over outside a prompt)
failures.py (an exception to a code and a message that may leave the process)

An adapter translates and decides nothing: a rule that two adapters need belongs below. What must hold: without its
extra an adapter's import is an error that names the extra; wire names are those of `armarius.requests`; text of the
project leaves fenced; over a wire no exception leaves raw. Tests of each run in the real host.
"""
