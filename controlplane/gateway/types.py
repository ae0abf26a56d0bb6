"""The values that cross the gateway: frozen, Kafka's spelling, offsets exclusive at the end."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from controlplane.gateway.errors import GatewayError


class TP(NamedTuple):
    """A topic partition."""

    topic: str
    partition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerNode:
    id: int
    host: str
    port: int
    rack: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDescription:
    """A cluster as it describes itself.

    Attributes:
        operations: what the asking user may do with the cluster itself, in Kafka's words; None
            where the cluster does not say.
    """

    cluster_id: str
    controller_id: int | None
    brokers: tuple[BrokerNode, ...]
    operations: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionDescription:
    partition: int
    leader: int | None
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDescription:
    name: str
    topic_id: str
    internal: bool
    partitions: tuple[PartitionDescription, ...]

    @property
    def replication_factor(self) -> int:
        return max((len(p.replicas) for p in self.partitions), default=0)


def partitions_by_tp(topics: Iterable[TopicDescription]) -> dict[TP, PartitionDescription]:
    return {TP(topic.name, part.partition): part for topic in topics for part in topic.partitions}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntry:
    """One key of a topic or a broker.

    Attributes:
        source: Kafka's word: TOPIC_CONFIG, DYNAMIC_BROKER_CONFIG, STATIC_…, DEFAULT_CONFIG.
        default: a topic's value once the topic itself sets nothing; None when it is not given.
    """

    name: str
    value: str | None
    source: str
    is_default: bool
    read_only: bool = False
    sensitive: bool = False
    doc: str = ""
    default: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopic:
    name: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramCredential:
    username: str
    mechanism: str
    iterations: int


EVERY_NAME = "*"
"""The name of a LITERAL rule about every resource of its type."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class AclBinding:
    """One rule in Kafka's words, upper case: `READ`, `ALLOW`, `TOPIC`, `PREFIXED`."""

    principal: str
    host: str
    operation: str
    permission: str
    resource_type: str
    resource_name: str
    pattern_type: str

    def covers(self, resource_type: str, name: str) -> bool:
        """Whether the rule is about this resource: by its name, by every name, or by a prefix."""
        if self.resource_type != resource_type:
            return False
        if self.pattern_type == "PREFIXED":
            return name.startswith(self.resource_name)
        return self.resource_name in {name, EVERY_NAME}

    def words(self) -> str:
        """`User:app ALLOW READ on TOPIC orders*`: a prefix ends in a star, a host is named last."""
        star = "*" if self.pattern_type == "PREFIXED" else ""
        host = "" if self.host == "*" else f" from {self.host}"
        return (
            f"{self.principal} {self.permission} {self.operation} on {self.resource_type}"
            f" {self.resource_name}{star}{host}"
        )


QUOTA_USER, QUOTA_CLIENT_ID, QUOTA_IP = "user", "client-id", "ip"
QuotaEntity = tuple[tuple[str, str | None], ...]
"""Types and names as the protocol spells them, `user` first; None: all without one of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientQuota:
    """The bounds of one entity, which each broker keeps by itself.

    Attributes:
        values: by Kafka's key: bytes a second, percent of a thread, changes a second.
    """

    entity: QuotaEntity
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupListing:
    group: str
    protocol_type: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMember:
    member_id: str
    client_id: str
    host: str
    partitions: tuple[TP, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDescription:
    """`state`: Empty, Stable, PreparingRebalance, CompletingRebalance, Dead."""

    group: str
    state: str
    protocol_type: str
    protocol: str
    coordinator: int | None
    members: tuple[GroupMember, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedOffset:
    offset: int
    metadata: str = ""
    leader_epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetAt:
    """An answer of ListOffsets; offset -1 means: no record at or after the timestamp."""

    offset: int
    timestamp_ms: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerState:
    """What a partition remembers of one producer with a producer id; None: there is none.

    Attributes:
        last_timestamp_ms: of its last batch, by the records' own timestamps.
        coordinator_epoch: of the coordinator that ended its last transaction here.
        transaction_start: the offset at which its open transaction begins.
    """

    producer_id: int
    epoch: int
    last_sequence: int | None = None
    last_timestamp_ms: int | None = None
    coordinator_epoch: int | None = None
    transaction_start: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionProducers:
    """The producers of one partition, or Kafka's code of why the broker did not say."""

    tp: TP
    producers: tuple[ProducerState, ...] = ()
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionDescription:
    """A transactional id as its coordinator has it.

    Attributes:
        state: in Kafka's words: Empty, Ongoing, PrepareCommit, CompleteCommit…
        started_at_ms: None while no transaction is open.
        partitions: those that the open transaction has written to, without those that have its
            marker already.
    """

    transactional_id: str
    state: str
    producer_id: int
    epoch: int
    timeout_ms: int
    started_at_ms: int | None
    partitions: frozenset[TP]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSize:
    broker: int
    log_dir: str
    tp: TP
    size_bytes: int
    offset_lag: int
    is_future: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LogDirSpace:
    """The volume that a log directory is on; None: the broker does not say (before Kafka 3.3).

    Attributes:
        error: Kafka's code; empty when it works. Of one that does not nothing else is known.
    """

    broker: int
    log_dir: str
    total_bytes: int | None = None
    usable_bytes: int | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogDirectory:
    """One log directory of a broker with what lies in it, also one that has failed.

    Attributes:
        error: Kafka's code; empty when it works. Of one that does not nothing else is known.
        total_bytes: of the volume; None: the broker does not say.
        replicas: those that lie there and those on their way there.
    """

    broker: int
    log_dir: str
    error: str = ""
    total_bytes: int | None = None
    usable_bytes: int | None = None
    replicas: tuple[ReplicaSize, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OngoingReassignment:
    tp: TP
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class ProbeStep(StrEnum):
    """What is looked at before an address counts as a way in, in this order."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    KAFKA = "kafka"
    LOGIN = "login"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """What came of one address.

    Attributes:
        step: the step that failed, or the last one there is.
        code: of the failure; empty when there was none.
        text: the failure in a sentence.
        retriable: it may pass by itself.
    """

    address: str
    step: ProbeStep
    code: str = ""
    text: str = ""
    retriable: bool = False

    @property
    def ok(self) -> bool:
        return not self.code

    def as_error(self) -> GatewayError:
        return GatewayError(self.code, f"{self.address}: {self.text}", retriable=self.retriable)


TRANSACTION_TOPIC = "__transaction_state"
INTERNAL_TOPICS = frozenset({"__consumer_offsets", TRANSACTION_TOPIC})
"""The topics that brokers keep for themselves and report as internal."""

SET_ON_TOPIC = frozenset({"DYNAMIC_TOPIC_CONFIG", "TOPIC_CONFIG"})
"""Sources of settings that a topic makes itself, in the words of two client versions."""

SET_ON_BROKER = frozenset({"DYNAMIC_BROKER_CONFIG"})
"""Sources of settings made on one broker while it runs."""

EARLIEST = -2
LATEST = -1
