"""Hosts: draining, letting go, what is shown."""

from dataclasses import replace

import pytest

from controlplane.administration import selectors
from controlplane.administration.services import hosts
from controlplane.clusters.models import Broker, DrainedHost
from controlplane.clusters.reports import Observed
from controlplane.clusters.sealing import hosts_with_key
from controlplane.common.problems import Conflict, Invalid, NotFound, Unavailable
from tests.controlplane.administration.helpers import actions
from tests.controlplane.support import ACTOR

pytestmark = pytest.mark.django_db


def test_a_drained_host_gets_no_brokers(world):
    hosts.host_update(host_id="host-1", drained=True, actor=ACTOR)
    hosts.host_update(host_id="host-1", drained=True, actor=ACTOR)
    assert actions().count("host.drain") == 1
    plan = world.plan("cluster.create", None, name="fresh", broker_count=3)
    used = {row["host_id"] for row in plan.diff["after"]["brokers"]}
    assert used == {"host-2", "host-3"}
    with pytest.raises(Invalid, match="Drained"):
        world.plan("cluster.create", None, name="fresh", broker_count=3, host_ids=["host-1"])
    hosts.host_update(host_id="host-1", drained=False, actor=ACTOR)
    assert not DrainedHost.objects.exists()


def test_a_host_is_let_go_when_nothing_is_on_it_and_its_agent_is_stopped(world):
    place(world, "host-1")
    with pytest.raises(Conflict) as refused:
        hosts.host_remove(host_id="host-1", actor=ACTOR)
    assert (refused.value.code, refused.value.extra["brokers"][0]["cluster"]) == (
        "host-in-use", "main",
    )  # fmt: skip
    with pytest.raises(Conflict) as refused:
        hosts.host_remove(host_id="host-2", actor=ACTOR)
    assert refused.value.code == "host-alive"
    stop(world, "host-2")
    hosts.host_remove(host_id="host-2", actor=ACTOR)
    assert [host.host_id for host in world.hosts.known] == ["host-1", "host-3"]
    # Its key goes with it: another host of that name gets one that the old one does not have.
    assert hosts_with_key() == {"host-1", "host-3"}
    with pytest.raises(NotFound):
        hosts.host_remove(host_id="host-2", actor=ACTOR)
    world.hosts.is_away = True
    with pytest.raises(Unavailable):
        hosts.host_remove(host_id="host-3", actor=ACTOR)


def place(world, host_id):
    return Broker.objects.create(
        cluster=world.cluster, broker_id=1, host_id=host_id, address="127.0.0.1",
        client_port=20_100, internal_port=20_101,
    )  # fmt: skip


def stop(world, host_id):
    world.hosts.known = [
        replace(host, alive=host.alive and host.host_id != host_id) for host in world.hosts.known
    ]


def test_what_runs_on_a_host_is_shown_with_its_age_or_as_unknown(world):
    broker = place(world, "host-1")
    world.hosts.reports[("host-1", broker.key)] = Observed(state="running", reported_at_ms=5_000)
    row = selectors.host_detail("host-1")
    assert row["broker_list"] == [
        {
            "broker_id": 1, "cluster": "main", "cluster_id": world.cluster.id, "tenant": "acme",
            "observed_state": "running", "observed_at": "1970-01-01T00:00:05Z",
        }
    ]  # fmt: skip
    world.hosts.reports.clear()
    row = selectors.host_detail("host-1")
    assert row["broker_list"][0]["observed_state"] is None
