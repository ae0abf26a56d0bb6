"""Makes the internal topics when they are first needed, through the active controller."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from dataplane.cluster.topic_names import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

if TYPE_CHECKING:
    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.networking.controller_client import ControllerClient
    from dataplane.config import BrokerConfig

log = logging.getLogger(__name__)

CREATE_TOPICS_VERSION = 5
TIMEOUT_MS = 15_000


def internal_topic(config: BrokerConfig, name: str) -> CreatableTopic:
    """The topic as `offsets.topic.*` or `transaction.state.log.*` describe it."""
    prefix = "offsets.topic" if name == OFFSETS_TOPIC else "transaction.state.log"
    configs = {
        "cleanup.policy": "compact",
        "segment.bytes": str(config.get_int(f"{prefix}.segment.bytes")),
        "compression.type": "producer" if name == OFFSETS_TOPIC else "uncompressed",
    }
    if name == TRANSACTIONS_TOPIC:
        configs["min.insync.replicas"] = str(config.get_int(f"{prefix}.min.isr"))
        configs["unclean.leader.election.enable"] = "false"
    return CreatableTopic(
        name=name,
        num_partitions=config.get_int(f"{prefix}.num.partitions"),
        replication_factor=config.get_int(f"{prefix}.replication.factor"),
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
    )


class InternalTopics:
    """Has a topic created; many callers at once share one request."""

    def __init__(self, controller_client: ControllerClient, configs: ConfigStore) -> None:
        self._controller_client = controller_client
        self._configs = configs
        self._creating: dict[str, asyncio.Task[KafkaError | None]] = {}

    async def create(self, name: str) -> None:
        """Returns when the topic exists.

        Raises KafkaError: COORDINATOR_NOT_AVAILABLE when the controller cannot make it now, for
        example with fewer live brokers than its replication factor.
        """
        task = self._creating.get(name)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._create(name))
            self._creating[name] = task
            task.add_done_callback(lambda _done: self._creating.pop(name, None))
        refusal = await asyncio.shield(task)
        if refusal is not None:
            raise refusal

    async def _create(self, name: str) -> KafkaError | None:
        """Why it does not exist: handed back, as everybody who waits may be gone."""
        try:
            return await self._ask(name)
        except KafkaError as error:
            return error

    async def _ask(self, name: str) -> KafkaError | None:
        request = CreateTopicsRequest(
            topics=[internal_topic(self._configs.broker_config, name)], timeout_ms=TIMEOUT_MS
        )
        response = await self._controller_client.request(
            request, CREATE_TOPICS_VERSION, timeout_ms=TIMEOUT_MS
        )
        for result in response.topics:
            if result.error_code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                continue
            log.warning("cannot create %s: %s", name, result.error_message)
            return KafkaError(
                ErrorCode.COORDINATOR_NOT_AVAILABLE,
                f"{name} cannot be created: {result.error_message}",
            )
        return None
