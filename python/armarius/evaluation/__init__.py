"""Evaluation of prompts with the user's own questions: does the prompt contain the quotes that answer them?

    measure.py     reads questions and quotes from JSON Lines; assembles a prompt for each question and budget

Invariants: a quote counts only if it is in the prompt verbatim, except for white space; every missing quote has a
reason; a question with a quote that is not in the project is left out and reported, because no prompt could contain it.
"""

from armarius.lazy import lazy

TABLE = {
    "evaluation.measure": "Evaluation Miss Question read_questions",
}

__getattr__, __all__ = lazy(__name__, TABLE)
