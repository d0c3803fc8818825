"""The parts of `compare_wheels.py`: the same requests to two builds of the package, and what differs in the answers.

book.py        a project folder as a source of words: chapters, headings, names, sentences, symbols
questions.py   questions and texts to search for, made of those words
plan.py        the requests of a book, drawn from a seed
runner.py      answers them with whichever package Python finds; run in a process of its own, imports nothing from here
side.py        a build to run (wheel, folder, virtual environment), and its answers
record.py      requests and answers on disk, so that one side need not run again
verdict.py     what changed, and the unified diff of it

Nothing but runner.py may know the package: the requests must not depend on the side that answers them.
"""
