"""A page to look at: what a model would be told, and why, in any browser; live, offline, on this machine alone.

Lives here: routes, pages, drawings, the guard in front of them. May be touched: what a page shows and how. Must hold:
the server listens on a loopback address, answers only who holds the token, names no third party; every text is
escaped; no script or style stands in a page; what is changed here goes through the engine's own verbs, into the same
files. Needs `armarius[studio]`.
"""
