"""What brokers said → telemetry records. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from controlplane.gateway.types import (
    TP,
    CommittedOffset,
    ConfigEntry,
    GroupDescription,
    OffsetAt,
    ReplicaSize,
    TopicDescription,
)
from spark_analytics.contracts.telemetry import KIND_GROUP, KIND_TOPIC, NO_OFFSET, TELEMETRY_VERSION

UNLIMITED = -1
"""Kafka's own sign for a retention without a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One look at a cluster. Committed offsets were read before log ends: lag is never negative.

    `oldest_ts_ms` has the timestamp of the first record of each partition that holds one;
    `retention_check_ms` is how often brokers look what retention takes, None where unknown.
    """

    ts_ms: int
    topics: tuple[TopicDescription, ...]
    log_starts: Mapping[TP, OffsetAt]
    log_ends: Mapping[TP, OffsetAt]
    sizes: tuple[ReplicaSize, ...] = ()
    oldest_ts_ms: Mapping[TP, int] = field(default_factory=dict)
    configs: Mapping[str, list[ConfigEntry]] = field(default_factory=dict)
    retention_check_ms: int | None = None
    groups: Mapping[str, GroupDescription] = field(default_factory=dict)
    committed: Mapping[str, Mapping[TP, CommittedOffset]] = field(default_factory=dict)


def records(cluster_id: str, sample: Sample) -> list[dict[str, Any]]:
    """Every topic's and every (group, topic)'s slice, whole."""
    found = [topic_record(cluster_id, sample, topic) for topic in sample.topics]
    by_name = {topic.name: topic for topic in sample.topics}
    for group in sorted(sample.committed):
        names = sorted({tp.topic for tp in sample.committed[group]} & by_name.keys())
        found += [group_record(cluster_id, sample, group, by_name[name]) for name in names]
    return found


def topic_record(cluster_id: str, sample: Sample, topic: TopicDescription) -> dict[str, Any]:
    """All partitions of one topic; null where no broker answered for a partition."""
    leaders = {TP(topic.name, part.partition): part.leader for part in topic.partitions}
    sizes = {
        size.tp: size.size_bytes
        for size in sample.sizes
        if not size.is_future and leaders.get(size.tp) == size.broker
    }
    tps = sorted(leaders)
    configs = sample.configs.get(topic.name, ())
    # Retention takes nothing of a topic that is compacted alone, whatever its limits say.
    is_kept = not _is_deleted_from(configs)
    return {
        "v": TELEMETRY_VERSION,
        "kind": KIND_TOPIC,
        "ts_ms": sample.ts_ms,
        "cluster_id": cluster_id,
        "topic": topic.name,
        "topic_id": topic.topic_id or None,
        "retention_ms": UNLIMITED if is_kept else number(configs, "retention.ms"),
        "retention_bytes": UNLIMITED if is_kept else number(configs, "retention.bytes"),
        "partition": [tp.partition for tp in tps],
        "leader_epoch": [
            part.leader_epoch for part in sorted(topic.partitions, key=lambda p: p.partition)
        ],
        "log_start_offset": _offsets(sample.log_starts, tps),
        "log_end_offset": _offsets(sample.log_ends, tps),
        "size_bytes": [sizes.get(tp) for tp in tps],
        "oldest_ts_ms": [sample.oldest_ts_ms.get(tp) for tp in tps],
    }


def group_record(
    cluster_id: str, sample: Sample, group: str, topic: TopicDescription
) -> dict[str, Any]:
    """Where one group stands on every partition of one topic."""
    described = sample.groups.get(group)
    committed = sample.committed[group]
    tps = sorted(TP(topic.name, part.partition) for part in topic.partitions)
    return {
        "v": TELEMETRY_VERSION,
        "kind": KIND_GROUP,
        "ts_ms": sample.ts_ms,
        "cluster_id": cluster_id,
        "group": group,
        "topic": topic.name,
        "topic_id": topic.topic_id or None,
        "state": described.state if described else None,
        "members": len(described.members) if described else None,
        "partition": [tp.partition for tp in tps],
        "committed_offset": [committed[tp].offset if tp in committed else NO_OFFSET for tp in tps],
        "log_start_offset": _offsets(sample.log_starts, tps),
        "log_end_offset": _offsets(sample.log_ends, tps),
    }


def _offsets(found: Mapping[TP, OffsetAt], tps: Iterable[TP]) -> list[int | None]:
    return [found[tp].offset if tp in found and found[tp].offset >= 0 else None for tp in tps]


def _is_deleted_from(entries: Iterable[ConfigEntry]) -> bool:
    """Where nobody says how a topic is cleaned up, its limits are believed."""
    policies = [entry.value for entry in entries if entry.name == "cleanup.policy"]
    return not any(policies) or any("delete" in (policy or "") for policy in policies)


def number(entries: Iterable[ConfigEntry], name: str) -> int | None:
    """The value of that key; None where nobody gave one that can be read."""
    for entry in entries:
        if entry.name == name and entry.value is not None:
            try:
                return int(entry.value)
            except ValueError:
                return None
    return None
