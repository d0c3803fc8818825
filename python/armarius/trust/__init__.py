"""Whom the user trusts, and what a project may say when it is not trusted.

A project folder is data: somebody else may have made it. What lies outside of it, and what is run, is named by the
caller, the environment or the user's own configuration; `armarius.toml` chooses by name among what that allows, or
names data inside the project. In a folder that the user trusts it speaks for the user.

    armarius.trust.trust("novel/")          # as `armarius trust novel/`; remembered in trusted.toml
    armarius.trust.revoke("novel/")

`docs/decisions/0002-who-may-say-what.md` has the whole of it on one page.
"""

from armarius.trust.folders import is_trusted, revoke, trust, trusted

__all__ = ["is_trusted", "revoke", "trust", "trusted"]
