"""Files of other programs through the import page, and what the page says where the studio itself fails."""

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.documents.test_manuscripts import DOCX, EPUB, FOUNTAIN, HTML, ODT, RTF
from tests.lorebooks.samples import FILES, OTHER_NAMES, text

import armarius
from armarius.documents.classify import MANUSCRIPTS, NOT_READ, PROSE_SUFFIXES
from armarius.lorebooks.formats.containers import FORMATS

pytest.importorskip("starlette", reason="armarius[studio]")
from starlette.testclient import TestClient

from armarius.studio.app import build_app

ROOT = Path(__file__).resolve().parents[2]
BASE = "http://127.0.0.1:8123"
ORIGIN = {"origin": BASE}
PAGES = {".docx": DOCX, ".odt": ODT, ".epub": EPUB, ".rtf": RTF, ".fountain": FOUNTAIN}
UNNAMED = {"entries": {"0": {"uid": 0, "key": ["Satis House", "沙提斯"], "comment": "", "content": "A mansion."}}}


@pytest.fixture(params=["en", "zh"])
def client(request, tmp_path):
    shutil.copytree(ROOT / "examples" / "novel", tmp_path / "novel")
    with armarius.open(tmp_path / "novel", watch=False) as engine:
        language = {"accept-language": request.param}
        client = TestClient(build_app(engine, "secret", 8123), base_url=BASE, headers=language)
        client.get("/?token=secret")
        client.engine = engine
        yield client


def bring(client, name, data, write):
    return client.post("/change/bring", files={"file": (name, data)}, data={"write": write}, headers=ORIGIN)


def without_names(value):
    """A book without the names of its entries."""
    if isinstance(value, list):
        return [without_names(one) for one in value]
    if isinstance(value, dict):
        return {key: "" if key in ("comment", "displayName") else without_names(one) for key, one in value.items()}
    return value


def test_every_format_that_is_imported_has_a_sample():
    assert {one.name for one in FORMATS} <= FILES.keys() | OTHER_NAMES.keys()


@pytest.mark.parametrize("write", ["", "yes"])
def test_every_lorebook_and_card_is_shown_by_the_import_page(client, write):
    for name, data in FILES.items():
        assert (name, bring(client, f"{name}.json", data, write).status_code) == (name, 200)
        try:
            bare = text(without_names(json.loads(data)))
        except ValueError:  # an archive or a picture
            continue
        assert (name, bring(client, f"{name}.json", bare, write).status_code) == (name, 200)


def test_what_has_no_effect_is_explained_in_the_language_of_the_page(client):
    chinese = client.headers["accept-language"] == "zh"
    for name, data in FILES.items():
        page = bring(client, f"{name}.json", data, "").text
        reasons = re.findall(r"<li><code>[^<]*</code> ([^<]*)</li>", page)
        assert [one for one in reasons if (re.search("[一-鿿]", one) is not None) != chinese] == [], name
    assert reasons


@pytest.mark.parametrize("suffix", sorted({*MANUSCRIPTS, *PROSE_SUFFIXES}))
def test_every_manuscript_is_shown_by_the_import_page(client, suffix):
    data = PAGES.get(suffix, HTML.encode())
    assert bring(client, f"book{suffix}", data, "").status_code == 200
    assert bring(client, f"book{suffix}", data, "yes").status_code == 200


@pytest.mark.parametrize("suffix", sorted(NOT_READ))
def test_a_manuscript_that_is_not_read_is_refused_by_the_import_page(client, suffix):
    answer = bring(client, f"book{suffix}", b"x", "yes")
    assert (answer.status_code, 'role="alert"' in answer.text) == (400, True)


def test_an_entry_without_a_name_is_shown_by_its_keys(client):
    page = bring(client, "lore.json", text(UNNAMED), "yes").text
    assert "<b>Satis House、沙提斯</b>" in page
    assert client.get(f"/book/{next(iter(client.engine.books))}").status_code == 200


def test_a_failure_of_the_studio_is_a_page_that_names_the_files_written_before(client, monkeypatch, caplog):
    add = type(client.engine.importing).add

    def broken(self, path):
        add(self, path)
        raise ZeroDivisionError("of our own")

    monkeypatch.setattr(type(client.engine.importing), "add", broken)
    answer = bring(client, "lore.json", text(UNNAMED), "yes")
    book = next(iter(client.engine.books))
    assert (answer.status_code, "<header>" in answer.text) == (500, True)
    assert re.search(f"<code>.armarius/books/{book}/[^<]+</code>", answer.text)
    assert "ZeroDivisionError" in caplog.text
    monkeypatch.setattr(type(client.engine.importing), "preview", lambda *_: 1 / 0)
    nothing = {"en": "No file was changed.", "zh": "没有写任何文件。"}[client.headers["accept-language"]]
    assert nothing in bring(client, "lore.json", text(UNNAMED), "").text
