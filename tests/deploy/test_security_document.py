"""Every test that the threat model names is there."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DOCUMENT = REPOSITORY / "deploy" / "security.md"
NAMED = re.compile(r"\btest_\w+(?:\.py)?")


def written() -> set[str]:
    """Names of test files (`test_x.py`, `test_x`) and of the tests in them."""
    found: set[str] = set()
    for path in (REPOSITORY / "tests").rglob("test_*.py"):
        found |= {path.name, path.stem}
        found |= set(re.findall(r"^\s*(?:async )?def (test_\w+)", path.read_text(), re.MULTILINE))
    return found


def test_every_test_that_it_names_is_there():
    there = written()
    named = set(NAMED.findall(DOCUMENT.read_text()))
    assert len(named) > 60
    # A name that ends in an underscore stands for all that begin with it.
    gone = {
        name
        for name in named - there
        if not (name.endswith("_") and any(each.startswith(name) for each in there))
    }
    assert gone == set()
