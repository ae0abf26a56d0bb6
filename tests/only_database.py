"""`pytest -p tests.only_database`: only tests that ask a database.

A second run on another database repeats those for which it can make a difference. Which these are is
read off what gives a test the database; pytest-django refuses it to every other, so none is missed.

Of a test over a large table (each pair of kinds, each step of each kind) that run has every case, and
this one `CASES_MAX` of them, the same each time and evenly over the table: what another database
refuses is a statement, which a kind or a door has in all its cases. A test whose cases are what a
database might refuse, or the only ones of a door, is marked `every_database` and has them all.
"""

from collections import defaultdict
from collections.abc import Sequence

import pytest

GIVES_DATABASE = frozenset(
    {
        "db",
        "transactional_db",
        "live_server",
        "django_db_reset_sequences",
        "django_db_serialized_rollback",
        "django_db_setup",
    }
)
"""Fixtures of pytest-django; one that a fixture asks for counts as the test's own. Not its
`django_db_blocker`, which every test has and none of ours lifts."""
MARKS = ("django_db", "postgres")
"""`postgres` ones have a server of their own, and run on no other database."""
CASES_MAX = 40
EVERY_CASE = "every_database"
LEFT_OUT = pytest.StashKey[list[int]]()
"""Tests that ask no database, and cases of tests that have many."""
TO_CONTROLLER = "without_database"


def asks_database(item: pytest.Item) -> bool:
    marked = any(item.get_closest_marker(mark) for mark in MARKS)
    return marked or not GIVES_DATABASE.isdisjoint(getattr(item, "fixturenames", ()))


def sampled(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """In their order; of each test that has more than `CASES_MAX` cases as many."""
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker(EVERY_CASE) is None:
            cases[item.nodeid.partition("[")[0]].append(item)
    left_out = set()
    for some in cases.values():
        kept = {number * len(some) // CASES_MAX for number in range(CASES_MAX)}
        if len(some) > CASES_MAX:
            left_out.update(item for at, item in enumerate(some) if at not in kept)
    return [item for item in items if item not in left_out]


# Last, so that what other options leave out is not counted here.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    asking = [item for item in items if asks_database(item)]
    kept = sampled(asking)
    here = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in here])
    config.stash[LEFT_OUT] = [len(items) - len(asking), len(asking) - len(kept)]
    items[:] = kept
    if hasattr(config, "workeroutput"):
        config.workeroutput[TO_CONTROLLER] = config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    """Every worker collects all; the controller, which says the sum, collects nothing."""
    if (left_out := getattr(node, "workeroutput", {}).get(TO_CONTROLLER)) is not None:
        node.config.stash[LEFT_OUT] = left_out


def pytest_terminal_summary(terminalreporter, config):
    others, cases = config.stash.get(LEFT_OUT, ["an unknown number of"] * 2)
    terminalreporter.write_line(
        f"{others} tests left out here: they ask no database (no mark of {', '.join(MARKS)}, no fixture"
        " that gives one), so another one changes nothing for them"
    )
    terminalreporter.write_line(
        f"{cases} cases left out here: each test without the mark {EVERY_CASE} has at most {CASES_MAX}"
    )
