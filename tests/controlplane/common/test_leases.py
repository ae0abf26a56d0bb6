"""One lease for operations, analytics runs and collectors: taken, kept, lost, given back."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.alerts.models import Evaluator
from controlplane.analytics.models import AnalyticsRun, CollectorState
from controlplane.common import leases
from controlplane.common.models import IdempotencyKey, Leased
from controlplane.drift.models import DriftLook
from controlplane.healing.models import (
    HealingPolicy,
    HostAddressChange,
    HostDrain,
    HostZooKeeperChange,
)
from controlplane.notifications.models import Delivery, Destination
from controlplane.observed.models import ObservedCluster
from controlplane.operations.models import Operation
from controlplane.reassignments.models import RebalanceSchedule

LENGTH = timedelta(seconds=30)


@pytest.fixture(
    params=[
        *("operation", "analytics run", "collector", "idempotency key", "observed"),
        *("delivery", "alerts", "healing", "drain", "drift", "rebalance", "address"),
        "zookeeper",
    ]
)
def rows(request, world):
    """A query of one row that nobody holds."""
    if request.param == "operation":
        row = world.start(world.plan("topic.create", name="orders"))
    elif request.param == "analytics run":
        row = AnalyticsRun.objects.create(from_ts_ms=0, to_ts_ms=1)
    elif request.param == "collector":
        row = CollectorState.objects.create(pk=world.cluster.id)
    elif request.param == "observed":
        row = ObservedCluster.objects.get_or_create(pk=world.cluster.id)[0]
    elif request.param == "delivery":
        destination = Destination.objects.create(tenant=world.tenant, name="d", kind="webhook")
        row = Delivery.objects.create(tenant=world.tenant, destination=destination, event={})
    elif request.param == "alerts":
        row = Evaluator.objects.create()
    elif request.param == "healing":
        row = HealingPolicy.objects.create(cluster=world.cluster)
    elif request.param == "address":
        row = HostAddressChange.objects.create(host_id="host-1", address="a", by="user:test")
    elif request.param == "zookeeper":
        row = HostZooKeeperChange.objects.create(host_id="host-1", connect="a:1", by="user:test")
    elif request.param == "rebalance":
        row = RebalanceSchedule.objects.create(cluster=world.cluster)
    elif request.param == "drain":
        row = HostDrain.objects.create(host_id="host-1", by="user:test")
    elif request.param == "drift":
        row = DriftLook.objects.create(cluster=world.cluster)
    else:
        row = IdempotencyKey.objects.create(tenant_id=world.tenant.id, principal="key/1", key="k")
    return type(row).objects.filter(pk=row.pk)


def run_out(rows):
    rows.update(lease_expires_at=timezone.now() - timedelta(seconds=1))


def test_every_model_with_a_lease_is_tried_here():
    assert set(Leased.__subclasses__()) == {
        *(Operation, AnalyticsRun, CollectorState, IdempotencyKey, ObservedCluster),
        *(Delivery, Evaluator, HealingPolicy, HostAddressChange, HostDrain, RebalanceSchedule),
        *(DriftLook, HostZooKeeperChange),
    }


def test_one_holder_at_a_time(rows):
    token = leases.claim(rows, LENGTH)
    assert token
    assert leases.claim(rows, LENGTH) is None
    assert rows.get().lease_token == token
    assert timedelta() < rows.get().lease_expires_at - timezone.now() <= LENGTH


def test_a_lease_that_ran_out_is_taken_with_another_token(rows):
    first = leases.claim(rows, LENGTH)
    run_out(rows)
    second = leases.claim(rows, LENGTH)
    assert second
    assert second != first


def test_only_the_holder_renews(rows):
    token = leases.claim(rows, LENGTH)
    before = rows.get().lease_expires_at
    assert leases.renew(rows, ["someone else"], LENGTH) == set()
    assert rows.get().lease_expires_at == before
    assert leases.renew(rows, ["someone else", token], 2 * LENGTH) == {token}
    assert rows.get().lease_expires_at > before


def test_who_lost_the_lease_neither_renews_it_nor_gives_it_back(rows):
    lost = leases.claim(rows, LENGTH)
    run_out(rows)
    token = leases.claim(rows, LENGTH)
    assert leases.renew(rows, [lost], LENGTH) == set()
    assert not leases.release(rows, lost)
    assert rows.get().lease_token == token
    assert leases.claim(rows, LENGTH) is None


def test_a_lease_given_back_is_free(rows):
    token = leases.claim(rows, LENGTH)
    assert leases.release(rows, token)
    assert (rows.get().lease_token, rows.get().lease_expires_at) == ("", None)
    assert leases.claim(rows, LENGTH)


def test_a_lease_that_ran_out_and_that_nobody_took_is_held_again(rows):
    token = leases.claim(rows, LENGTH)
    run_out(rows)
    assert leases.renew(rows, [token], LENGTH) == {token}
    assert leases.claim(rows, LENGTH) is None


def test_hosts_whose_clocks_differ_agree_on_when_a_lease_ends(rows, monkeypatch):
    """An hour ahead, this host would take any lease by its own clock."""
    token = leases.claim(rows, LENGTH)
    ahead = timezone.now() + timedelta(hours=1)
    monkeypatch.setattr(timezone, "now", lambda: ahead)
    assert leases.claim(rows, LENGTH) is None
    assert leases.renew(rows, [token], LENGTH)
    assert rows.get().lease_expires_at < ahead


def test_a_row_that_is_not_there_is_not_taken(rows):
    assert leases.claim(rows.none(), LENGTH) is None
    assert leases.claim(rows.filter(lease_token="held by nobody"), LENGTH) is None
    assert rows.get().lease_expires_at is None


def test_what_changes_with_a_lease_changes_only_for_who_gets_it(world):
    row = CollectorState.objects.create(pk=world.cluster.id)
    rows = CollectorState.objects.filter(pk=row.pk)
    token = leases.claim(rows, LENGTH, slices=3)
    assert leases.claim(rows, LENGTH, slices=4) is None
    assert not leases.release(rows, "someone else", slices=5)
    assert rows.get().slices == 3
    assert leases.release(rows, token, slices=6)
    assert rows.get().slices == 6
