"""The rooms of one running broker, tied together once by `dataplane.compose`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.broker.controller.kafka_controller import KafkaController
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
    `broker_epoch` is the creation id (czxid) of this broker's registration node; it changes when
    an expired ZooKeeper session makes the broker register again. Before the first registration it
    is a number above every earlier one, so that commands for an earlier life are refused.
    """

    config: BrokerConfig
    clock: Clock
    entropy: Entropy
    coordinator: Coordinator
    metadata: MetadataCache
    metrics: Metrics
    broker_id: int

    configs: ConfigStore = dataclasses.field(init=False)
    peers: PeerPool = dataclasses.field(init=False)
    partitions: ReplicaManager = dataclasses.field(init=False)
    controller: KafkaController = dataclasses.field(init=False)
    controller_client: ControllerClient = dataclasses.field(init=False)
    groups: GroupCoordinator = dataclasses.field(init=False)
    authorizer: Authorizer = dataclasses.field(init=False)
    producer_ids: ProducerIdManager = dataclasses.field(init=False)

    broker_epoch: int = -1
    cluster_id: str = ""
    stopping: bool = False
