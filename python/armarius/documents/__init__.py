"""Documents: files decoded, split into paragraphs with headings, and classified by kind and chapter.

document.py      a file or a folder to documents; the language of a project
decode.py        bytes to text, or the reason why not
segments.py      paragraphs of prose and of source code
classify.py      kind and chapter of a file by itself; hidden folders, and what of a folder is not read
features.py      the evidence of one file
decide.py        the evidence of all files: kind, place in the story, edition
project_map.py   what the files of a project are; the map as a tree, doubts first
titles.py        front matter; what a title announces; forms that nobody has filled in
kinds.py         what each kind means, its words, glob patterns of the configuration; what each clue weighs
units.py         chapters, parts, scenes … and their numbers
manuscripts.py   word processor files, e-books, web pages, screenplays as Markdown

A new encoding belongs in `decode.py` (encodings of tokens in `rust/tokens`), a new word of file names in
`lexicon/kinds.toml`, the weight of evidence in `kinds.py`. What must hold: equal bytes give equal documents in every
process; paragraphs are in text order with half-open spans in code points; other files are skipped with a reason;
links are not followed; the cost is linear in the text.
"""

from armarius.doors import lazy

TABLE = {
    "documents.classify": "Kind",
    "documents.document": "Documents Skipped",
    "documents.project_map": "DocumentState Doubt Edition MappedFile ProjectMap ShownMap",
    "documents.segments": "Role",
    "documents.titles": "FrontMatter",
}

__getattr__, __all__ = lazy(__name__, TABLE)
