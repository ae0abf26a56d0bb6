"""The controller's writes to ZooKeeper: operations per change, packed into bounded multis.

Every multi begins with a check on `/controller_epoch`, so a deposed controller writes nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from dataplane.cluster import znodes
from dataplane.cluster.context import NEVER_LED, ControlledTopic, ControllerContext
from dataplane.cluster.failover import Changes
from dataplane.cluster.topic_plans import NewTopic
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from dataplane.ports.coordinator import Check, Create, Op, SetData

OPS_PER_MULTI = 400
BYTES_PER_MULTI = 400_000
"""ZooKeeper refuses requests above jute.maxbuffer, 1 MiB unless configured otherwise."""


def with_epoch(state: PartitionState, controller_epoch: int) -> PartitionState:
    """The state as this controller writes it: its epoch, and the version the node will have."""
    return dataclasses.replace(
        state,
        controller_epoch=controller_epoch,
        partition_epoch=state.partition_epoch + 1,
    )


def created_with_epoch(state: PartitionState, controller_epoch: int) -> PartitionState:
    """Likewise for a state node that does not exist yet."""
    return dataclasses.replace(state, controller_epoch=controller_epoch, partition_epoch=0)


def stamped(context: ControllerContext, changes: Changes) -> Changes:
    """Likewise for states that the context holds or not, of partitions that were led or not."""
    return {
        partition: (created_with_epoch if _never_led(context, partition) else with_epoch)(
            state, context.epoch
        )
        for partition, state in changes.items()
    }


def _never_led(context: ControllerContext, partition: TopicPartition) -> bool:
    before = context.state(partition)
    return before is None or before.leader_epoch == NEVER_LED


def state_groups(
    context: ControllerContext, written: Changes, *, assignments: bool
) -> list[list[Op]]:
    """Groups that replace the context's states by these.

    With `assignments` the replica sets changed too: a topic's node is written in the same multi as
    its partitions' states.
    """
    groups: list[list[Op]] = []
    for name, states in by_topic(written.items()).items():
        topic = context.topics[name]
        ops = [state_op(name, topic.partitions[i], after) for i, after in states.items()]
        if assignments:
            groups.append([*ops, topic_op(topic, states)])
        else:
            groups.extend([op] for op in ops)
    return groups


def state_op(topic: str, before: PartitionState, after: PartitionState) -> Op:
    """Replace a partition's state if it is still `before`, or make its first."""
    path = znodes.state_path(topic, after.index)
    if before.leader_epoch == NEVER_LED:
        return Create(path, znodes.encode_state(after))
    return SetData(path, znodes.encode_state(after), before.partition_epoch)


def topic_op(topic: ControlledTopic, changed: dict[int, PartitionState]) -> Op:
    """The topic's node with the changed partitions' assignments."""
    merged = ControlledTopic(topic.name, topic.topic_id, {**topic.partitions, **changed})
    return SetData(znodes.topic_path(topic.name), znodes.encode_topic(merged.node()))


def new_topic_ops(
    topic: NewTopic, config_exists: bool, states: dict[int, PartitionState]
) -> list[list[Op]]:
    """Groups that make a topic; a group stays within one multi.

    The first makes the topic known; if we die after it, the next controller makes the rest.
    """
    name = topic.name
    node = znodes.TopicNode(topic.topic_id, topic.replicas)
    config = znodes.encode_config(topic.configs)
    config_path = znodes.config_path("topics", name)
    head: list[Op] = [
        SetData(config_path, config) if config_exists else Create(config_path, config),
        Create(znodes.topic_path(name), znodes.encode_topic(node)),
        Create(znodes.partitions_path(name)),
    ]
    if topic.configs:
        change = znodes.encode_config_change(f"topics/{name}")
        head.append(Create(znodes.CONFIG_CHANGE_PREFIX, change, sequential=True))
    return [head, *partition_groups(name, topic.replicas, states)]


def partition_groups(
    topic: str, indexes: Iterable[int], states: dict[int, PartitionState]
) -> Iterator[list[Op]]:
    """Nodes of new partitions; one without a leader yet has no state node."""
    for index in indexes:
        group: list[Op] = [Create(znodes.partition_path(topic, index))]
        if index in states:
            group.append(
                Create(znodes.state_path(topic, index), znodes.encode_state(states[index]))
            )
        yield group


def topic_node_paths(topic: str, indexes: Iterable[int]) -> list[str]:
    """Every node that a topic may have, children before parents.

    The mark in /admin/delete_topics goes last, so that an interrupted removal is found again.
    """
    paths: list[str] = []
    for index in indexes:
        paths += [znodes.state_path(topic, index), znodes.partition_path(topic, index)]
    return [
        *paths,
        znodes.partitions_path(topic),
        znodes.topic_path(topic),
        znodes.config_path("topics", topic),
        znodes.delete_topic_path(topic),
    ]


def split(group: Sequence[Op]) -> Iterator[Sequence[Op]]:
    """A group too large for one multi in pieces, in order."""
    for start in range(0, len(group), OPS_PER_MULTI - 1):
        yield group[start : start + OPS_PER_MULTI - 1]


def packed(epoch_version: int, groups: Iterable[Sequence[Op]]) -> Iterator[list[Op]]:
    """Multis of whole groups, each with the epoch check in front."""
    check = Check(znodes.CONTROLLER_EPOCH, epoch_version)
    multi: list[Op] = [check]
    size_bytes = 0
    for group in groups:
        group_bytes = sum(len(op.path) + len(getattr(op, "data", b"")) + 40 for op in group)
        full = len(multi) + len(group) > OPS_PER_MULTI or (
            size_bytes + group_bytes > BYTES_PER_MULTI
        )
        if full and len(multi) > 1:
            yield multi
            multi, size_bytes = [check], 0
        multi.extend(group)
        size_bytes += group_bytes
    if len(multi) > 1:
        yield multi


def by_topic(
    changes: Iterable[tuple[TopicPartition, PartitionState]],
) -> dict[str, dict[int, PartitionState]]:
    topics: dict[str, dict[int, PartitionState]] = {}
    for partition, state in changes:
        topics.setdefault(partition.topic, {})[partition.partition] = state
    return topics
