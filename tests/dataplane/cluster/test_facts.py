"""The table of facts names tests that exist."""

from __future__ import annotations

import pathlib

from tests.facts import unheld


def test_every_fact_is_held_by_a_test_that_exists() -> None:
    assert unheld(pathlib.Path(__file__).parent) == []
