"""What is odd about one cluster, host or case keeps no other from being seen to."""

import logging

import pytest
from django.utils import timezone

from controlplane.administration.services import hosts
from controlplane.clusters.models import MANAGED, RUNNING, Broker
from controlplane.healing import addresses, draining, following, services
from controlplane.healing.models import HealingCase, HealingPolicy, HostAddressChange, HostDrain
from controlplane.healing.rules import NONE, Decision
from controlplane.healing.sentences import as_it_came
from controlplane.operations.models import Operation
from tests.controlplane.healing.test_rounds import brokers  # noqa: F401 - a fixture
from tests.controlplane.support import ACTOR, cluster_make, tenant_make


def breaks(*_, **__):
    raise TypeError("'NoneType' object is not iterable")


def breaks_for(cluster, real):
    """`real`, but for this cluster, whose answers nothing can be made of."""

    def call(first, *rest, **named):
        return (breaks if first.pk == cluster.pk else real)(first, *rest, **named)

    return call


@pytest.fixture
def two(brokers):  # noqa: F811 - the fixture
    """The tenant's cluster is looked at first, the other one's after it."""
    brokers.other = cluster_make(tenant_make("rival"), "other", phase=RUNNING, kind=MANAGED)
    for each in (brokers.cluster, brokers.other):
        HealingPolicy.objects.create(cluster=each, mode="automatic", replace_after_s=120)
    return brokers


def test_one_look_that_breaks_stops_no_other(two, monkeypatch, caplog):
    monkeypatch.setattr(services, "facts_of", breaks_for(two.cluster, services.facts_of))
    with caplog.at_level(logging.ERROR):
        assert services.heal_round(timezone.now()) == 0
    bad, good = (HealingPolicy.objects.get(cluster=each) for each in (two.cluster, two.other))
    assert (bad.decided_code, bad.lease_token) == ("look-failed", "")
    assert good.decided_code == "well"
    assert f"healing of {two.cluster.pk} failed" in caplog.text


def test_a_reason_is_kept_without_what_no_database_takes(two, monkeypatch):
    said = Decision(act=NONE, code="x" * 99, parts=(as_it_came("a\0b" + "x" * 2_000),))
    monkeypatch.setattr(services, "carry_out", lambda *_: said)
    services.heal_round(timezone.now())
    row = HealingPolicy.objects.get(cluster=two.cluster)
    assert row.decided_text.startswith("a?bx")
    assert (len(row.decided_text), len(row.decided_code)) == (1_000, 40)
    assert row.decided_parts == [], "of a text that is cut there are none"


def test_one_case_that_breaks_stops_no_other(two, monkeypatch):
    cases = [
        HealingCase.objects.create(
            cluster=each, broker_id=2, host_id="host-2", state="proposed", code="x", text="x"
        )
        for each in (two.cluster, two.other)
    ]
    seen = []
    monkeypatch.setattr(
        services,
        "replacement_of",
        breaks_for(two.cluster, lambda cluster, _: seen.append(cluster.pk)),
    )
    services.follow_cases()
    assert seen == [two.other.pk]
    assert [HealingCase.objects.get(pk=each.pk).state for each in cases] == ["proposed"] * 2


def test_one_broker_whose_move_breaks_keeps_no_other_on_its_host(two, monkeypatch):
    Broker.objects.filter(broker_id=3).update(host_id="host-2")
    hosts.host_change(host_id="host-2", state="draining", actor=ACTOR, reason="a new disk")
    real = draining.replace_now

    def replace_now(cluster, broker_id, **named):
        return (breaks if broker_id == 2 else real)(cluster, broker_id, **named)

    monkeypatch.setattr(draining, "replace_now", replace_now)
    assert draining.drain_round() == 1
    assert Operation.objects.get().resource == "broker/3"


def test_one_host_whose_drain_breaks_stops_no_other(two, monkeypatch):
    for host_id in ("host-4", "host-2"):  # the first has no broker: its end is noted
        hosts.host_change(host_id=host_id, state="draining", actor=ACTOR, reason="a new disk")
    monkeypatch.setattr(draining, "audit_record", breaks)
    assert draining.drain_round() == 1
    assert {row.lease_token for row in HostDrain.objects.all()} == {""}
    assert Operation.objects.get().resource == "broker/2"


def test_a_roll_that_breaks_is_said_and_stops_no_other_host(two, monkeypatch):
    for each in two.hosts.known:
        HostAddressChange.objects.create(host_id=each.host_id, address=each.address, by="test")
    Broker.objects.filter(host_id="host-1").update(address="old")
    monkeypatch.setattr(following, "required_kind", breaks)
    assert addresses.address_round() == 0
    rows = {row.host_id: row for row in HostAddressChange.objects.all()}
    assert rows["host-1"].waiting_for == f"main: {following.ODD.text}"
    assert rows["host-4"].ended_at is not None
    assert {row.lease_token for row in rows.values()} == {""}
