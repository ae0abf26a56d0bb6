"""The rooms of one running broker, tied together once by `dataplane.compose`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.broker.broker_lifecycle import BrokerLifecycle
    from dataplane.broker.controller.host import ControllerHost
    from dataplane.broker.groups.group_coordinator import GroupCoordinator
    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.metrics import Metrics
    from dataplane.broker.networking.controller_client import ControllerClient
    from dataplane.broker.networking.peer_client import PeerPool
    from dataplane.broker.producer_ids import ProducerIdManager
    from dataplane.broker.replicas.replica_manager import ReplicaManager
    from dataplane.broker.security.authorizer import Authorizer
    from dataplane.config import BrokerConfig
    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator
    from dataplane.ports.entropy import Entropy


@dataclasses.dataclass(slots=True, kw_only=True)
class BrokerServices:
    """What a handler may reach. Complete before the first listener opens.

    The rooms below the first group are set one by one while the broker is put together, because
    most of them take this very object.
    """

    lifecycle: BrokerLifecycle
    configs: ConfigStore
    clock: Clock
    entropy: Entropy
    coordinator: Coordinator
    metadata: MetadataCache
    metrics: Metrics

    peers: PeerPool = dataclasses.field(init=False)
    partitions: ReplicaManager = dataclasses.field(init=False)
    controller: ControllerHost = dataclasses.field(init=False)
    controller_client: ControllerClient = dataclasses.field(init=False)
    groups: GroupCoordinator = dataclasses.field(init=False)
    authorizer: Authorizer = dataclasses.field(init=False)
    producer_ids: ProducerIdManager = dataclasses.field(init=False)

    @property
    def config(self) -> BrokerConfig:
        return self.configs.broker_config

    @property
    def broker_id(self) -> int:
        return self.lifecycle.broker_id

    @property
    def broker_epoch(self) -> int:
        return self.lifecycle.broker_epoch

    @property
    def cluster_id(self) -> str:
        return self.lifecycle.cluster_id

    @property
    def stopping(self) -> bool:
        return self.lifecycle.stopping
