"""Requests to whoever is the active controller, with retries while it moves."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING, Any, Protocol

from dataplane.broker.networking.peer_client import PeerUnavailableError
from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.metrics import Metrics
    from dataplane.broker.networking.peer_client import PeerPool
    from dataplane.wire.schema import Message

_log = logging.getLogger(__name__)

RETRY_MS = 50
CREATE_TIMEOUT_MS = 30_000
# Automatic creations under way; who asks for more has to ask again.
CREATING_MAX = 100

_TOPIC_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")


class ControllerElection(Protocol):
    """What this broker's part in the election knows of who was elected."""

    @property
    def is_active(self) -> bool:
        """Whether this broker is the controller."""

    @property
    def controller_id(self) -> int:
        """Who is the controller as ZooKeeper says, -1 when it says nothing."""


class ControllerClient:
    """Finds the controller in the metadata image, or in ZooKeeper's word on this broker."""

    def __init__(
        self,
        election: ControllerElection,
        peers: PeerPool,
        metadata_cache: MetadataCache,
        metrics: Metrics,
        *,
        broker_id: int,
    ) -> None:
        self._election = election
        self._peers = peers
        self._metadata_cache = metadata_cache
        self._metrics = metrics
        self._broker_id = broker_id
        self._creating: dict[str, asyncio.Task[None]] = {}

    @property
    def controller_id(self) -> int:
        """The controller as this broker knows it, -1 when unknown."""
        election = self._election
        if election.is_active:
            return self._broker_id
        elected = election.controller_id
        return elected if elected >= 0 else self._metadata_cache.image.controller_id

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
                    response = await self._peers.request(
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

    def create_in_background(self, topic: str) -> ErrorCode:
        """Have a topic created with the broker's defaults; what to answer the client meanwhile."""
        if topic not in self._creating:
            if not is_valid_topic_name(topic):
                return ErrorCode.INVALID_TOPIC_EXCEPTION
            if len(self._creating) >= CREATING_MAX:
                self._metrics.auto_creations_put_off.inc()
                return ErrorCode.LEADER_NOT_AVAILABLE
            task = asyncio.get_running_loop().create_task(self._create(topic))
            self._creating[topic] = task
            task.add_done_callback(lambda _task: self._creating.pop(topic, None))
        return ErrorCode.LEADER_NOT_AVAILABLE

    async def _create(self, topic: str) -> None:
        from dataplane.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest

        request = CreateTopicsRequest(
            topics=[CreatableTopic(name=topic, num_partitions=-1, replication_factor=-1)],
            timeout_ms=CREATE_TIMEOUT_MS,
        )
        try:
            response = await self.request(request, 7, timeout_ms=CREATE_TIMEOUT_MS)
        except (KafkaError, ConnectionError, TimeoutError) as error:
            _log.warning("creating topic %s automatically: %s", topic, error)
            return
        for result in response.topics:
            if result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                _log.warning("creating topic %s automatically: %s", topic, result.error_message)


def is_valid_topic_name(name: str) -> bool:
    """Kafka's rule: 1 to 249 of letters, digits, dot, underscore, hyphen, but not . or .."""
    return bool(_TOPIC_NAME.fullmatch(name)) and name not in {".", ".."}
