import json

import pytest

import armarius
from armarius.cli import main
from armarius.errors import ContractError
from armarius.evaluation import evaluate, read_questions

NOVEL = "examples/novel"
PAGE = "周远把第十八页交给了"


@pytest.fixture(scope="module")
def engine():
    with armarius.open(NOVEL, watch=False) as engine:
        yield engine


def a_line(engine, path="chapters/ch004.md", paragraph=2):
    document = engine.document(path)
    one = document.paragraphs[paragraph]
    return document.text[one.start : one.end]


def test_a_quote_that_stands_in_the_prompt_counts_white_space_aside(engine):
    quote = a_line(engine)
    row = {"query": quote, "quotes": [" ".join(quote[:12]), quote[:8]]}
    measured = evaluate(engine, read_questions(json.dumps(row)), budgets=[4000])
    assert (measured.questions, measured.answers, measured.misses) == (1, {4000: 1.0}, ())
    assert 0 < measured.tokens[4000] <= 4000


def test_a_quote_that_is_missing_is_named_with_its_place_and_the_reason(engine):
    row = {"id": "q1", "query": "灯塔", "quotes": [a_line(engine)], "as_of": 2}
    measured = evaluate(engine, read_questions(json.dumps(row)), budgets=[3000])
    assert measured.answers == {3000: 0.0}
    (miss,) = measured.misses
    assert (miss.question, miss.budget, miss.path) == ("q1", 3000, "chapters/ch004.md")
    assert miss.why == "写在第4章，晚于第2章，此处不提"


def test_half_of_the_quotes_is_half_an_answer(engine):
    row = {
        "query": "灯塔",
        "quotes": [a_line(engine, "chapters/ch001.md", 1), a_line(engine)],
        "document": "",
        "as_of": 1,
    }
    row["query"] = row["quotes"][0]
    assert evaluate(engine, read_questions(json.dumps(row)), budgets=[3000]).answers == {3000: 0.5}


def test_a_quote_that_is_nowhere_costs_its_question_alone_and_is_told_by_line(engine, tmp_path, capsys):
    quote = a_line(engine)
    rows = [{"query": quote, "quotes": [quote]}, {"id": "q7", "query": "x", "quotes": ["nobody ever wrote this"]}]
    text = "# mine\n" + "\n".join(map(json.dumps, rows))
    measured = evaluate(engine, read_questions(text), budgets=[4000])
    assert (measured.questions, measured.answers) == (1, {4000: 1.0})
    assert measured.left_out == ("line 3: q7: the quote 'nobody ever wrote this' stands nowhere in the project",)
    (tmp_path / "mine.jsonl").write_text(text, encoding="utf-8")
    assert main(["evaluate", NOVEL, str(tmp_path / "mine.jsonl"), "--budget", "4000", "--json"]) == 0
    assert "! mine.jsonl, line 3: q7: the quote" in capsys.readouterr().err


def test_questions_of_which_no_quote_stands_in_the_project_are_refused(engine):
    questions = read_questions('{"id": "q7", "query": "x", "quotes": ["nobody ever wrote this"]}')
    with pytest.raises(ContractError, match="q7: the quote 'nobody ever wrote this' stands nowhere"):
        evaluate(engine, questions, budgets=[3000])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "expected an object, got list"),
        ('{"query": "x"}', "quotes must be"),
        ('{"query": "x", "quotes": [" "]}', "quotes must be"),
        ('{"query": "x", "quotes": []}', r"quotes must be a list of one text or more, got \[\]$"),
        ('{"quotes": ["x"]}', "query must be a text"),
        ('{"query": "x", "quotes": ["y"], "colour": 1}', "colour"),
        ('{"query": "x", "quotes": ["y"], "chapters": "x"}', "chapters"),
    ],
)
def test_a_wrong_line_is_named_by_file_line_and_field(line, said):
    with pytest.raises(ContractError, match=said) as caught:
        read_questions(f"# a comment\n\n{line}\n", name="q.jsonl")
    assert "q.jsonl, line 3" in str(caught.value)


def test_no_question_is_an_error_not_a_perfect_score():
    with pytest.raises(ContractError, match="there is no question"):
        read_questions("# nothing\n")


def test_the_command_prints_a_row_for_each_budget_and_the_misses(engine, tmp_path, capsys):
    row = {"query": "灯塔", "quotes": [a_line(engine)], "asOf": 2}
    (tmp_path / "q.jsonl").write_text(json.dumps(row), encoding="utf-8")
    argv = ["evaluate", NOVEL, str(tmp_path / "q.jsonl"), "--budget", "3000", "--budget", "6000"]
    assert main([*argv, "--misses"]) == 0
    out = capsys.readouterr().out
    assert "3,000" in out
    assert "line 1" in out
    assert main([*argv, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answers"] == {"3000": 0.0, "6000": 0.0}
    assert main(["evaluate", NOVEL, str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl" in capsys.readouterr().err
