"""Similarities as they must be, worked out from the texts that the index holds."""

import numpy as np

from armarius.store.vectors_protocol import embedded_texts

QUESTION = "林小雨在钟楼看见了什么"


def wrong_similarities(store, embedder, hits, *, whole=True):
    """What is wrong with the hits for QUESTION.

    Args:
        store: Where they were found.
        embedder: A `CountingEmbedder`.
        hits: Of a search by meaning, without a limit that matters.
        whole: Whether every text must be among them.
    """
    query, texts = embedder.vector(QUESTION), {}
    for path in store.files():
        texts |= {(path, index): text for index, text in embedded_texts(store.document(path)).items()}
    found = [(hit.path, hit.paragraph) for hit in hits]
    wrong = [f"found twice: {place}" for place in set(found) if found.count(place) > 1]
    wrong += [f"not found by meaning: {place}" for place in texts.keys() - set(found) if whole]
    for hit in hits:
        vector = embedder.vector(texts[hit.path, hit.paragraph])
        cosine = float(vector @ query / np.linalg.norm(vector) / np.linalg.norm(query))
        if not abs(hit.score - cosine) < 2e-3:  # half precision in the approximate index
            wrong.append(f"similarity of {hit.path}#{hit.paragraph}: {hit.score}, not {cosine}")
    return wrong
