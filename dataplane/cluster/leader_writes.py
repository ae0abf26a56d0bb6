"""An ISR that a leader writes to ZooKeeper itself, because no controller answers it.

A leader may be cut off from the active controller while both of them reach ZooKeeper. Nobody is
fenced then, AlterPartition goes unanswered, and what its followers beyond the cut lack would never
be committed. So the leader writes the smaller ISR as leaders did before KIP-497, and notes the
partition below `/isr_change_notification` in the same multi, which the controller reads.

Why this is safe: the write goes through only if the partition's node still has the version that the
leader knows, and every write of a controller is conditional likewise. So of this write, an election
and a grant of what the leader asked for before, one alone succeeds, and whoever comes second reads
the truth first. Whoever is elected later is elected from the ISR that was written. A leader only
ever removes members: whether a replica may join is the controller's to say (KIP-903).
"""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, NamedTuple

from dataplane.cluster import znodes
from dataplane.cluster.image import ZERO_UUID
from dataplane.ports.coordinator import Check, Create, SetData

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dataplane.model.ids import TopicPartition
    from dataplane.model.partition import PartitionState
    from dataplane.ports.coordinator import Op

PARTITIONS_PER_MULTI = 100


@dataclasses.dataclass(frozen=True, slots=True)
class OwnIsr:
    """What a leader knows of a partition that it leads, and the ISR that it wants written."""

    partition: TopicPartition
    topic_id: uuid.UUID
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]


class TopicFound(NamedTuple):
    """A topic's node as it was read, and its version."""

    node: znodes.TopicNode
    version: int


class Verdict(enum.Enum):
    """What the truth means for a leader: see `judge`."""

    WRITE = "write"
    KNOWN = "known"
    SUPERSEDED = "superseded"
    WAIT = "wait"


def judge(
    wanted: OwnIsr, broker_id: int, topic: TopicFound | None, state: PartitionState | None
) -> tuple[Verdict, PartitionState | None]:
    """What is to be done, and the state that it is about.

    WRITE: the state as it is to be written. KNOWN: what was written since in our leader epoch, by
    the controller or by a write of ours whose answer was lost. SUPERSEDED: the state of a later
    epoch, whoever leads it. WAIT: another topic of that name, none, or a read that is behind.
    """
    if topic is None or state is None or _id(topic) != wanted.topic_id:
        return Verdict.WAIT, None
    if state.leader_epoch > wanted.leader_epoch:
        return Verdict.SUPERSEDED, state
    if state.leader_epoch < wanted.leader_epoch or state.leader != broker_id:
        return Verdict.WAIT, None
    if state.partition_epoch > wanted.partition_epoch:
        return Verdict.KNOWN, state
    if state.partition_epoch < wanted.partition_epoch or not set(wanted.isr) <= set(state.isr):
        return Verdict.WAIT, None
    written = dataclasses.replace(state, isr=wanted.isr, partition_epoch=state.partition_epoch + 1)
    return Verdict.WRITE, written


def _id(topic: TopicFound) -> uuid.UUID:
    return topic.node.topic_id or ZERO_UUID  # a topic that a tool has made may lack one


def multis(
    writes: Mapping[TopicPartition, PartitionState], topics: Mapping[str, TopicFound]
) -> Iterator[tuple[Sequence[TopicPartition], list[Op]]]:
    """States as `judge` gives them, in bounded multis with the partitions that each is about."""
    partitions = sorted(writes)
    for start in range(0, len(partitions), PARTITIONS_PER_MULTI):
        part = partitions[start : start + PARTITIONS_PER_MULTI]
        yield (
            part,
            [
                *_still_these({partition.topic for partition in part}, topics),
                *(_replacement(partition, writes[partition]) for partition in part),
                Create(
                    znodes.ISR_CHANGE_PREFIX,
                    znodes.encode_isr_changes((p.topic, p.partition) for p in part),
                    sequential=True,
                ),
            ],
        )


def _still_these(names: Iterable[str], topics: Mapping[str, TopicFound]) -> Iterator[Op]:
    """Not deleted meanwhile, and not made again."""
    for name in sorted(names):
        yield Check(znodes.topic_path(name), topics[name].version)


def _replacement(partition: TopicPartition, written: PartitionState) -> Op:
    path = znodes.state_path(partition.topic, partition.partition)
    return SetData(path, znodes.encode_state(written), written.partition_epoch - 1)
