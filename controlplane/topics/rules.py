"""What is internal, what a configuration differs in, and warnings about topic changes. Pure."""

from collections.abc import Mapping
from typing import Any

from controlplane.common.grants import Area
from controlplane.common.problems import Conflict, Unavailable, field_problem
from controlplane.common.words import lasting
from controlplane.gateway.types import INTERNAL_TOPICS, SET_ON_TOPIC
from controlplane.operations.blast_radius import Extent
from controlplane.operations.risks import Risk
from controlplane.operations.warnings import naming_warning, warning_of

OWN_PREFIX = "__penstock"
RETENTION_MS = "retention.ms"
RETENTION_BYTES = "retention.bytes"
REMOTE_STORAGE, REMOTE_DELETE = "remote.storage.enable", "remote.log.delete.on.disable"
OWN_SOURCES = SET_ON_TOPIC
RETRY_FIRST_S, RETRY_MAX_S = 180.0, 3600.0
"""How long after a try the end of a lease is tried again: longer than its operation may take."""
PRODUCER_BATCH_BYTES = 16_384
"""What Kafka's producers batch up to when nothing else is set (batch.size)."""
SEGMENT_BYTES_SMALL = 1_048_576
DECIDES_WHAT_STAYS = frozenset(
    {
        "cleanup.policy",
        "retention.ms",
        "retention.bytes",
        "min.insync.replicas",
        "unclean.leader.election.enable",
    }
)

Settings = Mapping[str, str | None]
Warnings = list[dict[str, Any]]


def config_changes(before: Settings, wanted: Settings) -> dict[str, str | None]:
    """The wanted settings that differ; None means back to the default."""
    return {key: value for key, value in wanted.items() if before.get(key) != value}


def effective_after(
    changes: Settings, defaults: Settings, effective_before: Settings
) -> dict[str, str | None]:
    """All effective values once the changes are made: None in `changes` is the default's value.

    A default that cannot be read stays None.
    """
    changed = {key: defaults.get(key) if value is None else value for key, value in changes.items()}
    return {**effective_before, **changed}


def create_warnings(*, replication_factor: int, configs: Settings, brokers: int) -> Warnings:
    found = []
    if replication_factor < 3 <= brokers:
        found.append(warning_of("low-replication", replicas=replication_factor))
    found += _min_isr_warnings({}, configs, replication_factor) + _setting_warnings({}, configs)
    # A topic that is only made now holds nothing that could be lost.
    return [{key: text for key, text in row.items() if key != "risk"} for row in found]


def update_warnings(*, before: Settings, after: Settings, replication_factor: int) -> Warnings:
    """Transitions that lose data or stop writes.

    `before` and `after` are all effective values (defaults applied), not the changed ones alone:
    what a retention means depends on the cleanup policy.
    """
    return [
        *_policy_warnings(before.get("cleanup.policy") or "", after.get("cleanup.policy") or ""),
        *_retention_warnings(before, after),
        *_min_isr_warnings(before, after, replication_factor),
        *_setting_warnings(before, after),
    ]


def unknown_default_warnings(changes: Settings, after: Settings) -> Warnings:
    """Keys that go back to a default which the brokers do not report."""
    return [
        warning_of(
            "default-unknown",
            key=key,
            risk=Risk.LOSES_DATA if key in DECIDES_WHAT_STAYS else None,
        )
        for key, value in changes.items()
        if value is None and after.get(key) is None
    ]


def _policy_warnings(old: str, new: str) -> Warnings:
    if not old or not new or old == new:
        return []
    if "compact" in old and "delete" in new and ("compact" not in new or "delete" not in old):
        return [
            warning_of(
                "compact-to-delete" if "compact" not in new else "compact-to-delete/both",
                "danger",
                risk=Risk.LOSES_DATA,
            )
        ]
    if "compact" in new and "compact" not in old:
        return [warning_of("delete-to-compact", "danger", risk=Risk.LOSES_DATA)]
    return []


def _retention_warnings(before: Settings, after: Settings) -> Warnings:
    if "delete" not in (after.get("cleanup.policy") or "delete"):
        return []  # pure compaction keeps the last value of a key whatever its age
    found = []
    for key, sentence, param in (
        ("retention.ms", "retention-cut/time", "kept_ms"),
        ("retention.bytes", "retention-cut/size", "kept_bytes"),
    ):
        old, new = number_in(before.get(key)), number_in(after.get(key))
        if new is not None and new >= 0 and (old is None or old < 0 or new < old):
            said: dict[str, Any] = {param: new}
            found.append(warning_of(sentence, "danger", risk=Risk.LOSES_DATA, **said))
    return found


def _min_isr_warnings(before: Settings, after: Settings, replication_factor: int) -> Warnings:
    old, new = (number_in(side.get("min.insync.replicas")) for side in (before, after))
    if new is None or new == old:
        return []
    said: dict[str, Any] = {
        "key": "min.insync.replicas",
        "least": new,
        "replicas": replication_factor,
    }
    if new > replication_factor:
        return [warning_of("unwritable", "danger", **said)]
    if new == replication_factor > 1:
        return [warning_of("no-slack/topic", "danger", **said)]
    if new == 1 < replication_factor:
        return [warning_of("weak-acks", "danger", risk=Risk.LOSES_DATA)]
    return []


def _setting_warnings(before: Settings, after: Settings) -> Warnings:
    found = []
    unclean = "unclean.leader.election.enable"
    if (after.get(unclean) or "").lower() == "true" != (before.get(unclean) or "").lower():
        found.append(warning_of("unclean-election", "danger", risk=Risk.LOSES_DATA))
    found += _tiered_warnings(before, after)
    limit = _lowered(before, after, "max.message.bytes", PRODUCER_BATCH_BYTES)
    if limit is not None:
        found.append(warning_of("tiny-messages", limit=limit, batch=PRODUCER_BATCH_BYTES))
    size = _lowered(before, after, "segment.bytes", SEGMENT_BYTES_SMALL)
    if size is not None:
        found.append(warning_of("tiny-segments", size=size))
    return found + _keeping_warnings(before, after)


def _lowered(before: Settings, after: Settings, key: str, least: int) -> int | None:
    """What a setting is changed to, where that is below `least`."""
    old, new = number_in(before.get(key)), number_in(after.get(key))
    return new if new is not None and new < least and new != old else None


def _tiered_warnings(before: Settings, after: Settings) -> Warnings:
    """A registered Kafka may keep old segments elsewhere, and let them go with the feature."""

    def lets_go(side: Settings) -> bool:
        return not _is_on(side, REMOTE_STORAGE) and _is_on(side, REMOTE_DELETE)

    if not lets_go(after) or lets_go(before):
        return []
    return [warning_of("remote-deleted", "danger", risk=Risk.LOSES_DATA)]


def _is_on(side: Settings, key: str) -> bool:
    return (side.get(key) or "").lower() == "true"


def _keeping_warnings(before: Settings, after: Settings) -> Warnings:
    """Only whole segments are deleted, and one that is written to is not whole."""
    found = []
    for kept_key, rolled_key, sentence, unit in (
        ("retention.ms", "segment.ms", "kept-longer/time", "ms"),
        ("retention.bytes", "segment.bytes", "kept-longer/size", "bytes"),
    ):
        kept, rolled = number_in(after.get(kept_key)), number_in(after.get(rolled_key))
        was = (number_in(before.get(kept_key)), number_in(before.get(rolled_key)))
        if kept is None or rolled is None or (kept, rolled) == was or not 0 <= kept < rolled:
            continue
        said: dict[str, Any] = {f"kept_{unit}": kept, f"rolled_{unit}": rolled}
        found.append(warning_of(sentence, "info", **said))
    return found


def partitions_warnings(*, keyed_hint: bool, groups: Extent) -> Warnings:
    found = [
        warning_of("keys-move/keyed", "danger") if keyed_hint else warning_of("keys-move"),
    ]
    if groups.count:
        found.append(warning_of("rebalance", "info", **groups.params("groups")))
    return found


def delete_warnings(extents: Mapping[str, Extent]) -> Warnings:
    """Of a topic's deletion; what is not known is no reason to say nothing."""
    found = []
    records, readers = extents["records"], extents["active_groups"]
    if records.count or records.gaps:
        size = extents["bytes"].params("size_bytes", whole="size")
        said = {**records.params("records"), **size}
        found.append(warning_of("data-loss/topic", "danger", **said))
    if readers.names:
        found.append(
            naming_warning(
                "active-readers",
                "danger",
                Area.GROUP,
                [(name, name) for name in readers.names],
            )
        )
    return found


def check_lease(effective: Settings, retention_ms: int, *, is_extension: bool) -> None:
    """Whether a longer `retention.ms` would keep anything longer.

    Raises:
        Conflict: the topic deletes nothing by its age, or keeps it as long already.
    """
    if "delete" not in (effective.get("cleanup.policy") or "delete"):
        raise Conflict(
            "The topic is compacted and deletes nothing by its age: a longer retention.ms keeps"
            " nothing.",
            code="not-deleted-by-age",
        )
    now_ms = number_in(effective.get(RETENTION_MS))
    if now_ms is None:
        raise Unavailable("The brokers do not say what retention.ms of the topic is now.")
    if now_ms < 0 or retention_ms < now_ms or (retention_ms == now_ms and not is_extension):
        raise field_problem(
            "/inputs/retention_ms",
            f"A lease keeps records longer than now; retention.ms is {now_ms}"
            f" ({kept_for(now_ms)}).",
            "min_value",
        )


def kept_for(retention_ms: int | None) -> str:
    """`7 days`, `for ever`, `its default`."""
    if retention_ms is None:
        return "its default"
    return "for ever" if retention_ms < 0 else lasting(retention_ms)


def retry_after_s(tries: int) -> float:
    return float(min(RETRY_FIRST_S * 2 ** min(tries, 10), RETRY_MAX_S))


def leased_warnings(until: str | None) -> Warnings:
    """Of a change of retention.ms by hand; `until`: when the topic's lease ends, if it has one."""
    if until is None:
        return []
    return [warning_of("ends-lease", until_at=until)]


def number_in(text: str | None) -> int | None:
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def is_internal(name: str, *, flagged: bool = False) -> bool:
    """`flagged`: what the brokers themselves say."""
    return flagged or name in INTERNAL_TOPICS or name.startswith(OWN_PREFIX)


def refuse_internal(name: str, refusal: str, *, flagged: bool) -> None:
    """Raises Conflict `internal-topic`."""
    if is_internal(name, flagged=flagged):
        raise Conflict(f"{name} is internal to the cluster: {refusal}.", code="internal-topic")


def refuse_reserved(name: str) -> None:
    if is_internal(name):
        raise field_problem(
            "/inputs/name", f"{name} is a name that the cluster keeps for itself.", "reserved"
        )


def is_dangerous(
    changes: Mapping[str, str | None],
    effective_after: Mapping[str, str | None],
    warnings: list[dict[str, Any]],
) -> bool:
    """Whether an update could lose what an internal topic holds.

    Such topics are compacted: every other cleanup policy lets records go by their age,
    and putting compaction back is a repair.
    """
    if "cleanup.policy" in changes and effective_after.get("cleanup.policy") != "compact":
        return True
    return any(
        row["severity"] == "danger" and row["code"] != "delete-to-compact" for row in warnings
    )
