"""Which entries are active for a text or a chat, under whose rules, and why the others are not.

scan.py (what is searched: messages, text, settings, luck) state.py (what earlier turns left behind) result.py
index.py (keys of books, found all at once) macros.py decorated.py (`@@name` lines taken into an entry)
rules.py entries.py searched.py rounds.py groups.py timed.py (the engine of most profiles)

What must hold: the same input gives the same answer, draws included; a text costs what it is long, not what the books
hold; recursion ends; nothing is hidden: state is an argument and an answer.
"""
