"""The check of the tables of facts can fail."""

from __future__ import annotations

import pathlib

import pytest

from tests.facts import unheld

HEAD = "| fact | test |\n|---|---|\n"


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("| A | `test_one::test_a` |", []),
        ("| A | `test_one` |", []),
        ("| A | `test_one::test_a`, `::test_b` |", ["::test_b"]),
        ("| A | `test_one::test_*` |", []),
        ("| A | `test_one::test_c*` |", ["test_one::test_c*"]),
        ("| A | `test_two::test_a` |", ["test_two::test_a"]),
        ("| A | said, not tested |", ["| A | said, not tested |"]),
        ("", ["no row at all"]),
    ],
)
def test_what_no_test_holds_is_named(tmp_path: pathlib.Path, row: str, found: list[str]) -> None:
    (tmp_path / "test_one.py").write_text("def test_a(): ...\n")
    (tmp_path / "FACTS.md").write_text(HEAD + row + "\n")
    assert unheld(tmp_path) == found
