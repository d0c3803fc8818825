"""One table of headings: complete in every language, and the only place where one is spelled out."""

import ast
import copy
import dataclasses
import json
import re
import shutil
from functools import cache
from pathlib import Path
from typing import get_args

import armarius
from armarius import headings
from armarius.headings import (
    DEFAULT_LANGUAGE,
    HEADINGS,
    HeadingKey,
    Language,
    Reason,
    heading,
    kind_name,
    reasons_table,
    say,
    sentence,
)
from armarius.prompt import assembler
from armarius.types import Candidate

PACKAGE = Path(armarius.__file__).parent
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@cache
def modules():
    paths = [path for path in sorted(PACKAGE.rglob("*.py")) if path != Path(headings.__file__)]
    return [(path.relative_to(PACKAGE), ast.parse(path.read_text("utf8"))) for path in paths]


def test_every_language_has_every_heading_once():
    assert set(HEADINGS) == set(get_args(Language))
    for column in HEADINGS.values():
        assert set(column) == set(get_args(HeadingKey))
        assert len(set(column.values())) == len(column)
        assert all(re.fullmatch(r"\[[^\[\]\s](?:[^\[\]\n]*[^\[\]\s])?\]", text) for text in column.values())


def test_a_heading_without_a_language_is_in_the_default_one():
    assert heading("query") == HEADINGS[DEFAULT_LANGUAGE]["query"] == "[用户请求]"
    assert heading("query", "zh") == "[用户请求]"


def test_no_module_spells_a_heading_out():
    texts = {text for column in HEADINGS.values() for text in column.values()}
    for path, tree in modules():
        docstrings = {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
                assert not [text for text in texts if text in node.value], f"{path}:{node.lineno}"


_GROUP = [field.name for field in dataclasses.fields(Candidate)].index("group")


def given_groups(tree):
    """(constructor, value of its `group`) of every candidate that is made, None where it has none."""
    for node in ast.walk(tree):
        name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
        if name in ("Candidate", "replace"):
            group = next((keyword.value for keyword in node.keywords if keyword.arg == "group"), None)
            if name == "Candidate" and len(node.args) > _GROUP:
                group = node.args[_GROUP]
            if name == "Candidate" or group is not None:
                yield node, group


def _target(assigned):
    return getattr(assigned.targets[0], "id", None)


def test_every_candidate_of_the_package_takes_its_heading_from_the_table():
    made = 0
    for path, tree in modules():
        if path.parts[0] == "testing":
            continue
        for node, group in given_groups(tree):
            if str(path) == "prompt/admit.py":  # where the headings of fetchers are taken in
                assert isinstance(group, ast.Name)
                continue
            if isinstance(group, ast.Name):  # of several candidates, asked for once
                named = [
                    one.value for one in ast.walk(tree) if isinstance(one, ast.Assign) and _target(one) == group.id
                ]
                group = named[0] if len(named) == 1 else group
            if str(path) == "prompt/pack.py":  # where the heading of an offer is taken in
                assert ast.unparse(group) == "self.group"
                continue
            looked_up = ast.unparse(group).startswith(("heading(", "HEADINGS[request.language]["))
            assert looked_up, f"{path}:{node.lineno}"
            made += 1
    assert made >= 10


def test_the_gate_sees_a_candidate_with_a_heading_of_its_own():
    made = list(given_groups(ast.parse('Candidate(id="x", group="[新]")\nreplace(c, group=g)\nreplace(c, id="")')))
    assert [type(group) for _, group in made] == [ast.Constant, ast.Name]


def test_every_group_that_our_own_fetchers_offer_is_in_the_table(tmp_path, monkeypatch):
    offered = set()

    def admit(answers, *args, **more):
        answers = list(answers)
        offered.update(candidate.group for answer in answers for candidate in answer.fetched.candidates)
        offered.update(answer.fetched.offer.group for answer in answers if answer.fetched.offer is not None)
        return taken_in(answers, *args, **more)

    taken_in = assembler.admit
    monkeypatch.setattr(assembler, "admit", admit)
    for project in ("novel", "code-project"):
        shutil.copytree(EXAMPLES / project, tmp_path, dirs_exist_ok=True)
    (tmp_path / "codex.json").write_text(
        (tmp_path / "codex.json").read_text("utf8").replace('"manual_only"', '"always"'), "utf8"
    )
    with armarius.open(tmp_path, watch=False) as engine:
        engine.constraints.create("不写旁人的心理")
        engine.memories.create("作者偏爱短句")
        lore = {"0": {"uid": 0, "constant": True, "content": "一"}, "1": {"uid": 1, "key": ["小雨"], "content": "二"}}
        engine.importing.add(json.dumps({"entries": lore}).encode(), name="lore.json")
        for query in ("林小雨的父亲是谁？", "`Festival` 调用了什么", "小雨", "量子计算机的芯片", "续写"):
            said = [("user", "你好"), ("assistant", "你好")]
            beside = {"document": "chapters/ch003.md", "additional_input": "另一段话"}
            engine.assemble(query=query, **beside, messages=said, include_messages=2)
    assert offered == set(HEADINGS["zh"].values())


def _codes():
    """Codes that the package spells out, and beginnings of those that it puts together."""
    whole, begun = set(), set()
    for _, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                begun.add(node.values[0].value)
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                whole.add(node.value)
    return whole, {one for one in begun if re.fullmatch(r"[a-z]+\.[a-z]*", one)}


def test_no_sentence_lacks_a_language_or_one_of_its_parts():
    for code, said in reasons_table().items():
        assert {"zh", "en"} <= set(said) <= {"zh", "en", "ja"}, code
        named = {language: set(re.findall(r"\{(\w+)", text)) for language, text in said.items()}
        assert all(parts == named["zh"] for parts in named.values()), code
        assert all(text.strip() == text != "" for text in said.values()), code


def test_a_reason_is_japanese_where_the_table_has_it_and_else_english():
    short = Reason("term.short", term="美咲", kind=Reason("form.given name"), of="佐藤美咲")
    words = Reason("words", words=(short, "灯台"))
    assert words.in_language("ja") == "質問と共通する語：美咲（佐藤美咲の名）、灯台"
    assert words.in_language("ko") == "words of the question: 美咲 (derived: given name of 佐藤美咲), 灯台"
    assert sentence([words, Reason("out.nothing")], "ja").endswith("、灯台；nothing speaks for it")


def test_every_sentence_is_said_somewhere():
    whole, begun = _codes()
    begun |= {"kind.", "edition.", "title."}  # named by `kind_name` and by the kinds of sources
    begun |= {"mute.", "pin.", "why.paragraphs"}
    unsaid = {code for code in reasons_table() if code not in whole and not code.startswith(tuple(begun))}
    assert unsaid == set()


def test_a_reason_is_english_as_a_text_and_keeps_its_code_in_a_copy():
    reason = Reason("out.hidden", what=Reason("kind", kind=kind_name("review")))
    assert reason == "review: in no prompt unless asked for by name"
    copied = copy.deepcopy(reason)
    assert (copied.code, say(copied, "zh")) == ("out.hidden", "属于审查类：除非点名，不进提示词")
    assert say("a host's own words", "zh") == "a host's own words"
