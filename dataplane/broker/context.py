"""What every handler is given: what it may reach; who asks, over which connection, how."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

from dataplane.wire.apis import API_TABLE, ApiKey

if TYPE_CHECKING:
    from dataplane.broker.controller.kafka_controller import KafkaController
    from dataplane.broker.groups.group_coordinator import GroupCoordinator
    from dataplane.broker.metadata.config_admin import ConfigAdmin
    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.metadata.internal_topics import InternalTopics
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.metrics import Metrics
    from dataplane.broker.networking.controller_client import ControllerClient
    from dataplane.broker.producer_ids import ProducerIdManager
    from dataplane.broker.quotas.client_quotas import ClientQuotas
    from dataplane.broker.quotas.metering import Metering
    from dataplane.broker.quotas.quota_manager import QuotaManager
    from dataplane.broker.replicas.replica_manager import ReplicaManager
    from dataplane.broker.security.audit_log import AuditLog
    from dataplane.broker.security.authorizer import Authorizer
    from dataplane.broker.security.sasl_mechanisms import SaslMechanisms
    from dataplane.broker.transactions.transaction_coordinator import TransactionCoordinator
    from dataplane.broker.transactions.verifier import TransactionVerifier
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.clock import Clock
    from dataplane.ports.entropy import Entropy
    from dataplane.security.acl import AclOperation, ResourceType
    from dataplane.security.principal import Principal
    from dataplane.wire.headers import RequestHeader


class CloseConnection(Exception):  # noqa: N818 - an instruction, not an error
    """Raised by a handler whose only possible answer is to close the connection."""


@dataclasses.dataclass(slots=True)
class ConnectionInfo:
    """One client connection. `principal` changes once, when SASL authentication succeeds.

    `sasl` is the state of the SASL exchange, owned by the SASL handlers; None when the listener
    asks for none. `authenticated` is True from the start on such a listener. `sasl_mechanism` is
    that of the login; `session_lifetime_ms` how long it lasts, None for ever (KIP-368).
    """

    listener_name: str
    security_protocol: str
    client_host: str
    principal: Principal
    authenticated: bool = True
    sasl: Any = None
    sasl_mechanism: str | None = None
    is_token_login: bool = False  # by a delegation token, which may not make another
    session_lifetime_ms: int | None = None
    authenticated_again_at_ms: int | None = None  # monotonic; when that last began
    bare_sasl_tokens: bool = False  # after SaslHandshake v0, until the exchange is over
    produce_route: Any = None  # of Produces like the last one, owned by their handler
    last_produced: TopicPartition | None = None  # if the last Produce was for it alone
    fetch_route: Any = None  # of Fetches like the last one, owned by their handler
    last_fetched: TopicPartition | None = None  # if the last Fetch was for it alone
    commit_route: Any = None  # of OffsetCommits like the last one, owned by their handler
    last_commit_size: int = 0  # in bytes, of an OffsetCommit that was read without a route
    close_after_answer: bool = False  # set by a SASL handler whose answer is a refusal
    client_software_name: str = "unknown"
    client_software_version: str = "unknown"

    @property
    def needs_sasl(self) -> bool:
        return self.security_protocol.startswith("SASL")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HandlerContext:
    """What a handler may reach of its broker. Made once, when the broker is put together."""

    cluster_id: str
    clock: Clock
    entropy: Entropy
    metadata_cache: MetadataCache
    metrics: Metrics
    configs: ConfigStore
    config_admin: ConfigAdmin
    client_quotas: ClientQuotas
    quotas: QuotaManager
    internal_topics: InternalTopics
    replica_manager: ReplicaManager
    group_coordinator: GroupCoordinator
    transaction_coordinator: TransactionCoordinator
    transaction_verifier: TransactionVerifier
    producer_ids: ProducerIdManager
    authorizer: Authorizer
    audit: AuditLog
    sasl: SaslMechanisms
    controller: KafkaController
    controller_client: ControllerClient


@dataclasses.dataclass(slots=True)
class RequestContext:
    """One request in work. `metering` is None where no quota bounds its client."""

    metering: ClassVar[Metering | None] = None
    throttle_time_ms: ClassVar[int] = 0
    broker: HandlerContext
    connection: ConnectionInfo
    header: RequestHeader

    @property
    def principal(self) -> Principal:
        return self.connection.principal

    @property
    def is_super_user(self) -> bool:
        """Whether this connection's principal may do everything."""
        return self.broker.authorizer.is_super_user(self.connection.principal)

    def authorize(
        self, operation: AclOperation, resource_type: ResourceType, resource_name: str
    ) -> bool:
        """Whether this connection's principal may do `operation` on the named resource.

        A no is written into the audit log.
        """
        connection = self.connection
        if self.broker.authorizer.authorize(
            connection.principal, connection.client_host, operation, resource_type, resource_name
        ):
            return True
        self.broker.audit.denied(
            connection,
            api=API_TABLE[ApiKey(self.header.api_key)].name,
            operation=operation.name,
            resource=f"{resource_type.name}:LITERAL:{resource_name}",
        )
        return False

    def sees(
        self, operation: AclOperation, resource_type: ResourceType, resource_name: str
    ) -> bool:
        """As `authorize`, where a no denies nothing that was asked for: it only leaves out."""
        connection = self.connection
        return self.broker.authorizer.authorize(
            connection.principal, connection.client_host, operation, resource_type, resource_name
        )


class MeteredContext(RequestContext):
    """One request of a client that has a quota."""

    __slots__ = ("metering",)

    metering: Metering  # type: ignore[misc]  # of each: those without a quota have no place for it

    def __init__(
        self,
        broker: HandlerContext,
        connection: ConnectionInfo,
        header: RequestHeader,
        metering: Metering,
    ) -> None:
        super().__init__(broker, connection, header)
        self.metering = metering

    @property
    def throttle_time_ms(self) -> int:  # type: ignore[override]  # as above
        """What the answer says of the wait behind it."""
        return self.metering.throttle_ms
