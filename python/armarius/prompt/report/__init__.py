"""The answer of an assembly: the pack, what it says of each thing considered, and how it looks.

pack.py (`Pack`: the prompt and its account)   build.py (from a prompt that fits to its pack, with every warning)
items.py (the rows)   omissions.py (what stayed out, and why)   diff.py   continuation.py (what the next call needs)
account.py (what a display reads)   terminal.py html.py page.html (displays)
inspection.py (layers, never the prompt)
cache_rules.py providers.json (what providers ask of a prefix they cache: dated data with its source)

A new column is a field of a row and of the displays; a rule of a provider is a line of providers.json. What must
hold: everything in the prompt has a source and a span in it, everything considered and left out one reason of the
closed list; displays read an `Account` and treat all content as text; the bytes of a continuation are refused when
damaged.
"""
