"""ISRs that this broker writes to ZooKeeper itself: reads the truth, writes what it permits.

`cluster/leader_writes` decides, and says why that is safe.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from dataplane.broker.metadata.znode_reads import read_all
from dataplane.cluster import znodes
from dataplane.cluster.leader_writes import TopicFound, Verdict, judge, multis
from dataplane.cluster.topic_changes import assigned_states
from dataplane.ports.coordinator import BadVersionError, NoNodeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dataplane.cluster.leader_writes import OwnIsr
    from dataplane.model.ids import TopicPartition
    from dataplane.model.partition import PartitionState
    from dataplane.ports.coordinator import Coordinator

_log = logging.getLogger(__name__)

TIMEOUT_S: Final = 5.0
"""Of one round. A write under way may happen afterwards: the next round reads what became of it."""


class OwnIsrWrites:
    """One round at a time; a round is as many reads and writes as its partitions need."""

    def __init__(self, coordinator: Coordinator, *, broker_id: int) -> None:
        self._coordinator = coordinator
        self._broker_id = broker_id

    async def settle(
        self, wanted: Sequence[OwnIsr]
    ) -> dict[TopicPartition, tuple[Verdict, PartitionState]]:
        """What is true now of these partitions, as far as it can be known.

        WRITE: was written. KNOWN and SUPERSEDED as in `judge`. A partition that is missing is to
        be asked for again. Raises CoordinatorError and TimeoutError: then nothing is known.
        """
        async with asyncio.timeout(TIMEOUT_S):
            topics, states = await self._read(wanted)
            settled: dict[TopicPartition, tuple[Verdict, PartitionState]] = {}
            writes: dict[TopicPartition, PartitionState] = {}
            for each in wanted:
                topic, found = topics.get(each.partition.topic), states.get(each.partition)
                verdict, state = judge(each, self._broker_id, topic, found)
                if state is None:
                    continue
                if verdict is Verdict.WRITE:
                    writes[each.partition] = state
                else:
                    settled[each.partition] = verdict, state
            for part, ops in multis(writes, topics):
                try:
                    await self._coordinator.multi(ops)
                except (BadVersionError, NoNodeError) as error:
                    _log.debug("somebody was faster with one of %s: %s", part, error)
                else:
                    settled.update((each, (Verdict.WRITE, writes[each])) for each in part)
            return settled

    async def _read(
        self, wanted: Iterable[OwnIsr]
    ) -> tuple[dict[str, TopicFound], dict[TopicPartition, PartitionState]]:
        """Topics and their partitions' states; those without a node are missing."""
        partitions = [each.partition for each in wanted]
        names = sorted({partition.topic for partition in partitions})
        topics = {
            name: TopicFound(znodes.decode_topic(data), stat.version)
            for name, (data, stat) in (
                await read_all(self._coordinator, [(n, znodes.topic_path(n)) for n in names])
            ).items()
        }
        assigned: dict[TopicPartition, PartitionState] = {}
        for name, found in topics.items():
            assigned.update(assigned_states(name, found.node))
        nodes = await read_all(
            self._coordinator,
            [(p, znodes.state_path(p.topic, p.partition)) for p in partitions if p in assigned],
        )
        states = {
            partition: znodes.decode_state(assigned[partition], data, stat.version)
            for partition, (data, stat) in nodes.items()
        }
        return topics, states
