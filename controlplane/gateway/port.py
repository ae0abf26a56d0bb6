"""`ClusterGateway`: what the control plane may ask of a cluster. Synchronous; every call is
bounded by a deadline and ends in a value or a GatewayError.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from controlplane.gateway.record_port import Isolation
from controlplane.gateway.types import (
    TP,
    AclBinding,
    ClientQuota,
    ClusterDescription,
    CommittedOffset,
    ConfigEntry,
    GroupDescription,
    GroupListing,
    LogDirectory,
    LogDirSpace,
    NewTopic,
    OffsetAt,
    OngoingReassignment,
    PartitionProducers,
    ProbeResult,
    QuotaEntity,
    ReplicaSize,
    ScramCredential,
    TopicDescription,
    TransactionDescription,
)

BROKER_ANSWER_S = 3.0
"""How long one broker that was named is waited for."""


class BrokerView(Protocol):
    """What one broker says, from its own memory."""

    def describe_topics(self, names: Collection[str]) -> dict[str, TopicDescription]: ...
    def topic_configs(
        self, names: Collection[str], keys: Collection[str] | None = None
    ) -> dict[str, list[ConfigEntry]]: ...
    def broker_configs(
        self, broker_ids: Collection[int], keys: Collection[str] | None = None
    ) -> dict[int, list[ConfigEntry]]: ...
    def alter_broker_configs(self, broker_id: int, changes: Mapping[str, str | None]) -> None: ...
    def list_users(self) -> list[ScramCredential]: ...
    def list_acls(self) -> list[AclBinding]: ...
    def list_quotas(self) -> list[ClientQuota]: ...


class ClusterGateway(Protocol):
    def probe(self, addresses: Sequence[str], *, timeout_s: float) -> list[ProbeResult]:
        """How far each of at most 8 addresses lets us in, by this gateway's own way in."""
        ...

    def at(self, broker: int) -> BrokerView:
        """The same questions to one live broker, which otherwise go to any. Silence is known
        within BROKER_ANSWER_S.
        """
        ...

    # -- cluster and topics
    def describe_cluster(self) -> ClusterDescription: ...
    def list_topics(self) -> list[TopicDescription]: ...
    def describe_topics(self, names: Collection[str]) -> dict[str, TopicDescription]:
        """Those of `names` that exist."""
        ...

    def topic_configs(
        self, names: Collection[str], keys: Collection[str] | None = None
    ) -> dict[str, list[ConfigEntry]]:
        """Of those of `names` for which the brokers answered; of these keys only, if named."""
        ...

    def create_topic(self, topic: NewTopic, *, validate_only: bool = False) -> None: ...
    def delete_topic(self, name: str) -> None: ...
    def create_partitions(self, name: str, total: int, *, validate_only: bool = False) -> None: ...
    def delete_records(self, until: Mapping[TP, int]) -> None:
        """Delete the records of each partition before this offset, on every replica.

        Refusals: POLICY_VIOLATION of a compacted topic, OFFSET_OUT_OF_RANGE beyond what is
        committed.
        """
        ...

    def alter_topic_configs(
        self, name: str, changes: Mapping[str, str | None], *, validate_only: bool = False
    ) -> None:
        """Set each key; None puts it back to its default. Incremental: other keys stay."""
        ...

    def broker_configs(
        self, broker_ids: Collection[int], keys: Collection[str] | None = None
    ) -> dict[int, list[ConfigEntry]]: ...
    def alter_broker_configs(self, broker_id: int, changes: Mapping[str, str | None]) -> None: ...
    def alter_default_broker_configs(self, changes: Mapping[str, str | None]) -> None:
        """The dynamic default of all brokers; None removes it. Incremental: other keys stay."""
        ...

    # -- users and ACLs
    def list_users(self) -> list[ScramCredential]: ...
    def upsert_user(self, username: str, mechanism: str, password: str) -> None: ...
    def delete_user(self, username: str, mechanism: str) -> None: ...
    def list_acls(self) -> list[AclBinding]: ...
    def create_acls(self, bindings: Sequence[AclBinding]) -> None: ...
    def delete_acls(self, bindings: Sequence[AclBinding]) -> None: ...
    def list_quotas(self) -> list[ClientQuota]:
        """Every entity that has a quota, addresses too."""
        ...

    def alter_quotas(self, entity: QuotaEntity, changes: Mapping[str, float | None]) -> None:
        """Set each key of one entity; None removes it. All of it happens, or nothing."""
        ...

    # -- groups and offsets
    def list_groups(self, brokers: Collection[int] | None = None) -> list[GroupListing]:
        """The groups that `brokers` coordinate, or all live brokers; one that fails fails all."""
        ...

    def describe_groups(self, groups: Collection[str]) -> dict[str, GroupDescription]: ...
    def group_offsets(self, groups: Collection[str]) -> dict[str, dict[TP, CommittedOffset]]: ...
    def commit_group_offsets(self, group: str, offsets: Mapping[TP, CommittedOffset]) -> None: ...
    def delete_group_offsets(self, group: str, partitions: Collection[TP]) -> None: ...
    def delete_group(self, group: str) -> None:
        """The group and its offsets. Refusals: NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND."""
        ...

    def offsets(
        self, specs: Mapping[TP, int], isolation: Isolation = Isolation.READ_UNCOMMITTED
    ) -> dict[TP, OffsetAt]:
        """By EARLIEST, LATEST or a timestamp in ms; partitions without a leader are left out.

        For `READ_COMMITTED` the last stable offset is the latest.
        """
        ...

    # -- producers and transactions
    def describe_producers(
        self, partitions: Collection[TP], *, broker: int
    ) -> list[PartitionProducers]:
        """Who has written to each of these partitions of late, as this replica of them knows.

        Producers without idempotence leave no trace. Silence is known within BROKER_ANSWER_S.
        """
        ...

    def transactions(
        self, producer_ids: Collection[int], *, broker: int
    ) -> list[TransactionDescription]:
        """The transactional ids of these producers that this broker coordinates.

        Silence is known within twice BROKER_ANSWER_S.
        """
        ...

    # -- replicas
    def log_dirs(
        self, topics: Collection[str] | None = None, *, brokers: Collection[int] | None = None
    ) -> list[ReplicaSize]:
        """Every replica (of `topics`) on `brokers`, or all live ones; one that fails fails all."""
        ...

    def log_dir_space(self, brokers: Collection[int]) -> list[LogDirSpace]:
        """Every log directory of these brokers that works, with the room on its volume."""
        ...

    def log_directories(self, brokers: Collection[int]) -> list[LogDirectory]:
        """Every log directory of these brokers, those that have failed too."""
        ...

    def alter_replica_log_dirs(self, broker: int, wanted: Mapping[TP, str]) -> dict[TP, str]:
        """Begin to move replicas of this broker to other log directories of it, by path; naming
        where one lies ends its move. Kafka's code by partition, of those refused.
        """
        ...

    def reassign(self, moves: Mapping[TP, Sequence[int] | None]) -> None:
        """New replica lists; None cancels a reassignment that is under way."""
        ...

    def list_reassignments(
        self, partitions: Collection[TP] | None = None
    ) -> list[OngoingReassignment]:
        """Those under way, of these partitions when given."""
        ...

    def elect_preferred_leaders(self, partitions: Collection[TP]) -> dict[TP, str]:
        """Let the first replica of each lead again. Kafka's code by partition, of those refused;
        one that leads already is no refusal.
        """
        ...

    def close(self) -> None: ...


READS = frozenset(
    {
        "broker_configs",
        "describe_cluster",
        "describe_groups",
        "describe_producers",
        "describe_topics",
        "group_offsets",
        "list_acls",
        "list_groups",
        "list_quotas",
        "list_reassignments",
        "list_topics",
        "list_users",
        "log_dir_space",
        "log_directories",
        "log_dirs",
        "offsets",
        "probe",
        "topic_configs",
        "transactions",
        "close",
    }
)
VIEWS = frozenset({"at"})
"""READS change nothing on the cluster; VIEWS answer with a part of it, of which the same holds.
Every other method is a write (`common.fence`).
"""
