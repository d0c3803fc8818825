"""Any sequence of edits, crashes and reopenings leaves an index that equals the folder, and one that is built anew."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.index.conftest import put
from tests.index.test_index import equals_folder

import armarius
from armarius.index.project_index import ProjectIndex

PATHS = st.sampled_from(["a.md", "b/ch1.md", "b/ch2.md", "b/c/deep.txt", "people.md", "大纲.md"])
PATHS_OF_KINDS = st.sampled_from(
    [
        *(f"{folder}/{n:02}.md" for folder in ("chapters", "drafts", "zh") for n in (1, 2, 3)),
        *("chapters/S1 - Weir.md", "chapters/S2 - Gate.md", "reviews/chapter 1.md", "2024-01-02.md", "notes/a.md"),
        *("notes/b.md", "people.md", "大纲.md", "正文/第1章.md", "正文/第2章.md"),
    ]
)
TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            "# 人物\n\n## 林默\n\n- 别名：阿默\n- 类型：人物\n",
            "林默与阿默。\n\n第二段。",
            "# 第三章\n\n宝玉，黛玉。",
        ]
    ),
    st.text("林默阿宝玉，。\n# ", max_size=40),
)
SENTENCES = {
    "en": ("Mara counted the boats.", "“Wait,” said Ida Vance.", "The lamp of the Salt Company went out.", "Fog came."),
    "zh": ("林默推开门。", "“等等，”小雨说。", "港口的灯灭了。", "玛拉数着船。"),
}
PROSE = st.builds(
    lambda language, order, paragraphs: "\n\n".join(
        " ".join(SENTENCES[language][at % (n + 2)] for at in order) for n in range(paragraphs)
    ),
    st.sampled_from(["en", "zh"]),
    st.lists(st.integers(0, 3), min_size=4, max_size=6),
    st.sampled_from([1, 3, 12, 60]),
)
TEXTS_OF_KINDS = st.one_of(
    PROSE,
    st.builds("# {} {}\n\n{}".format, st.sampled_from(["Chapter", "Review"]), st.integers(1, 5), PROSE),
    st.builds("# Chapter 1\n\n{0}\n\n# Chapter 2\n\n{0}".format, PROSE),
    st.builds("---\nkind: {}\nstatus: draft\n---\n\n{}".format, st.sampled_from(["chapter", "note"]), PROSE),
    st.sampled_from(
        [
            "",
            "# Review\n\n- Score: 7\n- Verdict: pass\n- Issues: pace\n",
            "# {{title}}\n\n- Goal: ____\n- Conflict:\n- Stakes:\n- TODO\n",
            "# 大纲\n\n- 第一章：雨夜\n- 第二章：钟楼\n",
            "# Cast\n\n- Mara\n- Ida Vance\n- Salt Company\n- 林默\n",
            "# People\n\n## Mara\n\n- Role: pilot\n\n## Ida Vance\n\nA clerk.\n\n## Notes for writing\n\nText.\n",
        ]
    ),
)
CONFIGURATIONS = st.sampled_from(
    [
        "",
        '[documents]\n"notes/**" = "state"\n',
        '[documents]\nexclude = ["drafts/**"]\n',
        '[documents]\n"drafts/**" = "chapter"\n"**" = "note"\n',
    ]
)


def in_other_words(text):
    """A text of the same length, lines and speech, without a sentence of this one."""
    return text.translate(str.maketrans("aeo林默港", "eoa周舟塔"))


def answers(engine):
    """What an index holds, and prompts in one language, which is else that of the texts at the opening."""
    index = engine.index
    documents = index.store.documents_of(sorted(index.store.files()))
    prompts = [
        engine.assemble("What does Mara do about 林默?", document=path, budget=4000, language="en").prompt
        for path in (None, *[one.path for one in documents][:3])
    ]
    return documents, index.map, index.snapshot.codex.entities, prompts


class Edits(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        self.folder = Path(tempfile.mkdtemp())
        self.root = self.folder / "novel"
        self.root.mkdir()
        self.model = {}
        self.index = self.open()

    def open(self):
        return ProjectIndex.open(self.root, index_dir=self.folder / "index")

    @rule(path=PATHS, text=TEXTS)
    def write(self, path, text):
        put(self.root, path, text)
        self.model[path] = text

    @rule(path=PATHS)
    def delete(self, path):
        if self.model.pop(path, None) is not None:
            (self.root / path).unlink()

    @rule(source=PATHS, to=PATHS)
    def rename(self, source, to):
        if source in self.model and source != to:
            (self.root / to).parent.mkdir(parents=True, exist_ok=True)
            (self.root / source).replace(self.root / to)
            self.model[to] = self.model.pop(source)

    @rule()
    def refresh(self):
        self.index.refresh()

    @rule(path=PATHS)
    def refresh_one(self, path):
        self.index.refresh([path])

    @rule()
    def crash(self):
        """The process is gone: no seal, no checkpoint; what was committed is in the log."""
        session = self.index.store._session
        session._sealed = True  # nothing to write at the end
        session.place.break_seal()
        self.index.close()
        self.index = self.open()

    @rule()
    def reopen(self):
        self.index.close()
        self.index = self.open()

    @rule()
    def lose_the_index(self):
        shutil.rmtree(self.folder / "index")
        self.index.refresh()

    @invariant()
    def what_is_found_is_what_stands_there(self):
        if hasattr(self, "index"):
            self.index.freshen()
            for term in ("林默", "玉", "第二段"):
                hits = {(h.path, h.text) for h in self.index.search(term, limit=1000)}
                assert {path for path, _ in hits} == {path for path, text in self.model.items() if term in text}
                assert all(term in text for _, text in hits)

    def teardown(self):
        if hasattr(self, "index"):
            self.index.refresh()
            assert {path: self.index.store.document(path).text for path in self.index.store.files()} == self.model
            assert equals_folder(self.index)
            self.index.close()
            shutil.rmtree(self.folder)


class EditsOfKinds(RuleBasedStateMachine):
    """Files that change what they are, and what the files around them are."""

    @initialize(files=st.dictionaries(PATHS_OF_KINDS, TEXTS_OF_KINDS, max_size=8))
    def begin(self, files):
        self.folder = Path(tempfile.mkdtemp())
        self.root = self.folder / "novel"
        self.root.mkdir()
        for path, text in files.items():
            put(self.root, path, text)
        self.engine = armarius.open(self.root, watch=False, index_dir=self.folder / "index")
        self.index = self.engine.index

    @rule(path=PATHS_OF_KINDS, text=TEXTS_OF_KINDS)
    def write(self, path, text):
        put(self.root, path, text)
        self.index.refresh([path])

    @rule(path=PATHS_OF_KINDS, text=st.sampled_from(["\n\nFog.", "\n\n- Score: 7\n", "\n\n“Hm,” said Mara.\n" * 20]))
    def append(self, path, text):
        if (self.root / path).exists():
            self.write(path, (self.root / path).read_text("utf-8") + text)

    @rule(number=st.integers(1, 3), text=PROSE, anew=st.booleans())
    def copy(self, number, text, anew):
        self.write(f"chapters/{number:02}.md", text)
        self.write(f"other/{number:02}.md", text)
        if anew:
            self.write(f"other/{number:02}.md", in_other_words(text))

    @rule()
    def reopen(self):
        self.engine.close()
        self.engine = armarius.open(self.root, watch=False, index_dir=self.folder / "index")
        self.index = self.engine.index

    @rule(path=PATHS_OF_KINDS)
    def delete(self, path):
        (self.root / path).unlink(missing_ok=True)
        self.index.refresh([path])

    @rule(source=PATHS_OF_KINDS, to=PATHS_OF_KINDS)
    def rename(self, source, to):
        if (self.root / source).exists() and source != to:
            (self.root / to).parent.mkdir(parents=True, exist_ok=True)
            (self.root / source).replace(self.root / to)
            self.index.refresh([source, to])

    @rule(text=CONFIGURATIONS)
    def configure(self, text):
        put(self.root, "armarius.toml", text)
        self.index.refresh()

    def teardown(self):
        if hasattr(self, "index"):
            with self.engine, armarius.open(self.root, watch=False, index_dir=self.folder / "anew") as anew:
                assert answers(self.engine) == answers(anew)
            shutil.rmtree(self.folder)


def run(machine, steps):
    case = machine.TestCase
    case.settings = settings(max_examples=15, stateful_step_count=steps, suppress_health_check=list(HealthCheck))
    return case


TestEdits = run(Edits, 15)
TestEditsOfKinds = run(EditsOfKinds, 10)
