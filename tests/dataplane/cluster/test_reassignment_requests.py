"""Which moves are accepted, which are ready, and what they add and drop."""

from __future__ import annotations

import dataclasses

import pytest

from dataplane.cluster.reassignment_requests import completed, decide, ongoing, replica_changes
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from tests.dataplane.cluster.test_failover import context, p

TP = TopicPartition("t", 0)
INVALID = ErrorCode.INVALID_REPLICA_ASSIGNMENT


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ((1, 3), None),
        ((), INVALID),
        ((1, 1), INVALID),
        ((-1, 1), INVALID),
        ((1, 9), INVALID),
        (None, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS),
    ],
)
def test_targets_are_checked(target, code):
    made = context({1, 2, 3}, p(0, 1, (1, 2)))
    changes, results = decide(made, {TP: target})
    assert (results[TP] and results[TP].code) == code
    assert (TP in changes) == (code is None)


def test_one_refusal_does_not_stop_the_others():
    made = context({1, 2, 3}, p(0, 1, (1, 2)))
    changes, results = decide(made, {TopicPartition("none", 0): (1,), TP: (1, 3)})
    assert results[TopicPartition("none", 0)].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert results[TP] is None
    assert list(changes) == [TP]


def test_a_topic_to_be_deleted_is_only_moved_back():
    made = context({1, 2, 3}, p(0, 1, (1, 2)))
    made.put(TP, decide(made, {TP: (1, 3)})[0][TP])
    made.topics_to_be_deleted.add("t")
    assert decide(made, {TP: (2, 3)})[1][TP].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    changes, results = decide(made, {TP: None})
    assert results[TP] is None
    assert changes[TP].replicas == (1, 2)


def test_new_replicas_are_named_and_dropped_ones_stop():
    made = context({1, 2, 3}, p(0, 1, (1, 2)))
    begun = decide(made, {TP: (1, 3)})[0]
    assert replica_changes(made, begun) == ({(TP, 3)}, {TP: ()})
    made.put(TP, begun[TP])
    assert list(ongoing(made, None)) == [TP]
    assert completed(made) == {}
    made.put(TP, dataclasses.replace(begun[TP], isr=(1, 2, 3)))
    done = completed(made)
    assert (done[TP].replicas, done[TP].isr) == ((1, 3), (1, 3))
    assert replica_changes(made, done) == (set(), {TP: (2,)})
    made.put(TP, done[TP])
    assert ongoing(made, [TP]) == ongoing(made, None) == {}


def test_only_the_named_partitions_are_looked_at():
    made = context({1, 2}, p(0, 1, (1,)), p(1, 1, (1,)))
    for index in (0, 1):
        tp = TopicPartition("t", index)
        begun = decide(made, {tp: (2,)})[0][tp]
        made.put(tp, dataclasses.replace(begun, isr=(1, 2)))
    assert list(completed(made, [TopicPartition("t", 1)])) == [TopicPartition("t", 1)]
    assert len(completed(made)) == 2
