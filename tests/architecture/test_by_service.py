"""Files that share a service go to one worker, and first; other files whole to any."""

import re
import subprocess
import sys
from collections import defaultdict

import pytest

from tests.architecture.test_tidy import REPOSITORY
from tests.by_service import SHARED, group_of

RUN = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "tests.by_service")
LIVE, SPARK = "tests/controlplane/live/", "tests/spark_analytics/"
QUICK = ("tests/zookeeper_access/test_files.py", "tests/zookeeper_access/test_settings.py")


def said_by(*arguments):
    done = subprocess.run(
        [*RUN, *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("file", "group"),
    [
        (f"{LIVE}test_verbs.py", "service"),
        (f"{LIVE}test_runbooks.py", "service"),
        (f"{LIVE}test_rotation.py", f"{LIVE}test_rotation.py"),
        (f"{LIVE}test_verdicts.py", f"{LIVE}test_verdicts.py"),
        (f"{SPARK}test_transforms.py", "spark"),
        (f"{SPARK}test_rollups.py", "spark"),
        ("tests/conformance/test_kcat.py", "tests/conformance/test_kcat.py"),
    ],
)
def test_a_files_group_is_the_service_that_it_shares_or_itself(file, group):
    assert group_of(file) == group


def test_what_shares_a_service_comes_first_and_its_neighbours_next():
    files = ["tests/conformance/test_kcat.py", f"{LIVE}test_rotation.py", f"{LIVE}test_verbs.py"]
    listed = said_by("-q", "-n", "0", "--collect-only", *files, f"{SPARK}test_rollups.py")
    found = list(dict.fromkeys(re.findall(r"^(\S+\.py)::", listed, re.MULTILINE)))
    assert {group_of(file) for file in found[:2]} == set(SHARED)
    assert found[2:] == [files[1], files[0]]


def test_workers_are_given_whole_files():
    said = said_by("-v", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", *QUICK)
    assert "scheduling tests via ByService" in said
    workers = defaultdict(set)
    for worker, file in re.findall(r"^\[(gw\d)\].* PASSED (\S+\.py)::", said, re.MULTILINE):
        workers[file].add(worker)
    assert set(workers) == set(QUICK)
    assert all(len(by) == 1 for by in workers.values())
