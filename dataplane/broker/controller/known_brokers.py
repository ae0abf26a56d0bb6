"""The record of the broker registrations that controllers have acted upon."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from dataplane.cluster import znodes
from dataplane.ports.coordinator import Delete, NoNodeError, SetData

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataplane.broker.controller.zk_client import ControllerZkClient
    from dataplane.cluster.image import BrokerInfo
    from dataplane.ports.coordinator import Op


class KnownBrokers:
    """`/brokers/known_brokers`; a cluster whose controllers were of an earlier version holds it in
    another node, which is read once and removed.
    """

    def __init__(self, zk: ControllerZkClient) -> None:
        self._zk = zk

    async def load(self) -> dict[int, int]:
        """Broker epochs by broker; empty before any controller has written them."""
        for path in (znodes.KNOWN_BROKERS, znodes.FORMER_KNOWN_BROKERS):
            with contextlib.suppress(NoNodeError):
                data, _ = await self._zk.coordinator.get(path)
                if data:
                    return znodes.decode_known_brokers(data)
        return {}

    async def store(self, brokers: Mapping[int, BrokerInfo], *, take_over: bool = False) -> None:
        """After the decisions have been written: a successor that finds less decides them again.

        `take_over`: this controller has not written yet; what a former version left is removed.
        """
        ops: list[Op] = [SetData(znodes.KNOWN_BROKERS, znodes.encode_known_brokers(brokers))]
        if take_over and await self._zk.coordinator.exists(znodes.FORMER_KNOWN_BROKERS) is not None:
            ops.append(Delete(znodes.FORMER_KNOWN_BROKERS))
        await self._zk.write([ops])
