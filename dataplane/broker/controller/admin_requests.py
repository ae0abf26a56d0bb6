"""Reassignments and preferred elections that tools ask for in ZooKeeper.

A request's node is removed when it is read; one that cannot be understood is logged.
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, TypeVar

from dataplane.cluster import znodes
from dataplane.cluster.election import ElectionType
from dataplane.model.ids import TopicPartition
from dataplane.ports.coordinator import Delete, NoNodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.broker.controller.leader_elections import LeaderElections
    from dataplane.broker.controller.partition_reassignment import PartitionReassignment
    from dataplane.broker.controller.zk_client import ControllerZkClient

T = TypeVar("T")

log = logging.getLogger(__name__)


class AdminRequests:
    """Carries out the nodes `/admin/reassign_partitions` and `…/preferred_replica_election`."""

    def __init__(
        self,
        zk: ControllerZkClient,
        reassignment: PartitionReassignment,
        elections: LeaderElections,
    ) -> None:
        self._zk = zk
        self._reassignment = reassignment
        self._elections = elections

    async def reassignments_requested(self) -> None:
        asked = await self._taken(znodes.REASSIGN_PARTITIONS, znodes.decode_reassignments)
        targets = {TopicPartition(*key): replicas for key, replicas in (asked or {}).items()}
        for partition, refusal in (await self._reassignment.reassign(targets)).items():
            if refusal is not None:
                log.warning("requested reassignment of %s refused: %s", partition, refusal)

    async def elections_requested(self) -> None:
        asked = await self._taken(znodes.PREFERRED_ELECTION, znodes.decode_preferred_election)
        partitions = [TopicPartition(*key) for key in asked or []]
        results = await self._elections.elect_leaders(ElectionType.PREFERRED, partitions)
        for partition, refusal in results.items():
            if refusal is not None:
                log.info("requested election of %s: %s", partition, refusal)

    async def _taken(self, path: str, decode: Callable[[bytes], T]) -> T | None:
        """What stands in a request's node, which is removed; None for nothing."""
        with contextlib.suppress(NoNodeError):
            data, stat = await self._zk.coordinator.get(path)
            await self._zk.write([[Delete(path, stat.version)]])
            try:
                return decode(data)
            except (ValueError, KeyError, TypeError) as error:
                log.warning("%s cannot be understood: %s", path, error)
        return None
