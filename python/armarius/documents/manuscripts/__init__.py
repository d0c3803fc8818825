"""Manuscripts of word processors, e-books, pages and screenplays, as Markdown text; read only, never written.

extract.py  the reader of each suffix and its extra: .docx, .odt, .epub, .rtf, .fountain; HTML; XML without network
            access; paragraphs to Markdown

What must hold: headings and footnotes are kept, emphasis is dropped; spans refer to the extracted text. No other file
is read, and the unpacked size is limited before unpacking.
"""
