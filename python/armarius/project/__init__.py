"""Files to documents, documents to the index, and watching for changes."""
