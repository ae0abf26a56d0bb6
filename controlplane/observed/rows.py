"""What was read, as the rows that the tables hold and REST shows. Pure."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from controlplane.common.hashing import canonical_json, content_hash
from controlplane.common.parsers import is_storable
from controlplane.gateway.types import (
    TP,
    AclBinding,
    ClientQuota,
    ClusterDescription,
    CommittedOffset,
    ConfigEntry,
    GroupDescription,
    LogDirSpace,
    OngoingReassignment,
    ScramCredential,
    TopicDescription,
)
from controlplane.observed.placement import Placed, Topics, by_broker, on_broker
from controlplane.observed.sections import KEY_MAX

Row = dict[str, Any]
MARK_CHARS = 40
REPLACEMENT = "\ufffd"
FAILED_DIRS_MAX, PATH_MAX = 32, 1_000
"""What is kept of a broker's failed log directories."""


@dataclass(frozen=True, slots=True)
class Content:
    """A row of a list, and what its own page shows beyond it; JSON that a database can hold."""

    row: Row
    detail: Row
    mark: str


def content(row: Row, detail: Row | None = None) -> Content:
    """With text that no database holds replaced: clients choose names of members and metadata."""
    detail = {} if detail is None else detail
    text = canonical_json([row, detail])
    if "\\u0000" in text or "\\ud" in text:
        row, detail = _storable(row), _storable(detail)
        text = canonical_json([row, detail])
    return Content(row, detail, hashlib.sha256(text.encode()).hexdigest()[:MARK_CHARS])


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        if is_storable(value):
            return value
        text = value.encode("utf-8", "replace").decode()
        return text.replace("\0", REPLACEMENT)
    if isinstance(value, dict):
        return {_storable(key): _storable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_storable(each) for each in value]
    return value


def keyable(contents: Mapping[str, Content]) -> tuple[dict[str, Content], int]:
    """Those whose names fit an index, and how many do not."""
    kept = {key: each for key, each in contents.items() if len(key) <= KEY_MAX and is_storable(key)}
    return kept, len(contents) - len(kept)


# -- brokers --------------------------------------------------------------------------------
def broker_key(broker: int) -> str:
    return f"{broker:010d}"


def free_share(space: LogDirSpace) -> float | None:
    """What is left of a volume; None where the broker does not say."""
    if not space.total_bytes or space.usable_bytes is None:
        return None
    return space.usable_bytes / space.total_bytes


def fullest_disks(spaces: Iterable[LogDirSpace]) -> dict[int, LogDirSpace]:
    """By broker the volume with the least left of it, where it says that."""
    found: dict[int, LogDirSpace] = {}
    for space in spaces:
        if free_share(space) is not None:
            kept = found.setdefault(space.broker, space)
            found[space.broker] = min(kept, space, key=lambda each: free_share(each) or 0)
    return found


def failed_dirs(spaces: Iterable[LogDirSpace]) -> dict[int, list[LogDirSpace]]:
    """By broker those that have failed; who names no directory at all has said nothing."""
    found: dict[int, list[LogDirSpace]] = {}
    for space in spaces:
        failed = found.setdefault(space.broker, [])
        if space.error:
            failed.append(space)
    return found


def broker_contents(
    described: ClusterDescription,
    topics: Collection[TopicDescription] | None,
    held: Mapping[int, int] | None,
    *,
    disks: Mapping[int, LogDirSpace] | None = None,
    failed: Mapping[int, Collection[LogDirSpace]] | None = None,
    led: Mapping[TP, int] | None = None,
) -> dict[str, Content]:
    """Live brokers, and those that partitions name; loads are null while topics are unknown.

    `held` is bytes by broker, of those that said; `disks` the fullest volume of each that did;
    `failed` the log directories that have failed, none or some of each that named its directories;
    `led` bytes of partitions' leaders, for `detail.placement`, which is not there while topics are
    unknown.
    """
    nodes = {node.id: node for node in described.brokers}
    placements = by_broker(_placed(topics or (), led or {}))
    nothing = on_broker(0, ())
    found = {}
    for broker in sorted({*nodes, *placements}):
        node = nodes.get(broker)
        known = topics is not None
        placement = placements.get(broker, nothing)
        disk = (disks or {}).get(broker)
        gone = (failed or {}).get(broker)
        found[broker_key(broker)] = content(
            {
                "id": broker,
                "host": node.host if node else None,
                "port": node.port if node else None,
                "rack": node.rack if node else None,
                "live": node is not None,
                "leaders": placement["leads"] if known else None,
                "replicas": placement["leads"] + placement["follows"] if known else None,
                "size_bytes": held.get(broker) if held is not None else None,
                "disk_total_bytes": disk.total_bytes if disk else None,
                "disk_usable_bytes": disk.usable_bytes if disk else None,
                "failed_log_dirs": None if gone is None else _failed(gone),
            },
            {"placement": placement} if known else {},
        )
    return found


def _placed(topics: Iterable[TopicDescription], led: Mapping[TP, int]) -> Topics:
    for topic in topics:
        yield (
            topic.name,
            (
                Placed(
                    part.leader, part.replicas, part.isr, led.get(TP(topic.name, part.partition))
                )
                for part in topic.partitions
            ),
        )


def _failed(spaces: Collection[LogDirSpace]) -> list[Row]:
    rows = sorted(spaces, key=lambda space: space.log_dir)[:FAILED_DIRS_MAX]
    return [{"path": space.log_dir[:PATH_MAX], "error": space.error} for space in rows]


# -- topics ---------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Extents:
    """How far partitions reach; what nobody said is not in the mappings.

    Attributes:
        bounds: (log start, log end).
        bytes: of the leader's log.
    """

    bounds: Mapping[TP, tuple[int, int]]
    bytes: Mapping[TP, int]


def topic_content(
    topic: TopicDescription,
    extents: Extents,
    settings: Mapping[str, Row] | None,
    defaults: Mapping[str, Row],
) -> Content:
    """`detail.partitions`: [partition, leader, epoch, replicas, isr, start, end, bytes].

    `settings` are by name; None: nobody gave them, and none are known of before.
    """
    counts: list[int | None] = []
    sizes: list[int | None] = []
    partitions = []
    for part in topic.partitions:
        tp = TP(topic.name, part.partition)
        start, end = extents.bounds.get(tp, (None, None))
        size = extents.bytes.get(tp)
        counts.append(None if start is None or end is None else end - start)
        sizes.append(size)
        partitions.append(
            [
                part.partition,
                part.leader,
                part.leader_epoch,
                list(part.replicas),
                list(part.isr),
                start,
                end,
                size,
            ]
        )
    values = {name: row["value"] for name, row in (settings or {}).items()}
    retention = values.get("retention.ms")
    return content(
        {
            "name": topic.name,
            "internal": topic.internal,
            "topic_id": topic.topic_id,
            "partitions": len(topic.partitions),
            "replication_factor": topic.replication_factor,
            "under_replicated": sum(len(p.isr) < len(p.replicas) for p in topic.partitions),
            "offline": sum(p.leader is None for p in topic.partitions),
            "records": _total(counts),
            "size_bytes": _total(sizes),
            "cleanup_policy": values.get("cleanup.policy"),
            "retention_ms": int(retention) if retention else None,
        },
        {
            "partitions": partitions,
            "configs": None
            if settings is None
            else [row for name, row in sorted(settings.items()) if defaults.get(name) != row],
        },
    )


def partition_rows(detail: Row) -> list[Row]:
    names = (
        "partition",
        "leader",
        "leader_epoch",
        "replicas",
        "isr",
        "log_start",
        "log_end",
        "size_bytes",
    )
    return [dict(zip(names, row, strict=True)) for row in detail["partitions"]]


def topic_defaults(configs: Iterable[Iterable[ConfigEntry]]) -> dict[str, Row]:
    """By name, what a topic has that sets nothing: kept once, topics keep what differs."""
    found: dict[str, Row] = {}
    for entries in configs:
        for entry in entries:
            if entry.is_default and entry.name not in found:
                found[entry.name] = content(config_row(entry)).row
    return found


def config_row(entry: ConfigEntry) -> Row:
    return {
        "name": entry.name,
        "value": entry.value,
        "source": entry.source,
        "is_default": entry.is_default,
        "read_only": entry.read_only,
        "sensitive": entry.sensitive,
        "doc": entry.doc,
    }


def config_rows(detail: Row, defaults: Mapping[str, Row]) -> list[Row] | None:
    """All settings of a topic by name; None: not known."""
    if detail["configs"] is None:
        return None
    merged = {**defaults, **{row["name"]: row for row in detail["configs"]}}
    return [row for _, row in sorted(merged.items())]


def _total(values: Collection[int | None]) -> int | None:
    """The sum, or null when a part of it is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


# -- groups ---------------------------------------------------------------------------------
def group_content(
    described: GroupDescription,
    committed: Mapping[TP, CommittedOffset],
    bounds: Mapping[TP, tuple[int, int]],
    partitions: Mapping[str, Collection[int]],
) -> Content:
    """`detail.offsets`: [topic, partition, committed, start, end, metadata], null: not known.

    `bounds` are (log start, log end) of partitions that gave them, `partitions` those that every
    topic has. All partitions of a topic that the group uses are there, also those in which it has
    no commit. The lag is of the commits, and null while the end of a partition that is there is not
    known; a commit in a deleted topic is no part of it.
    """
    assigned = {tp for member in described.members for tp in member.partitions}
    used = {*committed, *assigned}
    there = {
        TP(topic, number)
        for topic in {tp.topic for tp in used}
        for number in partitions.get(topic, ())
    }
    offsets = []
    lags: list[int | None] = []
    unstarted: list[int | None] = []
    for tp in sorted(used | there):
        start, end = bounds.get(tp, (None, None))
        at = committed.get(tp)
        if at is not None and (end is not None or tp in there):
            lags.append(None if end is None else max(end - at.offset, 0))
        if at is None and tp in there:
            unstarted.append(None if start is None or end is None else end - start)
        offsets.append(
            [
                tp.topic,
                tp.partition,
                at.offset if at else None,
                start,
                end,
                at.metadata if at else "",
            ]
        )
    return content(
        {
            "group": described.group,
            "state": described.state,
            "protocol_type": described.protocol_type,
            "members": len(described.members),
            "coordinator": described.coordinator,
            "lag": _total(lags) if lags else None,
            "uncommitted_partitions": len(unstarted),
            "uncommitted_records": _total(unstarted),
            "topics": sorted({tp.topic for tp in committed}),
        },
        {
            "members": [
                {
                    "member_id": member.member_id,
                    "client_id": member.client_id,
                    "host": member.host,
                    "partitions": [
                        {"topic": tp.topic, "partition": tp.partition} for tp in member.partitions
                    ],
                }
                for member in described.members
            ],
            "offsets": offsets,
        },
    )


# -- users and ACLs -------------------------------------------------------------------------
def user_contents(credentials: Iterable[ScramCredential]) -> dict[str, Content]:
    mechanisms: dict[str, list[str]] = defaultdict(list)
    for credential in credentials:
        mechanisms[credential.username].append(credential.mechanism)
    return {
        name: content({"username": name, "mechanisms": sorted(found)})
        for name, found in mechanisms.items()
    }


def acl_contents(bindings: Iterable[AclBinding]) -> dict[str, Content]:
    found = {}
    for binding in bindings:
        row = asdict(binding)
        made = content(row)
        found[_acl_key(made.row)] = made
    return found


def acl_key(binding: AclBinding) -> str:
    return _acl_key(content(asdict(binding)).row)


def _acl_key(row: Row) -> str:
    """Its fields, so that the list is in their order; a long one ends in a hash."""
    text = " ".join(str(value) for value in row.values())
    if len(text) <= KEY_MAX:
        return text
    mark = content_hash(row)[:MARK_CHARS]
    return f"{text[: KEY_MAX - MARK_CHARS - 1]} {mark}"


# -- what is asked each time, kept for when nobody answers -----------------------------------------
def quota_contents(quotas: Iterable[ClientQuota]) -> dict[str, Content]:
    found = {}
    for quota in quotas:
        row = {
            "entity": [[kind, name] for kind, name in quota.entity],
            "values": dict(quota.values),
        }
        text = " ".join(f"{kind}={name}" for kind, name in quota.entity)
        found[text if len(text) <= KEY_MAX else _shortened(text)] = content(row)
    return found


def _shortened(text: str) -> str:
    """A part of it and a hash of the whole."""
    mark = content_hash(text)[:MARK_CHARS]
    return f"{text[: KEY_MAX - MARK_CHARS - 1]} {mark}"


def reassignment_contents(ongoing: Iterable[OngoingReassignment]) -> dict[str, Content]:
    return {
        f"{row.tp.topic} {row.tp.partition:010d}": content(
            {
                "topic": row.tp.topic,
                "partition": row.tp.partition,
                "replicas": list(row.replicas),
                "adding": list(row.adding),
                "removing": list(row.removing),
            }
        )
        for row in ongoing
    }
