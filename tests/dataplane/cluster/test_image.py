"""The image a broker builds from UpdateMetadata, incremental and after deletions."""

from __future__ import annotations

import dataclasses
import itertools
import uuid

from hypothesis import given
from hypothesis import strategies as st

from dataplane.cluster import image as image_module
from dataplane.cluster.image import BrokerInfo, ClusterImage, Endpoint
from dataplane.cluster.requests import MetadataUpdate, Term, update_metadata
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState

TERM = Term(controller_id=1, controller_epoch=4, broker_epoch=9)
A, B = uuid.UUID(int=10), uuid.UUID(int=11)
BROKERS = {1: BrokerInfo(1, 5, "r1", {"CLIENT": Endpoint("h", 9, "SASL_SSL")})}


def update(image, topic, topic_id, *states, deleting=False, full=False, term=TERM):
    updates = {
        TopicPartition(topic, s.index): MetadataUpdate(s, topic_id, deleting=deleting)
        for s in states
    }
    return image.with_update(update_metadata(term, updates, BROKERS, full=full))


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


def test_a_partition_not_announced_yet_has_no_leader():
    image = update(ClusterImage(), "t", A, state(2))
    assert [p.leader for p in image.topics["t"].partitions] == [-1, -1, 1]


@given(st.permutations(range(5)), st.lists(st.integers(0, 4), max_size=3), st.booleans())
def test_a_deletion_that_arrives_in_pieces_leaves_nothing(order, cuts, unknown_at_first):
    """A partition's removal travels behind the stop of its replica, so a topic may go in parts."""
    known = order[: 1 + cuts[0]] if unknown_at_first and cuts else order
    image = update(ClusterImage(), "t", A, *(state(i) for i in known))
    bounds = sorted({0, *cuts, 5})
    for begin, end in itertools.pairwise(bounds):
        image = update(image, "t", A, *(state(i) for i in order[begin:end]), deleting=True)
    assert image.topics == {}
    assert image.names_by_id == {}


def test_a_full_update_removes_what_it_does_not_name():
    """A deletion that nobody announced to this broker: it, or the controller, was away."""
    image = update(ClusterImage(), "gone", A, state(0))
    image = update(image, "t", B, state(0), full=True)
    assert image.topics.keys() == {"t"}
    assert image.names_by_id == {B: "t"}
    assert update(image, "t", B, full=True).topics == {}


@given(st.booleans())
def test_an_update_that_arrives_again_after_the_deletion_changes_nothing(made_again):
    image = update(ClusterImage(), "t", A, state(0), state(1))
    image = update(image, "t", A, state(0), state(1), deleting=True)
    if made_again:
        image = update(image, "t", B, state(0))
    for late in (
        update(image, "t", A, state(0)),
        update(image, "t", A, state(1), deleting=True),
    ):
        assert late.topics == image.topics
        assert late.names_by_id == image.names_by_id


def test_a_deletion_does_not_remove_the_topic_that_was_made_after_it():
    """Also where the deleted one was never known."""
    image = update(ClusterImage(), "t", B, state(0))
    late = update(image, "t", A, state(0), deleting=True)
    assert late.topics == image.topics
    assert late.topic_by_id(B).name == "t"


def test_an_older_state_is_ignored_unless_a_later_controller_says_so():
    image = update(ClusterImage(), "t", A, state(0, leader=2, epoch=5))
    assert update(image, "t", A, state(0, epoch=4)).partition("t", 0).leader_epoch == 5
    assert update(image, "t", A, state(0, epoch=6)).partition("t", 0).leader_epoch == 6
    shrunk = dataclasses.replace(state(0, leader=2, epoch=5), isr=(2,), partition_epoch=1)
    image = update(image, "t", A, shrunk)
    assert update(image, "t", A, state(0, leader=2, epoch=5)).partition("t", 0).isr == (2,)
    later = dataclasses.replace(TERM, controller_epoch=TERM.controller_epoch + 1)
    assert update(image, "t", A, state(0, epoch=4), term=later).partition("t", 0).leader_epoch == 4


def test_a_later_controller_may_bring_a_topic_back():
    """Its word is the truth of ZooKeeper, where a tool may have taken the mark of deletion away."""
    image = update(ClusterImage(), "t", A, state(0))
    image = update(image, "t", A, state(0), deleting=True)
    later = dataclasses.replace(TERM, controller_epoch=TERM.controller_epoch + 1)
    assert update(image, "t", A, state(0), term=later).topics.keys() == {"t"}


def test_only_so_many_deleted_topics_are_remembered(monkeypatch):
    monkeypatch.setattr(image_module, "DELETED_IDS_MAX", 3)
    image = ClusterImage()
    for number in range(1, 10):
        topic_id = uuid.UUID(int=number)
        image = update(image, "t", topic_id, state(0))
        image = update(image, "t", topic_id, state(0), deleting=True)
    assert [i.int for i in image.deleted_ids] == [7, 8, 9]
