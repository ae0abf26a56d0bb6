"""KafkaGateway: the port over kafka-python's admin client. Works with any Kafka ≥ 2.6."""

import copy
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import BrokerResponseError, ElectionNotNeededError, NoError, for_code
from kafka.structs import OffsetAndMetadata, TopicPartition

from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.kafka_access import KafkaAccessMixin
from controlplane.gateway.kafka_link import BrokerLink, KafkaLink, check, refusal
from controlplane.gateway.kafka_log_dirs import KafkaLogDirsMixin
from controlplane.gateway.kafka_parse import (
    cluster_description,
    config_entries,
    group_description,
    topic_description,
)
from controlplane.gateway.kafka_transactions import KafkaTransactionsMixin
from controlplane.gateway.port import BROKER_ANSWER_S
from controlplane.gateway.probe import probe_all
from controlplane.gateway.record_port import Isolation
from controlplane.gateway.types import (
    TP,
    ClusterDescription,
    CommittedOffset,
    ConfigEntry,
    GroupDescription,
    GroupListing,
    NewTopic,
    OffsetAt,
    OngoingReassignment,
    ProbeResult,
    TopicDescription,
    partitions_by_tp,
)
from controlplane.gateway.understood import understood

ON_EVERY_BROKER = ("broker.id", "node.id")
NO_SUCH_TOPIC = frozenset({3, 17})  # UNKNOWN_TOPIC_OR_PARTITION, INVALID_TOPIC_EXCEPTION
PREFERRED = 0
"""The type of an election, in the protocol's numbers; another one may lose records."""


@understood
class KafkaGateway(KafkaAccessMixin, KafkaLogDirsMixin, KafkaTransactionsMixin):
    def __init__(self, spec: ConnectionSpec) -> None:
        self._spec = spec
        self._link: KafkaLink | BrokerLink = KafkaLink(spec)

    def at(self, broker: int) -> "KafkaGateway":
        view = copy.copy(self)
        view._link = self._link.at(broker, BROKER_ANSWER_S)  # noqa: SLF001 - of this class
        return view

    def close(self) -> None:
        self._link.close()

    def probe(self, addresses: Sequence[str], *, timeout_s: float) -> list[ProbeResult]:
        return probe_all(addresses, self._spec, timeout_s=timeout_s)

    # -- cluster and topics -----------------------------------------------------------------
    def describe_cluster(self) -> ClusterDescription:
        found = self._link.call(
            lambda admin: admin.describe_cluster(), what="describe cluster", is_hedged=True
        )
        return cluster_description(found)

    def _broker_ids(self) -> list[int]:
        return [broker.id for broker in self.describe_cluster().brokers]

    def list_topics(self) -> list[TopicDescription]:
        found = self._link.call(
            lambda admin: admin.describe_topics(), what="list topics", is_hedged=True
        )
        return [topic_description(topic) for topic in found if not topic["error_code"]]

    def describe_topics(self, names: Collection[str]) -> dict[str, TopicDescription]:
        if not names:
            return {}
        found = self._link.call(
            lambda admin: admin.describe_topics(sorted(names)),
            what="describe topics",
            is_hedged=True,
        )
        described = {}
        for topic in found:
            if topic["error_code"] in NO_SUCH_TOPIC:
                continue
            check(topic["error_code"], None, f"topic {topic['name']}")
            described[topic["name"]] = topic_description(topic)
        return described

    def topic_configs(
        self, names: Collection[str], keys: Collection[str] | None = None
    ) -> dict[str, list[ConfigEntry]]:
        return self._configs(ConfigResourceType.TOPIC, names, keys)

    def broker_configs(
        self, broker_ids: Collection[int], keys: Collection[str] | None = None
    ) -> dict[int, list[ConfigEntry]]:
        # A key set nowhere is not answered: one that every broker has tells that from a refusal.
        asked = None if keys is None else {*keys, *ON_EVERY_BROKER}
        found = self._configs(ConfigResourceType.BROKER, [str(i) for i in broker_ids], asked)
        for broker_id in broker_ids:
            if str(broker_id) not in found:
                raise GatewayError(
                    "UNKNOWN_SERVER_ERROR", f"broker {broker_id} did not give its configuration"
                )
        return {
            int(name): [entry for entry in entries if keys is None or entry.name in keys]
            for name, entries in found.items()
        }

    def _configs(
        self, kind: Any, names: Collection[str], keys: Collection[str] | None = None
    ) -> dict[str, list[ConfigEntry]]:
        if not names:
            return {}
        asked = None if keys is None else sorted(keys)
        resources = [ConfigResource(kind, name, asked) for name in sorted(names)]
        found = self._link.call(
            lambda admin: admin.describe_configs(
                resources, include_synonyms=True, config_filter="all"
            ),
            what="describe configs",
            is_hedged=kind is ConfigResourceType.TOPIC,
        )
        by_name = found.get(kind.name.lower(), {})
        # The library drops the error code: an answer without a single key was a refusal.
        return {name: config_entries(by_name[name]) for name in names if by_name.get(name)}

    def create_topic(self, topic: NewTopic, *, validate_only: bool = False) -> None:
        wanted = {
            topic.name: {
                "num_partitions": topic.partitions,
                "replication_factor": topic.replication_factor,
                "configs": dict(topic.configs),
            }
        }
        answer = self._link.call(
            lambda admin: admin.create_topics(
                wanted, validate_only=validate_only, raise_errors=False
            ),
            what=f"create topic {topic.name}",
            write=not validate_only,
        )
        for row in answer["topics"]:
            check(row["error_code"], row.get("error_message"), f"create topic {topic.name}")

    def delete_topic(self, name: str) -> None:
        answer = self._link.call(
            lambda admin: admin.delete_topics([name], raise_errors=False),
            what=f"delete topic {name}",
            write=True,
        )
        for row in answer["topics"]:  # the library renames the protocol's `responses`
            check(row["error_code"], row.get("error_message"), f"delete topic {name}")

    def create_partitions(self, name: str, total: int, *, validate_only: bool = False) -> None:
        answer = self._link.call(
            lambda admin: admin.create_partitions(
                {name: total}, validate_only=validate_only, raise_errors=False
            ),
            what=f"add partitions to {name}",
            write=not validate_only,
        )
        for row in answer.results:
            check(row.error_code, row.error_message, f"add partitions to {name}")

    def alter_topic_configs(
        self, name: str, changes: Mapping[str, str | None], *, validate_only: bool = False
    ) -> None:
        self._alter(ConfigResourceType.TOPIC, name, changes, validate_only=validate_only)

    def alter_broker_configs(self, broker_id: int, changes: Mapping[str, str | None]) -> None:
        self._alter(ConfigResourceType.BROKER, str(broker_id), changes, validate_only=False)

    def alter_default_broker_configs(self, changes: Mapping[str, str | None]) -> None:
        if not changes:
            return
        resource = ConfigResource(ConfigResourceType.BROKER, "", _operations(changes))
        what = "configure all brokers"

        def alter(admin: Any) -> Any:
            manager = admin._manager  # noqa: SLF001 - the library's call wants the name of a broker
            request = admin._alter_configs_request([resource], incremental=True)  # noqa: SLF001 - as above
            return manager.run(manager.send, request)

        for row in self._link.call(alter, what=what, write=True).responses:
            check(row.error_code, row.error_message, what)

    def _alter(
        self, kind: Any, name: str, changes: Mapping[str, str | None], *, validate_only: bool
    ) -> None:
        if not changes:
            return
        operations = _operations(changes)
        what = f"configure {kind.name.lower()} {name}"
        answer = self._link.call(
            lambda admin: admin.alter_configs(
                [ConfigResource(kind, name, operations)],
                validate_only=validate_only,
                raise_on_unknown=False,
                incremental=True,
            ),
            what=what,
            write=not validate_only,
        )
        result = answer.get(kind.name.lower(), {}).get(name, "OK")
        if result != "OK":
            raise _refusal_from_text(str(result), what)

    def delete_records(self, until: Mapping[TP, int]) -> None:
        wanted = {TopicPartition(*tp): offset for tp, offset in until.items()}

        def delete(admin: Any) -> None:
            try:
                admin.delete_records(wanted)
            except BrokerResponseError as error:
                if type(error) is not BrokerResponseError:
                    raise
                # Several partitions, each for a reason of its own: which of them are done is asked.
                raise GatewayError(
                    "SEVERAL_REFUSED", str(error), retriable=True, unknown_outcome=True
                ) from error

        self._link.call(delete, what="delete records", write=True)

    # -- groups and offsets -----------------------------------------------------------------
    def list_groups(self, brokers: Collection[int] | None = None) -> list[GroupListing]:
        asked = self._broker_ids() if brokers is None else sorted(brokers)
        found = self._link.call(
            lambda admin: admin.list_groups(broker_ids=asked), what="list groups"
        )
        return [
            GroupListing(
                group=row["group_id"],
                protocol_type=row.get("protocol_type", ""),
                state=row.get("group_state", "") or "",
            )
            for row in found
        ]

    def describe_groups(self, groups: Collection[str]) -> dict[str, GroupDescription]:
        if not groups:
            return {}

        def describe(admin: Any) -> dict[str, Any]:
            found: dict[str, Any] = admin.describe_groups(sorted(groups))
            for name, row in found.items():
                # A refusal of a broker that coordinates no more ends the client, which would
                # go on to ask that one: its cache of coordinators is for ever.
                if row.get("error"):
                    raise _refusal_from_text(str(row["error"]), f"describe group {name}")
            return found

        found = self._link.call(describe, what="describe groups")
        coordinators = self._coordinators(groups)
        return {name: group_description(row, coordinators.get(name)) for name, row in found.items()}

    def _coordinators(self, groups: Collection[str]) -> dict[str, int]:
        """Who coordinates: from the cache that describing the groups has just filled."""

        def cached(admin: Any) -> dict[str, int]:
            cluster = admin._manager.cluster  # noqa: SLF001 - the library shows it nowhere else
            found = {name: cluster.get_coordinator(name, 0) for name in groups}
            return {name: node for name, node in found.items() if isinstance(node, int)}

        return self._link.call(cached, what="group coordinators")

    def group_offsets(self, groups: Collection[str]) -> dict[str, dict[TP, CommittedOffset]]:
        if not groups:
            return {}
        found = self._link.call(
            lambda admin: admin.list_group_offsets(sorted(groups)), what="group offsets"
        )
        return {
            group: {
                TP(tp.topic, tp.partition): CommittedOffset(
                    offset=committed.offset,
                    metadata=committed.metadata or "",
                    leader_epoch=committed.leader_epoch,
                )
                for tp, committed in offsets.items()
                if committed.offset >= 0
            }
            for group, offsets in found.items()
        }

    def commit_group_offsets(self, group: str, offsets: Mapping[TP, CommittedOffset]) -> None:
        wanted = {
            TopicPartition(*tp): OffsetAndMetadata(
                committed.offset, committed.metadata, committed.leader_epoch
            )
            for tp, committed in offsets.items()
        }
        what = f"commit offsets of {group}"
        self._link.call(
            lambda admin: _check_partitions(admin.alter_group_offsets(group, wanted), what),
            what=what,
            write=True,
        )

    def delete_group_offsets(self, group: str, partitions: Collection[TP]) -> None:
        what = f"delete offsets of {group}"
        gone = [TopicPartition(*tp) for tp in partitions]
        self._link.call(
            lambda admin: _check_partitions(admin.delete_group_offsets(group, gone), what),
            what=what,
            write=True,
        )

    def delete_group(self, group: str) -> None:
        def delete(admin: Any) -> None:
            outcome = str(admin.delete_groups([group]).get(group, "OK"))
            if outcome != "OK":
                raise _refusal_from_text(outcome, f"delete group {group}")

        self._link.call(delete, what=f"delete {group}", write=True)

    def offsets(
        self, specs: Mapping[TP, int], isolation: Isolation = Isolation.READ_UNCOMMITTED
    ) -> dict[TP, OffsetAt]:
        try:
            return self._offsets(specs, isolation)
        except GatewayError as error:
            if not error.retriable and error.code != "UNKNOWN_TOPIC_OR_PARTITION":
                raise
        # Some partition has no leader now: answer for those that have one.
        parts = partitions_by_tp(self.describe_topics({tp.topic for tp in specs}).values())
        led = {tp for tp, part in parts.items() if part.leader is not None}
        return self._offsets({tp: spec for tp, spec in specs.items() if tp in led}, isolation)

    def _offsets(self, specs: Mapping[TP, int], isolation: Isolation) -> dict[TP, OffsetAt]:
        if not specs:
            return {}
        found = self._link.call(
            lambda admin: admin.list_partition_offsets(
                {TopicPartition(*tp): spec for tp, spec in specs.items()},
                isolation_level=isolation.value,
                timeout_ms=2000,
            ),
            what="list offsets",
        )
        return {
            TP(tp.topic, tp.partition): OffsetAt(offset=at.offset, timestamp_ms=at.timestamp)
            for tp, at in found.items()
        }

    # -- replicas ---------------------------------------------------------------------------
    def reassign(self, moves: Mapping[TP, Sequence[int] | None]) -> None:
        wanted = {
            TopicPartition(*tp): None if replicas is None else list(replicas)
            for tp, replicas in moves.items()
        }
        answer = self._link.call(
            lambda admin: admin.alter_partition_reassignments(wanted),
            what="reassign partitions",
            write=True,
        )
        for tp, error in answer.items():
            if error is not None:
                raise refusal(error, f"reassign {tp.topic}-{tp.partition}")

    def list_reassignments(
        self, partitions: Collection[TP] | None = None
    ) -> list[OngoingReassignment]:
        wanted = None if partitions is None else [TopicPartition(*tp) for tp in partitions]
        if wanted == []:
            return []
        found = self._link.call(
            lambda admin: admin.list_partition_reassignments(wanted), what="list reassignments"
        )
        return [
            OngoingReassignment(
                tp=TP(tp.topic, tp.partition),
                replicas=tuple(row["replicas"]),
                adding=tuple(row["adding_replicas"]),
                removing=tuple(row["removing_replicas"]),
            )
            for tp, row in found.items()
        ]

    def elect_preferred_leaders(self, partitions: Collection[TP]) -> dict[TP, str]:
        wanted: dict[str, list[int]] = {}
        for tp in sorted(partitions):
            wanted.setdefault(tp.topic, []).append(tp.partition)
        what = "elect preferred leaders"
        if not wanted:
            return {}
        answer = self._link.call(
            lambda admin: admin.elect_leaders(PREFERRED, wanted, raise_errors=False),
            what=what,
            write=True,
        )
        # Version 0 has no code of the whole; the library gives an object in any.
        check(getattr(answer, "error_code", 0) or 0, None, what)
        return {
            TP(topic.topic, row.partition_id): refusal(for_code(row.error_code), what).code
            for topic in answer.replica_election_results
            for row in topic.partition_result
            if row.error_code and for_code(row.error_code) is not ElectionNotNeededError
        }


def _check_partitions(answer: Mapping[Any, Any], what: str) -> None:
    for tp, error in answer.items():
        if error is not None and error is not NoError:
            raise refusal(error, f"{what}: {tp.topic}-{tp.partition}")


def _operations(changes: Mapping[str, str | None]) -> dict[str, tuple[str, str | None]]:
    return {
        key: ("DELETE", None) if value is None else ("SET", value) for key, value in changes.items()
    }


def _refusal_from_text(text: str, what: str) -> GatewayError:
    """The library gives some errors as `ClassName: message` or `[Error n] NAME: message`."""
    import kafka.errors

    words = text.replace("[", " ").replace("]", " ").replace(":", " ").split()
    for word in words[:4]:
        found = getattr(kafka.errors, word, None)
        if isinstance(found, type):
            return refusal(found, f"{what}: {text}")
        if word.isdigit():
            return refusal(kafka.errors.for_code(int(word)), f"{what}: {text}")
    return GatewayError("UNKNOWN_SERVER_ERROR", f"{what}: {text}")
