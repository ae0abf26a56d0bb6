"""The admin client's dictionaries as our values. Pure."""

from collections.abc import Mapping
from typing import Any

from controlplane.gateway.types import (
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
    )


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
        )
        for name, row in sorted(found.items())
    ]


_SET_BY_HAND = frozenset(
    {"DYNAMIC_TOPIC_CONFIG", "TOPIC_CONFIG", "DYNAMIC_BROKER_CONFIG", "DYNAMIC_GROUP_CONFIG"}
)


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
