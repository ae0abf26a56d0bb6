"""`pytest -p tests.only_database`: only tests that ask a database.

A second run on another database repeats those for which it can make a difference. Which these are is
read off what gives a test the database; pytest-django refuses it to every other, so none is missed.
"""

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
LEFT_OUT = pytest.StashKey[int]()
TO_CONTROLLER = "without_database"


def asks_database(item: pytest.Item) -> bool:
    marked = any(item.get_closest_marker(mark) for mark in MARKS)
    return marked or not GIVES_DATABASE.isdisjoint(getattr(item, "fixturenames", ()))


# Last, so that what other options leave out is not counted here.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if not asks_database(item)]
    items[:] = [item for item in items if asks_database(item)]
    config.hook.pytest_deselected(items=left_out)
    config.stash[LEFT_OUT] = len(left_out)
    if hasattr(config, "workeroutput"):
        config.workeroutput[TO_CONTROLLER] = len(left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    """Every worker collects all; the controller, which says the sum, collects nothing."""
    if (left_out := getattr(node, "workeroutput", {}).get(TO_CONTROLLER)) is not None:
        node.config.stash[LEFT_OUT] = left_out


def pytest_terminal_summary(terminalreporter, config):
    left_out = config.stash.get(LEFT_OUT, None)
    said = "an unknown number of" if left_out is None else left_out
    terminalreporter.write_line(
        f"{said} tests left out here: they ask no database (no mark of {', '.join(MARKS)}, no fixture"
        " that gives one), so another one changes nothing for them"
    )
