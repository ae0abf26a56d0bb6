"""`pytest --dist loadgroup -p tests.by_service`: tests that share a service run in one process.

Each worker that has a test of it starts such a service for itself, which takes as long as dozens of
tests. Other tests are grouped by their files. What shares a service comes first and its neighbours
next, as they take longest: the end of a run, where workers have nothing left, is made of short files.
"""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SHARED = {"spark": TESTS / "spark_analytics", "service": TESTS / "controlplane" / "live"}
"""Fixture of the whole session → the folder whose conftest has it."""


def group_of(item: pytest.Item) -> str:
    for fixture, folder in SHARED.items():
        # A module with a fixture of that name has a service of its own.
        if (
            item.path.is_relative_to(folder)
            and fixture in item.fixturenames
            and not hasattr(item.module, fixture)
        ):
            return fixture
    return item.path.stem


def rank_of(item: pytest.Item) -> int:
    if group_of(item) in SHARED:
        return 0
    return 1 if any(item.path.is_relative_to(folder) for folder in SHARED.values()) else 2


# Before pytest-xdist reads the groups.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))
    items.sort(key=rank_of)
