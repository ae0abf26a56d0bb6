"""Which topics may be deleted."""

from __future__ import annotations

import uuid

from dataplane.cluster.image import ZERO_UUID
from dataplane.cluster.replica_state_machine import PartitionAndReplica
from dataplane.cluster.topic_deletion import marked_topics, offline_replicas, refusals
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from tests.dataplane.cluster.test_failover import context, p


def test_a_topic_is_named_by_its_name_or_by_its_own_id():
    made = context({1}, p(0, 1, (1,)))
    assert refusals(made, {"t": ZERO_UUID}) == {}
    assert refusals(made, {"t": made.topics["t"].topic_id}) == {}
    other = refusals(made, {"t": uuid.uuid4(), "none": ZERO_UUID})
    assert other["t"].code is ErrorCode.UNKNOWN_TOPIC_ID
    assert other["none"].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_marks_are_accepted_refused_or_known_already():
    made = context({1}, p(0, 1, (1,)))
    for name in ("a", "b"):
        made.add_topic(name, uuid.uuid4())
    made.topics_to_be_deleted.add("b")
    names = ["none", "t", "b", "a"]
    assert marked_topics(made, names, enabled=True) == (["a", "t"], ["none"], [])
    assert marked_topics(made, names, enabled=False) == ([], ["a", "none", "t"], ["a", "t"])


def test_offline_replicas_of_one_topic():
    made = context({1, 2}, p(0, 1, (1, 2)), p(1, 2, (2, 1)))
    made.replicas_answered(2, [TopicPartition("t", 0)], ())
    assert offline_replicas(made, "t") == {PartitionAndReplica(TopicPartition("t", 0), 2)}
