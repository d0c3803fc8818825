"""Does the prompt hold the answer? Measured on the user's own book and the user's own questions.

Lives here: reading questions, and assembling a prompt for each at each budget. May be touched: what a row of questions
may say. Must hold: a quote counts only where it stands verbatim in the prompt, white space aside; every miss has a
reason; a question with a quote that is nowhere in the project is refused, since no prompt could hold it.
"""

from armarius.lazy import lazy

TABLE = {
    "evaluation.measure": "Evaluation Miss",
    "evaluation.questions": "Question read_questions",
}

__getattr__, __all__ = lazy(__name__, TABLE)
