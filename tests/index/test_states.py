"""Any sequence of edits, crashes and reopenings leaves an index that equals the folder."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.index.conftest import put
from tests.index.test_index import equals_folder

from armarius.index.project_index import ProjectIndex

PATHS = st.sampled_from(["a.md", "b/ch1.md", "b/ch2.md", "b/c/deep.txt", "people.md", "大纲.md"])
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
        session._place.break_seal()
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


TestEdits = Edits.TestCase
TestEdits.settings = settings(
    max_examples=15, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
)
