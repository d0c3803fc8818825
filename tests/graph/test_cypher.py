"""Statements: whatever text goes in, one literal comes out, and the text again from the database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.fake_nervusdb import Parser, Refused

from armarius.graph.nervusdb import create, decode, delete, encode, literal, match, update
from armarius.testing.graphs import HOSTILE_TEXTS

encodable = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
hostile = (
    st.sampled_from(HOSTILE_TEXTS)
    | encodable
    | st.lists(st.sampled_from("'\"\\%/*`$\n2F7a名"), max_size=12).map("".join)
)


@given(hostile)
def test_a_text_is_given_back_by_what_it_was_written_as(text):
    assert decode(encode(text)) == text


@given(hostile)
def test_a_literal_holds_nothing_that_any_lexer_takes_for_its_end_or_an_escape(text):
    inside = literal(text)[1:-1]
    assert not set(inside) & set("'\"\\`/\n\r\x00$;")


@given(hostile)
def test_names_in_any_script_stay_readable(text):
    letters = [char for char in text if char.isalpha()]
    assert [char for char in encode(text) if char.isalpha() and ord(char) > 127] == [c for c in letters if ord(c) > 127]


@given(hostile, hostile)
def test_a_hostile_text_leaves_the_statement_what_it_was(one, other):
    statement = f"{match('a', 'Entity', 'id', one)} CREATE {create('n', 'Relation', {'key': other})}"
    assert Parser(statement).statement() == (
        [(([("a", "Entity", {})], []), ("a", "id", encode(one)))],
        ("create", ([("n", "Relation", {"key": encode(other)})], [])),
    )
    assert Parser(f"{match('a', 'Entity', 'id', one)} {update('a', {'name': other})}").statement()[1] == (
        "set",
        [("a", "name", encode(other))],
    )
    assert Parser(f"{match('a', 'Entity', 'id', one)} {delete('a')}").statement()[1] == ("delete", True, "a")


@pytest.mark.parametrize("text", ["%41", "%ZZ", "50 % off", "%E5%B0", "%"])
def test_what_somebody_wrote_by_hand_with_a_percent_sign_is_read(text):
    read = decode(text)
    assert read in (text, "A")
    assert decode(encode(read)) == read


@pytest.mark.parametrize(
    "statement",
    [
        "MERGE (n:Entity {id: 'a'})",
        "MATCH (n:Entity) RETURN n.id ORDER BY n.id",
        "OPTIONAL MATCH (n) RETURN n.id",
        "MATCH (a)-[:T*1..2]->(b) RETURN b.id",
        "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(d) RETURN d.id",
        "MATCH (a)<-[:T]-(b) RETURN b.id",
        "MATCH (a)-[:T]-(b) RETURN b.id",
        "MATCH (n:Entity) WHERE n.id = 'a' AND n.name = 'b' RETURN n.id",
        "MATCH (n:Entity) WHERE n.id = 'a\\'b' RETURN n.id",
        "MATCH (n:Entity) WHERE n.id = 'a''b' RETURN n.id",
        'MATCH (n:Entity) WHERE n.id = "a" RETURN n.id',
        "MATCH (n:Entity) REMOVE n.id",
        "MATCH (n:Entity) RETURN count(n)",
        "MATCH (n:Entity) RETURN n.id // comment",
        "CREATE (n:Entity {id: 'a'}); MATCH (n) DETACH DELETE n",
    ],
)
def test_the_fake_program_refuses_what_the_reference_does_not_list(statement):
    with pytest.raises(Refused):
        Parser(statement).statement()
