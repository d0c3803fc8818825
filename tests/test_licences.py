"""Whatever is in the wheel and is not ours is named, with its licence, in the metadata, the SBOM and the manual."""

import json
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMED = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["license"].split(" AND ")
COMPONENTS = json.loads((ROOT / "licenses/armarius-data.cdx.json").read_text("utf-8"))["components"]


def test_the_sbom_lists_every_vocabulary_and_word_list_of_others():
    carried = {str(path.relative_to(ROOT).as_posix()) for path in (ROOT / "rust/tokens/vocab").glob("*.bin")}
    lists = {"python/armarius/search/thesaurus/wordnet.txt", "python/armarius/lexicon/look_alikes.toml"}
    assert {component["bom-ref"] for component in COMPONENTS} == carried | lists


def test_the_metadata_name_the_licence_of_every_vocabulary_and_word_list():
    licences = {name for one in COMPONENTS for name in one["licenses"][0]["expression"].split(" AND ")}
    assert licences <= set(NAMED)


def test_every_licence_that_the_metadata_name_has_its_text_and_its_row_in_the_manual():
    texts = {path.stem for path in (ROOT / "licenses").glob("*.txt")}
    page = (ROOT / "docs/install.md").read_text("utf-8").splitlines()
    rows = [line.split("|")[1].strip() for line in page if line.startswith("| ")]
    assert texts == set(NAMED)
    assert [name for name in NAMED if name not in rows] == []
