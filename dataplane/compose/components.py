"""Builds the rooms that take the services object, in the order in which they need each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.broker.controller.kafka_controller import KafkaController
from dataplane.broker.groups.group_coordinator import GroupCoordinator
from dataplane.broker.producer_ids import ProducerIdManager
from dataplane.broker.security.authorizer import Authorizer

if TYPE_CHECKING:
    import contextlib

    from dataplane.broker.services import BrokerServices


async def build_components(services: BrokerServices, undo: contextlib.AsyncExitStack) -> None:
    """Build and start them; each one that has been started is stopped by `undo`."""
    services.authorizer = Authorizer(services)
    await services.authorizer.start()
    undo.push_async_callback(services.authorizer.stop)
    services.producer_ids = ProducerIdManager(services)
    await services.producer_ids.start()
    undo.push_async_callback(services.producer_ids.stop)
    services.groups = GroupCoordinator(services)
    await services.groups.start()
    undo.push_async_callback(services.groups.stop)
    services.controller = KafkaController(services)
