"""A file that a request calls by its name is shown, whatever its words are worth."""

import pytest

import armarius

FILLER = "The glossary explains what the words of the game mean to those who play it. "


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    root = tmp_path_factory.mktemp("game")
    (root / "glossary.md").write_text("# Glossary\n\n" + "\n\n".join(f"{n}. {FILLER}" for n in range(120)), "utf-8")
    (root / "s03-k7.md").write_text("# Sums\n\nA total of ten is a feat.\n\nSix is a setback.\n", "utf-8")
    (root / "k9.md").write_text("# Salt\n\nA feat is paid in salt.\n", "utf-8")
    (root / "s03-k7-old.md").write_text("# Old\n\nA total of twelve was a feat once.\n", "utf-8")
    (root / "moves.py").write_text('def moves():\n    """Roll."""\n    return 10\n', "utf-8")
    with armarius.open(root, watch=False, index_dir=root.parent / "index") as engine:
        yield engine


@pytest.mark.parametrize(
    ("request_", "expected", "other"),
    [
        ("does the glossary agree with s03-k7", "Six is a setback", "twelve"),
        ("does the glossary agree with s03-k7.md?", "Six is a setback", "twelve"),
        ("词汇表和s03-k7.md一致吗", "Six is a setback", "twelve"),
        ("does the glossary agree with K9.MD", "paid in salt", "Six is a setback"),
    ],
)
def test_a_file_called_by_its_name_stands_in_the_prompt_and_one_with_a_longer_name_does_not(
    engine, request_, expected, other
):
    prompt = engine.assemble(request_, budget=700).prompt
    assert expected in prompt
    assert other not in prompt


def test_words_that_are_names_of_files_without_a_mark_call_no_file(engine):
    rows = engine.assemble("what does the glossary say of s03 and k7", budget=700).items
    assert not any(item.evidence[0].detail.code == "chapter.asked" for item in rows if item.evidence)


def test_a_file_is_called_by_its_name_behind_a_longer_name_that_holds_it(engine):
    prompt = engine.assemble("does s03-k7-old agree with s03-k7", budget=1200).prompt
    assert "twelve" in prompt
    assert "Six is a setback" in prompt
