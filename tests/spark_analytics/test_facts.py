"""The table of bad luck: each row names tests that have to exist."""

from __future__ import annotations

import pathlib

from tests.facts import unheld


def test_every_piece_of_bad_luck_has_its_test():
    assert unheld(pathlib.Path(__file__).parent) == []
