import json
from itertools import pairwise

import pytest
from tests.books.samples import CARD, FILES, picture, text
from tests.rows import rows

import armarius
from armarius.cli import main
from armarius.codex.cards import entity_card
from armarius.codex.load import load_codex
from armarius.documents.data import DATA_LIMIT
from armarius.documents.document import list_documents, make_document


def put(root, path, content):
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return target


@rows("formats")
def test_a_document_has_the_headings_and_paragraphs_of_its_format(claim, path, text, title, paragraphs):
    document = make_document(path, text.encode())
    found = [
        [" > ".join(p.heading_path) + ("" if p.chapter is None else f" @{p.chapter}"), document.text[p.start : p.end]]
        for p in document.paragraphs
        if p.role != "front_matter"
    ]
    assert (document.title, found) == (title, paragraphs), claim


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@rows("formats", "test_a_document_has_the_headings_and_paragraphs_of_its_format")
def test_paragraphs_point_into_the_file_as_written(ends, claim, path, text, title, paragraphs):
    written = text.replace("\n", ends)
    document = make_document(path, written.encode())
    spans = [(p.start, p.end) for p in document.paragraphs]
    assert all(left < right for left, right in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    if "\\u" not in text:
        assert document.text == written
    said = [document.text[p.start : p.end].replace(ends, "\n") for p in document.paragraphs if p.role != "front_matter"]
    assert said == [one for _, one in paragraphs], claim


def test_a_long_entry_of_json_is_split_into_its_members():
    people = {f"p{n}": {"name": f"Person {n}", "note": "keeps the light of the harbour " * 3} for n in range(30)}
    for written in (json.dumps({"people": people}), json.dumps({"people": people}, indent=2)):
        document = make_document("people.json", written.encode())
        assert [p.heading_path for p in document.paragraphs] == [("people",)] * 30
        assert "Person 29" in document.text[document.paragraphs[-1].start : document.paragraphs[-1].end]


def test_files_of_tools_and_large_data_are_no_documents(tmp_path):
    told = "package.json package-lock.json tsconfig.build.json pnpm-lock.yaml tokenizer.json a.schema.json codex.json"
    for path in (*told.split(), ".story/state.json"):
        put(tmp_path, path, '{"name": "The lamp of the pier"}')
    put(tmp_path, "large.json", b" " * DATA_LIMIT + b"{}")
    put(tmp_path, "state.json", '{"where": "The lamp of the pier"}')
    listing = list_documents(tmp_path)
    assert [one.path for one in listing.documents] == ["state.json"]
    assert listing.skipped == ()


@pytest.mark.parametrize(
    "name", [name for name, data in FILES.items() if data[:1] in (b"{", b"[") and name != "obsidian-vault"]
)
def test_no_lorebook_is_read_as_a_document_too(name):
    document = make_document("lore.json", FILES[name])
    shown = "\n".join(document.text[p.start : p.end] for p in document.paragraphs)
    assert not shown or (name.startswith(("character", "card")) and "Ash." not in shown)


def test_nested_data_of_any_depth_is_read():
    assert make_document("deep.json", b'{"a":' * 5_000 + b"1" + b"}" * 5_000).paragraphs
    assert make_document("deep.yaml", "\n".join(" " * n + f"k{n}:" for n in range(500)).encode()).paragraphs


PLAIN = {
    "name": "Mara Venn",
    "description": "A keeper\nof the light.",
    "personality": "stubborn",
    "scenario": "A storm.",
}


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("mara.json", json.dumps(PLAIN)),
        (
            "mara.json",
            json.dumps({"spec": "chara_card_v2", "spec_version": "2.0", "data": {**PLAIN, "first_mes": "Hi"}}),
        ),
        (
            "mara.yaml",
            "name: Mara Venn\ndescription: |\n  A keeper\n  of the light.\npersonality: stubborn\nscenario: A storm.",
        ),
    ],
)
def test_a_card_in_the_project_is_a_character_as_it_stands(tmp_path, path, content):
    put(tmp_path, path, content)
    put(tmp_path, "chapters/ch1.md", "# One\n\nMara Venn came.\n")
    (found,) = load_codex(tmp_path).entities
    assert (found.name, found.type, found.description) == ("Mara Venn", "character", "A keeper\nof the light.")
    assert found.attributes == {"personality": "stubborn", "scenario": "A storm."}
    with armarius.open(tmp_path) as engine:
        prompt = engine.assemble("What does Mara Venn keep?").prompt
    assert prompt.count("stubborn") == 1
    assert '"name"' not in prompt


@pytest.mark.parametrize("name", ["character-card-v2", "png-both", "charx-module"])
def test_an_imported_card_is_a_character(tmp_path, name):
    put(tmp_path, "chapters/ch1.md", "# One\n\nAlma came.\n")
    with armarius.open(tmp_path) as engine:
        report = engine.importing.add(FILES[name], name=name)
        assert [(one.name, one.type) for one in report.said.entities] == [("Alma", "character")]
        assert [one.description for one in engine.entities()] == [CARD["data"]["description"]]


def test_a_plain_character_is_imported(tmp_path):
    with armarius.open(tmp_path) as engine:
        engine.importing.add(text(PLAIN), name="mara.json")
        assert [one.name for one in engine.entities()] == ["Mara Venn"]


BROKEN = "---\nThe lamplighter walked home\n\nA zeppelin: it crossed the sky.\n---\n# One\n\nThe story begins.\n"


def test_prose_in_broken_front_matter_is_found_by_search_and_retrieval(tmp_path):
    put(tmp_path, "a.md", BROKEN)
    with armarius.open(tmp_path) as engine:
        for word in ("lamplighter", "zeppelin"):
            assert word in engine.assemble(word).prompt.partition("<layer-immediate>")[0]
            assert [hit.path for hit in engine.retrieve(word).hits] == ["a.md"]


@pytest.mark.parametrize(
    "head",
    [
        "---\nname Mara\nkeeper\n---\n",
        "---\nname: Mara\nkeeper of lamps\n---\n",
        "---\nname: Mara\n",
        "\n---\nname: Mara\n---\n",
    ],
)
def test_a_card_shows_no_front_matter(tmp_path, head):
    put(tmp_path, "characters/Mara.md", f"{head}\n# Mara\n\n- Age: 30\n\nShe keeps the light.\n")
    (found,) = load_codex(tmp_path).entities
    assert "---" not in entity_card(found)


def test_a_note_of_novelwriter_describes_a_character_with_its_tag(tmp_path):
    put(
        tmp_path,
        "content/1.nwd",
        "%%~name: Mara\n%%~kind: CHARACTER/NOTE\n# Mara Venn\n\n@tag: Mara\n\nKeeper of the light.\n",
    )
    (found,) = load_codex(tmp_path).entities
    assert (found.name, found.type, found.aliases, found.description) == (
        "Mara Venn", "character", ("Mara",), "Keeper of the light.",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("characters/mara.org", "* Mara Venn\n:PROPERTIES:\n:ID: 1\n:END:\n- Age: 30\n\nKeeper of the light.\n"),
        ("characters/mara.rst", "Mara Venn\n=========\n\n.. index:: Mara\n\n- Age: 30\n\nKeeper of the light.\n"),
    ],
)
def test_a_profile_in_org_and_rst_describes_its_entity(tmp_path, path, content):
    put(tmp_path, path, content)
    (found,) = load_codex(tmp_path).entities
    assert (found.name, found.attributes, found.description) == ("Mara Venn", {"Age": "30"}, "Keeper of the light.")
    assert found.origins[0].line == 1


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.md", "---\nname: Wick\naliases: [Wick\n---\n# Wick\n", "line 3: a list without its closing `]`"),
        ("a.md", "---\naliases: [\n  Wick,\n  Wicky\n---\n", "line 2: a list without its closing `]`"),
        ("a.md", "---\naliases: [\n  Wick,\n  Wicky\n]\n---\n", ""),
        ("a.md", "---\nname: Wick\nage: 3\n\n# Wick\n", "line 1: front matter without a closing `---`"),
        ("a.md", "---\n\nA scene: it rained.\n", ""),
        ("a.json", '{\n"name": "Wick",\n"age": 3\n', "line 4: no JSON"),
        ("a.json", '{\n"name": "Wick"\n"age": 3}\n', "line 3: no JSON"),
        ("a.json", '{\n// why\n"name": "Wick"}\n', ""),
        ("a.json", '{"name": "Wick"}\n{"name": "Mara"}\n', ""),
    ],
)
def test_doctor_names_file_and_line_of_what_is_not_closed(tmp_path, capsys, name, text, told):
    put(tmp_path, "chapters/ch1.md", "# One\n\nText.\n")
    put(tmp_path, f"characters/{name}", text)
    main(["doctor", str(tmp_path)])
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith(f"! characters/{name}")]
    assert len(said) == bool(told)
    assert not told or told in said[0]


def test_doctor_names_the_line_of_broken_front_matter_and_a_card_in_a_picture(tmp_path, capsys):
    put(tmp_path, "chapters/ch1.md", "# One\n\nText.\n")
    put(tmp_path, "notes/a.md", BROKEN)
    put(tmp_path, "mara.png", picture(chara={"spec": "chara_card_v2", "data": PLAIN}))
    main(["doctor", str(tmp_path)])
    told = capsys.readouterr().out
    assert "! notes/a.md: line 2: neither `key: value` nor a list item" in told
    assert "mara.png is a character card (character-card-v2): `armarius import" in told


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("notes/deep.json", "[" * 400_000),
        ("notes/long.json", '{"name": "' + "x" * 100_000 + '"}'),
        ("notes/keys.yaml", "a: " * 50_000),
        ("characters/odd.json", '{"name": "a\\u0000b", "description": "\\ud800", "personality": "x"}'),
        ("characters/heading.md", "# " + "（" * 200_000),
        ("characters/divided.md", "# " + "a｜" * 100_000),
    ],
)
def test_no_file_keeps_a_project_from_being_opened_and_read_in_time(tmp_path, path, text):
    (tmp_path / path).parent.mkdir()
    (tmp_path / path).write_text(text, "utf-8")
    (tmp_path / "ch01.md").write_text("# Chapter 1\n\n“Yes,” said Ida.\n", "utf-8")
    with armarius.open(tmp_path, watch=False) as engine:
        assert {document.path for document in engine.documents()} == {path, "ch01.md"}
        assert "said Ida" in engine.assemble("what did Ida say", budget=2_000).prompt
