"""What fits the budget: candidates and a number of tokens to a prompt that is no longer.

profile.py (what each layer may take: ratio, minimum, maximum, order)   sizes.py cached_counter.py (what each costs)
allocate.py (the candidates as `rust/budget` divides among them, the budget less its reserve)
place.py window.py (whole, short, or cut at a boundary)   plan.py (one prompt that fits, counted and repaired)
fill.py (paragraphs on offer, in the room that demand leaves)
continuation.py prefix.py (what stays of the last prompt)

A budget rule that a user sets is a field of `profile.py`; how much goes to whom is `rust/budget/mod.rs`, whose
numbered semantics are the page to change first; what is cut, and where, is `window.py`. What must hold: whatever is
pinned gets in or `BudgetError` names the least that would do; nothing enters that was not counted; a bigger budget
never loses an item of a smaller one's pinned part; counts of pieces add up to that of the whole (docs/decisions/0021,
0031, 0034).
"""
