"""The account of a prompt: the pack, its items and omissions with reasons, and how they are displayed.

pack.py (`Pack`: the prompt and its account, built with every warning from a prompt that fits)
items.py (the rows: what is in, what stayed out, and why)   display.py page.html (displays)
providers.json (what providers ask of a prefix they cache: dated data with its source)

A new column is a field of an item and of the displays; a rule of a provider is a line of providers.json. Invariants:
everything in the prompt has a source and a span in it, everything omitted one reason of the closed list; displays treat
all content as text; the bytes of a continuation are refused when damaged.
"""
