"""Ready-made embedders: where vectors come from.

    armarius.open("novel/", embedder=armarius.embedders.text2vec("models/text2vec-base-chinese"))

Everything runs in this process and offline. A model that is missing or broken is an `EmbeddingError`
that says what to download; nothing falls back to another model in silence. Anything with `embed` and
`fingerprint` (`armarius.embedders.protocol.Embedder`) can be used in place of these.
"""

from pathlib import Path

from armarius.config import CONFIG_NAME, Config
from armarius.embedders.bert import load_bert
from armarius.embedders.folder import ModelFolder
from armarius.embedders.lexical_grams import LexicalEmbedder
from armarius.embedders.onnx_session import load_onnx
from armarius.embedders.preprocess import MOST_TOKENS, Pooling, pooling_of
from armarius.embedders.protocol import Embedder, Fingerprint
from armarius.embedders.static_table import is_static, load_static
from armarius.errors import ConfigError, EmbeddingError, SettingRefused
from armarius.trust.asked import Permissions

__all__ = ["Embedder", "Fingerprint", "configured", "lexical", "load", "onnx", "safetensors", "static", "text2vec"]

_DEFAULT_MAX_LENGTH = 512
_MOST_THREADS = 256  # that a project may ask for


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
    return _text2vec(ModelFolder.open(path), threads)


def _text2vec(folder: ModelFolder, threads: int | None) -> Embedder:
    if folder.require("model.safetensors", "onnx/model.onnx", "model.onnx").suffix == ".onnx":
        return load_onnx(folder, max_length=128, pooling="mean", normalise=False, threads=threads)
    return load_bert(folder, max_length=128, pooling="mean", normalise=False, threads=threads)


def safetensors(
    path: str | Path,
    *,
    max_length: int | None = None,
    pooling: Pooling | None = None,
    normalise: bool | None = None,
    threads: int | None = None,
) -> Embedder:
    """A BERT-type model from `model.safetensors`; None reads what the folder says.

    Args:
        path: The model's folder, as sentence-transformers saves it.
        max_length: Tokens kept of each text; else `sentence_bert_config.json`, else 512.
        pooling: mean, cls or max; else `1_Pooling/config.json`, else mean.
        normalise: Scale to length 1; else whether `modules.json` ends in Normalize.
        threads: Threads of one forward pass; None is one per core.

    Raises:
        EmbeddingError: Absent, incomplete, truncated, pickled, or not a BERT model.
        MissingExtra: pip install 'armarius[semantic]'.
    """
    folder = ModelFolder.open(path)
    length, pooled, unit = _settings(folder, max_length, pooling, normalise)
    return load_bert(folder, max_length=length, pooling=pooled, normalise=unit, threads=threads)


def onnx(
    path: str | Path,
    *,
    file: str | None = None,
    max_length: int | None = None,
    pooling: Pooling | None = None,
    normalise: bool | None = None,
    threads: int | None = None,
) -> Embedder:
    """Any text encoder from ONNX (`onnx/model.onnx`, `model.onnx`, or `file`); else as `safetensors`.

    Raises:
        EmbeddingError: Absent, incomplete, truncated, pickled, or not a text encoder.
        MissingExtra: pip install 'armarius[semantic]'.
    """
    folder = ModelFolder.open(path)
    length, pooled, unit = _settings(folder, max_length, pooling, normalise)
    return load_onnx(folder, file=file, max_length=length, pooling=pooled, normalise=unit, threads=threads)


def static(path: str | Path, *, max_length: int | None = None) -> Embedder:
    """A static table (model2vec type): thousands of paragraphs a second, weaker than a transformer.

    Args:
        path: The model's folder, as model2vec or sentence-transformers saves it.
        max_length: Tokens kept of each text, 0 is all; else `config.json`, else 512.

    Raises:
        EmbeddingError: Absent, incomplete, truncated, or not a static table.
        MissingExtra: pip install 'armarius[semantic]'.
    """
    return load_static(ModelFolder.open(path), max_length=max_length)


def lexical(dimension: int = 1024) -> Embedder:
    """The built-in embedder without a model: shared wording only, never meaning.

    Raises:
        ValueError: dimension < 1.
    """
    return LexicalEmbedder(dimension)


def load(path: str | Path, *, threads: int | None = None) -> Embedder:
    """Whatever the folder holds, with the folder's own settings; what `armarius embed --model` uses.

    A folder named like text2vec-base-chinese, or without sentence-transformers' files, is run as `text2vec`.

    Raises:
        EmbeddingError: As the constructor it chooses.
    """
    return _load(ModelFolder.open(path), threads)


def _load(folder: ModelFolder, threads: int | None) -> Embedder:
    if is_static(folder):
        return load_static(folder)
    if "text2vec" in folder.path.resolve().name or folder.first("modules.json", "sentence_bert_config.json") is None:
        return _text2vec(folder, threads)
    length, pooled, unit = _settings(folder, None, None, None)
    if folder.first("model.safetensors") and folder.json("config.json").get("model_type") == "bert":
        return load_bert(folder, max_length=length, pooling=pooled, normalise=unit, threads=threads)
    return load_onnx(folder, max_length=length, pooling=pooled, normalise=unit, threads=threads)


def configured(config: Config, root: Path | None, *, permissions: Permissions | None = None) -> Embedder | None:
    """The embedder that `armarius.toml` asks for; None when it asks for none.

        [embedding]
        model = "text2vec"    # a name under [models] of the user's configuration, or a folder of the project;
                              # or "lexical": the built-in one
        threads = 2           # of one forward pass; one per core when absent

    Args:
        config: The project's configuration.
        root: The project folder.
        permissions: What the project may say; None asks the user's configuration.

    Raises:
        ConfigError: An unknown key or a value of the wrong kind; names file and key.
        EmbeddingError: The model is missing or broken, or none that the project may name.
        MissingExtra: pip install 'armarius[semantic]'.
    """
    table = config.table("embedding")
    if unknown := sorted(table.keys() - {"model", "threads"}):
        raise ConfigError(f"{CONFIG_NAME}: unknown key embedding.{unknown[0]}; known: model, threads")
    model, threads = table.get("model"), table.get("threads")
    if model is not None and (not isinstance(model, str) or not model):
        raise ConfigError(f"{CONFIG_NAME}: embedding.model must be a folder or 'lexical', got {model!r}")
    if threads is not None and (type(threads) is not int or not 1 <= threads <= _MOST_THREADS):
        raise ConfigError(
            f"{CONFIG_NAME}: embedding.threads must be a number >= 1 and <= {_MOST_THREADS}, got {threads!r}"
        )
    if model is None or model == "lexical":
        return None if model is None else lexical()
    if permissions is None:
        if root is None:
            raise EmbeddingError(f"{CONFIG_NAME}: embedding.model needs a project folder; give an embedder instead")
        permissions = Permissions.of(root)
    try:
        path = permissions.model(model)
    except SettingRefused as error:
        raise EmbeddingError(str(error)) from None
    within = not permissions.trusted and path == permissions.root / model  # by a name of the user's it is the user's
    return _load(ModelFolder.open(path, below=permissions.root if within else None), threads)


def _settings(
    folder: ModelFolder, max_length: int | None, pooling: Pooling | None, normalise: bool | None
) -> tuple[int, Pooling, bool]:
    if max_length is None:
        files = ("sentence_bert_config.json", "sentence_xlm-roberta_config.json")
        configured = folder.json(*files).get("max_seq_length")
        max_length = configured if isinstance(configured, int) else _DEFAULT_MAX_LENGTH
        if not 3 <= max_length <= MOST_TOKENS:
            path = folder.first(*files) or folder.path
            raise folder.broken(path, f"says max_seq_length {configured!r}, expected 3 to {MOST_TOKENS:,}")
    if max_length < 3:
        raise ValueError(f"max_length must be >= 3 (two special tokens and one of the text), got {max_length}")
    if normalise is None:
        normalise = folder.says("Normalize")
    return max_length, pooling or pooling_of(folder), normalise
