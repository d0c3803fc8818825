"""Rules from a book, for longer than one engine: remembered outside the project, sealed to what the book says."""

import json
import os

import pytest
from tests.lorebooks.test_shelf import CONSTANT, EVIL, add, change_original, folder_of

import armarius
from armarius.cli import main
from armarius.errors import ConfigError, ContractError
from armarius.trust.settings import allow, allowed, disallow


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CONFIG", str(tmp_path / "config"))
    return tmp_path / "config"


@pytest.fixture
def project(tmp_path, config):
    (tmp_path / "novel").mkdir()
    return tmp_path / "novel"


def test_a_lasting_permission_is_there_for_the_next_engine(project):
    books = armarius.lorebooks.Books(project)
    add(books, CONSTANT)
    books.allow_rules("harbour", lasting=True)
    assert armarius.lorebooks.Books(project)["harbour"].rules
    books.allow_rules("harbour", False)
    assert not books["harbour"].rules
    assert not armarius.lorebooks.Books(project)["harbour"].rules


def test_a_permission_for_one_engine_is_not_remembered(project):
    books = armarius.lorebooks.Books(project)
    add(books, CONSTANT)
    books.allow_rules("harbour")
    assert not armarius.lorebooks.Books(project)["harbour"].rules


def test_a_book_that_says_something_else_has_not_the_lasting_permission(project):
    books = armarius.lorebooks.Books(project)
    add(books, CONSTANT)
    books.allow_rules("harbour", lasting=True)
    change_original(project, EVIL)
    assert [entry.text for entry in armarius.lorebooks.Books(project)["harbour"]] == ["EVIL RULE"]
    assert not armarius.lorebooks.Books(project)["harbour"].rules
    assert not books["harbour"].rules
    change_original(project, CONSTANT)
    books = armarius.lorebooks.Books(project)
    assert not books["harbour"].rules or books["harbour"].entries[0].text != "EVIL RULE"


def test_an_edit_and_an_import_end_a_lasting_permission(project):
    books = armarius.lorebooks.Books(project)
    add(books, CONSTANT)
    books.allow_rules("harbour", lasting=True)
    book = books["harbour"]
    books.update(book.with_entry(book.entry("0").changed(text="Another rule.")))
    assert not armarius.lorebooks.Books(project)["harbour"].rules
    books.update(book)
    assert armarius.lorebooks.Books(project)["harbour"].rules  # the very contents that it was given for
    add(books, EVIL, updates="harbour")
    assert not armarius.lorebooks.Books(project)["harbour"].rules


def test_the_same_book_in_another_project_has_no_permission(project, tmp_path):
    for root in (project, tmp_path / "other"):
        root.mkdir(exist_ok=True)
        add(armarius.lorebooks.Books(root), CONSTANT)
    armarius.lorebooks.Books(project).allow_rules("harbour", lasting=True)
    assert not armarius.lorebooks.Books(tmp_path / "other")["harbour"].rules


def test_a_book_taken_out_and_brought_in_again_asks_again(project):
    books = armarius.lorebooks.Books(project)
    add(books, CONSTANT)
    books.allow_rules("harbour", lasting=True)
    books.delete("harbour")
    add(books, CONSTANT)
    assert not books["harbour"].rules


def test_a_configuration_inside_the_project_allows_nothing(project, monkeypatch):
    add(armarius.lorebooks.Books(project), CONSTANT)
    armarius.lorebooks.Books(project).allow_rules("harbour", lasting=True)
    assert armarius.lorebooks.Books(project)["harbour"].rules
    monkeypatch.delenv("ARMARIUS_CONFIG")
    inside = project / ".config" / "armarius"
    inside.mkdir(parents=True)
    (project.parent / "config" / "allowed.toml").rename(inside / "allowed.toml")
    monkeypatch.setenv("HOME", str(project))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project / ".config"))
    assert not armarius.lorebooks.Books(project)["harbour"].rules


def test_books_without_a_folder_can_not_be_remembered():
    books = armarius.lorebooks.Books(None)
    add(books, CONSTANT)
    with pytest.raises(ContractError, match="lasting"):
        books.allow_rules("harbour", lasting=True)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("x = 1\n", r"\[\[books\]\]"),
        ('[[books]]\nproject = "a"\nid = "b"\nseal = "c"\n', "absolute"),
        ('[[books]]\nproject = "/a"\nid = "b"\nseal = "c"\n', "64 hexadecimal"),
        ('[[books]]\nproject = "/a"\nid = "b"\n', "project, id and seal"),
    ],
)
def test_a_damaged_file_of_permissions_is_an_error_that_names_it(project, config, text, what):
    config.mkdir()
    (config / "allowed.toml").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=f"allowed.toml.*{what}"):
        armarius.lorebooks.Books(project)


def test_permissions_of_several_books_are_kept_apart(project, config):
    allow(project, "a", "0" * 64)
    allow(project, '雨"\n', "1" * 64)
    assert allowed(project) == {"a": "0" * 64, '雨"\n': "1" * 64}
    assert disallow(project, "a")
    assert not disallow(project, "a")
    assert allowed(project) == {'雨"\n': "1" * 64}
    assert os.path.realpath(project) in (config / "allowed.toml").read_text("utf-8")


def test_the_command_line_allows_rules_with_an_import_and_shows_them(project, tmp_path, capsys):
    (tmp_path / "h.json").write_bytes(CONSTANT)
    assert main(["import", str(tmp_path / "h.json"), "--into", str(project), "--allow-rules"]) == 0
    assert "would be rules of every prompt" in capsys.readouterr().out
    assert main(["import", str(tmp_path / "h.json"), "--into", str(project), "--allow-rules", "--yes"]) == 0
    text = armarius.lorebooks.Books(project)["harbour"].entries[0].text
    assert f"! {text}" in capsys.readouterr().out
    assert armarius.lorebooks.Books(project)["harbour"].rules


def test_the_command_line_allows_and_revokes_rules_of_a_book_that_is_there(project, capsys):
    add(armarius.lorebooks.Books(project), CONSTANT)
    assert main(["trust", str(project), "--rules-of", "harbour"]) == 0
    assert armarius.lorebooks.Books(project)["harbour"].rules
    assert main(["trust", str(project), "--rules-of", "harbour", "--revoke"]) == 0
    assert not armarius.lorebooks.Books(project)["harbour"].rules
    assert main(["trust", str(project), "--rules-of", "harbuor"]) != 0
    assert "near it: harbour" in capsys.readouterr().err
    assert not armarius.trust.is_trusted(project)


def test_the_list_of_trust_has_the_books_that_make_rules_and_those_that_did(project, tmp_path, capsys):
    books = armarius.lorebooks.Books(project)
    add(books, CONSTANT)
    books.allow_rules("harbour", lasting=True)
    at = os.path.realpath(project)
    assert main(["trust", "--list"]) == 0
    said = capsys.readouterr()
    assert said.out == f"{at}: book harbour makes rules\n"
    assert "no folder is trusted" in said.err
    book = books["harbour"]
    books.update(book.with_entry(book.entry("0").changed(text="Another rule.")))
    assert main(["trust", "--list"]) == 0
    assert "it has changed since, and makes none" in capsys.readouterr().out
    assert main(["trust", "--list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rules"]
    assert rows == [{"project": at, "book": "harbour", "inForce": False}]
    (project / ".armarius/books/harbour/book.json").unlink()
    assert main(["trust", "--list"]) == 0
    assert "no such book" in capsys.readouterr().out
    project.rename(tmp_path / "elsewhere")
    assert main(["trust", "--list"]) == 0
    assert "the project is not there" in capsys.readouterr().out


def test_files_that_are_touched_and_say_the_same_keep_the_lasting_permission(project):
    books = armarius.lorebooks.Books(project)
    add(books, CONSTANT)
    books.allow_rules("harbour", lasting=True)
    for path in folder_of(project).iterdir():
        path.write_bytes(path.read_bytes())
    assert books["harbour"].rules
    assert armarius.lorebooks.Books(project)["harbour"].rules
