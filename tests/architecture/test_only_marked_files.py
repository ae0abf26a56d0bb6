"""A stage that reads only the files that name its marks misses no test."""

import re

import pytest

from tests.architecture.test_tidy import tracked
from tests.only_marked_files import TESTS, marks_of, wanted_marks

RESOURCES = re.compile(
    r"\bmark\.(cluster|conformance|spark|spark_cluster|faults|e2e|slow|postgres|redis|workers)\b"
)


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("cluster", {"cluster"}),
        ("(cluster or spark) and not faults and not slow", {"cluster", "spark"}),
        ("not e2e", set()),
        ("", set()),
    ],
)
def test_the_marks_that_are_asked_for(expression, names):
    assert wanted_marks(expression) == names


def test_marks_are_given_where_they_are_looked_for():
    """In a file of tests or a conftest: from elsewhere they could be imported without a word."""
    elsewhere = [
        path
        for path in tracked("tests/**/*.py")
        if not path.name.startswith("test_")
        and path.name != "conftest.py"
        and RESOURCES.search(path.read_text())
    ]
    assert elsewhere == []


def test_marks_of_a_conftest_are_those_of_the_files_below_it():
    below = marks_of(TESTS / "e2e" / "test_pages.py")
    assert "e2e" in below
    assert "cluster" in marks_of(TESTS / "controlplane" / "gateway" / "test_contract.py")
    assert "e2e" not in marks_of(TESTS / "dataplane" / "timing" / "test_wheel.py")
