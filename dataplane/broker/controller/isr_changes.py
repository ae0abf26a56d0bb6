"""Changes of ISRs: asked for by leaders (AlterPartition), or written by them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.broker.controller.load import load_states
from dataplane.broker.controller.zk_client import OutcomeUnknownError
from dataplane.broker.metadata.znode_reads import read_all
from dataplane.cluster import znodes
from dataplane.cluster.alter_partition import judge_all
from dataplane.cluster.writes import split
from dataplane.model.ids import TopicPartition
from dataplane.ports.coordinator import BadVersionError, Delete

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dataplane.broker.controller.partition_reassignment import PartitionReassignment
    from dataplane.broker.controller.partition_state_machine import PartitionStateMachine
    from dataplane.broker.controller.request_batch import ControllerBrokerRequestBatch
    from dataplane.broker.controller.zk_client import ControllerZkClient
    from dataplane.cluster.alter_partition import IsrProposal
    from dataplane.cluster.context import ControllerContext
    from dataplane.model.errors import ErrorCode
    from dataplane.model.partition import PartitionState

log = logging.getLogger(__name__)


class IsrChanges:
    """Grants ISRs, and reads those that leaders wrote by themselves."""

    def __init__(
        self,
        context: ControllerContext,
        zk: ControllerZkClient,
        batch: ControllerBrokerRequestBatch,
        partition_states: PartitionStateMachine,
        reassignment: PartitionReassignment,
    ) -> None:
        self._context = context
        self._zk = zk
        self._batch = batch
        self._partition_states = partition_states
        self._reassignment = reassignment

    async def alter_partitions(
        self, sender: int, sender_epoch: int, proposals: Sequence[IsrProposal]
    ) -> dict[TopicPartition, PartitionState | ErrorCode]:
        """Grant or refuse ISRs. Raises KafkaError(STALE_BROKER_EPOCH) for a former life.

        Reassignments that are complete by this are not finished yet: that is a step of its own
        (`PartitionReassignment.complete_ready`), so that the leader is answered first.
        """
        self._context.check_broker_epoch(sender, sender_epoch)
        changes, answers = judge_all(self._context, sender, proposals)
        try:
            await self._partition_states.commit(changes, metadata_only=True)
        except OutcomeUnknownError as unknown:
            if not isinstance(unknown.__cause__, BadVersionError):
                raise
            # A leader that waited too long for us has written its ISR itself, most likely.
            await self._read_again(changes)
            changes, answers = judge_all(self._context, sender, proposals)
            await self._partition_states.commit(changes, metadata_only=True)
        for partition in changes:
            written = self._context.state(partition)
            if written is not None:
                answers[partition] = written
        return answers

    async def notified(self) -> None:
        """Leaders that write their ISRs themselves name the partitions; these are read."""
        names = await self._zk.coordinator.children(znodes.ISR_CHANGES)
        paths = [f"{znodes.ISR_CHANGES}/{name}" for name in sorted(names)]
        found = await read_all(self._zk.coordinator, [(path, path) for path in paths])
        partitions: set[TopicPartition] = set()
        for path, (data, _) in found.items():
            try:
                partitions.update(TopicPartition(*key) for key in znodes.decode_isr_changes(data))
            except (ValueError, KeyError, TypeError) as error:
                log.warning("%s cannot be understood: %s", path, error)
        state_of = self._context.state
        known = [p for p in sorted(partitions) if state_of(p) is not None]
        await self._read_again(known)
        await self._zk.write(split([Delete(path) for path in found]))
        await self._reassignment.complete_ready(known)

    async def _read_again(self, partitions: Iterable[TopicPartition]) -> None:
        """States that others than us may have written; everybody hears of them.

        The leader too: it may not know what became of its write.
        """
        known = {p: state for p in partitions if (state := self._context.state(p)) is not None}
        for partition, state in (await load_states(self._zk.coordinator, known)).items():
            self._context.put(partition, state)
            self._batch.enqueue_leader_and_isr(partition, state.leader)
        self._batch.enqueue_update_metadata(known)
        self._batch.send()
