"""A stopping broker's last request: lead elsewhere what I lead."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.messages.controlled_shutdown import ControlledShutdownRequest

if TYPE_CHECKING:
    from dataplane.broker.services import BrokerServices

_log = logging.getLogger(__name__)

VERSION = 3
REQUEST_TIMEOUT_MS = 5_000
RETRY_S = 0.2


async def hand_over(services: BrokerServices) -> bool:
    """Whether every leadership has found another home; bounded by the configured retries."""
    tries = max(1, services.config.get_int("controlled.shutdown.max.retries"))
    request = ControlledShutdownRequest(
        broker_id=services.broker_id, broker_epoch=services.broker_epoch
    )
    for _ in range(tries):
        try:
            response = await services.controller_client.request(
                request, VERSION, timeout_ms=REQUEST_TIMEOUT_MS
            )
        except (KafkaError, ConnectionError, TimeoutError) as error:
            _log.warning("controlled shutdown: %s", error)
            return False
        if response.error_code == ErrorCode.NONE and not response.remaining_partitions:
            return True
        if response.error_code not in (ErrorCode.NONE, ErrorCode.STALE_BROKER_EPOCH):
            _log.warning("controlled shutdown: %s", ErrorCode.of(response.error_code).name)
        await asyncio.sleep(RETRY_S)
    _log.warning("controlled shutdown: some partitions have nobody else to lead them")
    return False
