"""A session of everything that touches a disk, run once for each failed call, each in a process of its own.

Run as a program, with the shim preloaded: `python -m tests.reliability.session FOLDER COUNT FIRST STEP`. The program
opens nothing more once it is warm: it forks one child that works while a call fails, and one that looks at what is
left. A line of JSON for each point: the call that failed, and what was wrong.
"""

import gc
import json
import os
import shutil
import sys
import traceback
import warnings
from pathlib import Path

from tests.index.conftest import NOVEL, put
from tests.index.test_index import equals_folder
from tests.reliability.meaning import QUESTION, wrong_similarities
from tests.reliability.shim import LASTING_EIO, LASTING_FULL, MODES, ONCE_EIO, ONCE_FULL, Shim
from tests.vectors.stores import CountingEmbedder

import armarius
from armarius.errors import ArmariusError
from armarius.vectors.recall import ProjectRecall

WORD = "钟"
RULES = ("不写雨。", "不写风。")


class Session:
    """What is done, and what was acknowledged."""

    def __init__(self, root, shim):
        self.root, self.shim = root, shim
        self.engine = self.recall = self.pack = None
        self.done = []
        self.wrong = []

    def attempt(self, name, call):
        """Do one step: acknowledged, or an error of ours; anything else is wrong."""
        try:
            if self.engine is None:
                self.engine = armarius.open(self.root, watch=False)
            call()
            self.done.append(name)
        except ArmariusError as error:
            if not str(error).strip():
                self.wrong.append(f"{name}: {type(error).__name__} that says nothing")
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            self.wrong.append(f"{name}: {error!r} leaves the library, from {place.filename}:{place.lineno}")

    def run(self):
        engine = lambda: self.engine  # noqa: E731 - not open yet
        self.attempt("open", lambda: None)
        self.attempt("search", self.search)
        self.shim.disarm()
        put(self.root, "chapters/ch003.md", "# 第三章 青鸾\n\n青鸾到了钟楼。\n\n林默看着她。\n")
        put(self.root, "outline.md", "# 大纲\n\n- 第三章：青鸾与钟\n")
        self.shim.resume()
        self.attempt("refresh", lambda: engine().refresh())
        self.attempt("rule 0", lambda: engine().constraints.create(RULES[0], id="r0"))
        self.attempt("rule 1", lambda: engine().constraints.create(RULES[1], id="r1"))
        self.attempt("rule changed", lambda: engine().constraints.update("r0", priority=7))
        self.attempt("memory", lambda: engine().memories.create("林默怕雨。", id="m0"))
        self.attempt("memory gone", lambda: engine().memories.delete("m0"))
        self.attempt("entity", lambda: engine().codex.create("青鸾", id="luan", type="character", aliases=("鸾鸟",)))
        self.attempt("relation", lambda: engine().codex.relate("青鸾", "林默", "师徒"))
        self.attempt("pin", lambda: engine().pins.add("chapters/ch001.md"))
        self.attempt("budget", self.update_budget)
        self.attempt("assemble", self.assemble)
        self.attempt("vectors", self.embed)
        if self.shim.what:  # it has failed: from here on the disk is well again, and so must the engine be
            self.shim.disarm()
            self.attempt("", self.recovered)
        if self.recall is not None:
            self.attempt("close recall", self.recall.close)
        if self.engine is not None:
            self.attempt("close", self.engine.close)

    def search(self):
        found = {hit.path for hit in self.engine.search(WORD, limit=50)}
        told = self.engine.status().skipped or self.engine.index.freshen()
        if found != {path for path, text in NOVEL.items() if WORD in text} and not told:
            self.wrong.append(f"search: {sorted(found)}, and no warning")

    def update_budget(self):
        profile = self.engine.budget_profile()
        self.engine.update_budget_profile(profile, version=profile.version)

    def assemble(self):
        self.pack = self.engine.assemble(query=QUESTION, document="chapters/ch002.md", cursor=10, budget=4000)

    def embed(self):
        self.recall = self.recall or ProjectRecall(self.engine.index, CountingEmbedder(), background=False)
        self.engine.index.store.vectors.approximate.exact_below = 0  # so that there is a file of vectors too
        self.recall.embed()
        self.recall.similar(QUESTION)
        self.engine.index.store.vectors.refresh()

    def recovered(self):
        """In the engine that met the failure: answers are those of the folder, and no warning stays."""
        before, self.engine_warned = self.pack, None
        if self.pack is not None:
            self.assemble()
            if before.prompt != self.pack.prompt and not before.warnings:
                self.wrong.append("assemble: another prompt than after the failure, without a warning")
        self.engine.refresh()
        if left := self.engine.index.freshen():
            self.wrong.append(f"afterwards: {left}")
        if not equals_folder(self.engine.index):
            self.wrong.append(f"afterwards: {self.engine.index.store.verify()}")
        self.embed()


def expected_rules(done):
    """Text and priority of each rule by id: what must be there, and what may be."""
    must = {f"r{n}": RULES[n] for n in range(2) if f"rule {n}" in done}
    return must, ("rule changed" in done)


def examine(root, done):
    """What the next process finds; a list of what is wrong."""
    wrong = []
    with armarius.open(root, watch=False) as engine:
        if not equals_folder(engine.index) or (problems := engine.index.store.verify()):
            wrong.append(f"the index: {problems}")
        rules = engine.constraints.list()
        must, changed = expected_rules(done)
        found = {rule.id: rule.text for rule in rules}
        if len(found) != len(rules) or must.items() - found.items() or set(found.values()) - set(RULES):
            wrong.append(f"rules: {found}, acknowledged {must}")
        if changed and engine.constraints.get("r0").priority != 7:
            wrong.append("a change of a rule is lost")
        memories = [memory.id for memory in engine.memories.list()]
        if "memory gone" in done and memories:
            wrong.append("a deleted memory is back")
        if "memory" in done and "memory gone" not in done and memories not in ([], ["m0"]):
            wrong.append(f"memories: {memories}")
        names = [entity.id for entity in engine.codex.list() if entity.id == "luan"]
        if len(names) > 1 or ("entity" in done and not names):
            wrong.append(f"entity: {names}")
        if "relation" in done and not any(one.type == "师徒" for one in engine.codex.relations()):
            wrong.append("a relation is lost")
        if "pin" in done and [pin.target for pin in engine.pins.list()] != ["chapters/ch001.md"]:
            wrong.append("a pin is lost")
        if said := [*engine.constraints.problems(), *engine.memories.problems(), *engine.codex.problems()]:
            wrong.append(f"torn: {said}")
        engine.assemble(query=QUESTION, budget=4000)
        embedder = CountingEmbedder()
        with ProjectRecall(engine.index, embedder, background=False) as recall:
            recall.embed()
            engine.index.store.vectors.refresh()
            wrong += wrong_similarities(engine.index.store, embedder, recall.similar(QUESTION, limit=50))
    return wrong


def in_a_child(call, seconds=120):
    """What `call` answers, as JSON, from a fork; a child that hangs or dies has done something wrong."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        import signal

        signal.alarm(seconds)
        try:
            answer = call()
        except BaseException:
            answer = {"wrong": [traceback.format_exc(limit=-4)]}
        os.write(write, json.dumps(answer).encode()[:60_000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    status = os.waitpid(child, 0)[1]
    return json.loads(said) if said else {"wrong": [f"the child ended with status {status}"]}


def planted(folder):
    """The novel, and an empty cache, in an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in NOVEL.items():
        put(folder / "novel", path, text)
    os.environ["ARMARIUS_CACHE"] = str(folder / "cache")
    return folder / "novel"


def one_point(folder, shim, at, mode):
    """Let call number `at` fail, in `mode`; -1 fails none and says how many there are."""
    root = planted(folder)

    def work():
        session = Session(root, shim)
        shim.arm(folder, at, mode)
        session.run()
        return {"calls": shim.disarm(), "call": shim.what, "done": session.done, "wrong": session.wrong}

    answer = in_a_child(work)
    left = in_a_child(lambda: {"wrong": examine(root, answer.get("done", ()))})
    answer["wrong"] += [f"next opening: {one}" for one in left["wrong"]]
    return {"at": at, "mode": MODES[mode], **answer}


def points(folder, shim, count):
    """`count` points evenly among all: each call, once and from then on, with an error and with a full disk."""
    every = []
    for modes in ((ONCE_EIO, LASTING_EIO), (ONCE_FULL, LASTING_FULL)):
        sound = one_point(folder, shim, -1, modes[0])
        assert sound["wrong"] == [], sound
        every += [(at, mode) for at in range(sound["calls"]) for mode in modes]
    assert len(every) >= count
    return [every[number * len(every) // count] for number in range(count)]


def warm(folder, shim):
    """Read once, in this process, what each child would read anew: word lists, tokenizers, libraries."""
    root = planted(folder)
    session = Session(root, shim)
    session.run()
    assert session.wrong == [] == examine(root, session.done), session.wrong
    gc.collect()
    gc.freeze()  # the collector would touch, and so copy, every page of what is shared


def main(folder, count, first, step):
    warnings.simplefilter("ignore")
    shim = Shim()
    warm(folder, shim)
    for at, mode in points(folder, shim, count)[first::step]:
        print(json.dumps(one_point(folder, shim, at, mode), ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
