"""The shelf: who may make rules, which file is an update, what is read again, what a broken import leaves."""

import json
import re
import threading
from functools import partial

import pytest
from tests.lorebooks.samples import text

import armarius
from armarius.cli import main
from armarius.errors import UnknownId
from armarius.lorebooks import activation, project_books
from armarius.lorebooks import project_books as storage
from armarius.lorebooks.importing import import_manuscript


def world(name="Harbour", **entries):
    return text({"name": name, "entries": {key: {"uid": int(key[1:]), **one} for key, one in entries.items()}})


CONSTANT = world(e0={"key": [], "constant": True, "comment": "tide", "content": "No magic."})
EVIL = world(e0={"key": [], "constant": True, "comment": "tide", "content": "EVIL RULE"})
OTHER = world(e0={"key": ["desert"], "comment": "sand", "content": "Dunes."})


@pytest.fixture
def books(tmp_path):
    return armarius.lorebooks.Books(tmp_path)


def add(books, data, name="h.json", **how):
    return armarius.lorebooks.Importing(books).add(data, name=name, **how).book


def folder_of(tmp_path, id_="harbour"):
    return tmp_path / ".armarius/books" / id_


def change_original(tmp_path, data):
    """As whoever can write the folder would: the hash in the card too."""
    folder = folder_of(tmp_path)
    (folder / "original").write_bytes(data)
    said = json.loads((folder / "book.json").read_bytes())
    (folder / "book.json").write_bytes(text({**said, "original": storage.digest(data)}))


def test_a_changed_original_takes_the_permission_for_rules_back(books, tmp_path):
    add(books, CONSTANT)
    books.allow_rules("harbour")
    assert books["harbour"].rules
    change_original(tmp_path, EVIL)
    assert [entry.text for entry in books["harbour"]] == ["EVIL RULE"]
    assert not books["harbour"].rules
    change_original(tmp_path, CONSTANT)
    assert not books["harbour"].rules


def test_a_changed_card_takes_the_permission_for_rules_back(books, tmp_path):
    add(books, CONSTANT)
    books.allow_rules("harbour")
    said = json.loads((folder_of(tmp_path) / "book.json").read_bytes())
    said["edits"] = {"0": {"text": "EVIL RULE"}}
    (folder_of(tmp_path) / "book.json").write_bytes(text(said))
    assert (books["harbour"].entry("0").text, books["harbour"].rules) == ("EVIL RULE", False)


def test_files_that_are_touched_and_say_the_same_keep_the_permission(books, tmp_path):
    add(books, CONSTANT)
    books.allow_rules("harbour")
    original = folder_of(tmp_path) / "original"
    original.write_bytes(original.read_bytes())
    assert books["harbour"].rules


@pytest.mark.parametrize("root", ["folder", "memory"])
def test_another_book_under_an_id_has_not_the_permission_of_the_one_before(root, tmp_path):
    books = armarius.lorebooks.Books(tmp_path if root == "folder" else None)
    add(books, CONSTANT)
    books.allow_rules("harbour")
    books.delete("harbour")
    assert not add(books, EVIL).rules
    books.allow_rules("harbour")
    assert not add(books, CONSTANT, updates="harbour").rules
    assert not books["harbour"].rules


def test_an_edit_takes_the_permission_back(books):
    add(books, CONSTANT)
    books.allow_rules("harbour")
    books.update(books["harbour"].with_entry(books["harbour"].entry("0").changed(text="other")))
    assert not books["harbour"].rules


def test_two_books_of_one_name_and_format_are_two_books(books, tmp_path):
    add(books, CONSTANT)
    assert add(books, OTHER, name="other.json").id == "harbour-2"
    assert add(books, OTHER.replace(b"Dunes", b"Ashes"), name="h.json").id == "harbour-2"
    assert (folder_of(tmp_path) / "original").read_bytes() == CONSTANT


def test_a_file_of_one_name_with_nothing_in_common_is_no_update(books):
    add(books, CONSTANT)
    assert armarius.lorebooks.Importing(books).add(OTHER, name="h.json").kind == "new"
    assert list(books) == ["harbour", "harbour-2"]


def test_an_update_keeps_the_original_before(books, tmp_path):
    add(books, CONSTANT)
    assert armarius.lorebooks.Importing(books).add(EVIL, name="h.json").kind == "update"
    assert (folder_of(tmp_path) / "original").read_bytes() == EVIL
    assert (folder_of(tmp_path) / "original.1").read_bytes() == CONSTANT


def test_an_id_makes_any_file_an_update_and_a_wrong_one_is_an_error(books):
    add(books, CONSTANT)
    assert add(books, OTHER, name="x.json", updates="harbour").id == "harbour"
    assert len(books) == 1
    with pytest.raises(armarius.UnknownId):
        add(books, OTHER, name="x.json", updates="nothing")


def test_a_broken_book_keeps_its_id(books, tmp_path):
    add(books, CONSTANT)
    (folder_of(tmp_path) / "book.json").write_text("{", "utf-8")
    assert add(books, CONSTANT).id == "harbour-2"
    assert (folder_of(tmp_path) / "book.json").read_text("utf-8") == "{"


def _counting(counted, name, real, *args, **how):
    counted[name] += 1
    return real(*args, **how)


@pytest.fixture
def looks(monkeypatch):
    """How often files are looked at and read."""
    counted = {"stat_of": 0, "read_file": 0}
    for name in counted:
        monkeypatch.setattr(storage, name, partial(_counting, counted, name, getattr(storage, name)))
    return counted


def test_all_books_are_one_look_at_each(books, looks):
    for number in range(12):
        add(books, world(f"b{number}", e0={"key": ["x"], "content": f"c{number}"}), name=f"{number}.json")
    for ask in (books.values, books.items, lambda: next(iter(books)), lambda: books["b3"], lambda: "b3" in books):
        looks.update(stat_of=0, read_file=0)
        ask()
        assert looks == {"stat_of": 24, "read_file": 0}


def test_an_assembly_looks_once_at_each_book(tmp_path, tmp_path_factory, looks):
    with armarius.open(tmp_path, watch=False, index_dir=tmp_path_factory.mktemp("index")) as engine:
        for number in range(12):
            add(
                engine.books,
                world(f"b{number}", e0={"key": [], "constant": True, "content": f"c{number}"}),
                f"{number}.json",
            )
        engine.assemble("x")
        looks.update(stat_of=0, read_file=0)
        assert "c11" in engine.assemble("y").prompt
        assert looks == {"stat_of": 24, "read_file": 0}


def test_a_broken_book_is_read_once_until_it_changes(books, tmp_path, looks):
    add(books, CONSTANT)
    (folder_of(tmp_path) / "original").write_bytes(b"no book")
    assert (list(books), list(books.problems)) == ([], ["harbour"])
    looks["read_file"] = 0
    assert (list(books), list(books.problems), looks["read_file"]) == ([], ["harbour"], 0)
    (folder_of(tmp_path) / "original").write_bytes(CONSTANT)
    assert (list(books), books.problems) == (["harbour"], {})


def test_a_snapshot_does_not_change(books):
    add(books, CONSTANT)
    before = books.snapshot()
    books.delete("harbour")
    assert (list(before), list(books)) == (["harbour"], [])
    with pytest.raises(TypeError):
        before["x"] = before["harbour"]


def test_an_import_that_broke_off_leaves_the_book_as_it_was(books, tmp_path, monkeypatch):
    add(books, CONSTANT)
    books.update(books["harbour"].with_entry(books["harbour"].entry("0").changed(name="ours")))
    real = storage.write_atomic

    def breaking(path, data, **how):
        if path.name == "book.json":
            raise KeyboardInterrupt
        return real(path, data, **how)

    with monkeypatch.context() as broken:
        broken.setattr(storage, "write_atomic", breaking)
        with pytest.raises(KeyboardInterrupt):
            add(books, EVIL)
    assert (folder_of(tmp_path) / "original").read_bytes() == EVIL
    (entry,) = armarius.lorebooks.Books(tmp_path)["harbour"]
    assert (entry.name, entry.text) == ("ours", "No magic.")
    assert [one.text for one in add(armarius.lorebooks.Books(tmp_path), EVIL)] == ["EVIL RULE"]


def test_edits_are_not_applied_to_an_original_that_they_were_not_made_for(books, tmp_path):
    add(books, CONSTANT)
    (folder_of(tmp_path) / "original").write_bytes(EVIL)
    assert list(books) == []
    assert "not the file that book.json was written for" in books.problems["harbour"]


def test_threads_share_one_activator(books):
    found = [
        armarius.lorebooks.read_book(world(f"b{n}", e0={"key": ["x"], "content": f"c{n}"}), name=f"{n}.json")
        for n in range(24)
    ]
    activator, wrong = activation.Activator(), []
    scan = activation.scan_of(text="x")

    def search():
        for _ in range(8):
            for n, book in enumerate(found):
                try:
                    if [one.text for one in activator.search([book], scan)] != [f"c{n}"]:
                        wrong.append(n)
                except Exception as error:
                    wrong.append(error)

    threads = [threading.Thread(target=search) for _ in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert wrong == []


def test_the_keys_of_a_book_that_is_asked_again_stay_ready(monkeypatch):
    found = [armarius.lorebooks.read_book(world(f"b{n}", e0={"key": ["x"]}), name=f"{n}.json") for n in range(20)]
    made = []
    real = activation.CompiledBooks
    monkeypatch.setattr(
        activation, "CompiledBooks", lambda books, *rest: made.append(books[0].id) or real(books, *rest)
    )
    activator, scan = activation.Activator(), activation.scan_of(text="x")
    for book in found:
        activator._keys_of(book.profile, [found[0]], scan)
        activator._keys_of(book.profile, [book], scan)
    assert made.count("b0") == 1


def test_two_manuscripts_of_one_file_name_are_both_kept(tmp_path):
    root, one, other = tmp_path / "novel", tmp_path / "a", tmp_path / "b"
    for folder in (root, one, other):
        folder.mkdir()
    (one / "draft.html").write_text("<h1>第一章</h1><p>一</p>", "utf-8")
    (other / "draft.html").write_text("<h1>第二章</h1><p>二</p>", "utf-8")
    kept = [import_manuscript(folder / "draft.html", root, write=True).kept for folder in (one, other, one)]
    assert kept == [f".armarius/manuscripts/{name}.html" for name in ("draft", "draft-2", "draft")]
    assert [(root / name).read_bytes() for name in kept[:2]] == [
        (folder / "draft.html").read_bytes() for folder in (one, other)
    ]


def test_a_project_has_a_greatest_number_of_books(books, monkeypatch):
    monkeypatch.setattr(project_books, "_MAX_BOOKS", 1)
    add(books, CONSTANT)
    with pytest.raises(armarius.errors.BookError, match="at most 1 books"):
        add(books, OTHER, name="o.json")


@pytest.mark.parametrize(
    ("card", "why"),
    [
        ("{", r"\.armarius/books/x/book\.json: not JSON"),
        ('{"name": "x"}', r"\.armarius/books/x/original: the file is not there, and book\.json is$"),
    ],
)
def test_a_book_without_its_original_is_broken_and_everybody_says_so(tmp_path, capsys, card, why):
    (tmp_path / "notes.md").write_text("# One\n\nIt rained.\n", encoding="utf-8")
    (tmp_path / ".armarius" / "books" / "x").mkdir(parents=True)
    (tmp_path / ".armarius" / "books" / "x" / "book.json").write_text(card, encoding="utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        (told,) = [one for one in engine.assemble("rain").warnings if one.startswith("LORE_UNAVAILABLE")]
        assert re.search(rf"^LORE_UNAVAILABLE: x: {why}", told)
        with pytest.raises(UnknownId, match=rf"the book 'x' is broken: {why}"):
            engine.books["x"]
        assert "1 broken" in repr(engine.books)
    assert main(["doctor", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert re.search(rf"^! LORE_UNAVAILABLE: x: {why}", out, re.MULTILINE)
    assert "no errors" not in out
    assert main(["export", str(tmp_path)]) == 0
    assert re.search(rf"^armarius: x: {why}", capsys.readouterr().err, re.MULTILINE)


def test_an_import_that_has_not_come_to_its_end_is_no_book_yet(tmp_path):
    (tmp_path / ".armarius" / "books" / "x").mkdir(parents=True)
    (tmp_path / ".armarius" / "books" / "x" / "original").write_bytes(b"{}")
    assert armarius.lorebooks.Books(tmp_path).look() == ({}, {})
