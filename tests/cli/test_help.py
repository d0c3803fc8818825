import re
import shlex
from pathlib import Path

import pytest

from armarius.cli import build_parser
from armarius.cli.options import COMMANDS as ROWS

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMANDS = sorted(next(iter(build_parser()._subparsers._group_actions)).choices)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_example_of_a_command_is_one_that_it_takes(command, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    words = shlex.split(ROWS[command].example.partition(" | ")[0])
    assert words[:2] == ["armarius", command]
    assert build_parser().parse_args(words[1:]).run


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_the_example_and_explains_every_option(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        build_parser().parse_args([command, "--help"])
    out = capsys.readouterr().out
    assert "example: armarius" in out
    assert max(map(len, out.splitlines())) <= 80 or any(char < "示" for char in out)


def test_one_thing_is_spelt_alike_in_every_command():
    spellings = {}
    for command in COMMANDS:
        parser = next(iter(build_parser()._subparsers._group_actions)).choices[command]
        for action in parser._actions:
            for option in action.option_strings:
                if option.startswith("--") and action.nargs != 0:
                    spellings.setdefault(option, set()).add(str(action.metavar or action.choices))
    assert spellings.pop("--model") == {"MODEL", "FOLDER"}  # of language, and of embeddings: `embed` has no other
    assert spellings.pop("--language") == {"['en', 'zh']", "['en', 'ja', 'zh']"}  # an empty book has no Japanese one
    assert {option: words for option, words in spellings.items() if len(words) > 1} == {}
    assert all(re.fullmatch(r"--[a-z0-9]+(-[a-z0-9]+)*", option) for option in spellings)
