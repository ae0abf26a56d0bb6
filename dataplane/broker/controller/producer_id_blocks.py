"""Gives blocks of producer ids to brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.cluster import znodes
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.coordinator import SetData
from dataplane.transactions.producer_id_block import ProducerIdsExhaustedError, next_block

if TYPE_CHECKING:
    from dataplane.broker.controller.zk_client import ControllerZkClient
    from dataplane.cluster.context import ControllerContext


class ProducerIdBlocks:
    """The node `/latest_producer_id_block` says which ids were given away."""

    def __init__(self, context: ControllerContext, zk: ControllerZkClient) -> None:
        self._context = context
        self._zk = zk

    async def allocate(self, broker: int, epoch: int) -> znodes.ProducerIdBlock:
        """The next block of ids, for this broker alone. Raises KafkaError."""
        self._context.check_broker_epoch(broker, epoch)
        data, stat = await self._zk.coordinator.get(znodes.PRODUCER_IDS)
        last = znodes.decode_producer_ids(data)
        try:
            first_id, last_id = next_block(last.last_id if last else None)
        except ProducerIdsExhaustedError as error:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from error
        block = znodes.ProducerIdBlock(broker, first_id, last_id)
        encoded = znodes.encode_producer_ids(block)
        await self._zk.write([[SetData(znodes.PRODUCER_IDS, encoded, stat.version)]])
        return block
