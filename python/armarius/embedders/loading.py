"""Choose the embedder for a model folder, and its settings."""

from armarius.embedders.bert import BERT_TYPES, load_bert, load_onnx
from armarius.embedders.folder import ModelFolder
from armarius.embedders.preprocess import MOST_TOKENS, EmbeddingPrompts, Pooling, family_of, pooling_of, prompts_of
from armarius.embedders.protocol import Embedder
from armarius.embedders.static_table import is_static, load_static
from armarius.errors import ContractError

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
