"""Builds the rooms that take the services object, in the order in which they need each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.broker.controller.environment import ControllerEnvironment
from dataplane.broker.controller.host import ControllerHost
from dataplane.broker.groups.group_coordinator import GroupCoordinator
from dataplane.broker.networking.controller_client import ControllerClient
from dataplane.broker.producer_ids import ProducerIdManager
from dataplane.broker.security.authorizer import Authorizer

if TYPE_CHECKING:
    import contextlib

    from dataplane.broker.services import BrokerServices


def build_controller(services: BrokerServices) -> None:
    """This broker's part in the election, and its way to whoever is elected."""
    services.controller = ControllerHost(
        ControllerEnvironment(
            broker_id=services.broker_id,
            coordinator=services.coordinator,
            clock=services.clock,
            entropy=services.entropy,
            configs=services.configs,
            peers=services.peers,
        )
    )
    services.controller_client = ControllerClient(
        services.controller,
        services.peers,
        services.metadata,
        services.metrics,
        broker_id=services.broker_id,
    )


async def build_components(services: BrokerServices, undo: contextlib.AsyncExitStack) -> None:
    """Build and start them; each one that has been started is stopped by `undo`."""
    services.authorizer = Authorizer(
        services.coordinator, services.clock, services.entropy, services.config
    )
    await services.authorizer.start()
    undo.push_async_callback(services.authorizer.stop)
    services.producer_ids = ProducerIdManager(services.coordinator, services.broker_id)
    await services.producer_ids.start()
    undo.push_async_callback(services.producer_ids.stop)
    services.groups = GroupCoordinator(
        services.partitions, services.metadata, services.configs, services.clock, services.entropy
    )
    await services.groups.start()
    undo.push_async_callback(services.groups.stop)
