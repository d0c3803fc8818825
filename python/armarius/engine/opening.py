"""`armarius.open`: opens the engine of a folder, with a progress bar on a terminal."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from os import PathLike

from armarius.embedders.protocol import AnyEmbedder
from armarius.engine.engine import ContextEngine
from armarius.graph.protocol import GraphStore
from armarius.index.status import Progress, progress_bar
from armarius.rewording import Model, Reworder
from armarius.search.rerank import Reranker, Reranking


def open(  # noqa: A001 - armarius.open
    path: str | PathLike[str],
    *,
    project_id: str | None = None,
    watch: bool = True,
    wait: bool = True,
    index_dir: str | PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    embedder: AnyEmbedder | None = None,
    graph: GraphStore | None = None,
    rerank: Reranker | Reranking | None = None,
    trusted: bool | None = None,
    reword: Model | Reworder | None = None,
    with_: Sequence[str | PathLike[str]] = (),
) -> ContextEngine:
    """Open the project at `path`; needs no configuration. Builds or repairs its index.

    Args:
        path: A folder of text files.
        project_id: Requests that name another project are refused.
        watch: Whether changes are followed as they happen; without, every request looks first.
        wait: Whether to return when the index equals the folder, or at once and build in the background:
            answers then come from what is there, with `INDEX_STALE`.
        index_dir: Where the index lives, relative to the project; the user's cache directory when it is neither given
            nor configured.
        progress: Called after every committed batch of a build, from the thread that builds; when not given
            and `wait`, a bar is drawn where standard error is a terminal.
        embedder: Makes vectors for recall by meaning, in the background; see `armarius.embedders`. Also an object with
            one `embed`, or a function from texts to vectors. None takes the model that `armarius.toml` names
            ([embedding] model), else the one of the user's configuration, if any.
        graph: A graph store. Its entities are matched in texts and its relations are followed, in addition to those of
            the files. If it fails or is slow, the result has only those of the files, with `KG_UNAVAILABLE`. See
            `armarius.graph`.
        rerank: A function from a question and texts to scores: the 50 best paragraphs are put in its order before the
            prompt is filled. `armarius.search.Reranking` sets how many and how long is waited (2 s); late or broken
            leaves the order without it, with `RERANK_UNAVAILABLE`.
        trusted: Whether the project's `armarius.toml` speaks for the user: may name what lies outside, and have
            programs run over the folder. None asks the user's configuration (`armarius.trust`).
        reword: Asked for other wordings of every question that comes without `also`: a function from messages to a
            reply, also a coroutine function, a chat model, or an `armarius.rewording.Reworder`, which says how long
            and how many. Asked once for each question; late or broken, it is `REWORDING_UNAVAILABLE`.
        with_: Other folders of a series, such as a bible and the books before this one: read, never written, their
            documents and entities in one prompt with the project's own. Ids and paths of each begin with the name of
            its folder (`book1/chapters/ch001.md`); chapter numbers mean the project's chapters alone, and a folder
            with chapters is wholly past. Where two say something else of one entity, the project is heard first, then
            the folders in their order. One that is missing is `SERIES_UNAVAILABLE`.

    Raises:
        ContractError: `graph` is no GraphStore, `embedder` none, `rerank` cannot be called, `reword` is no model, or
            `with_` no list of folders.
        ProjectError: `path` is no folder, or `index_dir` no path; or a folder of `with_` lies in another one.
        ConfigError: Its `armarius.toml`, or the user's own configuration, is wrong.
        StoreError: The index can be neither used nor rebuilt.
    """
    with progress_bar() if progress is None and wait else nullcontext(progress) as report:
        return ContextEngine(
            path,
            project_id=project_id,
            watch=watch,
            wait=wait,
            index_dir=index_dir,
            progress=report,
            embedder=embedder,
            graph=graph,
            rerank=rerank,
            trusted=trusted,
            reword=reword,
            with_=with_,
        )
