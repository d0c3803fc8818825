"""The answer of an assembly: the pack, what it says of each thing considered, and how it looks.

pack.py (`Pack`: the prompt and its account)   build.py (from a prompt that fits to its pack, with every warning)
items.py (the rows)   items.py (what stayed out, and why)   display.py   continuation.py (what the next call needs)
display.py (what a display reads)   display.py page.html (displays)
build.py (layers, never the prompt)
pack.py providers.json (what providers ask of a prefix they cache: dated data with its source)

A new column is a field of a row and of the displays; a rule of a provider is a line of providers.json. What must
hold: everything in the prompt has a source and a span in it, everything considered and left out one reason of the
closed list; displays read an `Account` and treat all content as text; the bytes of a continuation are refused when
damaged.
"""
