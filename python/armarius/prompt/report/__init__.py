"""The account of a prompt: the pack, its items and omissions with reasons, and how they are displayed.

pack.py (`Pack`: the prompt and its account; cache rules and messages of providers)
build.py (makes the pack and its warnings)   items.py (items, omissions, explanations, differences)
display.py page.html (terminal and notebook)   continuation.py (what the next call needs)
providers.json (what providers ask of a cached prefix: dated data with its source)

A new column is a field of an item and of the displays; a rule of a provider is a line of providers.json. Invariants:
everything in the prompt has a source and a span in it, everything omitted one reason of the closed list; displays treat
all content as text; the bytes of a continuation are refused when damaged.
"""
