"""A pass over a cluster leaves on the timeline what it found to be otherwise."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.gateway.errors import GatewayError
from controlplane.observed import services as observing
from controlplane.observed.changes import CHANGES_A_KIND
from controlplane.timeline import services
from controlplane.timeline.models import TimelineEvent
from tests.controlplane.support import cluster_make, observed, tenant_make


@pytest.fixture
def seen(world):
    """The cluster was read once."""
    world.gateway.add_topic("orders", partitions=2, rf=3)
    world.gateway.add_topic("clicks", partitions=1, rf=1)
    observed(world)
    return world


def kinds():
    return sorted(TimelineEvent.objects.values_list("kind", flat=True))


def event(kind):
    return TimelineEvent.objects.get(kind=kind)


def test_the_first_reading_is_no_news(seen):
    assert kinds() == []


def test_a_reading_that_finds_nothing_new_leaves_nothing(seen):
    observed(seen)
    assert kinds() == []


def test_a_broker_dies_and_comes_back(seen):
    before = timezone.now()
    gone = next(iter(seen.gateway.topics["orders"].partitions[0].replicas))
    node = seen.gateway.brokers[gone]
    seen.gateway.remove_broker(gone)
    observed(seen)
    found = event("broker-down")
    assert (found.subject, found.area, found.cluster_id) == (
        f"broker/{gone}",
        "outline",
        seen.cluster.id,
    )
    assert found.tenant_id == seen.tenant.id
    assert found.not_before < before <= found.at
    assert event("leader-changed").subject == "topic/orders"
    shown = [each.kind for each in TimelineEvent.objects.order_by("-at", "-id")]
    assert shown.index("broker-down") < shown.index("leader-changed"), "the cause is above"
    seen.gateway.brokers[gone] = node
    observed(seen)
    assert event("broker-up").subject == f"broker/{gone}"


def test_topics_and_settings_that_others_change_are_told(seen):
    seen.gateway.add_topic("new", partitions=3, rf=2)
    seen.gateway.delete_topic("clicks")
    seen.gateway.alter_topic_configs("orders", {"retention.ms": "1000"})
    observed(seen)
    assert kinds() == ["config-changed", "topic-created", "topic-deleted"]
    assert event("topic-created").after == {"partitions": 3, "replication_factor": 2}
    changed = event("config-changed")
    assert (changed.before, changed.after) == ({"retention.ms": None}, {"retention.ms": "1000"})
    assert (changed.area, changed.name) == ("topic", "orders")


def test_what_an_operation_touches_is_told_once(seen):
    seen.run("topic.create", name="made", partitions=1, replication_factor=1)
    assert [each.subject for each in TimelineEvent.objects.filter(kind="topic-created")] == [
        "topic/made"
    ]
    observed(seen)
    seen.run("topic.delete", name="made")
    observed(seen)
    assert kinds().count("topic-created") == 1
    assert kinds().count("topic-deleted") == 1


def test_a_cluster_that_is_away_and_answers_again(seen):
    seen.gateway.offline = True
    for _ in range(2):
        observed(seen)
    seen.gateway.offline = False
    observed(seen)
    assert kinds() == ["cluster-answers", "cluster-unreachable"]


def test_what_could_not_be_read_is_no_event(seen):
    seen.gateway.fail_next("list_topics", GatewayError("CLUSTER_AUTHORIZATION_FAILED", "no"))
    observed(seen)
    assert [kind for kind in kinds() if kind.startswith("topic")] == []


def test_a_flood_of_changes_is_bounded_and_counted(seen):
    for number in range(CHANGES_A_KIND + 4):
        seen.gateway.add_topic(f"t{number:03}", rf=1)
    observed(seen)
    rows = TimelineEvent.objects.filter(kind="topic-created")
    assert rows.filter(more=False).count() == CHANGES_A_KIND
    assert rows.get(more=True).count == 4


def test_rows_and_their_events_are_one_transaction(seen, monkeypatch):
    def fail(*_args, **_more):
        raise RuntimeError("no room")

    monkeypatch.setattr(TimelineEvent.objects, "bulk_create", fail)
    seen.gateway.add_topic("new", rf=1)
    with pytest.raises(RuntimeError):
        observing.observe(seen.cluster.id)
    monkeypatch.undo()
    observed(seen)
    assert event("topic-created").subject == "topic/new", "it is told by the pass that succeeds"


# -- forgetting -------------------------------------------------------------------------------
def event_make(tenant, cluster, days=0, **more):
    values = {"kind": "broker-down", "area": "outline", **more}
    at = timezone.now() - timedelta(days=days)
    return TimelineEvent.objects.create(tenant=tenant, cluster_id=cluster.id, at=at, **values)


def test_what_is_past_its_days_is_forgotten(world, settings):
    settings.TIMELINE_DAYS = 10
    kept = event_make(world.tenant, world.cluster, days=9)
    event_make(world.tenant, world.cluster, days=11)
    assert services.forget_old(timezone.now()) == 1
    assert list(TimelineEvent.objects.all()) == [kept]


def test_of_too_many_the_oldest_go_and_those_of_others_stay(world, monkeypatch):
    monkeypatch.setattr(services, "EVENTS_KEPT_MAX", 2)
    monkeypatch.setattr(services, "FORGOTTEN_AT_ONCE", 1)
    other = cluster_make(tenant_make("rival"), "other")
    foreign = event_make(other.tenant, other, days=5)
    deployed = event_make(world.tenant, world.cluster, days=6, kind="deployment", area="cluster")
    rows = [event_make(world.tenant, world.cluster, days=day) for day in (5, 4, 3, 2)]
    assert services.forget_old(timezone.now()) == 2
    assert set(TimelineEvent.objects.all()) == {foreign, deployed, *rows[2:]}


def test_one_housekeeping_deletes_a_bounded_number(world, monkeypatch, settings):
    settings.TIMELINE_DAYS = 1
    monkeypatch.setattr(services, "FORGOTTEN_MAX", 2)
    for day in (3, 4, 5):
        event_make(world.tenant, world.cluster, days=day)
    assert services.forget_old(timezone.now()) == 2
