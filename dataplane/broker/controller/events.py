"""A controller's start, and what it does when brokers come and go."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.broker.controller import nodes as controller_nodes
from dataplane.broker.controller import reassignments as controller_reassign
from dataplane.broker.controller import storage as controller_storage
from dataplane.broker.controller import topics as controller_topics
from dataplane.broker.controller.load import load_brokers, load_known_brokers, load_topics
from dataplane.broker.controller.repair import repair_partitions
from dataplane.cluster import znodes
from dataplane.cluster.context import NEVER_LED
from dataplane.ports.coordinator import Delete, SetData

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from dataplane.broker.controller.controller import Controller
    from dataplane.cluster.image import BrokerInfo
    from dataplane.ports.coordinator import Op

log = logging.getLogger(__name__)


async def take_over(controller: Controller) -> None:
    """Learn the truth, repair what does not fit the live brokers, tell everybody, resume.

    A broker whose present registration no controller has acted upon yet was away in between: it
    may have lost what was not on its disk, and must not go on leading in its old epoch. It is
    taken for gone first, and for arrived then.
    """
    context = controller.context
    await controller_storage.forget_notifications(controller)
    registered = await load_brokers(controller.coordinator)
    known = await load_known_brokers(controller.coordinator)
    stayed = {b: info for b, info in registered.items() if known.get(b) == info.epoch}
    context.set_brokers(stayed)
    await load_topics(controller.coordinator, context)
    await controller_nodes.give_topics_ids(controller)
    everything = [partition for partition, _ in context.partitions()]
    log.info(
        "controller epoch %d: %d brokers, %d of them new, %d topics, %d partitions, "
        "%d topics to delete",
        context.epoch,
        len(registered),
        len(registered) - len(stayed),
        len(context.topics),
        len(everything),
        len(context.topics_to_be_deleted),
    )
    await repair_partitions(controller, everything)
    if len(stayed) < len(registered):
        context.set_brokers(registered)
        await repair_partitions(controller, everything)
    await _note_known_brokers(controller, removing=await _former_node(controller))
    for broker in context.brokers.values():
        controller.open_channel(broker).queue.add_brokers(metadata_first=True, full=True)
    controller.enqueue(everything)
    await _resume(controller)


async def brokers_changed(controller: Controller) -> None:
    """Registrations came or went. A bounced broker is treated as gone, then as arrived."""
    before = controller.context.brokers
    now = await load_brokers(controller.coordinator)
    gone = {b for b, info in before.items() if b not in now or now[b].epoch != info.epoch}
    arrived = {b: info for b, info in now.items() if b not in before or b in gone}
    renewed = any(info != before[b] for b, info in now.items() if b not in arrived)
    if gone:
        await _brokers_gone(controller, gone)
    if arrived:
        await _brokers_arrived(controller, arrived)
    if gone or arrived:
        await _note_known_brokers(controller)
    if renewed:
        controller.context.set_brokers(now)
        for channel in controller.channels.values():
            channel.queue.add_brokers(metadata_first=True)
        controller.wake()


async def _brokers_gone(controller: Controller, gone: Collection[int]) -> None:
    context = controller.context
    for broker in gone:
        await controller.close_channel(broker)
    context.set_brokers({b: info for b, info in context.brokers.items() if b not in gone})
    controller.deletions.broker_gone(gone)
    affected = context.partitions_on(gone)
    changes = await repair_partitions(controller, affected)
    log.info("brokers gone: %s; %d partitions change", sorted(gone), len(changes))
    for channel in controller.channels.values():
        channel.queue.add_brokers()
    controller.enqueue(changes)
    controller.enqueue_metadata_update(
        partition for partition in affected if partition not in changes
    )
    controller.wake()


async def _brokers_arrived(controller: Controller, arrived: dict[int, BrokerInfo]) -> None:
    context = controller.context
    log.info("brokers arrived: %s", {broker: info.epoch for broker, info in arrived.items()})
    context.set_brokers({**context.brokers, **arrived})
    affected = context.partitions_on(arrived)
    never_led = {p for p, state in context.partitions() if state.leader_epoch == NEVER_LED}
    changes = await repair_partitions(controller, sorted({*affected, *never_led}))
    for broker_id, channel in controller.channels.items():
        if broker_id not in arrived:
            channel.queue.add_brokers(metadata_first=True)
    for info in arrived.values():
        queue = controller.open_channel(info).queue
        queue.add_brokers(metadata_first=True, full=True)
        for partition, _ in context.partitions():
            queue.add_update_metadata(partition, controller.metadata_update(partition))
    controller.enqueue(changes)
    rest = [partition for partition in affected if partition not in changes]
    for partition in rest:
        for broker in arrived:
            state = context.state(partition)
            if state is not None and broker in state.replicas:
                controller.enqueue_leader_and_isr(partition, broker)
    controller.enqueue_metadata_update(rest)
    await _resume(controller)


async def _note_known_brokers(controller: Controller, removing: Sequence[Op] = ()) -> None:
    """After the decisions have been written: a successor that finds less decides them again."""
    data = znodes.encode_known_brokers(controller.context.brokers)
    await controller.write([[SetData(znodes.KNOWN_BROKERS, data), *removing]])


async def _former_node(controller: Controller) -> list[Op]:
    """Removes what a controller of an earlier version has left, if it has."""
    if await controller.coordinator.exists(znodes.FORMER_KNOWN_BROKERS) is None:
        return []
    return [Delete(znodes.FORMER_KNOWN_BROKERS)]


async def _resume(controller: Controller) -> None:
    """What waited for a broker may go on. Only then everybody is told: see ControllerChannel."""
    await controller_topics.resume_deletions(controller)
    controller.wake()
    await controller_reassign.complete_ready(controller)
