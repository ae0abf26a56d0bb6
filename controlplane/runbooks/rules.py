"""What a check makes of a reading: `ok`, `bad` or `unknown`, with words and numbers. Pure.

What could not be read is `unknown`, never `ok`; what is known of it is said all the same.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from controlplane.common.words import counted, lasting
from controlplane.gateway.types import LogDirSpace
from spark_analytics.contracts.analyses import Verdict

OK, BAD, UNKNOWN = "ok", "bad", "unknown"
NAMED_MAX = 10
DISK_LOW = 0.15
"""The share of a volume below which it fills (`PenstockDiskFilling`)."""
SKEWED = 0.8
"""The share of the lag on one partition from which on it is that partition's trouble."""
EXPIRES_SOON_S = 24 * 3600
CERTIFICATE_SOON = timedelta(days=20)
KEY_SOON = timedelta(days=14)
RESTARTS_MANY = 3
STUCK_AFTER = timedelta(minutes=10)
LIMIT_NEAR = 0.9
LATE_INTERVALS = 3
LAG_OLD = timedelta(minutes=15)
"""A run each 5 minutes, and two that failed: what was computed before says nothing of now."""

Number = int | float | str | None
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`as_of`: when what it was judged by was read; None: nobody has read it."""

    outcome: str
    text: str
    numbers: Mapping[str, Number] = field(default_factory=dict)
    as_of: datetime | None = None


def finding(
    is_ok: bool | None,
    text: str,
    as_of: datetime | None,
    **numbers: Number,
) -> Finding:
    outcome = UNKNOWN if is_ok is None else OK if is_ok else BAD
    return Finding(outcome=outcome, text=text, numbers=numbers, as_of=as_of)


def unread(text: str, as_of: datetime | None = None, **numbers: Number) -> Finding:
    return finding(None, text, as_of, **numbers)


def _named(names: Collection[object]) -> str:
    shown = ", ".join(map(str, list(names)[:NAMED_MAX]))
    more = len(names) - NAMED_MAX
    return f"{shown} and {more} more" if more > 0 else shown


def _unless_old(found: Finding, reason: str) -> Finding:
    """What is old may be otherwise by now: bad stays bad, ok is not known any more."""
    if not reason or found.outcome != OK:
        return found
    return Finding(
        outcome=UNKNOWN,
        text=f"{found.text} But this is old: {reason}.",
        numbers=found.numbers,
        as_of=found.as_of,
    )


# -- the cluster
def brokers(rows: Sequence[Row], as_of: datetime | None, reason: str) -> Finding:
    if as_of is None:
        return unread(f"The brokers were never read{_because(reason)}.")
    away = [row["id"] for row in rows if not row["live"]]
    live = len(rows) - len(away)
    said = f"{counted(live, 'broker')} in the cluster"
    text = f"{said}; missing: {_named(away)}." if away else f"{said}, none is missing."
    return _unless_old(finding(not away, text, as_of, live=live, missing=len(away)), reason)


def controller(
    controller_id: int | None, live: Collection[int] | None, as_of: datetime | None
) -> Finding:
    if live is None:
        return unread("The brokers have not said lately who the controller is.", as_of)
    if controller_id is None:
        return finding(False, "No broker is the controller.", as_of)
    is_live = controller_id in live
    gone = "" if is_live else ", which is not in the cluster"
    return finding(
        is_live, f"Broker {controller_id} is the controller{gone}.", as_of, broker=controller_id
    )


def partitions(summary: Row | None, what: str, as_of: datetime | None, reason: str) -> Finding:
    """`what` is `offline` or `under_replicated`."""
    if summary is None or summary.get(what) is None:
        return unread(f"The partitions were never read{_because(reason)}.", as_of)
    number, of = summary[what], summary["partitions"]
    word = "without a leader" if what == "offline" else "with replicas behind"
    text = f"{counted(number, 'partition')} of {of} {word}."
    return _unless_old(finding(not number, text, as_of, affected=number, partitions=of), reason)


def under_min_isr(
    rows: Iterable[tuple[str, int, int, int | None]], as_of: datetime | None, reason: str
) -> Finding:
    """Rows (topic, partition, in sync, min.insync.replicas)."""
    below, unknown, seen = [], 0, 0
    for topic, partition, in_sync, least in rows:
        seen += 1
        if least is None:
            unknown += 1
        elif in_sync < least:
            below.append(f"{topic}-{partition}")
    if as_of is None:
        return unread(f"The partitions were never read{_because(reason)}.")
    numbers: dict[str, Number] = {"below": len(below), "not_known": unknown, "partitions": seen}
    if below:
        text = f"Below min.insync.replicas: {_named(below)}."
        return finding(False, text, as_of, **numbers)
    if unknown:
        text = f"min.insync.replicas of {counted(unknown, 'partition')} is not known."
        return finding(None, text, as_of, **numbers)
    text = "Every partition has min.insync.replicas in sync."
    return _unless_old(finding(True, text, as_of, **numbers), reason)


def health(status: str, reasons: Sequence[Row], as_of: datetime | None) -> Finding:
    is_ok = {"healthy": True, "degraded": False, "unreachable": False}.get(status)
    why = " ".join(str(row.get("text", "")) for row in reasons[:NAMED_MAX])
    return finding(is_ok, f"The cluster is {status}. {why}".strip(), as_of, reasons=len(reasons))


def log_directories(spaces: Sequence[LogDirSpace], gaps: Sequence[str], as_of: datetime) -> Finding:
    failed = [f"broker {row.broker} {row.log_dir} ({row.error})" for row in spaces if row.error]
    numbers = {"directories": len(spaces), "failed": len(failed)}
    if failed:
        return finding(False, f"Failed: {_named(failed)}.", as_of, **numbers)
    if gaps or not spaces:
        why = _named(gaps) or "no broker names one"
        return finding(None, f"Not of every broker: {why}.", as_of, **numbers)
    return finding(True, "Every directory that the brokers name works.", as_of, **numbers)


def disks(spaces: Sequence[LogDirSpace], gaps: Sequence[str], as_of: datetime) -> Finding:
    """How full they are; one that has failed has no room of its own, and is not looked at."""
    spaces = [row for row in spaces if not row.error]
    known = [
        (row, row.usable_bytes / row.total_bytes)
        for row in spaces
        if row.total_bytes and row.usable_bytes is not None
    ]
    low = [f"broker {row.broker} {row.log_dir}" for row, share in known if share < DISK_LOW]
    least = min((share for _, share in known), default=None)
    numbers: dict[str, Number] = {
        "least_free_share": None if least is None else round(least, 4),
        "directories": len(spaces),
        "low": len(low),
    }
    if low:
        text = f"Less than {DISK_LOW:.0%} free: {_named(low)}."
        return finding(False, text, as_of, **numbers)
    if gaps or len(known) < len(spaces) or least is None:
        why = _named(gaps) or "brokers do not say how large their disks are"
        return finding(None, f"Not of every broker: {why}.", as_of, **numbers)
    return finding(True, f"At least {least:.0%} is free on every disk.", as_of, **numbers)


def restarts(rows: Sequence[Row], starts: Mapping[int, int], within_s: float) -> Finding:
    """Rows of a cluster's brokers as the agents see them.

    Args:
        rows: of all brokers.
        starts: how often each was started again within `within_s`, of those whose starts have
            been noted. Of another all count that its agent knows of.
        within_s: starts of longer ago say nothing of now.
    """
    if not rows or all(row["observed_state"] == "registered" for row in rows):
        return unread("This service does not run the cluster's brokers: nobody counts restarts.")
    lately = {row["id"]: starts.get(row["id"], row["restarts"]) for row in rows}
    many = [f"{broker} ({count})" for broker, count in lately.items() if count >= RESTARTS_MANY]
    silent = [row["id"] for row in rows if row["observed_state"] == "unknown"]
    total = sum(row["restarts"] for row in rows)
    within = lasting(round(within_s * 1000))
    said = "; ".join(f"{row['id']}: {row['message']}" for row in rows if row["message"])
    if many:
        text = f"Started again within {within}: {_named(many)}. {said}".strip()
        return finding(False, text, None, restarts=total, lately=max(lately.values()))
    if silent:
        text = f"The agents say nothing of {_named(silent)}. {said}".strip()
        return finding(None, text, None, restarts=total)
    text = f"No broker was started again {RESTARTS_MANY} times within {within}."
    return finding(True, text, None, restarts=total, lately=max(lately.values()))


def certificate(ends_at: datetime | None, now: datetime) -> Finding:
    if ends_at is None:
        return unread("No broker here has a certificate that this service renews.")
    left = ends_at - now
    days = left.days
    text = f"The first certificate ends in {counted(days, 'day')}, on {ends_at:%Y-%m-%d}."
    return finding(left > CERTIFICATE_SOON, text, now, days_left=days)


# -- groups
def group_members(row: Row, as_of: datetime | None, reason: str) -> Finding:
    members = row["members"]
    text = f"{counted(members, 'member')}, state {row['state']}."
    return _unless_old(finding(members > 0, text, as_of, members=members), reason)


def group_state(row: Row, as_of: datetime | None, reason: str) -> Finding:
    is_ok = {"Stable": True, "Empty": False, "Dead": False}.get(row["state"], False)
    text = f"The group is {row['state']}, with {counted(row['members'], 'member')}."
    return _unless_old(finding(is_ok, text, as_of, members=row["members"]), reason)


def group_lag(offsets: Sequence[Row], as_of: datetime | None, reason: str) -> Finding:
    """Per partition; a partition whose lag is not known makes the sum a lower bound."""
    lags = {
        (row["topic"], row["partition"]): row["lag"]
        for row in offsets
        if row["committed"] is not None
    }
    if not lags:
        return unread("The group has committed nothing that could be compared.", as_of)
    known = {at: lag for at, lag in lags.items() if lag is not None}
    total = sum(known.values())
    worst = max(known, key=lambda at: known[at], default=None)
    numbers: dict[str, Number] = {
        "lag": total,
        "partitions": len(lags),
        "not_known": len(lags) - len(known),
        "worst": None if worst is None else known[worst],
        "worst_partition": None if worst is None else f"{worst[0]}-{worst[1]}",
    }
    if total:
        text = f"{counted(total, 'record')} unread; the most on {numbers['worst_partition']}."
        return finding(False, text, as_of, **numbers)
    if len(known) < len(lags):
        return finding(None, "The ends of some partitions are not known.", as_of, **numbers)
    return _unless_old(finding(True, "Everything is read.", as_of, **numbers), reason)


def group_skew(offsets: Sequence[Row], as_of: datetime | None) -> Finding:
    """Whether one partition has nearly all of the lag."""
    lags = [(row["lag"], f"{row['topic']}-{row['partition']}") for row in offsets if row["lag"]]
    total = sum(lag for lag, _ in lags)
    if len(offsets) < 3 or not total:
        return unread("Too few partitions, or too little lag, to compare them.", as_of, lag=total)
    worst, where = max(lags)
    share = worst / total
    text = f"{share:.0%} of the lag is on {where}."
    return finding(share < SKEWED, text, as_of, share=round(share, 3), partition=where)


def group_verdict(points: Sequence[Row], bad: Collection[str], fine: Collection[str]) -> str | None:
    """The worst word about a group's topics: one of `bad`, else unknown (None), else fine."""
    found = [str(point["status"]) for point in points]
    return next((word for word in found if word in bad), None) or (
        None if not found or any(word not in fine for word in found) else found[0]
    )


def group_expiry(rows: Sequence[Row], as_of: datetime | None) -> Finding:
    """Rows of groups' expiry: {topic, first_loss_in_s, lost_records, status}."""
    if not rows:
        return unread("Nobody has judged yet when the group's unread records expire.", as_of)
    lost = sum(row["lost_records"] or 0 for row in rows)
    left = [row["first_loss_in_s"] for row in rows if row["first_loss_in_s"] is not None]
    least = min(left, default=None)
    numbers: dict[str, Number] = {"first_loss_in_s": least, "lost_records": lost}
    if lost:
        text = f"{counted(lost, 'record')} expired unread already."
        return finding(False, text, as_of, **numbers)
    if least is None:
        is_safe = all(row["status"] == "SAFE" for row in rows)
        text = "Nothing unread expires." if is_safe else "When the first one expires is not known."
        return finding(True if is_safe else None, text, as_of, **numbers)
    text = f"The first unread record expires in {lasting(max(0, int(least)) * 1000)}."
    return finding(least > EXPIRES_SOON_S, text, as_of, **numbers)


def group_objective(rows: Sequence[Row], as_of: datetime | None, now: datetime) -> Finding:
    """Rows of `lag-objectives`, of objectives that somebody set; the worst of them speaks."""
    if not rows or as_of is None:
        return unread("Nobody has set an objective for it, or its lag was never computed.", as_of)
    if now - as_of > LAG_OLD:
        return unread("Its lag was not computed lately.", as_of)
    words = [Verdict.FAST_BURN, Verdict.SLOW_BURN, Verdict.UNKNOWN, Verdict.WITHIN]
    worst = min(rows, key=lambda row: words.index(Verdict(row["verdict"])))
    word = Verdict(worst["verdict"])
    numbers: dict[str, Number] = {
        name: worst[name] for name in ("burn_1h", "burn_6h", "budget_left", "bad", "good")
    }
    if word is Verdict.UNKNOWN:
        return unread(f"Too little is known of its lag on {worst['topic']}.", as_of)
    left = worst["budget_left"]
    of_budget = "" if left is None else f" {left:.0%} of the 14 days' budget is left."
    if word is Verdict.WITHIN:
        return finding(True, f"No objective is burning.{of_budget}", as_of, **numbers)
    pace, rate = ("fast", "burn_1h") if word is Verdict.FAST_BURN else ("slowly", "burn_6h")
    text = f"On {worst['topic']} it burns {pace}, {worst[rate]:.1f} times too fast.{of_budget}"
    return finding(False, text, as_of, **numbers)


# -- topics
def topic_retention(
    configs: Sequence[Row] | None, lease: Row | None, as_of: datetime | None, now: datetime
) -> Finding:
    if configs is None:
        return unread("The topic's settings were never read.", as_of)
    values = {row["name"]: row["value"] for row in configs}
    names = ("retention.ms", "retention.bytes", "cleanup.policy", "segment.bytes", "segment.ms")
    numbers: dict[str, Number] = {name: values.get(name) for name in names}
    text = ", ".join(f"{name} {values.get(name)}" for name in names[:3])
    if lease is None:
        return finding(True, f"{text}; no lease.", as_of, **numbers)
    until = datetime.fromisoformat(lease["until"])
    numbers["lease_until"] = lease["until"]
    if lease["problem"] or until < now:
        why = lease["problem"] or "its time is over"
        return finding(False, f"{text}; the lease does not end: {why}", as_of, **numbers)
    return finding(True, f"{text}; under a lease until {lease['until']}.", as_of, **numbers)


def topic_partitions(row: Row, as_of: datetime | None, reason: str) -> Finding:
    offline, behind = row["offline"], row["under_replicated"]
    text = (
        f"{counted(row['partitions'], 'partition')}: {offline} without a leader, {behind} with"
        " replicas behind."
    )
    found = finding(not offline and not behind, text, as_of, offline=offline, behind=behind)
    return _unless_old(found, reason)


# -- the service
def late(
    what: str, last: datetime | None, interval_s: float, now: datetime, error: str = ""
) -> Finding:
    if last is None:
        return finding(False, f"There was no {what} yet. {error}".strip(), None)
    age_s = (now - last).total_seconds()
    text = f"The last {what} was {lasting(max(0, int(age_s)) * 1000)} ago. {error}".strip()
    numbers: dict[str, Number] = {"age_s": round(age_s, 1), "interval_s": interval_s}
    return finding(age_s <= LATE_INTERVALS * interval_s, text, last, **numbers)


def operation(row: Row, now: datetime) -> Finding:
    state, error = row["state"], row["error"] or {}
    under_way = next((step for step in row["steps"] if step["state"] == "running"), None)
    at = f", at “{under_way['title']}”: {under_way['detail']}" if under_way else ""
    text = f"{row['summary']} It is {state}{at}. {error.get('detail', '')}".strip()
    left = " ".join(row["remains"] or [])
    is_ok = {"succeeded": True, "reverted": True, "failed": False, "cancelled": False}.get(state)
    return finding(is_ok, f"{text} {left}".strip(), now, state=state, error=error.get("code"))


def waiting(rows: Sequence[Row], now: datetime) -> Finding:
    old = [row for row in rows if now - datetime.fromisoformat(row["created_at"]) > STUCK_AFTER]
    named = _named([f"{row['kind']} {row['id']} ({row['state']})" for row in old])
    text = f"Under way for more than 10 minutes: {named}." if old else "None is under way for long."
    return finding(not old, text, now, active=len(rows), old=len(old))


def keys(ends: Mapping[str, datetime], now: datetime) -> Finding:
    """When each key that ends does, by its name."""
    soon = {name: at for name, at in sorted(ends.items()) if at - now < KEY_SOON}
    named = _named([f"{name} on {at:%Y-%m-%d}" for name, at in soon.items()])
    text = f"Ending within {KEY_SOON.days} days: {named}." if soon else "No key ends soon."
    return finding(not soon, text, now, ending=len(soon))


def limits(used: Mapping[str, tuple[int, int]], now: datetime) -> Finding:
    """(used, limit) by what is bounded."""
    near = [f"{what} {n} of {most}" for what, (n, most) in used.items() if n >= LIMIT_NEAR * most]
    said = ", ".join(f"{what} {n} of {most}" for what, (n, most) in used.items())
    text = f"Nearly used up: {_named(near)}." if near else f"Below its limits: {said}."
    return finding(not near, text, now, **{what: n for what, (n, _) in used.items()})


def overdue(what: str, rows: Sequence[Row], now: datetime) -> Finding:
    """Rows with `ends_at` and `problem` of what should have ended by itself."""
    late_ones = [row for row in rows if datetime.fromisoformat(row["ends_at"]) < now]
    states = Counter(str(row["state"]) for row in rows)
    why = _named([row["problem"] for row in late_ones if row["problem"]])
    text = (
        f"{counted(len(late_ones), what)} should be over. {why}".strip()
        if late_ones
        else f"None of {counted(len(rows), what)} is overdue."
    )
    return finding(not late_ones, text, now, overdue=len(late_ones), open=sum(states.values()))


def _because(reason: str) -> str:
    return f" ({reason})" if reason else ""
