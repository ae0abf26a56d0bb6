"""What a reader with grants over a part of a cluster sees of it: the rest is not there.

Whatever is made of these answers, lists and totals alike, is of the reader's part alone. Nothing
is written through it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from controlplane.common.problems import Forbidden
from controlplane.gateway.port import BrokerView, ClusterGateway
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

Sees = Callable[[str], bool]
"""Whether the reader sees what has this name."""


class _ReadOnly:
    """Every writing method of `ClusterGateway` as a refusal; operations have the whole gateway."""

    def create_topic(self, topic: NewTopic, *, validate_only: bool = False) -> None:
        del topic, validate_only
        raise _not_here()

    def delete_topic(self, name: str) -> None:
        raise _not_here(name)

    def delete_records(self, until: Mapping[TP, int]) -> None:
        del until
        raise _not_here()

    def create_partitions(self, name: str, total: int, *, validate_only: bool = False) -> None:
        del total, validate_only
        raise _not_here(name)

    def alter_topic_configs(
        self, name: str, changes: Mapping[str, str | None], *, validate_only: bool = False
    ) -> None:
        del changes, validate_only
        raise _not_here(name)

    def alter_broker_configs(self, broker_id: int, changes: Mapping[str, str | None]) -> None:
        del changes
        raise _not_here(str(broker_id))

    def alter_default_broker_configs(self, changes: Mapping[str, str | None]) -> None:
        del changes
        raise _not_here("brokers")

    def alter_replica_log_dirs(self, broker: int, wanted: Mapping[TP, str]) -> dict[TP, str]:
        del wanted
        raise _not_here(str(broker))

    def upsert_user(self, username: str, mechanism: str, password: str) -> None:
        del mechanism, password
        raise _not_here(username)

    def delete_user(self, username: str, mechanism: str) -> None:
        del mechanism
        raise _not_here(username)

    def create_acls(self, bindings: Sequence[AclBinding]) -> None:
        del bindings
        raise _not_here()

    def delete_acls(self, bindings: Sequence[AclBinding]) -> None:
        del bindings
        raise _not_here()

    def alter_quotas(self, entity: QuotaEntity, changes: Mapping[str, float | None]) -> None:
        del entity, changes
        raise _not_here()

    def commit_group_offsets(self, group: str, offsets: Mapping[TP, CommittedOffset]) -> None:
        del offsets
        raise _not_here(group)

    def delete_group_offsets(self, group: str, partitions: Collection[TP]) -> None:
        del partitions
        raise _not_here(group)

    def delete_group(self, group: str) -> None:
        raise _not_here(group)

    def reassign(self, moves: Mapping[TP, Sequence[int] | None]) -> None:
        del moves
        raise _not_here()

    def elect_preferred_leaders(self, partitions: Collection[TP]) -> dict[TP, str]:
        del partitions
        raise _not_here()

    def close(self) -> None:
        """The gateway behind it goes on."""


def _not_here(what: str = "this") -> Forbidden:
    return Forbidden(f"A reader's view of a cluster does not change {what}.")


@dataclass(frozen=True, slots=True)
class ScopedGateway(_ReadOnly):
    """`ClusterGateway` cut to the names that `topic` and `group` let through."""

    whole: ClusterGateway
    topic: Sees
    group: Sees

    def probe(self, addresses: Sequence[str], *, timeout_s: float) -> list[ProbeResult]:
        del addresses, timeout_s
        raise Forbidden("Addresses are probed with a role on the whole cluster.")

    def describe_cluster(self) -> ClusterDescription:
        return self.whole.describe_cluster()

    def list_topics(self) -> list[TopicDescription]:
        return [row for row in self.whole.list_topics() if self.topic(row.name)]

    def describe_topics(self, names: Collection[str]) -> dict[str, TopicDescription]:
        seen = self._topics(names)
        return self.whole.describe_topics(seen) if seen else {}

    def at(self, broker: int) -> BrokerView:
        raise Forbidden(f"Broker {broker} by itself is asked with a role on the whole cluster.")

    def topic_configs(
        self, names: Collection[str], keys: Collection[str] | None = None
    ) -> dict[str, list[ConfigEntry]]:
        seen = self._topics(names)
        return self.whole.topic_configs(seen, keys) if seen else {}

    def broker_configs(
        self, broker_ids: Collection[int], keys: Collection[str] | None = None
    ) -> dict[int, list[ConfigEntry]]:
        del broker_ids, keys
        raise Forbidden("The settings of brokers are seen with a role on the whole cluster.")

    def list_users(self) -> list[ScramCredential]:
        raise Forbidden("Users are seen with a role on the whole cluster.")

    def list_acls(self) -> list[AclBinding]:
        raise Forbidden("Access rules are seen with a role on the whole cluster.")

    def list_quotas(self) -> list[ClientQuota]:
        raise Forbidden("Quotas are seen with a role on the whole cluster.")

    def list_groups(self, brokers: Collection[int] | None = None) -> list[GroupListing]:
        return [row for row in self.whole.list_groups(brokers) if self.group(row.group)]

    def describe_groups(self, groups: Collection[str]) -> dict[str, GroupDescription]:
        seen = [name for name in groups if self.group(name)]
        found = self.whole.describe_groups(seen) if seen else {}
        return {name: self._described(row) for name, row in found.items()}

    def _described(self, row: GroupDescription) -> GroupDescription:
        members = tuple(
            replace(
                member, partitions=tuple(tp for tp in member.partitions if self.topic(tp.topic))
            )
            for member in row.members
        )
        return replace(row, members=members)

    def group_offsets(self, groups: Collection[str]) -> dict[str, dict[TP, CommittedOffset]]:
        seen = [name for name in groups if self.group(name)]
        found = self.whole.group_offsets(seen) if seen else {}
        return {
            name: {tp: offset for tp, offset in rows.items() if self.topic(tp.topic)}
            for name, rows in found.items()
        }

    def offsets(
        self, specs: Mapping[TP, int], isolation: Isolation = Isolation.READ_UNCOMMITTED
    ) -> dict[TP, OffsetAt]:
        seen = {tp: spec for tp, spec in specs.items() if self.topic(tp.topic)}
        return self.whole.offsets(seen, isolation) if seen else {}

    def describe_producers(
        self, partitions: Collection[TP], *, broker: int
    ) -> list[PartitionProducers]:
        seen = [tp for tp in partitions if self.topic(tp.topic)]
        return self.whole.describe_producers(seen, broker=broker) if seen else []

    def transactions(
        self, producer_ids: Collection[int], *, broker: int
    ) -> list[TransactionDescription]:
        del producer_ids, broker
        raise Forbidden("Transactions are seen with a role on the whole cluster.")

    def log_dirs(
        self, topics: Collection[str] | None = None, *, brokers: Collection[int] | None = None
    ) -> list[ReplicaSize]:
        rows = self.whole.log_dirs(topics, brokers=brokers)
        return [row for row in rows if self.topic(row.tp.topic)]

    def log_dir_space(self, brokers: Collection[int]) -> list[LogDirSpace]:
        del brokers
        raise Forbidden("The disks of brokers are seen with a role on the whole cluster.")

    def log_directories(self, brokers: Collection[int]) -> list[LogDirectory]:
        del brokers
        raise Forbidden("The disks of brokers are seen with a role on the whole cluster.")

    def list_reassignments(
        self, partitions: Collection[TP] | None = None
    ) -> list[OngoingReassignment]:
        rows = self.whole.list_reassignments(partitions)
        return [row for row in rows if self.topic(row.tp.topic)]

    def _topics(self, names: Collection[str]) -> list[str]:
        return [name for name in names if self.topic(name)]
