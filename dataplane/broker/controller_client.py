"""Requests to whoever is the active controller, with retries while it moves."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from dataplane.broker.peer_client import PeerUnavailableError
from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from dataplane.broker.services import BrokerServices
    from dataplane.wire.schema import Message

_log = logging.getLogger(__name__)

RETRY_MS = 50


class ControllerClient:
    """Finds the controller in the metadata image, or in ZooKeeper's word on this broker."""

    def __init__(self, services: BrokerServices) -> None:
        self._services = services

    @property
    def controller_id(self) -> int:
        """The controller as this broker knows it, -1 when unknown."""
        services = self._services
        if services.controller.is_active:
            return services.broker_id
        elected = services.controller.controller_id
        return elected if elected >= 0 else services.metadata.image.controller_id

    async def request(self, message: Message, version: int, *, timeout_ms: int = 30_000) -> Any:
        """Ask the active controller; retries while there is none or it has just moved.

        Raises KafkaError(REQUEST_TIMED_OUT) when no controller answered in time.
        """
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + timeout_ms / 1000
        while (left_s := deadline_s - loop.time()) > 0:
            target = self.controller_id
            if target >= 0:
                try:
                    response = await self._services.peers.request(
                        target, message, version, timeout_ms=max(1, int(left_s * 1000))
                    )
                except PeerUnavailableError as error:
                    _log.debug("controller %d: %s", target, error)
                except TimeoutError:
                    break
                else:
                    if getattr(response, "error_code", 0) != ErrorCode.NOT_CONTROLLER:
                        return response
            await asyncio.sleep(RETRY_MS / 1000)
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, "no active controller answered in time")
