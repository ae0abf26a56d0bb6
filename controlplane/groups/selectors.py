"""Reads of groups through a gateway. Committed offsets are read before log ends, so that a
lag is never negative because the log grew in between.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from controlplane.clusters.models import Cluster
from controlplane.common.problems import NotFound
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.types import (
    EARLIEST,
    LATEST,
    TP,
    CommittedOffset,
    GroupDescription,
    OffsetAt,
)

DEAD = "Dead"


def group_list(cluster: Cluster, gateway: ClusterGateway) -> list[dict[str, Any]]:
    """Every group with its total lag: four bulk questions, whatever their number."""
    del cluster  # every selector takes it; this one needs only the way in
    names = sorted(listing.group for listing in gateway.list_groups())
    described = gateway.describe_groups(names)
    offsets = gateway.group_offsets(names)
    committed = {tp for found in offsets.values() for tp in found}
    ends = log_offsets(gateway, committed, LATEST)
    unread = _not_read(gateway, committed, ends)
    return [
        _row(described[name], offsets.get(name, {}), ends, unread)
        for name in names
        if name in described
    ]


def group_detail(cluster: Cluster, gateway: ClusterGateway, group: str) -> dict[str, Any]:
    del cluster  # see group_list
    described = gateway.describe_groups([group]).get(group)
    committed = gateway.group_offsets([group]).get(group, {})
    if (described is None or described.state == DEAD) and not committed:
        raise NotFound(f"There is no group {group}.")
    if described is None:
        raise NotFound(f"There is no group {group}.")
    assigned = {tp for member in described.members for tp in member.partitions}
    partitions = sorted(set(committed) | assigned)
    ends = log_offsets(gateway, partitions, LATEST)
    starts = log_offsets(gateway, partitions, EARLIEST)
    row = _row(described, committed, ends, _not_read(gateway, set(committed), ends))
    row["members"] = [
        {
            "member_id": member.member_id,
            "client_id": member.client_id,
            "host": member.host,
            "partitions": [
                {"topic": tp.topic, "partition": tp.partition} for tp in member.partitions
            ],
        }
        for member in described.members
    ]
    row["offsets"] = [offset_dict(tp, committed.get(tp), starts, ends) for tp in partitions]
    return row


def offset_dict(
    tp: TP,
    committed: CommittedOffset | None,
    starts: Mapping[TP, OffsetAt],
    ends: Mapping[TP, OffsetAt],
) -> dict[str, Any]:
    start, end = starts.get(tp), ends.get(tp)
    return {
        "topic": tp.topic,
        "partition": tp.partition,
        "committed": committed.offset if committed else None,
        "log_start": start.offset if start else None,
        "log_end": end.offset if end else None,
        "lag": lag_of(committed, end),
        "metadata": committed.metadata if committed else "",
    }


def lag_of(committed: CommittedOffset | None, end: OffsetAt | None) -> int | None:
    """Records not read yet; null when one of the two is not known."""
    if committed is None or end is None:
        return None
    return max(end.offset - committed.offset, 0)


def log_offsets(gateway: ClusterGateway, partitions: Iterable[TP], spec: int) -> dict[TP, OffsetAt]:
    """Nothing for partitions of topics that are gone or without a leader."""
    wanted = dict.fromkeys(partitions, spec)
    if not wanted:
        return {}
    try:
        return gateway.offsets(wanted)
    except GatewayError:
        return {}


def _not_read(
    gateway: ClusterGateway, wanted: set[TP], ends: Mapping[TP, OffsetAt]
) -> frozenset[TP]:
    """Partitions that are there but whose end nobody gave."""
    missing = wanted - set(ends)
    if not missing:
        return frozenset()
    try:
        topics = gateway.describe_topics({tp.topic for tp in missing}).values()
    except GatewayError:
        return frozenset(missing)
    there = {TP(topic.name, part.partition) for topic in topics for part in topic.partitions}
    return frozenset(missing & there)


def _row(
    described: GroupDescription,
    committed: Mapping[TP, CommittedOffset],
    ends: Mapping[TP, OffsetAt],
    not_read: Collection[TP],
) -> dict[str, Any]:
    """The lag is null while a part of it is not known; what is gone with its topic is no part."""
    lags = [lag_of(offset, ends.get(tp)) for tp, offset in committed.items()]
    known = [lag for lag in lags if lag is not None]
    whole = bool(known) and not any(tp in not_read for tp in committed)
    by_topic: dict[str, int] = defaultdict(int)
    for tp in committed:
        by_topic[tp.topic] += 1
    return {
        "group": described.group,
        "state": described.state,
        "protocol_type": described.protocol_type,
        "members": len(described.members),
        "coordinator": described.coordinator,
        "lag": sum(known) if whole else None,
        "topics": sorted(by_topic),
    }
