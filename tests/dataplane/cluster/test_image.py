"""The image a broker builds from UpdateMetadata, incremental and after deletions."""

from __future__ import annotations

import uuid

from dataplane.cluster.image import BrokerInfo, ClusterImage, Endpoint
from dataplane.cluster.requests import Notice, Term, update_metadata
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState

TERM = Term(controller_id=1, controller_epoch=4, broker_epoch=9)
A, B = uuid.UUID(int=10), uuid.UUID(int=11)
BROKERS = {1: BrokerInfo(1, 5, "r1", {"CLIENT": Endpoint("h", 9, "SASL_SSL")})}


def update(image, topic, topic_id, *states, deleting=False):
    notices = {
        TopicPartition(topic, s.index): Notice(s, topic_id, deleting=deleting) for s in states
    }
    return image.with_update(update_metadata(TERM, notices, BROKERS))


def state(index, leader=1, epoch=0):
    return PartitionState(index=index, leader=leader, leader_epoch=epoch, replicas=(1, 2), isr=(1,))


def test_updates_merge_by_partition():
    image = update(ClusterImage(cluster_id="c"), "t", A, state(0), state(1))
    after = update(image, "t", A, state(1, epoch=3))
    assert [p.leader_epoch for p in after.topics["t"].partitions] == [0, 3]
    assert after.topics["t"].partitions[0].offline_replicas == (2,)
    assert after.brokers[1].listeners == BROKERS[1].listeners
    assert after.brokers[1].rack == "r1"
    assert (after.controller_id, after.controller_epoch, after.cluster_id) == (1, 4, "c")
    assert after.version == 2
    assert image.topics["t"].partitions[1].leader_epoch == 0
    assert after.topic_by_id(A).name == "t"
    assert after.partition("t", 1).leader_epoch == 3
    assert after.partition("t", 2) is None
    assert after.partition("u", 0) is None


def test_a_deleted_topic_vanishes_and_a_new_one_of_the_name_starts_afresh():
    image = update(ClusterImage(), "t", A, state(0), state(1))
    gone = update(image, "t", A, state(0), state(1), deleting=True)
    assert gone.topics == {}
    assert gone.topic_by_id(A) is None
    again = update(image, "t", B, state(0))
    assert len(again.topics["t"].partitions) == 1
    assert again.topic_by_id(A) is None
    assert again.topic_by_id(B).name == "t"


def test_a_partition_not_told_yet_has_no_leader():
    image = update(ClusterImage(), "t", A, state(2))
    assert [p.leader for p in image.topics["t"].partitions] == [-1, -1, 1]
