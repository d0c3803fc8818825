"""Names that nobody listed: short forms of listed names, and names in a text that no profile describes.

people.py     persons of a cast and their gender; family names and titles; rows of `lexicon/names.toml`; short forms
              that names allow, which `EntityMatcher(entities, short_names=…)` finds
proposals.py  names in a text that no profile describes
"""

from armarius.doors import lazy

TABLE = {
    "names.proposals": "ProposedName propose_names",
    "names.people": "short_names",
    "text.matcher": "ShortName",
}

__getattr__, __all__ = lazy(__name__, TABLE)
