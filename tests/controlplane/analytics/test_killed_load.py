"""A worker that is killed while it loads a run's rollups, by SIGKILL, in a process of its own.

One of the files is a pipe, so the worker stands where the test wants it: in the middle of its
transaction, with a table's old rows deleted and some of its new ones in. The clusters' file is read
before any row is touched.
"""

from __future__ import annotations

import array
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import termios
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from controlplane.analytics import supervise
from controlplane.analytics.load import MODELS
from controlplane.analytics.models import AnalyticsRun, RunCluster
from controlplane.operations.states import RUNNING, SUCCEEDED
from spark_analytics.contracts.gold import ROLLUP_TABLES
from spark_analytics.contracts.runs import RESULT_FILE, ClusterResult, Job, RunResult, tables_of
from tests.controlplane.alerts.test_killed import url
from tests.controlplane.analytics import rows
from tests.controlplane.analytics.rollup_rows import HOUR_MS, T0_MS, rollup_row, stored

REPOSITORY = Path(__file__).resolve().parents[3]
HOURS = 3
OLD, NEW = 5, 9
"""How many windows each hour has a sample of, before and after."""
CHILD = """
import django
django.setup()
from controlplane.analytics import load, supervise
# Row by row, so that some are in when the rest does not come.
load.INSERT_BATCH = 1
supervise.tick()
"""
DEADLINE_S = 60.0


def hours(table, samples):
    return [rollup_row(table, "kc_1", at, samples=samples) for at in range(HOURS)]


def prepared(tmp_path):
    """An hourly run that has ended beside a worker, and the rows of the run before it."""
    for table in ROLLUP_TABLES:
        for at in range(HOURS):
            stored(table, "kc_1", at, samples=OLD)
        stored(table, "kc_other", 0, samples=OLD)
    run = rows.running(
        tmp_path / "run",
        job=Job.HOURLY,
        from_ts_ms=T0_MS,
        to_ts_ms=T0_MS + HOURS * HOUR_MS,
        host=socket.gethostname(),
        heartbeat_at=timezone.now(),
        started_at=timezone.now(),
    )
    work = Path(run.work_dir)
    for table in ROLLUP_TABLES:
        (work / f"{table}.jsonl").write_text(lines(table))
    result = RunResult(
        run_id=run.pk,
        ok=True,
        from_ts_ms=run.from_ts_ms,
        to_ts_ms=run.to_ts_ms,
        formula_version=1,
        clusters=(ClusterResult(cluster_id="kc_1"),),
        rows=dict.fromkeys(ROLLUP_TABLES, HOURS),
    )
    (work / RESULT_FILE).write_text(result.to_json())
    return run


def lines(table):
    return "".join(json.dumps(row) + "\n" for row in hours(table, NEW))


def kept():
    """By table: (cluster, hour, samples, run) of every row, as the database has them."""
    names = ("cluster_id", "ts_ms", "samples", "run_id")
    return {
        table: sorted(MODELS[table].objects.exclude(pk=None).values_list(*names))
        for table in ROLLUP_TABLES
    }


def worker():
    return subprocess.Popen(
        [sys.executable, "-c", CHILD],
        cwd=REPOSITORY,
        env={
            **os.environ,
            "DATABASE_URL": url(),
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
            "PENSTOCK_DATA_DIR": str(settings.DATA_DIR),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def until(process, holds):
    """What `holds` gives when it is something; the process is alive all the while."""
    ends_s = time.monotonic() + DEADLINE_S
    while not (found := holds()):
        assert process.poll() is None, process.stderr.read()[-2000:]
        assert time.monotonic() < ends_s
        time.sleep(0.02)
    return found


def opened(pipe):
    """For writing, once somebody reads it."""
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


def is_drained(descriptor):
    waiting = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, waiting)
    return waiting[0] == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("part", [0, 1], ids=["deleted", "half-in"])
@pytest.mark.parametrize("table", tables_of(Job.HOURLY))
def test_a_worker_killed_while_it_loads_leaves_the_rows_of_before(tmp_path, table, part):
    run = prepared(tmp_path)
    before = kept()
    assert {len(found) for found in before.values()} == {HOURS + 1}
    pipe = Path(run.work_dir) / f"{table}.jsonl"
    pipe.unlink()
    os.mkfifo(pipe)
    connection.close()

    process = worker()
    try:
        descriptor = until(process, lambda: opened(pipe))
        if part:
            os.write(descriptor, lines(table).encode()[: len(lines(table)) // 2])
            until(process, lambda: is_drained(descriptor))
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stderr.close()
    os.close(descriptor)
    assert process.returncode == -signal.SIGKILL
    assert kept() == before, "all of it or nothing"
    run.refresh_from_db()
    assert (run.state, run.rows_out, RunCluster.objects.count()) == (RUNNING, 0, 0)

    # The dead one's lease keeps the next worker off for a while; then it loads what is still there.
    pipe.unlink()
    pipe.write_text(lines(table))
    held = AnalyticsRun.objects.exclude(lease_token="")
    assert held.update(lease_expires_at=timezone.now() + timedelta(minutes=1))
    supervise.tick()
    assert kept() == before
    AnalyticsRun.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    supervise.tick()
    run.refresh_from_db()
    assert (run.state, run.rows_out) == (SUCCEEDED, HOURS * len(ROLLUP_TABLES))
    assert RunCluster.objects.get().cluster_id == "kc_1"
    other = ("kc_other", T0_MS, OLD, "run_x")
    mine = [("kc_1", T0_MS + at * HOUR_MS, NEW, run.pk) for at in range(HOURS)]
    assert kept() == dict.fromkeys(ROLLUP_TABLES, sorted([*mine, other]))
