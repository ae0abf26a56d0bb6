"""What a pass writes, how a cluster is, when it is looked at next. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from controlplane.common.words import counted
from controlplane.observed.sections import DEGRADED, HEALTHY, UNKNOWN, UNREACHABLE

BACKOFF_MAX_S = 300.0
"""Longest time between two attempts at a cluster that does not answer."""
SHARE_OF_TIME = 10
"""A pass is followed by this many times its own length without one, what it only waited aside."""
SILENT_INTERVALS_MAX = 4
"""The longest time to the next pass after one that waited for brokers in vain."""
STALE_AFTER_INTERVALS = 4
OF_PARTITIONS = frozenset({"offline-partitions", "under-replicated"})
OF_THE_CLUSTER = frozenset(
    {
        "brokers-missing",
        "brokers-unwanted",
        "no-controller",
        "topics-unknown",
        "not-observed",
        "out-of-date",
    }
)
"""Reasons that say nothing of any topic, so that everybody sees them who sees the cluster."""
GRACE_S = 30.0


@dataclass(frozen=True, slots=True)
class Seen:
    """A row as the tables have it; see `ObservedRow`."""

    mark: str
    unread: str = ""
    touched_at: datetime | None = None
    gone: bool = False


@dataclass(slots=True)
class Difference:
    """Keys to write anew, to remove, and to keep as they are although they could not be read."""

    write: set[str] = field(default_factory=set)
    remove: set[str] = field(default_factory=set)
    keep_unread: set[str] = field(default_factory=set)


def difference(
    seen: Mapping[str, Seen],
    marks: Mapping[str, str],
    *,
    missing_reason: str,
    read_at: datetime,
) -> Difference:
    """What makes the tables say what was read.

    Args:
        seen: what the tables have, by key.
        marks: of what was read, by key.
        missing_reason: why something may be there that was not read; empty: all was read, and
            what is missing is gone.
        read_at: when reading began. A row touched later is left: the touch knows better.
    """
    found = Difference()
    for key, mark in marks.items():
        old = seen.get(key)
        if old is None or (not _touched_since(old, read_at) and _differs(old, mark)):
            found.write.add(key)
    for key, old in seen.items():
        if key in marks or _touched_since(old, read_at):
            continue
        if old.gone or not missing_reason:
            found.remove.add(key)
        elif old.unread != missing_reason:
            found.keep_unread.add(key)
    return found


def _touched_since(old: Seen, read_at: datetime) -> bool:
    return old.touched_at is not None and old.touched_at > read_at


def _differs(old: Seen, mark: str) -> bool:
    return old.mark != mark or old.gone or bool(old.unread)


def health(
    *,
    controller_id: int | None,
    live: Collection[int],
    wanted: Collection[int],
    placed: Collection[int],
    under_replicated: int | None,
    offline: int | None,
) -> tuple[str, list[dict[str, str]]]:
    """(health, reasons) of a cluster that answers; counts are None while topics are not known.

    `placed`: brokers that the control plane has placed, none where it places none; `wanted` are
    these and those that hold replicas.
    """
    reasons = []
    missing = sorted(set(wanted) - set(live))
    if missing:
        one = len(missing) == 1
        names = ", ".join(map(str, missing))
        reasons.append(
            _reason(
                "brokers-missing", f"{'Broker' if one else 'Brokers'} {names} not in the cluster."
            )
        )
    unwanted = sorted(set(live) - set(placed)) if placed else []
    if unwanted:
        names = ", ".join(map(str, unwanted))
        verb = "Broker {} is" if len(unwanted) == 1 else "Brokers {} are"
        text = f"{verb.format(names)} in the cluster, and nobody has asked for that."
        reasons.append(_reason("brokers-unwanted", text))
    if controller_id is None:
        reasons.append(_reason("no-controller", "No broker is controller."))
    reasons += _partition_reasons(under_replicated, offline)
    if reasons:
        return DEGRADED, reasons
    if offline is None:
        return UNKNOWN, [_reason("topics-unknown", "Its topics could not be read.")]
    return HEALTHY, []


def _partition_reasons(under_replicated: int | None, offline: int | None) -> list[dict[str, str]]:
    reasons = []
    if offline:
        verb = "has" if offline == 1 else "have"
        text = f"{counted(offline, 'partition')} {verb} no leader."
        reasons.append(_reason("offline-partitions", text))
    if under_replicated:
        verb = "lacks" if under_replicated == 1 else "lack"
        text = f"{counted(under_replicated, 'partition')} {verb} replicas in sync."
        reasons.append(_reason("under-replicated", text))
    return reasons


def counts_partitions(reasons: Iterable[Mapping[str, str]]) -> bool:
    return any(reason["code"] in OF_PARTITIONS for reason in reasons)


def health_of_a_part(
    status: str, reasons: Iterable[dict[str, str]], *, under_replicated: int, offline: int
) -> tuple[str, list[dict[str, str]]]:
    """A cluster's health for who sees some of its topics: the counts are of those alone."""
    found = [reason for reason in reasons if reason["code"] in OF_THE_CLUSTER]
    if status == UNREACHABLE:
        return unreachable("it did not answer")
    if status != DEGRADED:
        return status, found
    found += _partition_reasons(under_replicated, offline)
    return (DEGRADED, found) if found else (HEALTHY, [])


def unreachable(said: str) -> tuple[str, list[dict[str, str]]]:
    return UNREACHABLE, [_reason("unreachable", f"The cluster could not be asked: {said}")]


def not_observed() -> tuple[str, list[dict[str, str]]]:
    return UNKNOWN, [_reason("not-observed", "The cluster has not been observed yet.")]


def out_of_date() -> tuple[str, list[dict[str, str]]]:
    return UNKNOWN, [_reason("out-of-date", "Nobody has looked at the cluster for a while.")]


def _reason(code: str, text: str) -> dict[str, str]:
    return {"code": code, "text": text}


def next_pass_in_s(
    interval_s: float, *, took_s: float, failures: int, silent_s: float = 0.0
) -> float:
    """Large clusters are read less often, and those that do not answer less and less.

    `silent_s` of `took_s` was spent on brokers that did not answer. That costs them nothing, and
    just then what became of them must be seen soon: not only is it left out, the pass is not much
    later than by its turn either, as what else has waited for them is not known.
    """
    if failures:
        return min(interval_s * 2.0 ** min(failures, 16), max(BACKOFF_MAX_S, interval_s))
    pause_s = max(interval_s, (took_s - silent_s) * SHARE_OF_TIME)
    return min(pause_s, interval_s * SILENT_INTERVALS_MAX) if silent_s else pause_s


def is_overdue(now: datetime, due_at: datetime, interval_s: float) -> bool:
    """Whether a pass that was due has not come for so long that nobody seems to look."""
    return now > due_at + timedelta(seconds=STALE_AFTER_INTERVALS * interval_s + GRACE_S)
