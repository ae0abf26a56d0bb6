"""broker.restart: what hangs on a broker, and the way through its agent."""

import pytest

from controlplane.clusters.hosts import Observed
from controlplane.clusters.models import REGISTERED, Broker, Cluster
from controlplane.clusters.restarting import stake
from controlplane.clusters.rolls import behind
from controlplane.clusters.services import restart_broker
from controlplane.common.problems import Conflict, NotFound
from controlplane.gateway.errors import TIMED_OUT, GatewayError
from controlplane.gateway.types import PartitionDescription, TopicDescription
from tests.controlplane.kind_plans import add_broker
from tests.controlplane.support import drive, step

MIN_ISR = "min.insync.replicas"


def topic(name, *parts):
    """Parts as (leader, replicas, isr)."""
    return TopicDescription(
        name=name,
        topic_id=name,
        internal=False,
        partitions=tuple(
            PartitionDescription(
                partition=number, leader=leader, leader_epoch=0, replicas=replicas, isr=isr
            )
            for number, (leader, replicas, isr) in enumerate(parts)
        ),
    )


@pytest.mark.parametrize(
    ("parts", "least", "offline", "unwritable", "unknown"),
    [
        ([(1, (1, 2, 3), (1, 2, 3))], 2, False, False, False),
        ([(1, (1, 2, 3), (1, 2))], 2, False, True, False),
        ([(2, (1, 2, 3), (1, 2))], 2, False, True, False),
        ([(1, (1, 2, 3), (1,))], 1, True, False, False),
        ([(1, (1,), (1,))], 1, True, False, False),
        ([(1, (1,), (1,))], None, True, False, False),
        # It is out of sync already: nothing changes.
        ([(2, (1, 2), (2,))], 2, False, False, False),
        # Refused already, with it there.
        ([(1, (1, 2, 3), (1, 2))], 3, False, False, False),
        ([(1, (1, 2), (1, 2))], None, False, False, True),
        ([(None, (1, 2), ())], 1, False, False, False),
        ([(2, (2, 3), (2, 3))], 2, False, False, False),
        ([(2, (2, 3), (2, 3)), (1, (1,), (1,))], 1, True, False, False),
    ],
)
def test_what_hangs_on_a_broker(parts, least, offline, unwritable, unknown):
    found = stake(1, [topic("t", *parts)], {"t": least})
    assert found.offline == (frozenset({"t"}) if offline else frozenset())
    assert found.unwritable == (frozenset({"t"}) if unwritable else frozenset())
    assert found.unknown == (frozenset({"t"}) if unknown else frozenset())
    assert found.leads == sum(leader == 1 for leader, _, _ in parts)
    assert found.replicas == sum(1 in replicas for _, replicas, _ in parts)


def test_how_many_of_its_replicas_are_in_sync():
    topics = [
        topic("a", (1, (1, 2), (1, 2)), (2, (1, 2), (2,))),
        topic("b", (2, (2, 3), (2, 3))),
    ]
    assert behind(1, topics) == (1, 2)
    assert behind(4, topics) == (0, 0)


@pytest.fixture
def brokers(world):
    """The world's cluster with rows for its brokers 1 to 3, as they were started once."""
    for number in (1, 2, 3):
        add_broker(world, number)
    return world


def warned(plan):
    """Without the last one, that there is no way back."""
    *rows, last = plan.impact["warnings"]
    assert last["code"] == "no-undo"
    return rows


def generations(world):
    return dict(Broker.objects.filter(cluster=world.cluster).values_list("broker_id", "generation"))


def test_only_this_broker_is_started_again(brokers):
    brokers.gateway.add_topic("orders", partitions=3, rf=3)
    operation = brokers.run("broker.restart", broker=2)
    assert operation.state == "succeeded", operation.error
    assert generations(brokers) == {1: 1, 2: 2, 3: 1}
    ((key, spec),) = brokers.hosts.desired.items()
    assert key == ("host-2", f"{brokers.cluster.id}-2")
    assert (spec["state"], spec["generation"], spec["broker_id"]) == ("running", 2, 2)
    assert [row.name for row in operation.steps.order_by("index")] == [
        "check",
        "restart",
        "process",
        "registration",
        "verify",
    ]


def test_a_plan_says_what_is_not_served_meanwhile(brokers):
    brokers.gateway.add_topic("alone", partitions=1, rf=1)
    (part,) = brokers.gateway.topics["alone"].partitions
    part.replicas = (2,)
    plan = brokers.plan("broker.restart", broker=2)
    (row,) = warned(plan)
    assert (row["code"], row["severity"], row["risk"]) == (
        "partitions-offline",
        "danger",
        "loses-access",
    )
    assert plan.confirm_phrase == "main/2"
    (offline, unwritable) = plan.impact["blast_radius"]
    assert (offline["names"], unwritable["names"]) == (["alone"], [])
    assert warned(brokers.plan("broker.restart", broker=1)) == []


def test_one_that_hangs_keeps_nobody_from_planning_its_restart(brokers):
    """The question about settings goes to any broker: it may be this one."""
    brokers.gateway.add_topic("orders", partitions=2, rf=3)
    brokers.gateway.fail_next("topic_configs", GatewayError(TIMED_OUT, "no answer in 10 s"))
    plan = brokers.plan("broker.restart", broker=2)
    (offline, unwritable) = plan.impact["blast_radius"]
    assert (offline["names"], unwritable["names"]) == ([], [])
    assert MIN_ISR in str(unwritable), "it says what is not known"
    brokers.gateway.fail_next("topic_configs", GatewayError("TOPIC_AUTHORIZATION_FAILED"))
    with pytest.raises(GatewayError):
        brokers.plan("broker.restart", broker=2)
    assert drive(brokers.start(plan)).state == "succeeded"


def test_below_min_isr_is_said(brokers):
    brokers.gateway.add_topic("pair", partitions=1, rf=2)
    (part,) = brokers.gateway.topics["pair"].partitions
    part.replicas = (1, 2)
    brokers.gateway.topics["pair"].configs[MIN_ISR] = "2"
    (row,) = warned(brokers.plan("broker.restart", broker=1))
    assert row["code"] == "below-min-isr"
    assert warned(brokers.plan("broker.restart", broker=3)) == []


def test_no_broker_of_somebody_elses(brokers):
    with pytest.raises(NotFound):
        brokers.plan("broker.restart", broker=4)  # in the cluster, and not run here
    Cluster.objects.update(kind=REGISTERED)
    with pytest.raises(Conflict) as caught:
        brokers.plan("broker.restart", broker=1)
    assert caught.value.code == "cluster-not-managed"


def test_a_plan_of_before_another_restart_is_stale(brokers):
    plan = brokers.plan("broker.restart", broker=1)
    restart_broker(brokers.cluster.__class__.objects.get(), 1)
    with pytest.raises(Conflict) as caught:
        brokers.start(plan)
    assert caught.value.code == "plan-stale"


def test_more_that_hangs_on_it_by_then_ends_it_before_anything_is_done(brokers):
    operation = brokers.start(brokers.plan("broker.restart", broker=1))
    brokers.gateway.add_topic("alone", partitions=1, rf=1)
    (part,) = brokers.gateway.topics["alone"].partitions
    part.replicas = (1,)
    assert drive(operation).state == "failed"
    assert operation.error["code"] == "blast-radius-changed"
    assert generations(brokers) == {1: 1, 2: 1, 3: 1}
    assert brokers.hosts.desired == {}


def test_a_report_of_the_start_before_says_nothing(brokers):
    key = ("host-1", f"{brokers.cluster.id}-1")
    brokers.hosts.reports[key] = Observed(state="running", generation=1, pid=7)
    operation = drive(brokers.start(brokers.plan("broker.restart", broker=1)), ticks=8)
    assert step(operation, "process").state == "running"
    assert "generation 1; 2 is desired" in step(operation, "process").detail
    brokers.hosts.reports[key] = Observed(state="running", generation=2, pid=8)
    assert drive(operation).state == "succeeded"


def test_one_that_does_not_start_fails_with_its_log(brokers):
    key = ("host-1", f"{brokers.cluster.id}-1")
    brokers.hosts.reports[key] = Observed(
        state="failed", generation=2, message="no room", log_tail=("no space left",)
    )
    operation = drive(brokers.start(brokers.plan("broker.restart", broker=1)))
    assert operation.state == "failed"
    assert operation.error["code"] == "broker-does-not-start"
    assert operation.error["log_tail"] == ["no space left"]
    assert operation.remains == ["The broker stays as it is: its agent goes on starting it."]


def test_it_ends_when_its_replicas_are_in_sync(brokers):
    brokers.gateway.add_topic("orders", partitions=2, rf=3)
    part = brokers.gateway.topics["orders"].partitions[1]
    part.replicas, part.out_of_sync = (2, 3, 1), frozenset({1})
    operation = drive(brokers.start(brokers.plan("broker.restart", broker=1)), ticks=10)
    assert step(operation, "verify").state == "running"
    assert "in sync" in step(operation, "verify").detail
    part.out_of_sync = frozenset()
    assert drive(operation).state == "succeeded"
