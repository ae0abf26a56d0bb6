"""Gateways of clusters that are removed or not used any more close, in whichever process they are."""

import threading
import time

import pytest
from django.utils import timezone

from controlplane.clusters.connections import drop_gateway, follow_removals, gateway_for, tidy
from controlplane.clusters.models import DELETED, REGISTERED, Cluster
from controlplane.clusters.selectors import cluster_get
from controlplane.clusters.tasks import forget_removed
from controlplane.common.grants import EVERYTHING
from controlplane.common.tally import TALLY
from controlplane.gateway.breaker import NOTHING_KNOWN, Record
from controlplane.gateway.breakers import BREAKERS
from controlplane.gateway.errors import TIMED_OUT, UNREACHABLE, GatewayError
from controlplane.gateway.passage import Passage, not_answering
from controlplane.observed.services import observe
from tests.controlplane.support import cluster_make, tenant_make


@pytest.fixture
def cluster(db):
    made = cluster_make(tenant_make())
    yield made
    drop_gateway(made.id)


def gateway_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("gateway")]


def ask(gateway):
    with pytest.raises(GatewayError) as caught:
        gateway.describe_cluster()
    return caught.value


def test_a_gateway_is_kept_until_the_way_in_changes(cluster):
    first = gateway_for(cluster)
    assert gateway_for(cluster) is first
    for _ in range(2):
        BREAKERS.failed(cluster.id, took_s=10, reason="silent", is_probe=False, is_particular=False)
    cluster.bootstrap_servers = "127.0.0.1:2"
    second = gateway_for(cluster)
    assert second is not first
    assert BREAKERS.look(cluster.id)[0] == NOTHING_KNOWN, "the new way is tried at once"
    assert "the way to this cluster has changed" in str(ask(first))


def test_a_process_that_did_not_remove_the_cluster_closes_its_gateway_too(cluster, settings):
    gone: list[str] = []
    follow_removals(gone.append)
    follow_removals(gone.append)
    settings.GATEWAY_TIMEOUT_S = 0.3
    gateway = gateway_for(cluster)
    assert ask(gateway).code in {UNREACHABLE, TIMED_OUT}
    assert gateway_threads()
    assert tidy() == []
    assert gateway_for(cluster) is gateway
    # As another process's operation ends: `mark_deleted`.
    Cluster.objects.filter(pk=cluster.id).update(phase=DELETED, deleted_at=timezone.now())
    assert tidy() == [cluster.id]
    assert gone == [cluster.id]
    assert "the connection was closed" in str(ask(gateway))
    deadline_s = time.monotonic() + 10
    while gateway_threads() and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert gateway_threads() == []
    assert tidy() == []


def test_a_gateway_that_nobody_uses_closes_and_opens_again(cluster, settings):
    gateway = gateway_for(cluster)
    soon_s = time.monotonic() + settings.GATEWAY_IDLE_S
    assert tidy(soon_s - 5) == []
    assert tidy(soon_s + 5) == [cluster.id]
    assert gateway_for(cluster) is not gateway


def test_while_nothing_is_open_the_database_is_not_asked(db, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert tidy() == []


def test_counts_of_removed_clusters_end(world, redis_server):
    removed = cluster_make(world.tenant, name="gone", deleted_at=timezone.now())
    for cluster_id in (world.cluster.id, removed.id):
        passage = Passage(cluster_id, "1")
        assert passage.run(lambda: 1, what="count") == 1
    TALLY.flush()
    assert forget_removed() == [removed.id]
    assert BREAKERS.records([removed.id, world.cluster.id]).keys() == {world.cluster.id}
    assert {value for _, labels in TALLY.read() for _, value in labels} >= {world.cluster.id}
    assert forget_removed() == []
    redis_server.kill()
    assert forget_removed() == []


def test_a_cluster_that_does_not_answer_is_unknown_with_its_reason(world):
    made = cluster_make(world.tenant, name="elsewhere", kind=REGISTERED)
    known = cluster_get(world.tenant, EVERYTHING, made.id)
    assert (known["unknown_because"], known["controller_id"]) == (None, 1)
    assert len(known["brokers"]) == 4
    refusal = not_answering(Record(answered_at_s=1_000_000.0, reason="timed-out"), 7.2)
    world.gateway.fail_next("describe_cluster", refusal)
    assert observe(made.id)
    unknown = cluster_get(world.tenant, EVERYTHING, made.id)
    assert [broker["id"] for broker in unknown["brokers"]] == [1, 2, 3, 4], "as last observed"
    assert {broker["alive"] for broker in unknown["brokers"]} == {None}
    assert unknown["controller_id"] is None
    assert unknown["unknown_because"] == (
        "This cluster has not answered since 1970-01-12T13:46:40Z (timed-out)."
        " It is asked again in 8 s."
    )
