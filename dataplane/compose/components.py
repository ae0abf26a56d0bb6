"""Builds what one broker is made of, in the order in which the parts need each other."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from dataplane.broker.context import HandlerContext
from dataplane.broker.controller.environment import ControllerEnvironment
from dataplane.broker.controller.kafka_controller import KafkaController
from dataplane.broker.coordinator_log.leadership_proof import LeadershipProof
from dataplane.broker.groups.group_coordinator import GroupCoordinator
from dataplane.broker.metadata.config_admin import ConfigAdmin
from dataplane.broker.metadata.internal_topics import InternalTopics
from dataplane.broker.networking.controller_client import ControllerClient
from dataplane.broker.producer_ids import ProducerIdManager
from dataplane.broker.quotas.client_quotas import ClientQuotas
from dataplane.broker.quotas.quota_manager import QuotaManager
from dataplane.broker.replicas.peer_leadership_check import PeerLeadershipCheck
from dataplane.broker.security.audit_log import AuditLog
from dataplane.broker.security.authorizer import Authorizer
from dataplane.broker.security.sasl_mechanisms import SaslMechanisms
from dataplane.broker.transactions.marker_sender import MarkerSender
from dataplane.broker.transactions.transaction_coordinator import TransactionCoordinator
from dataplane.broker.transactions.verifier import TransactionVerifier as Verifier
from dataplane.compose.replication import build_replica_manager

if TYPE_CHECKING:
    from dataplane.broker.broker_lifecycle import BrokerLifecycle
    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.metrics import Metrics
    from dataplane.broker.networking.peer_client import PeerPool
    from dataplane.broker.replicas.replica_manager import ReplicaManager
    from dataplane.compose.environment import Environment
    from dataplane.log.manager.log_manager import LogManager
    from dataplane.ports.coordinator import Coordinator


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """The parts of one broker, all there. Only `compose` and tests of a whole broker see it."""

    lifecycle: BrokerLifecycle
    coordinator: Coordinator
    configs: ConfigStore
    metadata_cache: MetadataCache
    logs: LogManager
    replica_manager: ReplicaManager
    controller: KafkaController
    controller_client: ControllerClient
    authorizer: Authorizer
    producer_ids: ProducerIdManager
    group_coordinator: GroupCoordinator
    peer_leadership_check: PeerLeadershipCheck
    handlers: HandlerContext


def build_components(
    environment: Environment,
    coordinator: Coordinator,
    *,
    lifecycle: BrokerLifecycle,
    configs: ConfigStore,
    metadata_cache: MetadataCache,
    metrics: Metrics,
    peers: PeerPool,
    logs: LogManager,
) -> Components:
    """Build them; nothing is started."""
    clock, entropy, broker_id = environment.clock, environment.entropy, lifecycle.broker_id
    controller = _build_controller(environment, coordinator, configs, peers, broker_id)
    client = ControllerClient(controller, peers, metadata_cache, metrics, broker_id=broker_id)
    replica_manager = build_replica_manager(
        logs,
        coordinator=coordinator,
        lifecycle=lifecycle,
        clock=clock,
        entropy=entropy,
        configs=configs,
        metadata_cache=metadata_cache,
        metrics=metrics,
        peers=peers,
        controller_client=client,
    )
    authorizer = Authorizer(coordinator, clock, entropy, configs.broker_config)
    producer_ids = ProducerIdManager(coordinator, broker_id)
    coordinates = (replica_manager, metadata_cache, configs, clock)
    group_coordinator = GroupCoordinator(*coordinates, entropy, proof=LeadershipProof(coordinator))
    sender = MarkerSender(peers, metadata_cache, metrics, clock)
    transactions = TransactionCoordinator(*coordinates, producer_ids=producer_ids, sender=sender)
    check = PeerLeadershipCheck(coordinator, peers, metadata_cache, replica_manager, lifecycle)
    return Components(
        lifecycle=lifecycle,
        coordinator=coordinator,
        configs=configs,
        metadata_cache=metadata_cache,
        logs=logs,
        replica_manager=replica_manager,
        controller=controller,
        controller_client=client,
        authorizer=authorizer,
        producer_ids=producer_ids,
        group_coordinator=group_coordinator,
        peer_leadership_check=check,
        handlers=HandlerContext(
            cluster_id=lifecycle.cluster_id,
            clock=clock,
            entropy=entropy,
            metadata_cache=metadata_cache,
            metrics=metrics,
            configs=configs,
            config_admin=ConfigAdmin(configs, metadata_cache, broker_id=broker_id),
            client_quotas=ClientQuotas(configs),
            quotas=QuotaManager(configs, clock, authorizer.is_platforms_own),
            internal_topics=InternalTopics(client, configs),
            replica_manager=replica_manager,
            group_coordinator=group_coordinator,
            transaction_coordinator=transactions,
            transaction_verifier=Verifier(replica_manager, peers, metadata_cache, configs),
            producer_ids=producer_ids,
            authorizer=authorizer,
            audit=AuditLog(clock, metrics),
            sasl=SaslMechanisms(configs, authorizer, clock, entropy, metrics),
            controller=controller,
            controller_client=client,
        ),
    )


def _build_controller(
    environment: Environment,
    coordinator: Coordinator,
    configs: ConfigStore,
    peers: PeerPool,
    broker_id: int,
) -> KafkaController:
    return KafkaController(
        ControllerEnvironment(
            broker_id=broker_id,
            coordinator=coordinator,
            clock=environment.clock,
            entropy=environment.entropy,
            configs=configs,
            peers=peers,
        )
    )
