import pytest

from armarius.codex.model import Memory
from armarius.documents.document import make_document
from armarius.errors import ConfigError
from armarius.prompt.fetchers.layers import ProjectStyle, SettingsFetcher, Style
from armarius.trust.settings import Config
from armarius.types import Fetcher, FetchRequest


class Memories:
    def __init__(self, *items, error=None):
        self.items, self.error = items, error

    def memory_list(self, project_id):
        if self.error:
            raise self.error
        return self.items


def documents(**files):
    return [make_document(path.replace("__", "/") + ".md", text.encode()) for path, text in files.items()]


def fetch(memories=None, style=None):
    return SettingsFetcher(memories, style=style).fetch(FetchRequest(project_id="p"))


def test_semantic_memory_is_scored_by_its_confidence():
    (item,) = fetch(Memories(Memory("m1", "作者爱用短句", confidence=0.7))).candidates
    assert (item.source, item.content, item.score, item.layer) == (
        "memory:semantic:m1",
        "- 作者爱用短句",
        0.7,
        "settings",
    )


def test_other_kinds_of_memory_are_excluded_and_reported():
    fetched = fetch(Memories(Memory("m1", "昨天改了第三章", "episodic")))
    assert fetched.candidates == ()
    assert [(item.source, item.reason) for item in fetched.omitted] == [("memory:episodic:m1", "excluded")]


def test_style_ranks_above_memories_and_may_be_shortened():
    found = fetch(Memories(Memory("m1", "甲")), ProjectStyle(documents(风格="句子短。"))).candidates
    assert [item.source for item in sorted(found, key=lambda item: -item.score)] == [
        "style:风格.md",
        "memory:semantic:m1",
    ]
    assert next(item for item in found if item.source == "style:风格.md").keep == "head"


def test_failing_memories_leave_the_style():
    fetched = fetch(Memories(error=OSError("down")), ProjectStyle(documents(style="Short.")))
    assert [item.source for item in fetched.candidates] == ["style:style.md"]
    assert [warning.code for warning in fetched.warnings] == ["MEMORY_UNAVAILABLE"]


@pytest.mark.parametrize("path", ["style", "风格", "spec__文风", "guide__style_guide", "设定__写作风格", "Style Guide"])
def test_file_named_for_style_is_style(path):
    assert len(ProjectStyle(documents(**{path: "短。"})).style_list("p")) == 1


@pytest.mark.parametrize("path", ["人物", "chapters__style-of-the-knight", "a__b__c__style"])
def test_other_file_is_not_style(path):
    assert ProjectStyle(documents(**{path: "短。"})).style_list("p") == []


@pytest.mark.parametrize(("kind", "count"), [("note", 0), ("tool", 0), ("template", 0), ("outline", 0), ("setting", 1)])
def test_a_style_guide_that_is_declared_something_else_is_not_style(kind, count):
    declared = {"style.md": kind}
    assert len(ProjectStyle(documents(style="短。"), declared=declared).style_list("p")) == count
    listed = Config(tables={"style": {"files": ["style.md"]}})
    assert len(ProjectStyle(documents(style="短。"), listed, declared).style_list("p")) == 1


def test_configuration_names_files_and_adds_a_text():
    config = Config(tables={"style": {"files": ["guide/x.md"], "text": "第三人称。"}})
    style = ProjectStyle(documents(guide__x="冷。", style="不读。"), config)
    assert style.style_list("p") == [Style("armarius.toml", "第三人称。"), Style("guide/x.md", "冷。")]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"files": "x.md"}, "style.files must be a list of paths"),
        ({"text": 3}, "style.text must be a string"),
        ({"files": ["no.md"]}, "no document 'no.md'"),
    ],
)
def test_wrong_configuration_names_key_and_value(table, message):
    with pytest.raises(ConfigError, match=message):
        ProjectStyle([], Config(tables={"style": table}))


def test_fetcher_is_a_fetcher():
    assert isinstance(SettingsFetcher(), Fetcher)
