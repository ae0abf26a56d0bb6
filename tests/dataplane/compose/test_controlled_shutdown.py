"""How often, and how far apart, a stopping broker asks to be relieved of its leaderships."""

from __future__ import annotations

import asyncio

import pytest

from dataplane.broker.broker_lifecycle import BrokerLifecycle
from dataplane.broker.metadata.metadata_cache import MetadataCache
from dataplane.cluster.image import BrokerInfo, ClusterImage
from dataplane.compose.controlled_shutdown import hand_over
from dataplane.config import BrokerConfig
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.messages.controlled_shutdown import (
    ControlledShutdownResponse,
    RemainingPartition,
)

ME, PEER = 1, 2
STAYS = ControlledShutdownResponse(
    remaining_partitions=[RemainingPartition(topic_name="t", partition_index=0)]
)
MOVED = ControlledShutdownResponse()
STALE = ControlledShutdownResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
NOBODY = KafkaError(ErrorCode.REQUEST_TIMED_OUT, "no active controller answered in time")


def image(*brokers: int) -> ClusterImage:
    return ClusterImage(brokers={n: BrokerInfo(id=n, listeners={}) for n in brokers})


class Stopping:
    """A broker that stops, and a controller that answers by a script."""

    def __init__(self, *answers: object, retries: int, backoff_ms: int) -> None:
        settings = {
            "broker.id": str(ME),
            "zookeeper.connect": "x",
            "controlled.shutdown.max.retries": str(retries),
            "controlled.shutdown.retry.backoff.ms": str(backoff_ms),
        }
        self._answers = list(answers)
        self.asked_at_s: list[float] = []
        self.epochs: list[int] = []
        self.config = BrokerConfig.parse(settings)
        self.lifecycle = BrokerLifecycle(broker_id=ME, cluster_id="c", broker_epoch=7)
        self.metadata_cache = MetadataCache(image(ME, PEER))

    async def hand_over(self) -> bool:
        return await hand_over(self, self.metadata_cache, self.lifecycle, self.config)

    async def request(self, message: object, version: int, *, timeout_ms: int) -> object:
        assert (message.broker_id, version) == (ME, 3)
        assert timeout_ms > 0
        self.epochs.append(message.broker_epoch)
        self.asked_at_s.append(asyncio.get_running_loop().time())
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def test_it_tries_as_often_as_it_may_and_no_faster() -> None:
    broker = Stopping(STAYS, NOBODY, ConnectionResetError(), STALE, retries=4, backoff_ms=30)
    started_at_s = asyncio.get_running_loop().time()
    assert not await broker.hand_over()
    assert len(broker.asked_at_s) == 4
    for number, at_s in enumerate(broker.asked_at_s):
        assert at_s - started_at_s >= 0.03 * number


@pytest.mark.parametrize("failure", [STAYS, STALE, NOBODY, TimeoutError()])
async def test_a_later_attempt_may_succeed(failure: object) -> None:
    broker = Stopping(failure, MOVED, retries=3, backoff_ms=1)
    assert await broker.hand_over()
    assert len(broker.asked_at_s) == 2


async def test_every_attempt_names_the_epoch_of_its_time() -> None:
    broker = Stopping(STALE, MOVED, retries=2, backoff_ms=50)
    asyncio.get_running_loop().call_soon(setattr, broker.lifecycle, "broker_epoch", 8)
    assert await broker.hand_over()
    assert broker.epochs == [7, 8]


async def test_without_attempts_nobody_is_asked() -> None:
    broker = Stopping(retries=0, backoff_ms=1)
    assert not await broker.hand_over()
    assert broker.asked_at_s == []


async def test_after_the_last_attempt_nothing_is_waited_for() -> None:
    broker = Stopping(STAYS, retries=1, backoff_ms=3_600_000)
    async with asyncio.timeout(10):
        assert not await broker.hand_over()


async def test_the_last_broker_of_a_cluster_does_not_wait_for_anybody() -> None:
    broker = Stopping(STAYS, retries=3, backoff_ms=3_600_000)
    alone = image(ME)
    asyncio.get_running_loop().call_later(0.05, broker.metadata_cache.replace, alone)
    async with asyncio.timeout(10):
        assert not await broker.hand_over()
    assert len(broker.asked_at_s) == 1
