# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.evaluation.measure import Evaluation as Evaluation
from armarius.evaluation.measure import Miss as Miss
from armarius.evaluation.measure import Question as Question
from armarius.evaluation.measure import read_questions as read_questions
