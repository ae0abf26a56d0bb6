"""FakeGateway: a whole small cluster in memory, stateful, with faults on request.

For tests of everything above the gateway. Reassignments take `polls_to_move` looks to finish,
so that progress, cancelling and crashes in the middle can be tested.
"""

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from controlplane.gateway.errors import GatewayError, unreachable
from controlplane.gateway.fake_access import FakeAccessMixin
from controlplane.gateway.fake_broker import FakeBroker
from controlplane.gateway.fake_log_dirs import FakeLogDirsMixin
from controlplane.gateway.fake_records import FakeRecordsMixin
from controlplane.gateway.fake_replicas import FakeReplicasMixin
from controlplane.gateway.fake_state import (
    DISK,
    TOPIC_DEFAULTS,
    FakePartition,
    FakeTopic,
    apply_changes,
    dead_group,
    is_int,
    offset_at,
)
from controlplane.gateway.fake_transactions import FakeTransactionsMixin
from controlplane.gateway.record_port import Isolation
from controlplane.gateway.types import (
    INTERNAL_TOPICS,
    TP,
    AclBinding,
    BrokerNode,
    ClusterDescription,
    CommittedOffset,
    ConfigEntry,
    GroupDescription,
    GroupListing,
    GroupMember,
    NewTopic,
    OffsetAt,
    PartitionDescription,
    ProbeResult,
    ProbeStep,
    QuotaEntity,
    TopicDescription,
)


class FakeGateway(
    FakeAccessMixin, FakeLogDirsMixin, FakeRecordsMixin, FakeReplicasMixin, FakeTransactionsMixin
):
    def __init__(self, brokers: int = 3) -> None:
        self.brokers = {
            i: BrokerNode(id=i, host="127.0.0.1", port=9000 + i, rack=f"r{i}")
            for i in range(1, brokers + 1)
        }
        self.topics: dict[str, FakeTopic] = {}
        self.users: dict[tuple[str, str], str] = {}
        self.acls: set[AclBinding] = set()
        self.groups: dict[str, GroupDescription] = {}
        self.committed: dict[str, dict[TP, CommittedOffset]] = {}
        self.broker_overrides: dict[int, dict[str, str]] = {i: {} for i in self.brokers}
        self.broker_defaults: dict[str, str] = {}
        self.broker_files: dict[int, dict[str, str]] = {}
        self.polls_to_move = 2
        self.quotas: dict[QuotaEntity, dict[str, float]] = {}
        self.calls: list[str] = []
        self.failures: dict[str, list[GatewayError]] = {}
        self.offline = False
        self.disks: dict[int, tuple[int, int] | None] = dict.fromkeys(self.brokers, DISK)
        self.further_dirs: dict[int, dict[str, tuple[int, int] | None]] = {}
        self.failed_dirs: set[tuple[int, str]] = set()
        self.silent: set[int] = set()
        self.probes: dict[str, ProbeResult] = {}
        self.kafka_id = "fake"
        self.operations: frozenset[str] | None = None
        self.coordinated = {}
        self._lagging: dict[int, FakeGateway] = {}
        self._topic_count = 0

    # -- arranging a test ---------------------------------------------------------------------
    def fail_next(self, method: str, *errors: GatewayError) -> None:
        self.failures.setdefault(method, []).extend(errors)

    def add_topic(self, name: str, partitions: int = 1, rf: int = 3, records: int = 0) -> None:
        self.create_topic(NewTopic(name=name, partitions=partitions, replication_factor=rf))
        for part in self.topics[name].partitions:
            part.log_end = records
            part.timestamps_ms = [1_000 * i for i in range(records)]

    def add_group(
        self,
        name: str,
        offsets: Mapping[TP, int],
        *,
        members: int = 0,
        state: str = "",
        coordinator: int = 1,
    ) -> None:
        self.groups[name] = GroupDescription(
            group=name,
            state=state or ("Stable" if members else "Empty"),
            protocol_type="consumer",
            protocol="range" if members else "",
            coordinator=coordinator,
            members=tuple(
                GroupMember(
                    member_id=f"{name}-{i}", client_id=name, host="/127.0.0.1", partitions=()
                )
                for i in range(members)
            ),
        )
        self.committed[name] = {tp: CommittedOffset(offset=at) for tp, at in offsets.items()}

    def assign(self, group: str, partitions: Sequence[TP]) -> None:
        """Give all of them to the group's first member."""
        described = self.groups[group]
        first = replace(described.members[0], partitions=tuple(partitions))
        self.groups[group] = replace(described, members=(first, *described.members[1:]))

    def hold_back(self, broker: int) -> None:
        """From now on this broker knows the cluster as it is now, whatever happens to it."""
        self._lagging[broker] = copy.deepcopy(self)
        self._lagging[broker].failures.clear()

    def catch_up(self, broker: int) -> None:
        self._lagging.pop(broker, None)

    def at(self, broker: int) -> FakeBroker:
        return FakeBroker(broker, self, self._lagging.get(broker, self))

    def note_call(self, method: str) -> None:
        """Meet the failures that wait for this method."""
        self.called(method)

    def check_answers(self, broker: int) -> None:
        if broker not in self.brokers:
            raise unreachable(f"there is no broker {broker}")
        self._answers(broker)

    def called(self, method: str) -> None:
        self.calls.append(method)
        if self.offline:
            raise unreachable("the fake cluster is off")
        waiting = self.failures.get(method)
        if waiting:
            raise waiting.pop(0)

    def probe(self, addresses: Sequence[str], *, timeout_s: float) -> list[ProbeResult]:
        """Every address lets us in but those that `probes` says another thing of."""
        del timeout_s  # nothing here takes time
        self.calls.append("probe")
        return [
            self.probes.get(address, ProbeResult(address=address, step=ProbeStep.KAFKA))
            for address in addresses
        ]

    # -- cluster and topics -------------------------------------------------------------------
    def describe_cluster(self) -> ClusterDescription:
        self.called("describe_cluster")
        return ClusterDescription(
            cluster_id=self.kafka_id,
            operations=self.operations,
            controller_id=min(self.brokers) if self.brokers else None,
            brokers=tuple(self.brokers[i] for i in sorted(self.brokers)),
        )

    def list_topics(self) -> list[TopicDescription]:
        self.called("list_topics")
        return [self._described(name) for name in sorted(self.topics)]

    def describe_topics(self, names: Collection[str]) -> dict[str, TopicDescription]:
        self.called("describe_topics")
        return {name: self._described(name) for name in names if name in self.topics}

    def _described(self, name: str) -> TopicDescription:
        topic = self.topics[name]
        return TopicDescription(
            name=name,
            topic_id=topic.topic_id,
            internal=name in INTERNAL_TOPICS,
            partitions=tuple(
                PartitionDescription(
                    partition=index,
                    leader=self._leader(part),
                    leader_epoch=0,
                    replicas=part.replicas,
                    isr=tuple(
                        b for b in part.replicas if b in self.brokers and b not in part.out_of_sync
                    )
                    or part.replicas,
                )
                for index, part in enumerate(topic.partitions)
            ),
        )

    def _leader(self, part: FakePartition) -> int | None:
        if part.led_by in self.brokers and part.led_by in part.replicas:
            return part.led_by
        return next((broker for broker in part.replicas if broker in self.brokers), None)

    def _answers(self, broker: int) -> None:
        if broker in self.silent:
            raise unreachable(f"broker {broker} is silent")

    def topic_configs(
        self, names: Collection[str], keys: Collection[str] | None = None
    ) -> dict[str, list[ConfigEntry]]:
        self.called("topic_configs")
        return {name: self._topic_config(name, keys) for name in names if name in self.topics}

    def _topic_config(self, name: str, keys: Collection[str] | None) -> list[ConfigEntry]:
        own = self.topics[name].configs
        return [
            ConfigEntry(
                name=key,
                value=own.get(key, default),
                source="DYNAMIC_TOPIC_CONFIG" if key in own else "DEFAULT_CONFIG",
                is_default=key not in own,
                default=default,
            )
            for key, default in sorted(TOPIC_DEFAULTS.items())
            if keys is None or key in keys
        ]

    def create_topic(self, topic: NewTopic, *, validate_only: bool = False) -> None:
        self.called("create_topic")
        if topic.name in self.topics:
            raise GatewayError("TOPIC_ALREADY_EXISTS", topic.name)
        if topic.replication_factor > len(self.brokers):
            raise GatewayError(
                "INVALID_REPLICATION_FACTOR",
                f"Replication factor {topic.replication_factor} is larger than the"
                f" {len(self.brokers)} brokers",
            )
        self._check_configs(topic.configs)
        if validate_only:
            return
        self._topic_count += 1
        ids = sorted(self.brokers)
        self.topics[topic.name] = FakeTopic(
            topic_id=f"00000000-0000-0000-0000-{self._topic_count:012d}",
            partitions=[
                FakePartition(replicas=self._placed(ids, index, topic.replication_factor))
                for index in range(topic.partitions)
            ],
            configs=dict(topic.configs),
        )

    @staticmethod
    def _placed(ids: list[int], index: int, rf: int) -> tuple[int, ...]:
        return tuple(ids[(index + offset) % len(ids)] for offset in range(rf))

    @staticmethod
    def _check_configs(configs: Mapping[str, str | None]) -> None:
        for key, value in configs.items():
            if key not in TOPIC_DEFAULTS:
                raise GatewayError("INVALID_CONFIG", f"Unknown topic config name: {key}")
            if key.endswith((".ms", ".bytes")) and value is not None and not is_int(value):
                raise GatewayError(
                    "INVALID_CONFIG",
                    f"Invalid value {value} for configuration {key}: Not a number of type LONG",
                )

    def delete_topic(self, name: str) -> None:
        self.called("delete_topic")
        self._topic(name)
        del self.topics[name]

    def delete_records(self, until: Mapping[TP, int]) -> None:
        self.called("delete_records")
        for tp, offset in until.items():
            topic = self._topic(tp.topic)
            if "delete" not in topic.configs.get("cleanup.policy", "delete"):
                raise GatewayError("POLICY_VIOLATION", f"{tp.topic} is compacted")
            part = topic.partitions[tp.partition]
            if not 0 <= offset <= part.log_end:
                raise GatewayError("OFFSET_OUT_OF_RANGE", f"{tp.topic}-{tp.partition}")
            part.log_start = max(part.log_start, offset)

    def create_partitions(self, name: str, total: int, *, validate_only: bool = False) -> None:
        self.called("create_partitions")
        topic = self._topic(name)
        have = len(topic.partitions)
        if total <= have:
            raise GatewayError("INVALID_PARTITIONS", f"{name} has {have} partitions")
        if validate_only:
            return
        rf = len(topic.partitions[0].replicas)
        ids = sorted(self.brokers)
        topic.partitions += [
            FakePartition(replicas=self._placed(ids, index, rf)) for index in range(have, total)
        ]

    def alter_topic_configs(
        self, name: str, changes: Mapping[str, str | None], *, validate_only: bool = False
    ) -> None:
        self.called("alter_topic_configs")
        topic = self._topic(name)
        self._check_configs(changes)
        if not validate_only:
            apply_changes(topic.configs, changes)

    def _topic(self, name: str) -> FakeTopic:
        if name not in self.topics:
            raise GatewayError("UNKNOWN_TOPIC_OR_PARTITION", name)
        return self.topics[name]

    def broker_configs(
        self, broker_ids: Collection[int], keys: Collection[str] | None = None
    ) -> dict[int, list[ConfigEntry]]:
        self.called("broker_configs")
        return {i: self._broker_config(i, keys) for i in broker_ids}

    def _broker_config(self, broker: int, keys: Collection[str] | None) -> list[ConfigEntry]:
        layers = {
            "STATIC_BROKER_CONFIG": self.broker_files.get(broker, {}),
            "DYNAMIC_DEFAULT_BROKER_CONFIG": self.broker_defaults,
            "DYNAMIC_BROKER_CONFIG": self.broker_overrides[broker],
        }
        found = {
            key: ConfigEntry(name=key, value=value, source=source, is_default=False)
            for source, layer in layers.items()
            for key, value in layer.items()
            if keys is None or key in keys
        }
        return [found[key] for key in sorted(found)]

    def alter_default_broker_configs(self, changes: Mapping[str, str | None]) -> None:
        self.called("alter_default_broker_configs")
        apply_changes(self.broker_defaults, changes)

    def alter_broker_configs(self, broker_id: int, changes: Mapping[str, str | None]) -> None:
        self.called("alter_broker_configs")
        apply_changes(self.broker_overrides[broker_id], changes)

    # -- groups and offsets -------------------------------------------------------------------
    def list_groups(self, brokers: Collection[int] | None = None) -> list[GroupListing]:
        self.called("list_groups")
        asked = self.brokers if brokers is None else brokers
        for broker in asked:
            self._answers(broker)
        return [
            GroupListing(group=g.group, protocol_type=g.protocol_type, state=g.state)
            for g in self.groups.values()
            if g.coordinator in asked
        ]

    def _coordinators_answer(self, groups: Collection[str]) -> None:
        for name in groups:
            coordinator = self.groups[name].coordinator if name in self.groups else None
            if coordinator is not None and coordinator not in self.brokers:
                raise GatewayError("COORDINATOR_NOT_AVAILABLE", name, retriable=True)
            if coordinator is not None:
                self._answers(coordinator)

    def describe_groups(self, groups: Collection[str]) -> dict[str, GroupDescription]:
        self.called("describe_groups")
        self._coordinators_answer(groups)
        return {name: self.groups.get(name, dead_group(name)) for name in groups}

    def group_offsets(self, groups: Collection[str]) -> dict[str, dict[TP, CommittedOffset]]:
        self.called("group_offsets")
        self._coordinators_answer(groups)
        return {name: dict(self.committed.get(name, {})) for name in groups}

    def commit_group_offsets(self, group: str, offsets: Mapping[TP, CommittedOffset]) -> None:
        self.called("commit_group_offsets")
        if group in self.groups and self.groups[group].members:
            raise GatewayError("UNKNOWN_MEMBER_ID", group)
        self.committed.setdefault(group, {}).update(offsets)

    def delete_group_offsets(self, group: str, partitions: Collection[TP]) -> None:
        self.called("delete_group_offsets")
        for tp in partitions:
            self.committed.get(group, {}).pop(tp, None)

    def delete_group(self, group: str) -> None:
        self.called("delete_group")
        if group in self.groups and self.groups[group].members:
            raise GatewayError("NON_EMPTY_GROUP", group)
        if group not in self.groups and not self.committed.get(group):
            raise GatewayError("GROUP_ID_NOT_FOUND", group)
        self.groups.pop(group, None)
        self.committed.pop(group, None)

    def offsets(
        self, specs: Mapping[TP, int], isolation: Isolation = Isolation.READ_UNCOMMITTED
    ) -> dict[TP, OffsetAt]:
        self.called("offsets")
        found = {}
        for tp, spec in specs.items():
            topic = self.topics.get(tp.topic)
            if topic is not None and tp.partition < len(topic.partitions):
                part = topic.partitions[tp.partition]
                leader = self._leader(part)
                if leader is not None:
                    self._answers(leader)
                    found[tp] = offset_at(part, spec, isolation)
        return found

    # -- replicas -----------------------------------------------------------------------------
    def close(self) -> None:
        """Nothing is open."""

    def add_broker(self, broker_id: int, *, port: int = 9000, rack: str = "r1") -> None:
        """Again it is the same broker."""
        node = BrokerNode(id=broker_id, host="127.0.0.1", port=port, rack=rack)
        self.brokers.setdefault(broker_id, node)
        self.broker_overrides.setdefault(broker_id, {})
        self.disks.setdefault(broker_id, DISK)

    def remove_broker(self, broker_id: int) -> None:
        del self.brokers[broker_id]

    def set_members(self, group: str, members: int) -> None:
        self.add_group(
            group,
            {tp: at.offset for tp, at in self.committed.get(group, {}).items()},
            members=members,
        )
