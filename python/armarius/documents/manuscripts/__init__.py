"""Manuscripts of word processors, e-books, pages and screenplays, as Markdown text; read only, never written.

extract.py (which reader, the extra; .docx, .odt, .epub, .rtf, .fountain)
markup.py (HTML; XML by a parser that fetches nothing; paragraphs to Markdown)

What must hold: headings are headings, footnotes are kept, emphasis is dropped; spans are of the text that comes out.
Nothing outside the file is looked at, and what a file unpacks to is limited before it is unpacked.
"""
