"""SIGKILL in every phase between a condition and its receiver, of real processes.

The evaluator dies in each phase of a round with real deliveries, and then the sender in each phase of
an attempt: what the receiver gets it gets at least once, and each copy says which attempt it is.
"""

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
from controlplane.alerts.models import Alert, AlertOverride, AlertTransition, BurnCount, Evaluator
from controlplane.analytics.models import GoldGroupLag, LagObjective
from controlplane.clusters.models import Cluster
from controlplane.common.crypto import seal
from controlplane.notifications import sending
from controlplane.notifications.models import Delivery, Destination
from controlplane.tenants.models import Tenant
from tests.controlplane.alerts.test_killed import url
from tests.controlplane.analytics.rows import WINDOW_MS, lag_row
from tests.controlplane.notifications.receivers import http_receiver
from tests.controlplane.support import cluster_make, tenant_make

REPOSITORY = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.django_db(transaction=True)

# Dies right before or right after the named call, the first time that it is made.
CHILD = """
import importlib, os, signal, sys
import django
django.setup()
from controlplane.alerts import facts_hosts

facts_hosts.READ_S = 0.1  # there is no ZooKeeper
when, where = sys.argv[1].split(" ")
module, name = where.rsplit(".", 1)
try:
    owner = importlib.import_module(module)
except ModuleNotFoundError:
    module, of_class = module.rsplit(".", 1)
    owner = getattr(importlib.import_module(module), of_class)
call = getattr(owner, name)

def dying(*given, **more):
    if when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    found = call(*given, **more)
    os.kill(os.getpid(), signal.SIGKILL)
    return found

setattr(owner, name, dying)
if sys.argv[2] == "evaluate":
    from datetime import datetime
    from controlplane.alerts.evaluation import evaluate
    evaluate(datetime.fromisoformat(sys.argv[3]))
else:
    from controlplane.notifications.sending import send_due
    send_due()
"""
# Phase of a round: how many of the two tenants are whole and committed when it dies there.
ROUND = {
    "after controlplane.common.leases.claim": 0,
    "after controlplane.alerts.evaluation._known": 0,
    "before controlplane.alerts.facts_burns.burning": 0,
    "after controlplane.alerts.facts_burns.burning": 0,
    "after controlplane.alerts.facts.read": 0,
    "after controlplane.alerts.evaluation.judged": 0,
    "after controlplane.alerts.evaluation._hold_on": 0,
    "before controlplane.alerts.outbox.publish": 0,
    "after controlplane.alerts.outbox.publish": 0,
    "after controlplane.alerts.applying.apply": 0,
    "after controlplane.alerts.evaluation._apply": 1,
    "before controlplane.alerts.tracks.keep": 2,
    "after controlplane.alerts.tracks.keep": 2,
    "before controlplane.common.leases.release": 2,
}
# Phase of an attempt: how often the receiver has the first delivery when the sender dies there.
ATTEMPT = {
    "before controlplane.notifications.queue.take": 0,
    "after controlplane.notifications.queue.take": 0,
    "before controlplane.notifications.http_sender.send": 0,
    "after controlplane.notifications.http_sender.send": 1,
    "before controlplane.notifications.queue.record": 1,
    "after controlplane.notifications.queue.record": 1,
}


def die(phase, what, at=None):
    died = subprocess.run(
        [sys.executable, "-c", CHILD, phase, what, *([at.isoformat()] if at else [])],
        cwd=REPOSITORY,
        env={
            **os.environ,
            "DATABASE_URL": url(),
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
            "PENSTOCK_DATA_DIR": str(settings.DATA_DIR),
            "PENSTOCK_EGRESS_ALLOWED": "127.0.0.0/8",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert died.returncode == -signal.SIGKILL, (phase, died.stderr[-2000:])
    connection.close()


@pytest.fixture
def two_tenants(settings):
    """Each with a late collector, a burning objective, and where to tell it; all is pending.

    The operators are a third owner: there is no ZooKeeper.
    """
    settings.EGRESS_ALLOWED = ["127.0.0.0/8"]
    now = timezone.now()
    now_ms = int(now.timestamp() * 1000)
    for slug in ("one", "two"):
        tenant = tenant_make(slug)
        cluster = cluster_make(tenant, "a", kind="registered")
        AlertOverride.objects.create(
            tenant=tenant, rule="cluster-away", enabled=False, created_by="x"
        )
        LagObjective.objects.create(tenant=tenant, seconds=60, share=0.99, created_by="x")
        last_ms = now_ms - now_ms % WINDOW_MS - 60_000
        GoldGroupLag.objects.bulk_create(
            GoldGroupLag(
                **lag_row(cluster.id, last_ms - back * WINDOW_MS, lag_seconds=900.0), run_id="r"
            )
            for back in range(130)
        )
    Cluster.objects.update(created_at=now - timedelta(hours=1))
    assert evaluation.evaluate(now) is not None
    assert set(Alert.objects.values_list("state", flat=True)) == {"pending"}
    # A new window, so that the next round counts burns again.
    BurnCount.objects.update(mark="")
    return now


def destinations(address):
    for row in Alert.objects.values_list("tenant_id", flat=True).distinct():
        Destination.objects.create(
            tenant_id=row,
            name="hook",
            kind="webhook",
            config={"url": address},
            secrets_token=seal({"signing_secret": "s3cret-" * 5}),
        )


def tenants_told():
    """Of each tenant: its alerts that fire, the moves to that, and its deliveries; in order."""
    return sorted(told_of(tenant) for tenant in Tenant.objects.all())


def told_of(tenant):
    """Null: of the operators, whose alert is that no ZooKeeper answers here."""
    firing = Alert.objects.filter(tenant=tenant, state="firing")
    moves = AlertTransition.objects.filter(alert__tenant=tenant, after="firing")
    return firing.count(), moves.count(), Delivery.objects.filter(tenant=tenant).count()


@pytest.mark.parametrize("phase", ROUND)
def test_an_evaluator_killed_in_a_phase_leaves_whole_tenants(two_tenants, phase):
    destinations("http://127.0.0.1:1/")
    alerts = Alert.objects.exclude(tenant=None).count() // 2
    assert {"collector-late", "objective-burning"} <= set(
        Alert.objects.values_list("rule", flat=True)
    )
    die(phase, "evaluate", two_tenants + timedelta(seconds=70))
    whole = ROUND[phase]
    assert tenants_told() == [(0, 0, 0)] * (2 - whole) + [(alerts, alerts, alerts)] * whole
    # The operators' come after all tenants'.
    assert told_of(None) == ((1, 1, 1) if whole == 2 else (0, 0, 0))

    held = Evaluator.objects.exclude(lease_token="")
    assert held.update(lease_expires_at=timezone.now() + timedelta(minutes=1))
    assert evaluation.evaluate(two_tenants + timedelta(seconds=80)) is None, "the dead one's lease"
    Evaluator.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert evaluation.evaluate(two_tenants + timedelta(seconds=90)) is not None
    assert tenants_told() == [(alerts, alerts, alerts)] * 2
    assert told_of(None) == (1, 1, 1)
    events = list(Delivery.objects.values_list("event_id", flat=True))
    assert len(set(events)) == len(events), "no event is in two deliveries"
    assert BurnCount.objects.exclude(mark="").count() == 2


@pytest.mark.parametrize("phase", ATTEMPT)
def test_an_alert_is_delivered_at_least_once_whenever_its_sender_dies(two_tenants, phase):
    with http_receiver() as (address, requests):
        destinations(f"{address}hook" if address.endswith("/") else address)
        die("after controlplane.alerts.evaluation._apply", "evaluate", two_tenants + DUE)
        Evaluator.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
        assert evaluation.evaluate(two_tenants + DUE) is not None
        waiting = set(Delivery.objects.values_list("pk", flat=True))
        assert waiting

        die(phase, "send")
        had = [marked(request) for request in requests]
        # Attempts go side by side: others may have arrived before the process was gone.
        assert len(had) >= ATTEMPT[phase]
        past = timezone.now() - timedelta(seconds=1)
        Delivery.objects.exclude(state="sent").update(lease_expires_at=past, next_try_at=past)
        sending.send_due(entropy=lambda: 0.5)
        got = [marked(request) for request in requests]
    assert set(Delivery.objects.values_list("state", flat=True)) == {"sent"}
    assert {delivery for delivery, _ in got} == waiting, "each at least once"
    assert len(set(got)) == len(got), "a copy has a number of its own"
    attempts = dict(Delivery.objects.values_list("pk", "attempts"))
    for delivery, attempt in got:
        assert attempt <= attempts[delivery]
        copies = [number for name, number in got if name == delivery]
        assert len(copies) == 1 or max(copies) > 1, "the receiver can tell"


DUE = timedelta(seconds=70)


def marked(request):
    return request.headers["Penstock-Delivery"], int(request.headers["Penstock-Attempt"])
