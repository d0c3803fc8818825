"""Trusted folders, what the user says of projects, and the settings that an untrusted project may use.

folders.py (trusted folders, paths that stay inside one; the user's configuration, programs)
settings.py (armarius.toml; `Permissions`, books that may make rules)

A project folder is data, possibly from a third party. Only the caller, the environment and the user's configuration
name paths outside of it and programs to run. `armarius.toml` selects among them by name, or names data inside the
project. In a trusted folder it has the rights of the user's configuration.

    armarius.trust.trust("novel/")          # as `armarius trust novel/`; remembered in trusted.toml
    armarius.trust.revoke("novel/")

See `docs/decisions/0002-who-may-say-what.md`.
"""

from armarius.trust.folders import is_trusted, revoke, trust, trusted

__all__ = ["is_trusted", "revoke", "trust", "trusted"]
