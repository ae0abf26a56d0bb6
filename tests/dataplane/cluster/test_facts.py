"""The table of facts names tests that exist."""

from __future__ import annotations

import pathlib
import re

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]


def test_every_fact_is_held_by_a_test_that_exists() -> None:
    current: pathlib.Path | None = None
    rows = [line for line in (HERE / "FACTS.md").read_text().splitlines() if line.startswith("| ")]
    for row in rows[1:]:
        references = re.findall(r"`((?:tests/|test_|::)[^`]+)`", row)
        assert references, row
        for reference in references:
            name, _, function = reference.partition("::")
            if name:
                current = ROOT / name if "/" in name else HERE / f"{name}.py"
            assert current is not None
            assert current.is_file(), reference
            assert re.search(rf"def {function or 'test_'}\b", current.read_text()) or (
                not function and "def test_" in current.read_text()
            ), reference
