"""`armarius map` and what `doctor` says of doubts."""

import json

import pytest

from armarius.cli import main

PROSE = "The old man went home. Marlowe followed him to the gate and said nothing.\n"


@pytest.fixture
def folder(tmp_path):
    for name, text in {
        "chapters/ch001.md": PROSE,
        "chapters/ch002.md": PROSE,
        "misc/one.md": "Odds and ends.\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def test_the_map_is_a_tree(capsys, folder):
    assert main(["map", str(folder)]) == 0
    assert "2 chapters, 1–2" in capsys.readouterr().out


def test_a_kind_is_set_in_one_line_and_the_map_after_it_is_shown(capsys, folder):
    (folder / "armarius.toml").write_text("# mine\n", "utf-8")
    assert main(["map", str(folder), "--set", "misc/**=setting", "--set", "chapters/ch002.md=outline"]) == 0
    out = capsys.readouterr().out
    assert "setting, declared" in out
    assert (folder / "armarius.toml").read_text("utf-8") == (
        '# mine\n\n[documents]\n"chapters/ch002.md" = "outline"\n"misc/**" = "setting"\n'
    )


@pytest.mark.parametrize("given", ["misc/**", "=note", "misc/**=", "misc/**=essay"])
def test_what_sets_nothing_is_bad_input(capsys, folder, given):
    assert main(["map", str(folder), "--set", given]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert not (folder / "armarius.toml").exists()


def test_the_map_as_json_is_that_of_the_channel(capsys, folder):
    assert main(["map", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.keys() == {"files", "doubts", "unread"}
    assert [one["path"] for one in found["files"]] == ["chapters/ch001.md", "chapters/ch002.md", "misc/one.md"]
