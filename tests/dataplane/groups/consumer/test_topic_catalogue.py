"""Groups hear of topics that come, go and grow, not of leaders that change."""

import uuid

import pytest

from dataplane.broker.groups.topic_catalogue import MetadataTopics
from dataplane.broker.metadata.metadata_cache import MetadataCache
from dataplane.cluster.image import ClusterImage, TopicImage
from dataplane.model.partition import PartitionState


def topic(name, count, *, topic_id=None, leader=1):
    partitions = tuple(
        PartitionState(index=i, leader=leader, replicas=(1, 2), isr=(1, 2)) for i in range(count)
    )
    return TopicImage(name, topic_id or uuid.uuid5(uuid.NAMESPACE_DNS, name), partitions)


def image(*topics):
    return ClusterImage(cluster_id="c", topics={each.name: each for each in topics})


@pytest.mark.parametrize(
    ("after", "matters"),
    [
        (image(topic("a", 2)), False),
        (image(topic("a", 2, leader=2)), False),
        (image(topic("a", 3)), True),
        (image(topic("a", 2), topic("b", 1)), True),
        (image(topic("b", 2)), True),
        (image(), True),
        (image(topic("a", 2, topic_id=uuid.UUID(int=7))), True),
    ],
)
def test_the_version_changes_with_what_matters_to_groups(after, matters):
    cache = MetadataCache(image(topic("a", 2)))
    topics = MetadataTopics(cache)
    cache.on_change(topics.on_change)
    before = topics.version
    cache.replace(after)
    assert (topics.version != before) == matters
    for name, each in after.topics.items():
        assert topics.get(name) == (each.topic_id, len(each.partitions))
        assert topics.name_of(each.topic_id) == name


def test_expressions_match_no_internal_topics():
    topics = MetadataTopics(MetadataCache(image(topic("a", 1), topic("__consumer_offsets", 1))))
    assert list(topics.matchable()) == ["a"]
    assert topics.get("gone") is None
