"""A local web page that shows prompts and the reasons for their content; live and offline. Needs `armarius[studio]`.

    server.py          `serve`, `join`; port and token of a folder; loads the extra only when called
    app.py             the ASGI application: routes, access guard, events, changes, language
    pages.py           the desk and the pages about the project
    inbox.py           doubts, and the search for them in the background
    changes.py         what forms change, and how it is undone
    drawing.py         the strip of chapters, marked text
    texts.toml  templates/  static/

Invariants: the server listens on a loopback address, requires the token and loads nothing from other hosts; every text
is escaped; pages contain no inline script or style; changes use the engine's own verbs and files.
"""

from armarius.studio.server import join, serve

__all__ = [
    "join",
    "serve",
]
