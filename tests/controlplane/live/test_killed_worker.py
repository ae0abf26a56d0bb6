"""How long an operation stands still when the Celery worker that is at it gets SIGKILL.

Two workers, beat and Redis are real and have the product's own settings; the cluster is a fake.
"""

import sqlite3
import subprocess
import time

import pytest

from tests.controlplane.live.holds import AFTER, BEFORE
from tests.controlplane.live.service import REPOSITORY, WORKERS, LiveService, python

pytestmark = [pytest.mark.workers, pytest.mark.redis, pytest.mark.timeout(300)]
KILLS = [("create", AFTER), ("verify", BEFORE), ("create", BEFORE), ("verify", AFTER)]
GENEROUS_S = 90.0
"""Of a machine that is busy with other things; what it takes on a quiet one is printed."""


class WorkersOnly(LiveService):
    # Beat's too: telemetry for an address where nobody is would count against the cluster, and its
    # operations would go to the workers for slow clusters, which this service does without.
    app = beat_app = "tests.controlplane.live.fake_worker"

    def start(self):
        for name in ("PENSTOCK_OPERATION_LEASE_S", "PENSTOCK_OPERATION_SWEEP_S"):
            del self.environment[name]
        self.environment["PENSTOCK_ZOOKEEPER_CONFIG"] = ""
        # Its own file, whatever database the other tests of this run are on.
        self.environment.pop("DATABASE_URL", None)
        (self.directory / "data").mkdir(parents=True)
        self.start_redis()
        self.manage("migrate", "--verbosity", "0")
        for name in WORKERS:
            self.start_worker(name)
        self.start_beat()

    def make_operation(self, topic):
        command = python("-m", self.app, topic)
        done = subprocess.run(
            command,
            env=self.environment,
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout.strip()

    def state(self, operation_id):
        """Straight from the file: nothing that is measured waits for a web process."""
        database = sqlite3.connect(self.directory / "data" / "penstock.sqlite3", timeout=20)
        try:
            query = "SELECT state FROM operations_operation WHERE id = ?"
            return database.execute(query, [operation_id]).fetchone()[0]
        finally:
            database.close()


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    made = WorkersOnly(tmp_path_factory.mktemp("workers"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


def await_(holds):
    end_s = time.monotonic() + GENEROUS_S
    while not holds():
        assert time.monotonic() < end_s, "the operation did not go on"
        time.sleep(0.01)
    return time.monotonic()


def test_an_operation_goes_on_after_its_worker_was_killed(workers, capsys):
    stood_still_s = {}
    for number, (step, when) in enumerate(KILLS):
        workers.holds.place("topic.create", step, when)
        operation_id = workers.make_operation(f"t-{number}")
        held = workers.holds.await_held()
        assert held["operation_id"] == operation_id
        assert workers.state(operation_id) in {"running", "verifying"}
        began = len(workers.holds.workers_of(operation_id))
        workers.kill_held(held)
        killed_s = time.monotonic()
        went_on_s = await_(lambda: len(workers.holds.workers_of(operation_id)) > began)  # noqa: B023 - at once
        await_(lambda: workers.state(operation_id) == "succeeded")  # noqa: B023 - at once
        assert len(set(workers.holds.workers_of(operation_id))) > 1
        stood_still_s[step, when] = went_on_s - killed_s
    with capsys.disabled():
        for (step, when), seconds in stood_still_s.items():
            print(f"\nkilled {when} {step}: went on after {seconds:.2f} s", end="")
        print()
