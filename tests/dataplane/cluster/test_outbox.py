"""Merging commands must not change what a broker ends up with."""

from __future__ import annotations

import uuid

from hypothesis import given
from hypothesis import strategies as st

from dataplane.cluster.outbox import Outbox
from dataplane.cluster.requests import MetadataUpdate, Stop
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState

TOPIC = uuid.UUID(int=1)


def update(epoch, is_new=False, topic_id=TOPIC):
    return MetadataUpdate(PartitionState(index=0, leader_epoch=epoch), topic_id, is_new=is_new)


def tp(index):
    return TopicPartition("t", index)


def test_newer_states_replace_older_and_newness_is_kept():
    box = Outbox()
    box.add_role(tp(0), update(1, is_new=True))
    box.add_role(tp(0), update(2))
    parcel = box.take()
    assert not box
    assert parcel.roles[tp(0)].state.leader_epoch == 2
    assert parcel.roles[tp(0)].is_new


def test_a_role_after_a_stop_goes_in_the_next_parcel():
    box = Outbox()
    box.add_stop(tp(0), Stop(-2, delete=True))
    box.add_role(tp(1), update(1))
    box.add_role(tp(0), update(1, is_new=True))
    first, second = box.take(), box.take()
    assert set(first.stops) == {tp(0)}
    assert set(first.roles) == {tp(1)}
    assert set(second.roles) == {tp(0)}
    assert second.last_ticket == box.last_ticket == 3


def test_metadata_of_a_recreated_topic_does_not_hide_the_deletion():
    box = Outbox()
    box.add_metadata(tp(0), MetadataUpdate(PartitionState(index=0), TOPIC, deleting=True))
    box.add_metadata(tp(0), update(0, topic_id=uuid.UUID(int=2)))
    assert box.take().metadata[tp(0)].deleting
    assert not box.take().metadata[tp(0)].deleting


COMMANDS = st.lists(
    st.tuples(st.sampled_from(["role", "stop", "take"]), st.integers(0, 2)), max_size=30
)


@given(COMMANDS)
def test_the_broker_ends_as_if_every_command_had_been_sent_singly(commands):
    box, merged, single = Outbox(), {}, {}

    def deliver(parcel):
        merged.update({k: v.state.leader_epoch for k, v in parcel.roles.items()})
        for key in parcel.stops:
            merged.pop(key, None)

    for number, (kind, index) in enumerate(commands):
        if kind == "role":
            box.add_role(tp(index), update(number))
            single[tp(index)] = number
        elif kind == "stop":
            box.add_stop(tp(index), Stop(number, delete=True))
            single.pop(tp(index), None)
        elif box:
            deliver(box.take())
    while box:
        deliver(box.take())
    assert merged == single
