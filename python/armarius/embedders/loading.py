"""Chooses the embedder: for a model folder with its settings, and the one that a configuration names."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from armarius.config import BUILT_IN_MODELS, CONFIG_NAME, Config
from armarius.embedders.bert import BERT_TYPES, load_bert, load_onnx
from armarius.embedders.folder import ModelFolder
from armarius.embedders.preprocess import MOST_TOKENS, EmbeddingPrompts, Pooling, family_of, pooling_of, prompts_of
from armarius.embedders.protocol import Embedder
from armarius.embedders.static_table import LexicalEmbedder, is_static, load_static
from armarius.errors import ConfigError, ContractError, EmbeddingError
from armarius.io.toml import quoted
from armarius.trust.settings import Permissions
from armarius.trust.user import UserConfig, near, read_user_config

_DEFAULT_MAX_LENGTH = 512


def load_folder(
    folder: ModelFolder, query_prompt: str | None = None, document_prompt: str | None = None, threads: int | None = None
) -> Embedder:
    """Load the model in a folder; see `armarius.embedders.load`.

    Raises:
        EmbeddingError: Files are missing or broken, or the architecture is not supported.
    """
    prompts = prompts_of(folder, query=query_prompt, document=document_prompt)
    if is_static(folder):
        return load_static(folder, prompts=prompts)
    silent = folder.first("modules.json", "sentence_bert_config.json") is None and family_of(folder) is None
    if "text2vec" in folder.path.resolve().name or silent:
        return load_text2vec(folder, threads, prompts)
    length, pooled, unit = settings_of(folder, None, None, None)
    bert = folder.json("config.json").get("model_type") in BERT_TYPES
    if bert and folder.first("model.safetensors"):
        return load_bert(folder, max_length=length, pooling=pooled, normalise=unit, prompts=prompts, threads=threads)
    return load_onnx(folder, max_length=length, pooling=pooled, normalise=unit, prompts=prompts, threads=threads)


def load_text2vec(folder: ModelFolder, threads: int | None, prompts: EmbeddingPrompts) -> Embedder:
    """Load `shibing624/text2vec-base-chinese` or a derived model; see `armarius.embedders.text2vec`."""
    if folder.require("model.safetensors", "onnx/model.onnx", "model.onnx").suffix == ".onnx":
        return load_onnx(folder, max_length=128, pooling="mean", normalise=False, prompts=prompts, threads=threads)
    return load_bert(folder, max_length=128, pooling="mean", normalise=False, prompts=prompts, threads=threads)


def settings_of(
    folder: ModelFolder, max_length: int | None, pooling: Pooling | None, normalise: bool | None
) -> tuple[int, Pooling, bool]:
    """Maximum length, pooling and normalisation; None takes the folder's setting, else that of its family.

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
        known = folder.first("modules.json") is None and family is not None
        normalise = known or folder.says("Normalize")
    return max_length, pooling or pooling_of(folder, family.pooling if family else "mean"), normalise


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
    table = _checked(config.table("embedding"), CONFIG_NAME)
    if permissions is None and root is not None and table.get("model") != "lexical":
        permissions = Permissions.of(root)
    if permissions is not None:
        table = permissions.heeded(config).table("embedding")
    model = table.get("model")
    if model is None:
        user = read_user_config() if permissions is None else permissions.user
        return _of_the_user(user, table)
    if model == "lexical":
        return LexicalEmbedder()
    if permissions is None:
        raise EmbeddingError(f"{CONFIG_NAME}: embedding.model needs a project folder; give an embedder instead")
    user = permissions.user
    if model in user.servers:
        return _server(user.servers[model], table)
    if model in BUILT_IN_MODELS and model not in user.models:
        return _e5(table)
    path, within = permissions.place("embedding.model", model), not permissions.trusted and model not in user.models
    if within and model == path.name and not path.exists():
        what = f"is neither a folder of the project nor a name under [models] in {user.name}{near(model, user.models)}"
        raise EmbeddingError(f"{CONFIG_NAME}: embedding.model {quoted(model)} {what}")
    return _folder(ModelFolder.open(path, below=permissions.root if within else None), table)


def _of_the_user(user: UserConfig, project: Mapping[str, Any]) -> Embedder | None:
    """The embedder of the user's `[embedding]`; the project's other keys (threads, prompts) override the user's."""
    table = {**_checked(user.embedding, user.name), **project}
    model = table.get("model")
    if model is None:
        return None
    if model in user.servers:
        return _server(user.servers[model], table)
    if model in user.models:
        return _folder(ModelFolder.open(user.models[model]), table)
    if model in BUILT_IN_MODELS:
        return LexicalEmbedder() if model == "lexical" else _e5(table)
    path = Path(os.path.expanduser(model))  # noqa: PTH111 - Path raises where there is no home
    if not path.is_absolute():
        known = ", ".join(sorted({*user.models, *user.servers, *BUILT_IN_MODELS}))
        raise EmbeddingError(
            f"{user.name}: embedding.model {model!r} is no name known there ({known}) and no absolute path"
        )
    return _folder(ModelFolder.open(path), table)


def _folder(folder: ModelFolder, table: Mapping[str, Any]) -> Embedder:
    return load_folder(folder, table.get("query_prompt"), table.get("document_prompt"), table.get("threads"))


def _e5(table: Mapping[str, Any]) -> Embedder:
    from armarius.embedders.e5_model import load_e5

    return load_e5(threads=table.get("threads"))


def _server(server: Mapping[str, Any], table: Mapping[str, Any]) -> Embedder:
    from armarius.embedders.openai_server import ServerEmbedder  # imports http and ssl

    key = os.environ.get(server["api_key_env"], "") if "api_key_env" in server else server.get("api_key", "")
    said = {name: value for name, value in server.items() if name not in ("api_key", "api_key_env")}
    said |= {name: table[name] for name in ("query_prompt", "document_prompt") if name in table}
    try:
        return ServerEmbedder(**said, api_key=key)
    except ValueError as error:
        raise EmbeddingError(f"[servers]: {error}") from error


def _checked(table: Mapping[str, Any], file: str) -> Mapping[str, Any]:
    if unknown := sorted(table.keys() - set(_KEYS)):
        raise ConfigError(f"{file}: unknown key embedding.{unknown[0]}; known: {', '.join(_KEYS)}")
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
