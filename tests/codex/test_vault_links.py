"""Notes of a vault as profiles: aliases, links by their words, embeds left out."""

from armarius.codex import load_codex


def test_links_read_as_their_words_and_embeds_are_left_out(tmp_path):
    (tmp_path / "People").mkdir()
    note = "---\naliases: [Alma]\n---\nA pilot, sister of [[Jon Reed|Jon]], at [[Harbour#Quay]]. ![[map.png]]\n"
    (tmp_path / "People" / "Alma Reed.md").write_text(note, "utf-8")
    (one,) = load_codex(tmp_path).entities
    assert (one.name, one.aliases) == ("Alma Reed", ("Alma",))
    assert one.description == "A pilot, sister of Jon, at Harbour."
