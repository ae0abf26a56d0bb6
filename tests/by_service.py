"""`pytest -n 3 --dist loadfile -p tests.by_service`: files that share a service run in one process.

Each worker that has a test of it starts such a service for itself, which takes as long as dozens of
tests. What shares one comes first and its neighbours next, as they take longest: the end of a run,
where workers have nothing left, is made of short files.
"""

import functools
import re
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = {"spark": "tests/spark_analytics/", "service": "tests/controlplane/live/"}
"""Fixture of the whole session → the folder whose conftest has it."""


@functools.cache
def group_of(file: str) -> str:
    """The fixture that a file shares with others, or the file itself."""
    for fixture, folder in SHARED.items():
        if not file.startswith(folder):
            continue
        text = (REPOSITORY / file).read_text()
        # A file with a fixture of that name has a service of its own.
        has_own = re.search(rf"\bdef {fixture}\(", text)
        if not has_own and re.search(rf"\bdef \w+\([^)]*\b{fixture}\b", text):
            return fixture
    return file


def rank_of(file: str) -> int:
    if group_of(file) in SHARED:
        return 0
    return 1 if file.startswith(tuple(SHARED.values())) else 2


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


class ByService(LoadFileScheduling):
    """Not pytest-xdist's `loadgroup`: the names it gives to groups are lost with this pytest."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(file_of(nodeid))


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: rank_of(file_of(item.nodeid)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return ByService(config, log)
