"""What tools and other brokers leave in ZooKeeper for the controller, as Kafka's own tools do.

Topics created there, partitions added to them, topics marked for deletion, reassignments and
preferred elections asked for, in-sync sets that a leader wrote by itself. Each is read when its
node changes and when a controller takes over; what cannot be understood is logged, and removed if
it is a request.
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from dataplane.broker.controller import elections as controller_elections
from dataplane.broker.controller import reassignments as controller_reassign
from dataplane.broker.controller import repair as controller_repair
from dataplane.broker.controller import topics as controller_topics
from dataplane.broker.controller.load import load_states, load_topics
from dataplane.broker.metadata.znode_reads import read_all
from dataplane.cluster import znodes
from dataplane.cluster.context import NEVER_LED
from dataplane.cluster.election import ElectionType
from dataplane.cluster.image import ZERO_UUID
from dataplane.cluster.writes import split, topic_op
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from dataplane.ports.coordinator import Delete, NoNodeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from dataplane.broker.controller.controller import Controller

    T = TypeVar("T")

log = logging.getLogger(__name__)


# -- topics ---------------------------------------------------------------------------------------


async def give_topics_ids(controller: Controller) -> None:
    """Topics of tools that know of no topic ids get theirs, as in Kafka."""
    context = controller.context
    nameless = [t for t in context.topics.values() if t.topic_id == ZERO_UUID and t.partitions]
    for topic in nameless:
        topic.topic_id = controller.services.entropy.uuid4()
        context.names_by_id[topic.topic_id] = topic.name
    await controller.write([[topic_op(topic, {})] for topic in nameless])


async def topics_appeared(controller: Controller) -> None:
    """Topics that somebody else has written: their partitions get leaders."""
    context = controller.context
    found = await controller.coordinator.children(znodes.TOPICS)
    names = [name for name in sorted(found) if name not in context.topics]
    if not names:
        return
    log.info("topics made by somebody else: %s", names)
    await load_topics(controller.coordinator, context, names)
    await give_topics_ids(controller)
    added = [
        TopicPartition(name, index)
        for name in names
        if name in context.topics
        for index in context.topics[name].partitions
    ]
    await _take_up(controller, added)
    await deletions_marked(controller)


async def partitions_appeared(controller: Controller, name: str) -> None:
    """Partitions that somebody else has written into a topic's node get leaders.

    As in Kafka nothing else that may have changed there is looked at, and a topic that is to be
    deleted does not grow any more.
    """
    context = controller.context
    topic = context.topics.get(name)
    if topic is None or context.is_queued_for_deletion(name):
        return
    try:
        data, _ = await controller.coordinator.get(znodes.topic_path(name))
        node = znodes.decode_topic(data)
    except NoNodeError:
        return
    except (ValueError, KeyError, TypeError) as error:
        log.warning("the node of topic %s cannot be understood: %s", name, error)
        return
    assigned = {
        TopicPartition(name, index): PartitionState(
            index=index, replicas=replicas, leader_epoch=NEVER_LED
        )
        for index, replicas in node.replicas.items()
        if index not in topic.partitions
    }
    if not assigned:
        return
    log.info("partitions made by somebody else: %s", [str(each) for each in assigned])
    for partition, state in (await load_states(controller.coordinator, assigned)).items():
        context.put(partition, state)
    await _take_up(controller, list(assigned))


async def _take_up(controller: Controller, added: list[TopicPartition]) -> None:
    """Give partitions that are in the context by now leaders, and tell everybody."""
    context = controller.context
    new_on = {
        (partition, replica)
        for partition in added
        if (state := context.state(partition)) is not None and state.leader_epoch == NEVER_LED
        for replica in state.replicas
    }
    await controller_repair.repair_partitions(controller, added)
    controller.enqueue(added, new_on=new_on)
    controller.wake()


async def deletions_marked(controller: Controller) -> None:
    """Topics marked for deletion; the mark of one that does not exist is removed."""
    context = controller.context
    names = await controller.coordinator.children(znodes.DELETE_TOPICS)
    unmarked = [name for name in sorted(names) if not context.is_queued_for_deletion(name)]
    known = [name for name in unmarked if name in context.topics]
    allowed = controller.services.config.get_bool("delete.topic.enable")
    if known and not allowed:
        log.warning("topics are not deleted, delete.topic.enable is false: %s", known)
        known = []
    refused = [Delete(znodes.delete_topic_path(name)) for name in unmarked if name not in known]
    await controller.write(split(refused))
    context.topics_to_be_deleted.update(known)
    if known:
        log.info("topics marked for deletion: %s", known)
        await controller_topics.start_deletions(controller, known)


# -- requests -------------------------------------------------------------------------------------


async def reassignments_asked(controller: Controller) -> None:
    asked = await _taken(controller, znodes.REASSIGN_PARTITIONS, znodes.decode_reassignments)
    targets = {TopicPartition(*key): replicas for key, replicas in (asked or {}).items()}
    for partition, refusal in (await controller_reassign.reassign(controller, targets)).items():
        if refusal is not None:
            log.warning("requested reassignment of %s refused: %s", partition, refusal)


async def elections_asked(controller: Controller) -> None:
    asked = await _taken(controller, znodes.PREFERRED_ELECTION, znodes.decode_preferred_election)
    partitions = [TopicPartition(*key) for key in asked or []]
    results = await controller_elections.elect_leaders(
        controller, ElectionType.PREFERRED, partitions
    )
    for partition, refusal in results.items():
        if refusal is not None:
            log.info("requested election of %s: %s", partition, refusal)


async def _taken(controller: Controller, path: str, decode: Callable[[bytes], T]) -> T | None:
    """What stands in a request's node, which is removed; None for nothing."""
    with contextlib.suppress(NoNodeError):
        data, stat = await controller.coordinator.get(path)
        await controller.write([[Delete(path, stat.version)]])
        try:
            return decode(data)
        except (ValueError, KeyError, TypeError) as error:
            log.warning("%s cannot be understood: %s", path, error)
    return None


# -- in-sync sets ---------------------------------------------------------------------------------


async def isr_changes_noted(controller: Controller) -> None:
    """Leaders that write their in-sync sets themselves name the partitions; the truth is read."""
    context = controller.context
    names = await controller.coordinator.children(znodes.ISR_CHANGES)
    paths = [f"{znodes.ISR_CHANGES}/{name}" for name in sorted(names)]
    found = await read_all(controller.coordinator, [(path, path) for path in paths])
    partitions: set[TopicPartition] = set()
    for path, (data, _) in found.items():
        try:
            partitions.update(TopicPartition(*key) for key in znodes.decode_isr_changes(data))
        except (ValueError, KeyError, TypeError) as error:
            log.warning("%s cannot be understood: %s", path, error)
    known = {p: state for p in sorted(partitions) if (state := context.state(p)) is not None}
    for partition, state in (await load_states(controller.coordinator, known)).items():
        context.put(partition, state)
    controller.enqueue_metadata_update(known)
    controller.wake()
    await controller.write(split([Delete(path) for path in found]))
    await controller_reassign.complete_ready(controller, known)
