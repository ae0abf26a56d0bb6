"""Reads of topics through a gateway: list, detail, and who and what a deletion hits.

Each is a handful of bulk calls whatever the number of topics.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from controlplane.clusters.models import Cluster
from controlplane.common.problems import NotFound
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.readings import ALIVE_STATES, ClusterReader, total
from controlplane.gateway.types import (
    EARLIEST,
    LATEST,
    TP,
    ConfigEntry,
    OffsetAt,
    TopicDescription,
)
from controlplane.operations.blast_radius import Extent, amount, listed
from controlplane.topics.rules import is_internal

Sizes = dict[TP, dict[int, int]]
"""Bytes by partition and broker."""


def topic_list(cluster: Cluster, gateway: ClusterGateway) -> list[dict[str, Any]]:
    """Every topic; sizes and record counts are null when they cannot be read right now."""
    del cluster  # part of the contract: every selector takes it, this one needs only the way in
    topics = gateway.list_topics()
    sizes = replica_sizes(gateway, None)
    starts, ends = log_bounds(gateway, topics)
    configs = _configs(gateway, [topic.name for topic in topics])
    return [
        _row(topic, sizes, starts, ends, configs.get(topic.name, {}))
        for topic in sorted(topics, key=lambda topic: topic.name)
    ]


def topic_detail(cluster: Cluster, gateway: ClusterGateway, name: str) -> dict[str, Any]:
    del cluster  # see topic_list
    topic = described_topic(gateway, name)
    sizes = replica_sizes(gateway, [name])
    starts, ends = log_bounds(gateway, [topic])
    entries = gateway.topic_configs([name]).get(name, [])
    partitions = [
        {
            "partition": part.partition,
            "leader": part.leader,
            "leader_epoch": part.leader_epoch,
            "replicas": list(part.replicas),
            "isr": list(part.isr),
            "log_start": _offset(starts, TP(name, part.partition)),
            "log_end": _offset(ends, TP(name, part.partition)),
            "size_bytes": _leader_size(sizes, TP(name, part.partition), part.leader),
        }
        for part in topic.partitions
    ]
    return {
        "name": topic.name,
        "internal": is_internal(topic.name, flagged=topic.internal),
        "topic_id": topic.topic_id,
        "partitions": partitions,
        "configs": [config_dict(entry) for entry in entries],
        "size_bytes": _total(
            _leader_size(sizes, TP(name, part.partition), part.leader) for part in topic.partitions
        ),
    }


def described_topic(gateway: ClusterGateway, name: str) -> TopicDescription:
    topic = gateway.describe_topics([name]).get(name)
    if topic is None:
        raise NotFound(f"There is no topic {name}.")
    return topic


def replica_sizes(gateway: ClusterGateway, topics: list[str] | None) -> Sizes | None:
    """None when a broker's log directories cannot be read: better no size than a wrong one."""
    try:
        replicas = gateway.log_dirs(topics)
    except GatewayError:
        return None
    found: Sizes = defaultdict(dict)
    for replica in replicas:
        if not replica.is_future:
            found[replica.tp][replica.broker] = replica.size_bytes
    return found


def log_bounds(
    gateway: ClusterGateway, topics: Iterable[TopicDescription]
) -> tuple[dict[TP, OffsetAt], dict[TP, OffsetAt]]:
    """(log starts, log ends) of every partition that has a leader."""
    led = [
        TP(topic.name, part.partition)
        for topic in topics
        for part in topic.partitions
        if part.leader is not None
    ]
    try:
        starts = gateway.offsets(dict.fromkeys(led, EARLIEST))
        return starts, gateway.offsets(dict.fromkeys(led, LATEST))
    except GatewayError:
        return {}, {}


def config_dict(entry: ConfigEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "value": entry.value,
        "source": entry.source,
        "is_default": entry.is_default,
        "read_only": entry.read_only,
        "sensitive": entry.sensitive,
        "doc": entry.doc,
    }


def config_values(entries: Iterable[ConfigEntry]) -> dict[str, str | None]:
    return {entry.name: entry.value for entry in entries}


def _row(
    topic: TopicDescription,
    sizes: Sizes | None,
    starts: dict[TP, OffsetAt],
    ends: dict[TP, OffsetAt],
    configs: dict[str, str | None],
) -> dict[str, Any]:
    counts: list[int | None] = []
    for part in topic.partitions:
        start, end = (_offset(at, TP(topic.name, part.partition)) for at in (starts, ends))
        counts.append(None if start is None or end is None else end - start)
    retention = configs.get("retention.ms")
    return {
        "name": topic.name,
        "internal": is_internal(topic.name, flagged=topic.internal),
        "topic_id": topic.topic_id,
        "partitions": len(topic.partitions),
        "replication_factor": topic.replication_factor,
        "under_replicated": sum(len(p.isr) < len(p.replicas) for p in topic.partitions),
        "offline": sum(p.leader is None for p in topic.partitions),
        "records": _total(counts),
        "size_bytes": _total(
            _leader_size(sizes, TP(topic.name, part.partition), part.leader)
            for part in topic.partitions
        ),
        "cleanup_policy": configs.get("cleanup.policy"),
        "retention_ms": int(retention) if retention else None,
    }


def _configs(gateway: ClusterGateway, names: list[str]) -> dict[str, dict[str, str | None]]:
    try:
        return {
            name: config_values(entries) for name, entries in gateway.topic_configs(names).items()
        }
    except GatewayError:
        return {}


def _leader_size(sizes: Sizes | None, tp: TP, leader: int | None) -> int | None:
    if sizes is None or leader is None:
        return None
    return sizes.get(tp, {}).get(leader)


def _offset(found: dict[TP, OffsetAt], tp: TP) -> int | None:
    at = found.get(tp)
    return at.offset if at is not None else None


def _total(values: Iterable[int | None]) -> int | None:
    """The sum, or null when a part of it is not known."""
    known = list(values)
    if any(value is None for value in known):
        return None
    return sum(value for value in known if value is not None)


def deletion_extents(gateway: ClusterGateway, topic: TopicDescription) -> list[Extent]:
    """What goes with the topic, who reads it, and the ACLs that cover it."""
    reader = ClusterReader(gateway)
    groups = reader.groups()
    readers = {name: use for name, use in groups.known.items() if topic.name in use.topics}
    acls = reader.acls()
    covering = [acl.words() for acl in acls.known if acl.covers("TOPIC", topic.name)]
    return [
        amount("records", "records", "record", total(reader.records([topic]))),
        amount("bytes", "bytes", "byte", total(reader.leader_bytes([topic]))),
        listed("groups", "groups that read it", "group", readers, groups.gaps),
        listed(
            "active_groups",
            "groups reading it right now",
            "group",
            [name for name, use in readers.items() if use.state in ALIVE_STATES],
            groups.gaps,
        ),
        listed("acls", "ACLs that cover it", "ACL", covering, acls.gaps),
    ]


def held_extents(gateway: ClusterGateway, topic: TopicDescription) -> list[Extent]:
    """All that a change of settings could delete at most."""
    reader = ClusterReader(gateway)
    records, held = total(reader.records([topic])), total(reader.leader_bytes([topic]))
    return [
        amount("records", "records it holds, the most that can go", "record", records),
        amount("bytes", "bytes it holds", "byte", held),
    ]


def reading_groups(gateway: ClusterGateway, topic: str) -> Extent:
    groups = ClusterReader(gateway).groups()
    names = [name for name, use in groups.known.items() if topic in use.topics]
    return listed("groups", "groups that read it", "group", names, groups.gaps)
