"""Merging commands must not change what a broker ends up with."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.cluster.request_queue import BrokerRequestQueue, PendingRequests, RequestKind
from dataplane.cluster.requests import MetadataUpdate, Stop
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState

TOPIC = uuid.UUID(int=1)


def update(epoch, is_new=False, topic_id=TOPIC):
    return MetadataUpdate(PartitionState(index=0, leader_epoch=epoch), topic_id, is_new=is_new)


def tp(index):
    return TopicPartition("t", index)


def test_newer_states_replace_older_and_newness_is_kept():
    queue = BrokerRequestQueue()
    queue.add_leader_and_isr(tp(0), update(1, is_new=True))
    queue.add_leader_and_isr(tp(0), update(2))
    pending = queue.take()
    assert not queue
    assert pending.leader_and_isr[tp(0)].state.leader_epoch == 2
    assert pending.leader_and_isr[tp(0)].is_new


def test_a_role_after_a_stop_goes_in_the_next_round():
    queue = BrokerRequestQueue()
    queue.add_stop_replica(tp(0), Stop(-2, delete=True))
    queue.add_leader_and_isr(tp(1), update(1))
    queue.add_leader_and_isr(tp(0), update(1, is_new=True))
    first, second = queue.take(), queue.take()
    assert set(first.stop_replica) == {tp(0)}
    assert set(first.leader_and_isr) == {tp(1)}
    assert set(second.leader_and_isr) == {tp(0)}
    assert second.last_ticket == queue.last_ticket == 3


def test_metadata_of_a_recreated_topic_does_not_hide_the_deletion():
    queue = BrokerRequestQueue()
    queue.add_update_metadata(tp(0), MetadataUpdate(PartitionState(index=0), TOPIC, deleting=True))
    queue.add_update_metadata(tp(0), update(0, topic_id=uuid.UUID(int=2)))
    assert queue.take().update_metadata[tp(0)].deleting
    assert not queue.take().update_metadata[tp(0)].deleting


@pytest.mark.parametrize("kind", ["update_metadata", "leader_and_isr"])
def test_a_topic_made_again_shares_no_request_with_the_one_before(kind):
    """A request names a topic once, by its name and one id."""
    queue = BrokerRequestQueue()
    add = getattr(queue, f"add_{kind}")
    add(tp(1), update(3))
    add(tp(0), update(0, topic_id=uuid.UUID(int=2)))
    add(tp(1), update(0, topic_id=uuid.UUID(int=2)))
    rounds = [getattr(queue.take(), kind) for _ in range(2)]
    assert not queue
    assert [{one.topic_id for one in each.values()} for each in rounds] == [
        {TOPIC},
        {uuid.UUID(int=2)},
    ]
    assert [set(each) for each in rounds] == [{tp(1)}, {tp(0), tp(1)}]


def test_a_full_request_names_a_replica_that_only_stops():
    """What it does not name is set aside on the broker, with its records."""
    queue = BrokerRequestQueue()
    queue.add_brokers(metadata_first=True, full=True)
    queue.add_leader_and_isr(tp(0), update(1))
    queue.add_leader_and_isr(tp(1), update(1))
    queue.add_stop_replica(tp(0), Stop(1, delete=False))
    queue.add_stop_replica(tp(1), Stop(-2, delete=True))
    rounds = [queue.take(), queue.take()]
    assert rounds[0].full
    assert set(rounds[0].leader_and_isr) >= {tp(0)}
    stops = {partition: stop for each in rounds for partition, stop in each.stop_replica.items()}
    assert stops == {tp(0): Stop(1, delete=False), tp(1): Stop(-2, delete=True)}
    assert not queue


COMMANDS = st.lists(
    st.tuples(st.sampled_from(["role", "stop", "take"]), st.integers(0, 2)), max_size=30
)


@given(COMMANDS)
def test_the_broker_ends_as_if_every_command_had_been_sent_singly(commands):
    queue, merged, single = BrokerRequestQueue(), {}, {}

    def deliver(pending):
        merged.update({k: v.state.leader_epoch for k, v in pending.leader_and_isr.items()})
        for key in pending.stop_replica:
            merged.pop(key, None)

    for number, (kind, index) in enumerate(commands):
        if kind == "role":
            queue.add_leader_and_isr(tp(index), update(number))
            single[tp(index)] = number
        elif kind == "stop":
            queue.add_stop_replica(tp(index), Stop(number, delete=True))
            single.pop(tp(index), None)
        elif queue:
            deliver(queue.take())
    while queue:
        deliver(queue.take())
    assert merged == single


META, ROLES, STOPS = (
    RequestKind.UPDATE_METADATA,
    RequestKind.LEADER_AND_ISR,
    RequestKind.STOP_REPLICA,
)


@pytest.mark.parametrize(
    ("filled", "flags", "order"),
    [
        ("", {}, []),
        ("lus", {}, [ROLES, META, STOPS]),
        ("lus", {"metadata_first": True}, [META, ROLES, STOPS]),
        ("lus", {"metadata_first": True, "full": True}, [META, STOPS, ROLES]),
        ("us", {"full": True}, [STOPS, ROLES, META]),
        ("", {"brokers_changed": True}, [META]),
        ("s", {}, [STOPS]),
    ],
)
def test_the_order_of_a_round(filled, flags, order):
    """Stops go before a full LeaderAndIsr, and else last; metadata goes first only where asked."""
    pending = PendingRequests(**flags)
    if "l" in filled:
        pending.leader_and_isr[tp(0)] = update(1)
    if "u" in filled:
        pending.update_metadata[tp(0)] = update(1)
    if "s" in filled:
        pending.stop_replica[tp(1)] = Stop(1, delete=False)
    assert pending.in_order() == order
