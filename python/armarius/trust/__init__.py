"""Trusted folders, and the settings that an untrusted project may use.

settings.py (`Permissions`, books that may make rules)   user.py (user configuration, trusted folders, programs)

A project folder is data, possibly from a third party. Only the caller, the environment and the user's configuration
name paths outside of it and programs to run. `armarius.toml` selects among them by name, or names data inside the
project. In a trusted folder it has the rights of the user's configuration.

    armarius.trust.trust("novel/")          # as `armarius trust novel/`; remembered in trusted.toml
    armarius.trust.revoke("novel/")

See `docs/decisions/0002-who-may-say-what.md`.
"""

from armarius.trust.user import is_trusted, revoke, trust, trusted

__all__ = ["is_trusted", "revoke", "trust", "trusted"]
