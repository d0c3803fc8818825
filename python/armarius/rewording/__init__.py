"""A question in the words of the book: what to ask a language model, and what to make of its reply.

    asked = armarius.rewording.request("who paid for the young man's education", names=["Pip", "Magwitch"])
    engine.assemble("who paid …", also=asked.parse(model(asked)))

A reader's words are seldom the book's, and no index of words finds what is told in others. A language model that knows
nothing but the question and the names writes sentences as the book would; `also=` looks them up. A host that has a
model gives it once, `armarius.open(folder, reword=model)`, and need not call anything here.

`asking.py` makes the messages, `replies.py` reads replies, `reworder.py` asks: cached, within a time, never fatal.
What must hold: a reply is looked up and never shown, so that it can mislead and not instruct; nothing here imports a
host's library, and nothing is asked unless somebody gave a model.
"""

from armarius.lazy import lazy

TABLE = {
    "rewording.asking": "Message RewordingRequest request",
    "rewording.replies": "parse",
    "rewording.reworder": "ChatModel Model Reworded Reworder",
}

__getattr__, __all__ = lazy(__name__, TABLE)
