"""Tests that share a service go to one worker, and first; whole files to any."""

import re
import subprocess
import sys

from tests.architecture.test_tidy import REPOSITORY

# As pytest-xdist reads them.
PROGRAM = """
import sys
import pytest

class Show:
    def pytest_collection_finish(self, session):
        for item in session.items:
            print("GROUP", item.path.name, item.get_closest_marker("xdist_group").args[0])

sys.exit(pytest.main(sys.argv[1:], plugins=[Show()]))
"""
OPTIONS = ("-q", "-n", "0", "--collect-only", "-p", "no:cacheprovider", "-p", "tests.by_service")
FILES = (
    "tests/conformance/test_kcat.py",
    "tests/controlplane/live/test_rotation.py",
    "tests/controlplane/live/test_runbooks.py",
    "tests/controlplane/live/test_verbs.py",
    "tests/spark_analytics/test_rollups.py",
)


def test_groups_are_those_of_shared_services_and_of_files_the_longest_first():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *OPTIONS, "-m", "cluster or conformance or spark", *FILES],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"^GROUP (\S+) (\S+)$", done.stdout, re.MULTILINE)
    assert list(dict.fromkeys(found)) == [
        ("test_runbooks.py", "service"),
        ("test_verbs.py", "service"),
        ("test_rollups.py", "spark"),
        ("test_rotation.py", "test_rotation"),
        ("test_kcat.py", "test_kcat"),
    ]
