"""What a controller works with, apart from what it knows of the cluster."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.networking.peer_client import PeerPool
    from dataplane.config import BrokerConfig
    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator
    from dataplane.ports.entropy import Entropy


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ControllerEnvironment:
    """The same for every term of this broker as controller."""

    broker_id: int
    coordinator: Coordinator
    clock: Clock
    entropy: Entropy
    configs: ConfigStore
    peers: PeerPool

    @property
    def config(self) -> BrokerConfig:
        """This broker's settings, the dynamic ones as they are now."""
        return self.configs.broker_config
