"""An answer has the last save that returned before it, or says that it has not: watched, beside busy processes."""

import random
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest
from tests.index.conftest import put

import armarius
from armarius.index import project_index
from armarius.index.source import FolderSource

CHAPTER, PAGE = "chapters/v00/ch0001.md", "characters.md"
ENTITY = "# Characters\n\n## Mara\n\n- type: character\n- home: {word}\n"
KINDS = ("search", "retrieve", "assemble", "evidence", "entities")


def project(folder, files):
    for number in range(1, files + 1):
        path = f"chapters/v{number // 100:02}/ch{number:04}.md"
        put(folder, path, f"# Chapter {number}\n\nThe sea was calm in the night {number}, and Mara kept the light.\n")
    put(folder, PAGE, ENTITY.format(word="lighthouse"))
    return folder


@contextmanager
def busy_processes(number):
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


def save(path, text, *, in_place):
    if in_place:
        path.write_text(text, encoding="utf-8")
    else:
        part = path.with_name(f".{path.name}.tmp")
        part.write_text(text, encoding="utf-8")
        part.replace(path)


def asked(engine, kind, word):
    """Whether what was saved is in the answer, and the warnings of it."""
    if kind in ("search", "retrieve"):
        found = getattr(engine, kind)(f"zeb{word}q")
        return bool(found), found.warnings
    if kind == "assemble":
        pack = engine.assemble(f"zeb{word}q", document=CHAPTER, cursor=0, budget=3000)
        return f"kelp{word}q" in pack.prompt, pack.warnings
    if kind == "evidence":
        found = engine.evidence("Mara", attribute="home")
        return any(word in one.text for one in found), found.warnings
    found = engine.entities()
    return any(one.attributes.get("home") == f"{word} Street" for one in found), found.warnings


def outcomes(folder, index_dir, *, files, saves, seed):
    """How many saves are in the next answer, are marked as missing by it, and which are silently missing."""
    chance, before = random.Random(seed), f"# Chapter 1\n\n{'The sea was calm that night. ' * 40}\n"
    there, marked, silent = 0, 0, []
    with armarius.open(project(folder, files), index_dir=index_dir) as engine:
        for number in range(saves):
            time.sleep(chance.random() * 0.3)
            kind, word = chance.choice(KINDS), f"{seed}{number:05}"
            in_place = chance.random() < 0.5
            if kind in ("evidence", "entities"):
                save(folder / PAGE, ENTITY.format(word=f"{word} Street"), in_place=in_place)
            else:
                save(folder / CHAPTER, f"{before}\nThe zeb{word}q swam in kelp{word}q.\n", in_place=in_place)
            is_there, warnings = asked(engine, kind, word)
            if is_there:
                there += 1
            elif any(str(one).startswith("INDEX_STALE") for one in warnings):
                marked += 1
            else:
                silent.append((number, kind, in_place, list(map(str, warnings))))
    return there, marked, silent


@pytest.mark.parametrize(("files", "saves"), [(1, 26), (300, 26), (3000, 8)])
def test_no_save_is_silently_missing_from_the_next_answer(tmp_path, files, saves):
    with busy_processes(2):
        _, _, silent = outcomes(tmp_path / "book", tmp_path / "index", files=files, saves=saves, seed=files)
    assert silent == []


@pytest.mark.slow
@pytest.mark.parametrize("busy", [0, 2])
@pytest.mark.parametrize(("files", "saves"), [(1, 400), (300, 400), (3000, 200)])
def test_saves_are_in_the_next_answer(tmp_path, record_property, files, saves, busy):
    with busy_processes(busy):
        there, marked, silent = outcomes(tmp_path / "book", tmp_path / "index", files=files, saves=saves, seed=busy)
    record_property(f"saves in the next answer, {files} files, {busy} busy processes", f"{there} of {saves}")
    assert silent == []
    assert there + marked == saves
    assert busy or there >= 0.99 * saves


@pytest.mark.parametrize("answers", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_nothing_is_stale_when_nothing_was_saved_in_the_last_second(tmp_path, answers):
    with armarius.open(project(tmp_path / "book", 30), index_dir=tmp_path / "index") as engine, busy_processes(2):
        save(tmp_path / "book" / CHAPTER, "# Chapter 1\n\nThe zebra swam.\n", in_place=True)
        time.sleep(1)
        stale = [number for number in range(answers) if engine.search("zebra").warnings]
    assert stale == []


def test_a_disk_that_hangs_is_waited_for_once_and_the_answer_is_marked(tmp_path, monkeypatch):
    monkeypatch.setattr(project_index, "is_local", lambda _: False)
    folder, hangs, goes_on = project(tmp_path / "book", 3), threading.Event(), threading.Event()
    stamp = FolderSource.stamp

    def hanging(self):
        assert not hangs.is_set() or goes_on.wait(60)
        return stamp(self)

    monkeypatch.setattr(FolderSource, "stamp", hanging)
    with armarius.open(folder, index_dir=tmp_path / "index", watch=False) as engine:
        assert engine.search("calm").warnings == ()
        hangs.set()
        save(folder / CHAPTER, "# Chapter 1\n\nThe zebra swam.\n", in_place=True)
        for _ in range(3):
            found = engine.search("zebra")
            assert (list(found), [one.code for one in found.warnings]) == ([], ["INDEX_STALE"])
        assert sum(one.name == "armarius-comparer" for one in threading.enumerate()) == 1
        goes_on.set()
        hangs.clear()
        while engine.search("calm").warnings:
            time.sleep(0.01)
        found = engine.search("zebra")
        assert (len(found), found.warnings) == (1, ())


@pytest.mark.parametrize("verb", ["entity", "card", "locate", "document"])
def test_an_answer_without_warnings_waits_longer_for_a_comparison(tmp_path, monkeypatch, verb):
    monkeypatch.setattr(project_index, "is_local", lambda _: False)
    folder, slow = project(tmp_path / "book", 3), threading.Event()
    (folder / "cast.md").write_text("# Cast\n\n## Ottoline\n\n- Age: 45\n", "utf-8")
    stamp = FolderSource.stamp

    def stamped(self):
        if slow.is_set():
            time.sleep(0.4)  # twice as long as other answers wait
        return stamp(self)

    monkeypatch.setattr(FolderSource, "stamp", stamped)
    ask = {
        "entity": lambda engine: engine.entity("Ottoline").attributes,
        "card": lambda engine: engine.card("Ottoline"),
        "locate": lambda engine: engine.locate("- Age: 46"),
        "document": lambda engine: engine.document("cast.md").text,
    }[verb]
    with armarius.open(folder, index_dir=tmp_path / "index", watch=False) as engine:
        assert "46" not in str(ask(engine))
        save(folder / "cast.md", "# Cast\n\n## Ottoline\n\n- Age: 46\n", in_place=True)
        slow.set()
        assert "cast.md" in str(ask(engine)) if verb == "locate" else "46" in str(ask(engine))
