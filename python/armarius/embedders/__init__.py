"""Embedders: models that turn texts into vectors.

    armarius.open("novel/", embedder=armarius.embedders.text2vec("models/text2vec-base-chinese"))

    loaders.py            a model by kind, from a folder, by a project's configuration; static embeddings (model2vec)
                          and the built-in lexical embedder
    folder.py             files of a model folder, ONNX sessions, safetensors
    preprocess.py         tokenization, pooling, prompts, families of models
    bert.py               transformers: BERT from safetensors, any text encoder from ONNX, multilingual-e5-small
    openai_server.py      a server with OpenAI's API

All but `openai` run in this process, offline. A missing or broken model raises `EmbeddingError` and names the file to
download; no other model is substituted. A host may pass any object with `embed_queries` and `embed_documents`
(`Embedder`), or with a single `embed`.
"""

from armarius.embedders.loaders import configured, e5, lexical, load, onnx, openai, safetensors, static, text2vec
from armarius.store.vectors_protocol import Fingerprint
from armarius.vectors.embedder import AnyEmbedder, Embedder, OneKindEmbedder

__all__ = [
    "AnyEmbedder", "Embedder", "Fingerprint", "OneKindEmbedder", "configured", "e5", "lexical", "load", "onnx",
    "openai", "safetensors", "static", "text2vec",
]  # fmt: skip
