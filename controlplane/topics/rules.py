"""What is internal, what a configuration differs in, and warnings about topic changes. Pure."""

from collections.abc import Mapping
from typing import Any

from controlplane.common.grants import Area
from controlplane.common.problems import Conflict, Unavailable, field_problem
from controlplane.common.words import counted, lasting, sized
from controlplane.gateway.types import INTERNAL_TOPICS, SET_ON_TOPIC
from controlplane.operations.blast_radius import Extent
from controlplane.operations.naming import naming_warning
from controlplane.operations.operations import warning
from controlplane.operations.risks import Risk

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
        found.append(
            warning(
                "low-replication",
                f"Replication factor {replication_factor}: losing"
                f" {counted(replication_factor, 'broker')} can lose data.",
            )
        )
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
        warning(
            "default-unknown",
            f"{key} goes back to its default, which the brokers do not report: what it does to the"
            " data cannot be foreseen.",
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
            warning(
                "compact-to-delete",
                "Leaving compaction: records older than the retention are deleted, the last"
                " value of a key too."
                if "compact" not in new
                else "The retention holds from now on: records older than it are deleted, the"
                " last value of a key too.",
                "danger",
                risk=Risk.LOSES_DATA,
            )
        ]
    if "compact" in new and "compact" not in old:
        return [
            warning(
                "delete-to-compact",
                "Of each key only the latest value is kept: the older ones go, and undoing this"
                " does not bring them back. Records without a key will be refused.",
                "danger",
                risk=Risk.LOSES_DATA,
            )
        ]
    return []


def _retention_warnings(before: Settings, after: Settings) -> Warnings:
    if "delete" not in (after.get("cleanup.policy") or "delete"):
        return []  # pure compaction keeps the last value of a key whatever its age
    found = []
    for key, said in (("retention.ms", lasting), ("retention.bytes", sized)):
        old, new = number_in(before.get(key)), number_in(after.get(key))
        if new is not None and new >= 0 and (old is None or old < 0 or new < old):
            found.append(
                warning(
                    "retention-cut",
                    f"{key} falls to {said(new)}: what is beyond it is deleted for good.",
                    "danger",
                    risk=Risk.LOSES_DATA,
                )
            )
    return found


def _min_isr_warnings(before: Settings, after: Settings, replication_factor: int) -> Warnings:
    old, new = (number_in(side.get("min.insync.replicas")) for side in (before, after))
    if new is None or new == old:
        return []
    if new > replication_factor:
        return [
            warning(
                "unwritable",
                f"min.insync.replicas {new} with {counted(replication_factor, 'replica')}:"
                " acks=all can never succeed.",
                "danger",
            )
        ]
    if new == replication_factor > 1:
        return [
            warning(
                "no-slack",
                f"min.insync.replicas {new} of {counted(replication_factor, 'replica')}: one"
                " broker down stops every acks=all write.",
                "danger",
            )
        ]
    if new == 1 < replication_factor:
        return [
            warning(
                "weak-acks",
                "min.insync.replicas 1: acks=all may mean the leader alone, and losing it then"
                " loses records that were acknowledged.",
                "danger",
                risk=Risk.LOSES_DATA,
            )
        ]
    return []


def _setting_warnings(before: Settings, after: Settings) -> Warnings:
    found = []
    unclean = "unclean.leader.election.enable"
    if (after.get(unclean) or "").lower() == "true" != (before.get(unclean) or "").lower():
        found.append(
            warning(
                "unclean-election",
                f"{unclean}: a replica that is behind may become the leader; acknowledged records"
                " are lost then.",
                "danger",
                risk=Risk.LOSES_DATA,
            )
        )
    found += _tiered_warnings(before, after)
    for key, least, code, text in (
        (
            "max.message.bytes",
            PRODUCER_BATCH_BYTES,
            "tiny-messages",
            (
                "larger batches are refused, and producers fill theirs up to"
                f" {PRODUCER_BATCH_BYTES} bytes unless they are set otherwise"
            ),
        ),
        (
            "segment.bytes",
            SEGMENT_BYTES_SMALL,
            "tiny-segments",
            "every partition becomes many small files, each of them open on its brokers",
        ),
    ):
        old, new = number_in(before.get(key)), number_in(after.get(key))
        if new is not None and new < least and new != old:
            found.append(warning(code, f"{key} {new}: {text}.", "warning"))
    return found + _keeping_warnings(before, after)


def _tiered_warnings(before: Settings, after: Settings) -> Warnings:
    """A registered Kafka may keep old segments elsewhere, and let them go with the feature."""

    def lets_go(side: Settings) -> bool:
        return not _is_on(side, REMOTE_STORAGE) and _is_on(side, REMOTE_DELETE)

    if not lets_go(after) or lets_go(before):
        return []
    return [
        warning(
            "remote-deleted",
            f"{REMOTE_STORAGE} is off and {REMOTE_DELETE} on: what the topic holds in remote"
            " storage is deleted for good.",
            "danger",
            risk=Risk.LOSES_DATA,
        )
    ]


def _is_on(side: Settings, key: str) -> bool:
    return (side.get(key) or "").lower() == "true"


def _keeping_warnings(before: Settings, after: Settings) -> Warnings:
    """Only whole segments are deleted, and one that is written to is not whole."""
    found = []
    for kept_key, rolled_key, said in (
        ("retention.ms", "segment.ms", lasting),
        ("retention.bytes", "segment.bytes", sized),
    ):
        kept, rolled = number_in(after.get(kept_key)), number_in(after.get(rolled_key))
        was = (number_in(before.get(kept_key)), number_in(before.get(rolled_key)))
        if kept is None or rolled is None or (kept, rolled) == was or not 0 <= kept < rolled:
            continue
        found.append(
            warning(
                "kept-longer",
                f"{kept_key} of {said(kept)} is less than {rolled_key} of {said(rolled)}: data goes"
                f" by whole segments, so it may stay {said(rolled)} longer.",
                "info",
            )
        )
    return found


def partitions_warnings(*, keyed_hint: bool, groups: Extent) -> Warnings:
    found = [
        warning(
            "keys-move",
            "A key may map to another partition from now on: order per key is broken at the"
            " change." + (" This topic is compacted, so it is keyed." if keyed_hint else ""),
            "danger" if keyed_hint else "warning",
        ),
    ]
    if groups.count:
        found.append(warning("rebalance", f"{_begun(groups)} will rebalance.", "info"))
    return found


def delete_warnings(extents: Mapping[str, Extent]) -> Warnings:
    """Of a topic's deletion; what is not known is no reason to say nothing."""
    found = []
    records, readers = extents["records"], extents["active_groups"]
    if records.count or records.gaps:
        one = records.count == 1 and not records.gaps
        found.append(
            warning(
                "data-loss",
                f"{_begun(records)} ({extents['bytes'].said()}) {'is' if one else 'are'} deleted.",
                "danger",
            )
        )
    if readers.names:
        found.append(
            naming_warning(
                warning("active-readers", "Reading it right now:", "danger"),
                Area.GROUP,
                [(name, name) for name in readers.names],
                "group",
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
    return [
        warning(
            "ends-lease",
            f"retention.ms is held by a lease until {until}. What is set now stays: the lease does"
            " not put back what was there before it.",
        )
    ]


def _begun(extent: Extent) -> str:
    text = extent.said()
    return text[0].upper() + text[1:]


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
    warnings: list[dict[str, str]],
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
