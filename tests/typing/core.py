"""Checked by mypy and executed by pytest: the stub's return types are the real ones."""

from typing import assert_type

from armarius import _core

assert_type(_core.__version__, str)
assert_type(_core.optimised, bool)
