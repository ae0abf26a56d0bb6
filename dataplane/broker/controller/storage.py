"""The controller learns which replicas cannot be served, because a log directory has failed.

A broker leaves a notification; it is asked about every replica that it has, by LeaderAndIsr, and
those whose directory has failed answer KAFKA_STORAGE_ERROR. They are offline from then on: they
lead nothing, leave the ISR and may not join it. A controller that takes over learns the same from
the answers to its first LeaderAndIsr.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.broker.controller import reassignments as controller_reassign
from dataplane.broker.controller import topics as controller_topics
from dataplane.broker.controller.topics import ASK_AGAIN_MS_MAX, ASK_AGAIN_MS_MIN
from dataplane.broker.metadata.log_dir_events import decode_event
from dataplane.broker.metadata.znode_reads import read_all
from dataplane.cluster import znodes
from dataplane.cluster.failover import repair
from dataplane.cluster.writes import split
from dataplane.ports.coordinator import Delete, NoNodeError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.broker.controller.channel import LeaderAndIsrResult
    from dataplane.broker.controller.controller import Controller

log = logging.getLogger(__name__)


async def _notifications(controller: Controller) -> list[str]:
    try:
        names = await controller.coordinator.children(znodes.LOG_DIR_EVENTS)
    except NoNodeError:
        return []
    return [f"{znodes.LOG_DIR_EVENTS}/{name}" for name in sorted(names)]


async def forget_notifications(controller: Controller) -> None:
    """At a take-over: everybody is asked about everything anyway."""
    await _remove(controller, await _notifications(controller))


async def _remove(controller: Controller, paths: Iterable[str]) -> None:
    await controller.write(split([Delete(path) for path in paths]))


async def directories_failed(controller: Controller) -> None:
    """Ask those who left a notification about all their replicas, and remove it."""
    paths = await _notifications(controller)
    found = await read_all(controller.coordinator, [(path, path) for path in paths])
    brokers: set[int] = set()
    for path, (data, _) in found.items():
        try:
            brokers.add(decode_event(data))
        except (ValueError, KeyError, TypeError) as error:
            log.warning("notification %s cannot be understood: %s", path, error)
    for broker in sorted(brokers):
        log.info("broker %d has lost a log directory", broker)
        for partition in controller.context.partitions_on([broker]):
            controller.enqueue_leader_and_isr(partition, broker)
    controller.wake()
    await _remove(controller, found)


async def roles_answered(controller: Controller, broker: int, answer: LeaderAndIsrResult) -> None:
    """Replicas of a broker went offline, or came back: elect, shrink, tell."""
    context = controller.context
    info = context.brokers.get(broker)
    if info is None or info.epoch != answer.broker_epoch:
        return  # said by an earlier life
    lost, back = context.replicas_answered(broker, answer.failed, answer.taken_up)
    if not lost and not back:
        return
    log.warning(
        "broker %d: %d replicas offline, their log directory failed; %d back",
        broker,
        *map(len, (lost, back)),
    )
    controller.ask_again_in_ms = ASK_AGAIN_MS_MIN
    controller.deletions.replicas_lost(broker, lost)
    affected = sorted(lost | back)
    changes = repair(context, affected, controller.unclean_allowed)
    await controller.apply(changes)
    controller.enqueue(changes)
    controller.enqueue_metadata_update(
        partition for partition in affected if partition not in changes
    )
    controller.wake()
    if back:
        await controller_reassign.complete_ready(controller)
        await controller_topics.resume_deletions(controller)


async def ask_again(controller: Controller) -> None:
    """Whether offline replicas can be served by now; who cannot, is asked less and less often."""
    context = controller.context
    if not context.brokers_with_offline:
        return
    now_ms = controller.services.clock.monotonic_ms()
    if now_ms < controller.ask_again_at_ms:
        return
    controller.ask_again_at_ms = now_ms + controller.ask_again_in_ms
    controller.ask_again_in_ms = min(controller.ask_again_in_ms * 2, ASK_AGAIN_MS_MAX)
    going = set()
    for broker in context.brokers_with_offline:
        for partition in sorted(context.offline_on(broker)):
            if context.is_deletion_started(partition.topic):  # takes no roles any more
                going.add(partition.topic)
            else:
                controller.enqueue_leader_and_isr(partition, broker)
    controller.wake()
    await controller_topics.start_deletions(controller, sorted(going), tries_offline=True)
