"""leaders.elect: which partitions get another leader, and the way there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.common.problems import Conflict, NotFound, Problem
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.types import TP, PartitionDescription, TopicDescription
from controlplane.observed.models import ObservedTopic
from controlplane.reassignments import electing
from controlplane.reassignments.elections import cut, elections
from tests.controlplane.support import drive, observed

pytestmark = pytest.mark.django_db


def topic(name, *parts):
    """Parts are (leader, replicas, isr)."""
    return TopicDescription(
        name=name,
        topic_id=name,
        internal=False,
        partitions=tuple(
            PartitionDescription(
                partition=at, leader=leader, leader_epoch=0, replicas=replicas, isr=isr
            )
            for at, (leader, replicas, isr) in enumerate(parts)
        ),
    )


def test_who_is_preferred_and_in_sync_leads_and_the_others_are_said():
    topics = [
        topic("a", (1, (1, 2), (1, 2)), (1, (2, 1), (1, 2)), (1, (3, 1), (1,))),
        topic("b", (2, (4, 2), (4, 2)), (None, (1, 2), (1,))),
    ]
    found = elections(topics, {1, 2, 3})
    assert [(one.tp, one.before, one.after) for one in found.wanted] == [
        (TP("a", 1), 1, 2),
        (TP("b", 1), None, 1),
    ]
    # Broker 3 is not in sync, broker 4 is gone.
    assert [one.tp for one in found.blocked] == [TP("a", 2), TP("b", 0)]
    assert found.leaders == {1: (3, 3), 2: (1, 2), 3: (0, 0)}


def test_some_topics_or_one_broker_may_be_asked_for():
    topics = [topic("a", (1, (2, 1), (1, 2)), (1, (3, 1), (1, 3))), topic("b", (1, (2, 1), (1, 2)))]
    live = {1, 2, 3}
    assert [one.tp for one in elections(topics, live, only=["b"]).wanted] == [TP("b", 0)]
    assert [one.tp for one in elections(topics, live, broker=3).wanted] == [TP("a", 1)]


@given(
    st.lists(
        st.tuples(
            st.permutations([1, 2, 3]), st.sampled_from([1, 2, 3, None]), st.sets(st.sampled_from([1, 2, 3]))
        ),
        max_size=12,
    ),
    st.integers(0, 12),
)  # fmt: skip
def test_leaders_after_are_those_that_the_elections_make(rows, most):
    parts = [(leader, tuple(replicas), tuple(isr)) for replicas, leader, isr in rows]
    found = cut(elections([topic("a", *parts)], {1, 2, 3}), most)
    now = {TP("a", at): leader for at, (leader, _, _) in enumerate(parts)}
    for one in found.wanted:
        assert one.after in parts[one.tp.partition][2]
        now[one.tp] = one.after
    for broker, (before, after) in found.leaders.items():
        assert before == sum(leader == broker for leader, _, _ in parts)
        assert after == sum(leader == broker for leader in now.values())


# -- the operation --------------------------------------------------------------------------


@pytest.fixture
def brokers(world):
    """Broker 1 was away: others lead what it is preferred for."""
    world.gateway.add_topic("orders", partitions=4, rf=3)
    for part in world.gateway.topics["orders"].partitions:
        part.led_by = part.replicas[1]
    return world


def leaders(world):
    return [part.leader for part in world.gateway.describe_topics(["orders"])["orders"].partitions]


def preferred(world):
    return [part.replicas[0] for part in world.gateway.topics["orders"].partitions]


def test_a_plan_shows_leaders_before_and_after_by_partition_and_broker(brokers):
    plan = brokers.plan("leaders.elect")
    assert len(plan.diff["partitions"]) == 4
    for row in plan.diff["partitions"]:
        assert row["before"] == leaders(brokers)[row["partition"]]
        assert row["after"] == preferred(brokers)[row["partition"]]
    for row in plan.diff["brokers"]:
        assert row["before_leaders"] == leaders(brokers).count(row["id"])
        assert row["after_leaders"] == preferred(brokers).count(row["id"])
    assert leaders(brokers) != preferred(brokers)


def test_leaders_are_elected_read_back_from_every_broker_and_shown(brokers):
    observed(brokers)
    operation = brokers.run("leaders.elect")
    assert operation.state == "succeeded", operation.error
    assert leaders(brokers) == preferred(brokers)
    detail = ObservedTopic.objects.get(key="orders").detail
    assert [row[1] for row in detail["partitions"]] == preferred(brokers)


def test_only_what_prefers_one_broker_is_elected(brokers):
    before = leaders(brokers)
    operation = brokers.run("leaders.elect", broker=2)
    assert operation.resource == "broker/2"
    wanted = [who if who == 2 else was for who, was in zip(preferred(brokers), before, strict=True)]
    assert leaders(brokers) == wanted != before


def test_what_is_not_in_sync_is_left_out_and_said(brokers):
    held = brokers.gateway.topics["orders"].partitions[0]
    held.out_of_sync = frozenset({held.replicas[0]})
    plan = brokers.plan("leaders.elect")
    assert len(plan.diff["partitions"]) == 3
    assert plan.diff["blocked_total"] == 1
    assert plan.diff["blocked"][0]["partition"] == 0
    assert "not-in-sync" in {row["code"] for row in plan.impact["warnings"]}


def test_there_is_no_plan_where_nothing_would_change(brokers):
    for part in brokers.gateway.topics["orders"].partitions:
        part.led_by = None
    with pytest.raises(Conflict, match="led by the broker that it prefers"):
        brokers.plan("leaders.elect")


def test_there_is_no_plan_while_all_that_could_change_is_not_in_sync(brokers):
    for part in brokers.gateway.topics["orders"].partitions:
        part.out_of_sync = frozenset({part.replicas[0]})
    with pytest.raises(Conflict, match="is not in sync yet: orders-0 waits for broker"):
        brokers.plan("leaders.elect")


def test_topics_and_brokers_that_are_not_there_are_named(brokers):
    with pytest.raises(NotFound, match="no topic gone"):
        brokers.plan("leaders.elect", topics=["orders", "gone"])
    with pytest.raises(Problem) as refused:
        brokers.plan("leaders.elect", broker=9)
    assert refused.value.errors[0]["pointer"] == "/inputs/broker"


def test_a_plan_is_stale_once_a_leader_has_moved(brokers):
    plan = brokers.plan("leaders.elect")
    brokers.gateway.topics["orders"].partitions[2].led_by = None
    with pytest.raises(Conflict) as refused:
        brokers.start(plan)
    assert refused.value.code == "plan-stale"


def test_a_refused_election_fails_with_its_reason_and_says_what_stays(brokers):
    plan = brokers.plan("leaders.elect")
    operation = brokers.start(plan)
    held = brokers.gateway.topics["orders"].partitions[3]
    held.out_of_sync = frozenset({held.replicas[0]})
    drive(operation)
    assert operation.state == "failed"
    assert "orders-3 (PREFERRED_LEADER_NOT_AVAILABLE); 3 of 4" in operation.error["detail"]
    assert operation.remains


def test_large_plans_go_in_batches_and_say_what_they_leave_out(brokers, monkeypatch):
    monkeypatch.setattr(electing, "PARTITIONS_MAX", 3)
    monkeypatch.setattr(electing, "BATCH", 2)
    plan = brokers.plan("leaders.elect")
    assert (len(plan.diff["partitions"]), plan.diff["left_out"]) == (3, 1)
    brokers.gateway.calls.clear()
    operation = drive(brokers.start(plan))
    assert operation.state == "succeeded", operation.error
    assert brokers.gateway.calls.count("elect_preferred_leaders") == 2


def test_a_batch_whose_answer_was_lost_is_elected_again(brokers):
    operation = brokers.start(brokers.plan("leaders.elect"))
    lost = GatewayError("TIMED_OUT", "no answer", retriable=True, unknown_outcome=True)
    brokers.gateway.fail_next("elect_preferred_leaders", lost)
    drive(operation)
    assert operation.state == "succeeded", operation.error


def test_there_is_nothing_to_undo(brokers):
    operation = brokers.run("leaders.elect")
    assert electing.LeadersElect().undo(operation.plan) is None
