import pytest

from armarius.search.query.relations import RelationIndex

from .conftest import corpus_of, write


def profiles(*rows: tuple[str, str]) -> str:
    sections = [f"## {name}\n\n- 类型：人物\n- 描述：{text}\n" for name, text in rows]
    return "# 人物档案\n\n" + "\n".join(sections)


def ties_of(tmp_path, *rows):
    root = write(tmp_path, {"spec/characters.md": profiles(*rows)})
    corpus = corpus_of(root).opened
    ids = {entity.name: entity.id for entity in corpus.entities.values()}
    names = {entity.id: entity.name for entity in corpus.entities.values()}
    ties = RelationIndex(corpus)
    return lambda name: {(tie.role.name, names[tie.other]) for tie in ties.of(ids[name])}


@pytest.mark.parametrize(
    ("text", "tie"),
    [
        ("陈山与李月之女。", ("parent", "李月")),
        ("陈山的独生女，爱笑。", ("parent", "陈山")),
        ("陈山之妻。", ("spouse", "陈山")),
        ("李月的贴身丫鬟。", ("master", "李月")),
        ("后来嫁给陈山。", ("spouse", "陈山")),
        ("生李月、陈山。", ("child", "陈山")),
        ("Younger sister of 陈山.", ("sibling", "陈山")),
        ("陈山's apprentice, quick with a knife.", ("teacher", "陈山")),
        ("Married to 陈山.", ("spouse", "陈山")),
    ],
)
def test_the_prose_of_a_profile_says_who_is_what(tmp_path, text, tie):
    ties = ties_of(tmp_path, ("王青", text), ("陈山", "铁匠。"), ("李月", "织工。"))
    assert tie in ties("王青")


def test_a_tie_is_seen_from_both_ends(tmp_path):
    ties = ties_of(tmp_path, ("王青", "陈山之女。"), ("陈山", "铁匠。"))
    assert ties("陈山") == {("child", "王青")}


def test_who_marries_in_a_sentence_about_somebody_else_is_not_the_subject(tmp_path):
    ties = ties_of(tmp_path, ("王青", "撺掇陈山偷娶李月。"), ("陈山", "铁匠。"), ("李月", "织工。"))
    assert ties("王青") == set()
    assert ("spouse", "李月") in ties("陈山")


def test_typed_relations_come_before_prose(small):
    corpus = small.opened
    ids = {entity.name: entity.id for entity in corpus.entities.values()}
    roles = {(tie.role.name, tie.other) for tie in RelationIndex(corpus).of(ids["Tom Reed"])}
    assert roles == {("spouse", ids["Clara"]), ("sibling", ids["Anna Vale"])}
