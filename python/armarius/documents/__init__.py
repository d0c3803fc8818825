"""From a file to a document: bytes decoded, paragraphs cut, headings read, kind told."""
