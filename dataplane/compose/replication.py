"""Builds the ReplicaManager from its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.broker.replicas.alter_log_dirs import ReplicaAlterLogDirsManager
from dataplane.broker.replicas.alter_partition_manager import AlterPartitionManager
from dataplane.broker.replicas.fetcher_context import FetcherContext
from dataplane.broker.replicas.own_isr_writes import OwnIsrWrites
from dataplane.broker.replicas.past_controller import PastController
from dataplane.broker.replicas.read_replicas import ReadReplicas
from dataplane.broker.replicas.replica_fetchers import ReplicaFetchers
from dataplane.broker.replicas.replica_manager import ReplicaManager
from dataplane.broker.replicas.replication_quotas import ReplicationQuotas
from dataplane.config.inter_broker import PROTOCOL_KEY, sends_at
from dataplane.replication.fetch_sessions import FetchManager

if TYPE_CHECKING:
    from dataplane.broker.broker_lifecycle import BrokerLifecycle
    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.metrics import Metrics
    from dataplane.broker.networking.controller_client import ControllerClient
    from dataplane.broker.networking.peer_client import PeerPool
    from dataplane.log.manager.log_manager import LogManager
    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator
    from dataplane.ports.entropy import Entropy


def build_replica_manager(
    logs: LogManager,
    *,
    coordinator: Coordinator,
    lifecycle: BrokerLifecycle,
    clock: Clock,
    entropy: Entropy,
    configs: ConfigStore,
    metadata_cache: MetadataCache,
    metrics: Metrics,
    peers: PeerPool,
    controller_client: ControllerClient,
) -> ReplicaManager:
    """A ReplicaManager over `logs`; it fetches nothing before the controller gives it roles."""
    config = configs.broker_config
    quotas = ReplicationQuotas(configs, clock, metrics, broker_id=lifecycle.broker_id)
    fetchers = ReplicaFetchers(
        FetcherContext(
            lifecycle=lifecycle,
            configs=configs,
            peers=peers,
            metrics=metrics,
            quota=quotas.follower,
        ),
        metadata_cache,
    )
    quotas.on_change(fetchers.wake)
    past_controller = PastController(
        OwnIsrWrites(coordinator, broker_id=lifecycle.broker_id),
        metadata_cache,
        metrics,
        lifecycle,
        clock,
    )
    return ReplicaManager(
        logs,
        lifecycle=lifecycle,
        clock=clock,
        configs=configs,
        metadata_cache=metadata_cache,
        alter_partition_manager=AlterPartitionManager(
            controller_client,
            metadata_cache,
            metrics,
            lifecycle,
            past_controller,
            version=sends_at(config.get_str(PROTOCOL_KEY)).alter_partition,
        ),
        fetchers=fetchers,
        quotas=quotas,
        fetch_sessions=FetchManager(
            slots=config.get_int("max.incremental.fetch.session.cache.slots"),
            clock=clock,
            entropy=entropy,
        ),
        read_replicas=ReadReplicas(metadata_cache, config, broker_id=lifecycle.broker_id),
        alter_log_dirs=ReplicaAlterLogDirsManager(logs, configs),
    )
