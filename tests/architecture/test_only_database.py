"""A run on another database leaves out what asks none, and cases of tests that have very many."""

import subprocess
import sys

import pytest

from tests.architecture.test_tidy import REPOSITORY
from tests.only_database import CASES_MAX, sampled

TESTS = """
import pytest

@pytest.fixture
def rows(db):
    return []

@pytest.mark.django_db
def test_by_mark(): pass

def test_by_fixture(transactional_db): pass

def test_by_a_fixture_of_a_fixture(rows): pass

@pytest.mark.usefixtures("rows")
def test_by_use(): pass

@pytest.mark.postgres
def test_on_its_own_server(): pass

@pytest.mark.django_db
class TestMarked:
    def test_in_a_class(self): pass

@pytest.mark.parametrize("number", [1, 2])
def test_of_rules(number, tmp_path): pass

@pytest.mark.parametrize("number", range(100))
def test_of_a_table(number, db): pass

@pytest.mark.every_database
@pytest.mark.parametrize("number", range(100))
def test_of_statements(number, db): pass
"""
ASKING = 6 + CASES_MAX + 100
CASES = 100 - CASES_MAX
RULES = 2
ALL = ASKING + CASES + RULES
# Collected in one process, and run by workers: there only what makes no database.
RUNS = {
    "one process": (("-n", "0", "--collect-only"), f"{ASKING}/{ALL} tests collected"),
    "workers": (("-n", "1", "-k", "own_server or rules"), "1 passed"),
}


@pytest.mark.parametrize("run", RUNS)
def test_what_asks_no_database_is_left_out_and_counted(tmp_path, run):
    options, expected = RUNS[run]
    file = tmp_path / "test_some.py"
    file.write_text(TESTS)
    command = ["-m", "pytest", "-p", "tests.only_database", "-c", REPOSITORY / "pyproject.toml"]
    done = subprocess.run(
        [sys.executable, *command, "-p", "no:cacheprovider", "-q", *options, file],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{RULES} tests left out here: they ask no database" in done.stdout
    assert f"{CASES if run == 'one process' else 0} cases left out here" in done.stdout
    assert expected in done.stdout, done.stdout
    assert "test_of_rules" not in done.stdout


class Case:
    def __init__(self, nodeid):
        self.nodeid = nodeid

    def get_closest_marker(self, _name):
        return None


def test_a_sample_is_spread_over_the_table_and_in_its_order():
    every = [Case(f"test_a.py::test_pairs[{number}]") for number in range(CASES_MAX * 5)]
    few = [Case(f"test_a.py::test_few[{number}]") for number in range(CASES_MAX)]
    assert sampled([*every, *few]) == [*every[::5], *few]
