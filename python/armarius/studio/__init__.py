"""A local web page that shows prompts and the reasons for their content; live and offline. Needs `armarius[studio]`.

    server.py          `serve`; loads the extra only when called
    app.py             the ASGI application: routes, access guard, events, changes, language
    pages.py           pages about a prompt and about the project
    changes.py         what forms change
    drawing.py         SVG and marked text
    texts.toml  templates/  static/

Invariants: the server listens on a loopback address, requires the token and loads nothing from other hosts; every text
is escaped; pages contain no inline script or style; changes use the engine's own verbs and files.
"""

from armarius.studio.server import serve

__all__ = ["serve"]
