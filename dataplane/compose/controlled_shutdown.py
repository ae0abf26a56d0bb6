"""A stopping broker's last request: lead elsewhere what I lead."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.messages.controlled_shutdown import ControlledShutdownRequest

if TYPE_CHECKING:
    from dataplane.broker.broker_lifecycle import BrokerLifecycle
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.networking.controller_client import ControllerClient
    from dataplane.cluster.image import ClusterImage
    from dataplane.config import BrokerConfig

_log = logging.getLogger(__name__)

VERSION = 3
REQUEST_TIMEOUT_MS = 5_000


async def hand_over(
    controller_client: ControllerClient,
    metadata_cache: MetadataCache,
    lifecycle: BrokerLifecycle,
    config: BrokerConfig,
) -> bool:
    """Whether every leadership has found another home.

    `controlled.shutdown.max.retries` attempts begin at least `controlled.shutdown.retry.backoff.ms`
    apart, for a controller that moves and followers that catch up. The last live broker of a
    cluster does not try again: nobody could take over.
    """
    tries = config.get_int("controlled.shutdown.max.retries")
    backoff_s = config.get_int("controlled.shutdown.retry.backoff.ms") / 1000
    loop = asyncio.get_running_loop()
    alone = _left_alone(metadata_cache, lifecycle.broker_id)
    for left in reversed(range(tries)):
        next_s = loop.time() + backoff_s
        if await _attempt(controller_client, lifecycle):
            return True
        if left:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(next_s):
                    await alone.wait()
        if alone.is_set():
            break
    _log.warning("stopping without having handed every leadership over")
    return False


async def _attempt(controller_client: ControllerClient, lifecycle: BrokerLifecycle) -> bool:
    request = ControlledShutdownRequest(
        broker_id=lifecycle.broker_id, broker_epoch=lifecycle.broker_epoch
    )
    try:
        response = await controller_client.request(request, VERSION, timeout_ms=REQUEST_TIMEOUT_MS)
    except (KafkaError, ConnectionError, TimeoutError) as error:
        _log.warning("controlled shutdown: %s", error)
        return False
    if response.error_code != ErrorCode.NONE:
        _log.warning("controlled shutdown: %s", ErrorCode.of(response.error_code).name)
        return False
    if response.remaining_partitions:
        count = len(response.remaining_partitions)
        _log.warning("controlled shutdown: %d partitions have nobody else to lead them", count)
        return False
    return True


def _left_alone(metadata_cache: MetadataCache, broker_id: int) -> asyncio.Event:
    """Set once no other broker lives. Watched until the broker's end, which is near."""
    alone = asyncio.Event()

    def look(_before: ClusterImage, after: ClusterImage) -> None:
        if not after.brokers.keys() - {broker_id}:
            alone.set()

    metadata_cache.on_change(look)
    look(metadata_cache.image, metadata_cache.image)
    return alone
