"""Looks of one tenant hold its share of the pool, and no longer than a look lasts."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.clusters.connections import use_gateways
from controlplane.clusters.models import REGISTERED, RUNNING
from controlplane.drift import asking, services, tasks
from controlplane.drift.models import DriftLook
from controlplane.gateway import patience
from controlplane.gateway.errors import NOT_ASKED, GatewayError
from controlplane.gateway.fake import FakeGateway
from controlplane.gateway.types import BrokerNode
from controlplane.operations import dispatch
from controlplane.operations.queues import PUT_BACK_S, SLOW
from tests.controlplane.support import cluster_make, tenant_make

KEY = "log.retention.ms"
BROKERS = 100
ANSWER_S = 9.9


class Clock:
    now_s = 1_000.0

    def monotonic(self):
        return self.now_s


@pytest.fixture
def slow(monkeypatch):
    """A Kafka of a hundred brokers that each answer just in time, by a clock only they move."""
    clock, gateway = Clock(), FakeGateway()
    monkeypatch.setattr(patience, "time", clock)
    gateway.brokers = {
        number: BrokerNode(id=number, host="127.0.0.1", port=number, rack=None)
        for number in range(1, BROKERS + 1)
    }
    gateway.broker_overrides = {number: {KEY: "1"} for number in gateway.brokers}

    class Late:
        def __init__(self, broker):
            self.broker = broker

        def broker_configs(self, brokers, keys=None):
            clock.now_s += ANSWER_S
            return gateway.broker_configs(brokers, keys)

    monkeypatch.setattr(gateway, "at", Late)
    gateway.clock = clock
    return gateway


def test_brokers_that_answer_slowly_are_asked_no_longer_than_a_look_lasts(slow):
    began_s = slow.clock.now_s
    with patience.deadline(services.LOOK_S):
        found = asking.settings_now(slow, [KEY])
    assert slow.clock.now_s - began_s < services.LOOK_S + ANSWER_S
    assert slow.clock.now_s - began_s < services.LEASE.total_seconds() / 2
    assert set(found.settings) == {"1", "2", "3", "4"}
    assert found.reason == "brokers 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 and 86 more did not say"


def test_where_nobody_was_asked_nothing_is_known(slow):
    with patience.deadline(0), pytest.raises(GatewayError) as caught:
        asking.settings_now(slow, [KEY])
    assert caught.value.code == NOT_ASKED


def test_a_value_that_no_database_keeps_is_kept_without_it(slow):
    slow.broker_overrides[1][KEY] = "a\0b\ud800"
    with patience.deadline(services.LOOK_S):
        found = asking.settings_now(slow, [KEY])
    assert found.settings["1"][KEY][0] == "a?b?"


def test_a_look_has_the_deadline(world, monkeypatch):
    seen = []

    def noted(_):
        seen.append(patience.bounded(999))
        return {}

    monkeypatch.setattr(services, "wanted_settings", noted)
    monkeypatch.setattr(services, "keep", noted)
    DriftLook.objects.create(cluster=world.cluster)
    assert services.look(world.cluster.pk)
    assert len(seen) == 2
    assert all(left_s <= services.LOOK_S for left_s in seen)


# -- shares of the pool -------------------------------------------------------------------------
class Request:
    def __init__(self, *args):
        self.delivery_info, self.args = {"routing_key": SLOW}, args


class Sent:
    """The task, as Celery binds it."""

    def __init__(self, *args):
        self.request, self.sent = Request(*args), []

    def apply_async(self, args, **options):
        self.sent.append((args, options))


def run(cluster):
    task = Sent(cluster.pk)
    return tasks.look.__wrapped__.__func__(task, cluster.pk), task.sent


def test_beyond_its_tenants_share_a_look_is_put_back(world, settings):
    settings.SLOW_TASKS_PER_TENANT = 1
    other = cluster_make(tenant_make("rival"), "other", phase=RUNNING, kind=REGISTERED)
    gateways = {world.cluster.pk: world.gateway, other.pk: FakeGateway()}
    use_gateways(lambda cluster: gateways[cluster.pk])
    for each in (world.cluster, other):
        DriftLook.objects.create(cluster=each)
    with dispatch.slow_share(tenant_id=str(world.tenant.pk), cluster_id="kc_another") as is_free:
        assert is_free
        done, sent = run(world.cluster)
        assert not done
        again = {"queue": SLOW, "countdown": PUT_BACK_S[SLOW], "expires": tasks.EXPIRES_S}
        assert sent == [((world.cluster.pk,), again)]
        assert run(other) == (True, []), "another tenant's is looked at meanwhile"
    assert run(world.cluster) == (True, [])
    assert run(world.cluster) == (False, []), "a copy ends: the next look is not due yet"


def test_who_has_many_clusters_keeps_others_waiting_for_one_turn(world, monkeypatch):
    monkeypatch.setattr(services, "LOOKS_A_ROUND", 4)
    hostile = tenant_make("hostile")
    now = timezone.now()
    many = [cluster_make(hostile, f"t{n}", phase=RUNNING, kind=REGISTERED) for n in range(9)]
    for number, each in enumerate(many):
        DriftLook.objects.create(cluster=each, due_at=now - timedelta(hours=9 - number))
    DriftLook.objects.create(cluster=world.cluster, due_at=now)
    sent = []
    assert services.due(sent.append, now) == 4
    assert sent == [many[0].pk, world.cluster.pk, many[1].pk, many[2].pk]
