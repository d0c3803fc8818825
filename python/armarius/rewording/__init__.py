"""Query variants from a language model: the question in other words (multi-query retrieval).

    asked = armarius.rewording.request("who paid for the young man's education", names=["Pip", "Magwitch"])
    engine.assemble("who paid …", also=asked.parse(model(asked)))

Full-text search misses passages that share no word with the question. From the question and the names in the project,
a language model writes sentences as they might stand in the book; retrieval searches for these as well (`also=`). A
host with a model passes it once, `armarius.open(folder, reword=model)`, and calls nothing here.

    reworder.py   the messages to a model; its call, cached, with a timeout (a failure becomes a warning); its reply

Invariants: a reply is only searched for and never part of a prompt, so it cannot inject instructions; no model library
is imported here; no model is called unless the host gave one.
"""

from armarius.lazy import lazy

TABLE = {
    "rewording.reworder": "ChatModel Message Model Reworded Reworder RewordingRequest parse request",
}

__getattr__, __all__ = lazy(__name__, TABLE)
