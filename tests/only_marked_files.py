"""`pytest -p tests.only_marked_files -m "a or b"`: only files that name one of these marks are read.

Each worker of a stage would else import a thousand files for the tests of sixty. A test has its marks
from its own file or from a conftest above it, which `tests/architecture` checks.
"""

import functools
import re
from pathlib import Path

TESTS = Path(__file__).parent
NAMES = re.compile(r"(\bnot\s+)?\b(\w+)\b")
OPERATORS = frozenset({"and", "or", "not"})


def wanted_marks(expression: str) -> frozenset[str]:
    """Those that a mark expression names without a `not` before it."""
    found = NAMES.findall(expression)
    return frozenset(name for negated, name in found if not negated) - OPERATORS


@functools.cache
def _marks_in(path: Path) -> frozenset[str]:
    return (
        frozenset(re.findall(r"\bmark\.(\w+)", path.read_text())) if path.exists() else frozenset()
    )


def marks_of(path: Path) -> frozenset[str]:
    """What a test of this file may be marked with."""
    above = (folder / "conftest.py" for folder in path.parents if folder.is_relative_to(TESTS))
    return _marks_in(path).union(*(_marks_in(conftest) for conftest in above))


def pytest_ignore_collect(collection_path, config):
    if collection_path.is_dir() or not collection_path.is_relative_to(TESTS):
        return None
    return None if marks_of(collection_path) & wanted_marks(config.option.markexpr) else True
