"""Who holds a short lease is killed, by SIGKILL, in a process of its own, and another one goes on.

The alerts' rounds, the collector of a cluster and the ticks of an analytics run: a worker holds all
three and renews them, is killed, and what it held is taken over when the lease that it had runs
out, by the database's clock: nobody waits longer, however fast or slow the machine is.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.db.models.functions import Now

from controlplane.alerts import evaluation
from controlplane.alerts.models import Evaluator
from controlplane.analytics import collect, process, supervise
from controlplane.analytics.models import AnalyticsRun, CollectorState
from controlplane.gateway.errors import GatewayError, unreachable
from tests.controlplane.alerts.test_killed import url
from tests.controlplane.analytics import rows
from tests.controlplane.support import cluster_make, tenant_make
from tests.waiting import wait_until

REPOSITORY = Path(__file__).resolve().parents[3]
# Each stands in the middle of what it holds the lease for, and says so.
CHILD = """
import sys, threading
import django
django.setup()
from controlplane.alerts import evaluation, facts
from controlplane.analytics import collect, process, supervise

cluster_id, ready = sys.argv[1], threading.Semaphore(0)

def hold(*given, **more):
    ready.release()
    threading.Event().wait()

facts.read = collect.gateway_for = process.find = hold
for work in (evaluation.evaluate, lambda: collect.collect_cluster(cluster_id), supervise.tick):
    threading.Thread(target=work, daemon=True).start()
    ready.acquire()
print("held", flush=True)
threading.Event().wait()
"""


@pytest.fixture
def worker():
    started = []

    def start(cluster_id):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, cluster_id],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "DATABASE_URL": url(),
                "DJANGO_SETTINGS_MODULE": "controlplane.settings",
                "PENSTOCK_DATA_DIR": str(settings.DATA_DIR),
            },
        )
        started.append(child)
        assert child.stdout.readline() == b"held\n", "it ended before it held all of them"
        return child

    yield start
    for child in started:
        child.kill()
        child.wait()
        child.stdout.close()


def now_of(model, pk):
    """The row, and the database's time at which it was read."""
    row = model.objects.annotate(read_at=Now()).get(pk=pk)
    return row, row.read_at


def renewed(model, pk):
    first, _ = now_of(model, pk)
    wait_until(
        lambda: now_of(model, pk)[0].lease_expires_at > first.lease_expires_at,
        f"{model.__name__} is renewed by who holds it",
    )


def taken_over(model, pk, expires_at, take):
    """Asks until it is taken: not before the lease has run out, and at the first asking after."""
    while True:
        _, asked_at = now_of(model, pk)
        if take():
            _, taken_at = now_of(model, pk)
            assert taken_at >= expires_at, "it was still held"
            return
        assert asked_at <= expires_at, "it was free, and not taken"
        time.sleep(0.05)


@pytest.mark.django_db(transaction=True)
def test_what_a_killed_worker_held_is_taken_over_when_its_leases_run_out(
    worker, monkeypatch, tmp_path
):
    cluster = cluster_make(tenant_make("one"), "a", kind="registered")
    run = rows.running(tmp_path / "run", host=socket.gethostname())
    dead = worker(cluster.id)
    held = {
        Evaluator: (evaluation.ROW, evaluation.LEASE),
        CollectorState: (cluster.id, collect.LEASE),
        AnalyticsRun: (run.pk, supervise.TICK_LEASE),
    }
    for model, (pk, _) in held.items():
        renewed(model, pk)

    dead.send_signal(signal.SIGKILL)
    assert dead.wait(60) == -signal.SIGKILL
    connection.close()
    expires_at = {}
    for model, (pk, length) in held.items():
        row, read_at = now_of(model, pk)
        assert row.lease_token, "the dead one gave nothing back"
        assert row.lease_expires_at <= read_at + length
        expires_at[model] = row.lease_expires_at

    reached = []

    def reach(*given):
        reached.append(given)
        raise unreachable("who goes on gets to where the dead one stood")

    monkeypatch.setattr(collect, "gateway_for", reach)
    monkeypatch.setattr(process, "find", reach)

    def collected():
        reached.clear()
        return not collect.collect_cluster(cluster.id) and len(reached) == 1

    def ticked():
        reached.clear()
        with contextlib.suppress(GatewayError):
            supervise.tick()
        return reached == [(Path(run.work_dir),)]

    takes = {
        Evaluator: lambda: evaluation.evaluate() is not None,
        CollectorState: collected,
        AnalyticsRun: ticked,
    }
    for model, take in takes.items():
        taken_over(model, held[model][0], expires_at[model], take)
        row, _ = now_of(model, held[model][0])
        assert (row.lease_token, row.lease_expires_at) == ("", None), "and given back"
