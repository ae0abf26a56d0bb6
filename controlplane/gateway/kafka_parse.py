"""The admin client's dictionaries as our values. Pure."""

from collections.abc import Mapping
from typing import Any

from controlplane.gateway.types import (
    SET_ON_TOPIC,
    TP,
    BrokerNode,
    ClusterDescription,
    ConfigEntry,
    GroupDescription,
    GroupMember,
    PartitionDescription,
    TopicDescription,
)


def cluster_description(found: Mapping[str, Any]) -> ClusterDescription:
    controller = found.get("controller_id", -1)
    return ClusterDescription(
        cluster_id=found.get("cluster_id") or "",
        controller_id=controller if controller >= 0 else None,
        brokers=tuple(
            BrokerNode(
                id=row["broker_id"], host=row["host"], port=row["port"], rack=row.get("rack")
            )
            for row in sorted(found["brokers"], key=lambda row: row["broker_id"])
            if not row.get("is_fenced", False)
        ),
        operations=_operations(found.get("cluster_authorized_operations")),
    )


def _operations(bits: Any) -> frozenset[str] | None:
    """Kafka answers with a bit for each operation; the lowest number of all means: not said."""
    if not isinstance(bits, int) or bits < 0:
        return None
    return frozenset(name for code, name in _OPERATION_CODES.items() if bits >> code & 1)


_OPERATION_CODES = {
    3: "READ",
    4: "WRITE",
    5: "CREATE",
    6: "DELETE",
    7: "ALTER",
    8: "DESCRIBE",
    9: "CLUSTER_ACTION",
    10: "DESCRIBE_CONFIGS",
    11: "ALTER_CONFIGS",
    12: "IDEMPOTENT_WRITE",
}


def topic_description(topic: Mapping[str, Any]) -> TopicDescription:
    return TopicDescription(
        name=topic["name"],
        topic_id=str(topic.get("topic_id") or ""),
        internal=bool(topic["is_internal"]),
        partitions=tuple(
            PartitionDescription(
                partition=part["partition_index"],
                leader=part["leader_id"] if part["leader_id"] >= 0 else None,
                leader_epoch=part.get("leader_epoch", -1),
                replicas=tuple(part["replica_nodes"]),
                isr=tuple(part["isr_nodes"]),
                offline=tuple(part.get("offline_replicas") or ()),
            )
            for part in sorted(topic["partitions"], key=lambda part: part["partition_index"])
        ),
    )


def config_entries(found: Mapping[str, Mapping[str, Any]]) -> list[ConfigEntry]:
    return [
        ConfigEntry(
            name=name,
            value=None if row.get("is_sensitive") else row.get("value"),
            source=str(row.get("config_source", "UNKNOWN")),
            is_default=row.get("config_source") not in _SET_BY_HAND,
            read_only=bool(row.get("read_only")),
            sensitive=bool(row.get("is_sensitive")),
            doc=row.get("documentation") or "",
            default=_default(name, row),
        )
        for name, row in sorted(found.items())
    ]


def _default(name: str, row: Mapping[str, Any]) -> str | None:
    """What a topic's key falls back to: the strongest synonym not set on the topic itself."""
    if row.get("is_sensitive"):
        return None
    if row.get("config_source") not in SET_ON_TOPIC:
        value: str | None = row.get("value")
        return value
    for synonym in row.get("synonyms") or ():
        if synonym["source"] not in SET_ON_TOPIC and synonym["value"] is not None:
            return _in_unit_of(name, synonym["name"], synonym["value"])
    return None


def _in_unit_of(name: str, synonym: str, value: str) -> str | None:
    """Brokers know some times in hours or minutes that topics know in milliseconds."""
    factor = next((ms for unit, ms in _UNITS_MS.items() if synonym.endswith(unit)), 1)
    if factor == 1 or not name.endswith(".ms"):
        return value
    try:
        number = int(value)
    except ValueError:
        return None
    return str(number * factor if number >= 0 else number)


_UNITS_MS = {".hours": 3_600_000, ".minutes": 60_000}
_SET_BY_HAND = SET_ON_TOPIC | {"DYNAMIC_BROKER_CONFIG", "DYNAMIC_GROUP_CONFIG"}


def group_description(row: Mapping[str, Any], coordinator: int | None) -> GroupDescription:
    return GroupDescription(
        group=row["group_id"],
        state=row["group_state"],
        protocol_type=row.get("protocol_type", ""),
        protocol=row.get("protocol_data", "") or "",
        coordinator=coordinator,
        members=tuple(
            GroupMember(
                member_id=member["member_id"],
                client_id=member["client_id"],
                host=member["client_host"],
                partitions=_assigned(member.get("member_assignment")),
            )
            for member in row.get("members", ())
        ),
    )


def _assigned(assignment: Any) -> tuple[TP, ...]:
    """A member's partitions; empty when the assignment is not a consumer's."""
    if not isinstance(assignment, Mapping):
        return ()
    found = []
    for entry in assignment.get("assigned_partitions", ()):
        if isinstance(entry, Mapping):
            topic, partitions = entry["topic"], entry["partitions"]
        else:
            topic, partitions = entry
        found += [TP(topic, partition) for partition in partitions]
    return tuple(sorted(found))
