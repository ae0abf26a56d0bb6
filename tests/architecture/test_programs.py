"""Programs of the tests that no test imports still find all they name."""

from __future__ import annotations

import importlib
import pathlib

import pytest

TESTS = pathlib.Path(__file__).parents[1]
ROOT = TESTS.parent
PROGRAMS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (TESTS / "bench").rglob("*.py")
    if not path.name.startswith("test_")
)


@pytest.mark.parametrize("module", PROGRAMS)
def test_a_program_loads(module: str) -> None:
    assert importlib.import_module(module)
