"""Producer ids for idempotent producers: claimed from ZooKeeper a block at a time.

Any broker claims its own blocks with a version check on `/latest_producer_id_block`, as Kafka does
in ZooKeeper mode; an unused rest of a block is lost at a restart, which is harmless.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from dataplane.cluster.znodes import (
    PRODUCER_IDS,
    ProducerIdBlock,
    decode_producer_ids,
    encode_producer_ids,
)
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.coordinator import (
    BadVersionError,
    ConnectionLossError,
    CoordinatorError,
    NodeExistsError,
    NoNodeError,
)
from dataplane.transactions.producer_id_block import ProducerIdBlockCursor, next_block

if TYPE_CHECKING:
    from dataplane.ports.coordinator import Coordinator

_log = logging.getLogger(__name__)

CLAIM_ATTEMPTS: Final = 20


class ProducerIdManager:
    """One claim at a time; whoever waits for it shares its block."""

    def __init__(self, coordinator: Coordinator, broker_id: int) -> None:
        self._coordinator = coordinator
        self._broker_id = broker_id
        self._cursor = ProducerIdBlockCursor()
        self._claiming = asyncio.Lock()

    async def start(self) -> None:
        """Nothing is claimed before somebody asks."""

    async def stop(self) -> None:
        """The rest of the block is given up."""

    async def next_id(self) -> int:
        """A producer id that nobody else has. KafkaError(COORDINATOR_NOT_AVAILABLE): try again."""
        while (taken := self._cursor.take()) is None:
            async with self._claiming:
                if (taken := self._cursor.take()) is not None:
                    return taken
                await self._claim()
        return taken

    async def _claim(self) -> None:
        for _ in range(CLAIM_ATTEMPTS):
            try:
                first, last = await self._try_claim()
            except (BadVersionError, NodeExistsError, ConnectionLossError) as error:
                # Another broker was quicker, or the answer was lost: then a block is wasted.
                _log.debug("claiming producer ids again: %r", error)
                continue
            except CoordinatorError as error:
                raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(error)) from error
            self._cursor.claim(first, last)
            return
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, "producer ids are contended")

    async def _try_claim(self) -> tuple[int, int]:
        coordinator = self._coordinator
        try:
            data, stat = await coordinator.get(PRODUCER_IDS)
        except NoNodeError:
            await coordinator.create(PRODUCER_IDS, make_parents=True)
            data, stat = await coordinator.get(PRODUCER_IDS)
        before = decode_producer_ids(data)
        first, last = next_block(before.last_id if before is not None else None)
        block = ProducerIdBlock(self._broker_id, first, last)
        await coordinator.set(PRODUCER_IDS, encode_producer_ids(block), stat.version)
        return first, last
