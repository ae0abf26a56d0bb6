"""The controller changes leaders on request: elections, ISR changes, controlled shutdown."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.broker.controller import reassignments as controller_reassign
from dataplane.cluster import znodes
from dataplane.cluster.alter_partition import IsrProposal, judge
from dataplane.cluster.election import ElectionType, elect_offline, elect_preferred
from dataplane.cluster.failover import Changes, imbalanced, leave
from dataplane.cluster.requests import Stop
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.partition import PartitionState
from dataplane.ports.coordinator import SetData

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dataplane.broker.controller.controller import Controller
    from dataplane.model.ids import TopicPartition

log = logging.getLogger(__name__)

PRODUCER_ID_BLOCK = 1_000
PRODUCER_ID_MAX = (1 << 63) - 1


# -- in-sync sets ---------------------------------------------------------------------------------


async def alter_partitions(
    controller: Controller, sender: int, sender_epoch: int, proposals: Sequence[IsrProposal]
) -> dict[TopicPartition, PartitionState | ErrorCode]:
    """Grant or refuse in-sync sets. Raises KafkaError(STALE_BROKER_EPOCH) for a former life."""
    _check_epoch(controller, sender, sender_epoch)
    answers: dict[TopicPartition, PartitionState | ErrorCode] = {}
    changes: Changes = {}
    for proposal in proposals:
        verdict = judge(controller.context, sender, proposal)
        answers[proposal.partition] = verdict
        unchanged = verdict is controller.context.state(proposal.partition)
        if isinstance(verdict, PartitionState) and not unchanged:
            changes[proposal.partition] = verdict
    await controller.commit(changes, metadata_only=True)
    for partition in changes:
        written = controller.context.state(partition)
        if written is not None:
            answers[partition] = written
    return answers


def _check_epoch(controller: Controller, broker: int, epoch: int) -> None:
    known = controller.context.brokers.get(broker)
    if known is None or (epoch not in (-1, known.epoch)):
        raise KafkaError(ErrorCode.STALE_BROKER_EPOCH)


async def finish_reassignments(
    controller: Controller, partitions: dict[TopicPartition, object]
) -> None:
    """After in-sync sets grew. A step of its own, so that the leader is answered first."""
    await controller_reassign.complete_ready(controller, partitions)


# -- elections ------------------------------------------------------------------------------------


async def elect_leaders(
    controller: Controller, election: ElectionType, partitions: Iterable[TopicPartition] | None
) -> dict[TopicPartition, KafkaError | None]:
    """None asks for every partition; those that need no election are then left out."""
    context = controller.context
    everything = partitions is None
    asked = [p for p, _ in context.partitions()] if partitions is None else list(partitions)
    results: dict[TopicPartition, KafkaError | None] = {}
    changes: Changes = {}
    for partition in asked:
        verdict = _elect(controller, partition, election)
        if isinstance(verdict, PartitionState):
            changes[partition] = verdict
            results[partition] = None
        elif not (everything and verdict.code is ErrorCode.ELECTION_NOT_NEEDED):
            results[partition] = verdict
    await controller.commit(changes)
    return results


def _elect(
    controller: Controller, partition: TopicPartition, election: ElectionType
) -> PartitionState | KafkaError:
    context = controller.context
    state = context.state(partition)
    if state is None or context.is_deletion_started(partition.topic):
        return KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")
    electable = context.electable_for(partition)
    if election is ElectionType.PREFERRED:
        if state.leader == state.preferred_leader:
            return KafkaError(ErrorCode.ELECTION_NOT_NEEDED)
        led = elect_preferred(state, electable)
        return led or KafkaError(
            ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
            f"Broker {state.preferred_leader}, preferred for {partition}, is not live and in sync.",
        )
    if state.leader in context.live_for(partition):
        return KafkaError(ErrorCode.ELECTION_NOT_NEEDED)
    led = elect_offline(state, electable, unclean=True)
    return led or KafkaError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE)


async def balance(controller: Controller) -> None:
    """Give leadership back to preferred leaders where too much of it has wandered off."""
    percentage = controller.services.config.get_int("leader.imbalance.per.broker.percentage")
    changes = imbalanced(controller.context, percentage)
    if changes:
        log.info("preferred election of %d partitions", len(changes))
    await controller.commit(changes)


# -- controlled shutdown --------------------------------------------------------------------------


async def controlled_shutdown(
    controller: Controller, broker: int, epoch: int
) -> list[TopicPartition]:
    """Move everything off a broker that wants to stop; returns what it still leads."""
    context = controller.context
    known = context.brokers.get(broker)
    if known is None:
        raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE)
    if epoch != -1 and epoch < known.epoch:
        raise KafkaError(ErrorCode.STALE_BROKER_EPOCH)
    context.shutting_down.add(broker)
    changes, remaining = leave(context, broker)
    log.info("broker %d shuts down: %d partitions change", broker, len(changes))
    await controller.commit(changes)
    for partition in context.partitions_on([broker]):
        state = context.state(partition)
        if (
            state is not None
            and state.leader != broker
            and not context.is_deletion_started(partition[0])
        ):
            controller.enqueue_stop_replica(
                partition, [broker], Stop(state.leader_epoch, delete=False)
            )
    controller.wake()
    return remaining


# -- producer ids ---------------------------------------------------------------------------------


async def allocate_producer_ids(
    controller: Controller, broker: int, epoch: int
) -> znodes.ProducerIdBlock:
    """The next block of ids, for this broker alone."""
    _check_epoch(controller, broker, epoch)
    data, stat = await controller.coordinator.get(znodes.PRODUCER_IDS)
    last = znodes.decode_producer_ids(data)
    first_id = last.last_id + 1 if last else 0
    if first_id > PRODUCER_ID_MAX - PRODUCER_ID_BLOCK:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "all producer ids have been used")
    block = znodes.ProducerIdBlock(broker, first_id, first_id + PRODUCER_ID_BLOCK - 1)
    encoded = znodes.encode_producer_ids(block)
    await controller.write([[SetData(znodes.PRODUCER_IDS, encoded, stat.version)]])
    return block
