"""Test data for stores: a small novel."""

import threading
from collections.abc import Callable

from armarius.documents.document import Document, make_document
from armarius.store.protocol import Store
from armarius.store.rows import DerivedRow, EntityRow, GraphRows, Put, TextQuery

__all__ = ["NOVEL", "PEOPLE", "OpenStore", "document", "documents", "fill", "found", "hits", "together"]

OpenStore = Callable[..., Store]

NOVEL = {
    "chapters/ch001.md": "# 第一回 来客\n\n林黛玉走进来。宝玉笑了。\n\n甄宝玉没有来，黛玉也不问。\n",
    "chapters/ch002.md": "# 第二回 金锁\n\n宝钗拿出金锁。The gold lock.\n\n宝玉看着她。\n",
    "outline.md": "# 大纲\n\n- 第一回：来客\n- 第二回：金锁\n",
    "spec/people.md": "---\ntitle: 人物\ncharacters: [林黛玉, 史湘云]\ntags: [红楼]\n---\n"
    "# 人物\n\n## 林黛玉\n- 别名：颦儿\n",
}
"""Four small documents: chapters, an outline and a setting."""

PEOPLE = (
    EntityRow("baoyu", "宝玉", "character", "when_detected"),
    EntityRow("daiyu", "黛玉", "character", "always", '{"a": "乙"}'),
)


def documents() -> list[Document]:
    """The documents of the novel."""
    return [document(path, text) for path, text in NOVEL.items()]


def document(path: str, text: str) -> Document:
    """A document with this text."""
    return make_document(path, text.encode())


def hits(store: Store, query: TextQuery) -> list[tuple[str, int]]:
    """Path and paragraph index of the results of a query, best first."""
    return [(hit.path, hit.paragraph) for hit in store.search(query)]


def found(store: Store, *terms: str) -> list[tuple[str, int]]:
    """Path and paragraph index of the paragraphs with all these terms, best first."""
    return hits(store, TextQuery(terms))


def fill(store: Store) -> Store:
    """Put the novel into a store."""
    learnt = [DerivedRow(one.path, "names", "cast", one.title.encode()) for one in documents()]
    store.apply([GraphRows(PEOPLE, ()), *(Put(one, f"stamp {one.path}") for one in documents()), *learnt])
    return store


def together(calls: list[Callable[[], None]]) -> None:
    """Run the functions in parallel threads; raises the first failure."""
    failures: list[BaseException] = []

    def run(call: Callable[[], None]) -> None:
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - raised below, in the thread of the test
            failures.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
