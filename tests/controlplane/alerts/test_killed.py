"""An evaluator that is killed between a move and its commit, by SIGKILL, in a process of its own."""

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from controlplane.alerts import evaluation
from controlplane.alerts.models import Alert, AlertOverride, AlertTransition, Evaluator
from controlplane.clusters.models import Cluster
from controlplane.notifications import services as notifications
from controlplane.operations.models import OutboxMessage
from tests.controlplane.support import cluster_make, tenant_make

REPOSITORY = Path(__file__).resolve().parents[3]
# Each notification is a row in the transaction; the process dies after the last one of the first
# tenant (`before`), or when that tenant is committed (`after`).
CHILD = """
import os, signal, sys
import django
django.setup()
from datetime import datetime
from controlplane.alerts import applying, evaluation, facts_hosts
from controlplane.notifications import services
from controlplane.operations.models import OutboxMessage

facts_hosts.READ_S = 0.1  # there is no ZooKeeper
where, at = sys.argv[1], datetime.fromisoformat(sys.argv[2])

def publish_all(events):
    for event in events:
        OutboxMessage.objects.create(task="told", args=[event.alert_id, event.state])
    if where == "publish" and events:
        os.kill(os.getpid(), signal.SIGKILL)

apply, apply_and_commit = applying.apply, evaluation._apply

def before_commit(found):
    moved = apply(found)
    if where == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    return moved

def after_commit(found, token):
    moved = apply_and_commit(found, token)
    if where == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    return moved

services.publish_all = publish_all
applying.apply = before_commit
evaluation._apply = after_commit
evaluation.evaluate(at)
"""


def url():
    """Of the test's own database."""
    found = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{found['NAME']}"
    return (
        f"postgres://{found['USER']}:{found['PASSWORD']}@{found['HOST']}:{found['PORT']}"
        f"/{found['NAME']}"
    )


def run(where, at):
    return subprocess.run(
        [sys.executable, "-c", CHILD, where, at.isoformat()],
        cwd=REPOSITORY,
        env={
            **os.environ,
            "DATABASE_URL": url(),
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
            "PENSTOCK_DATA_DIR": str(settings.DATA_DIR),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def published(monkeypatch):
    def publish_all(events):
        for event in events:
            OutboxMessage.objects.create(task="told", args=[event.alert_id, event.state])

    monkeypatch.setattr(notifications, "publish_all", publish_all)


def kept():
    """By alert: its state, its moves and what was told of it, as the database has them."""
    told = {}
    for message in OutboxMessage.objects.filter(task="told").order_by("pk"):
        told.setdefault(message.args[0], []).append(message.args[1])
    return {
        alert.id: (
            alert.state,
            [row.after for row in AlertTransition.objects.filter(alert=alert)],
            told.get(alert.id, []),
        )
        for alert in Alert.objects.filter(rule="collector-late")
    }


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("where", ["publish", "before", "after"])
def test_a_killed_evaluator_leaves_nothing_half_done(published, where):
    for slug in ("one", "two"):
        for name in ("a", "b"):
            cluster_make(tenant_make(slug), name, kind="registered")
    now = timezone.now()
    Cluster.objects.update(created_at=now - timedelta(hours=1))
    for slug in ("one", "two"):
        AlertOverride.objects.create(
            tenant=tenant_make(slug), rule="cluster-away", enabled=False, created_by="x"
        )
    assert evaluation.evaluate(now) is not None
    assert {state for state, _, _ in kept().values()} == {"pending"}
    before = kept()

    died = run(where, now + timedelta(seconds=30))
    assert died.returncode == -signal.SIGKILL, died.stderr[-2000:]
    connection.close()
    found = kept()
    done = [alert for alert, row in found.items() if row != before[alert]]
    assert len(done) == (2 if where == "after" else 0), "a tenant's, or nothing"
    for alert in done:
        assert found[alert] == ("firing", ["pending", "firing"], ["firing"])

    held = Evaluator.objects.exclude(lease_token="")
    assert held.update(lease_expires_at=timezone.now() + timedelta(minutes=1))
    assert evaluation.evaluate(now + timedelta(seconds=40)) is None, "the dead one's lease"
    Evaluator.objects.update(lease_expires_at=now - timedelta(seconds=1))
    assert evaluation.evaluate(now + timedelta(seconds=100)) is not None
    assert list(kept().values()) == [("firing", ["pending", "firing"], ["firing"])] * 4
