"""The controller makes what the client's quota allows (KIP-599)."""

from __future__ import annotations

import pytest

from dataplane.cluster.topic_plans import NewTopic, TopicRequest
from dataplane.model.errors import ErrorCode, KafkaError
from tests.dataplane.broker.controller.fake_brokers import active

OVER = ErrorCode.THROTTLING_QUOTA_EXCEEDED


async def test_the_controller_makes_what_may_be_spent_and_no_more(cluster):
    brokers = await cluster(1, 2, 3)
    left = [5]

    def spend(count: int) -> None:
        if left[0] < count:
            raise KafkaError(OVER)
        left[0] -= count

    requests = [TopicRequest("t", 3, 1), TopicRequest("u", 3, 1), TopicRequest("v", 2, 1)]
    host = active(brokers).host
    results = await host.submit(
        lambda c: c.topic_creation.create_topics(requests, validate_only=False, spend=spend)
    )
    assert isinstance(results["t"], NewTopic)
    assert results["u"].code == OVER
    assert isinstance(results["v"], NewTopic)
    await host.propagated(5_000)
    assert set(brokers[0].image.topics) == {"t", "v"}
    with pytest.raises(KafkaError):
        await host.submit(
            lambda c: c.topic_creation.create_partitions(
                "t", 4, None, validate_only=False, spend=spend
            )
        )
    assert len(brokers[0].image.topics["t"].partitions) == 3
