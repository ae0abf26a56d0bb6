"""What needs a person's eye, worst first. Pure: from clusters and Spark's rows to sentences."""

from collections.abc import Iterable
from typing import Any

from spark_analytics.contracts.statuses import (
    RISK_SEVERITY,
    STATUS_SEVERITY,
    Risk,
    Severity,
    Status,
    rank,
)

SHOWN = 8

_LAG = {
    Status.STOPPED: "has stopped: nobody consumes and {records} records wait",
    Status.STALLED: "is stalled: members are there, but nothing is committed",
    Status.FALLING_BEHIND: "is falling behind: {records} records unread",
    Status.DATA_LOST: "has lost records that expired unread",
    Status.NOT_COMMITTING: "has members, but commits nothing for partitions that hold records",
    Status.REWOUND: "went back to earlier offsets",
}
_EXPIRY = {
    Risk.AT_RISK: "at its present pace loses unread records of {topic} in {left}",
    Risk.LOSING: "is losing unread records of {topic} to retention",
}
# Without a forecast of the first loss no more is known than when today's oldest record goes.
_EXPIRES = "has unread records of {topic}; the oldest expires in {left}"
# Brokers that are missing are named from the agents' reports too, above.
_HEALTH = {
    "unreachable": Severity.DANGER,
    "no-controller": Severity.DANGER,
    "offline-partitions": Severity.DANGER,
    "under-replicated": Severity.WARNING,
}
_SERVING = frozenset({"RUNNING", "DEGRADED"})
_WORST_FIRST = list(reversed(Severity))


def attention(
    cluster: dict[str, Any], lag: dict[str, Any], retention: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows {cluster_id, cluster_name, severity, text, group, topic, as_of} of one cluster."""
    found = [*_brokers(cluster), *_groups(lag), *_expiries(retention)]
    base = {"cluster_id": cluster["id"], "cluster_name": cluster["name"]}
    return sorted(
        ({**base, **row} for row in found), key=lambda row: _WORST_FIRST.index(row["severity"])
    )


def _row(severity: Severity, text: str, **about: Any) -> dict[str, Any]:
    return {"severity": severity, "text": text, "group": None, "topic": None, "as_of": None} | about


def _brokers(cluster: dict[str, Any]) -> Iterable[dict[str, Any]]:
    down = [str(broker["id"]) for broker in cluster["brokers"] if broker["alive"] is False]
    if down and cluster["phase"] != "CREATING":
        noun = "Broker" if len(down) == 1 else "Brokers"
        yield _row(Severity.DANGER, f"{noun} {', '.join(down)} not serving.")
    for reason in cluster["health"]["reasons"]:
        severity = _HEALTH.get(reason["code"])
        if severity is not None and cluster["phase"] in _SERVING:
            yield _row(severity, reason["text"], as_of=cluster["health"]["as_of"])
    if cluster["phase"] == "FAILED":
        yield _row(Severity.DANGER, "The cluster did not come up.")


def _groups(lag: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """The worst row of each group speaks for it."""
    worst: dict[str, tuple[Status, dict[str, Any]]] = {}
    for point in lag["data"]:
        if point["status"] not in _LAG:
            continue
        status, seen = Status(point["status"]), worst.get(point["group"])
        if seen is None or rank(status) > rank(seen[0]):
            worst[point["group"]] = (status, point)
    for status, point in worst.values():
        records = point["lag_records"]
        said = _LAG[status].format(records="some" if records is None else f"{records:,}")
        yield _row(
            STATUS_SEVERITY[status],
            f"Group {point['group']} {said}.",
            group=point["group"],
            topic=point["topic"],
            as_of=lag["as_of"],
        )


def _expiries(retention: dict[str, Any]) -> Iterable[dict[str, Any]]:
    for topic in retention["data"]:
        for group in topic["groups"]:
            if group["status"] not in _EXPIRY:
                continue
            risk, left = Risk(group["status"]), group["first_loss_in_s"]
            text, severity = _EXPIRY[risk], RISK_SEVERITY[risk]
            if left is None and risk == Risk.AT_RISK:
                text, severity = _EXPIRES, Severity.WARNING
                left = group["oldest_unread_expires_in_s"]
            said = text.format(topic=topic["topic"], left=_span(left))
            yield _row(
                severity,
                f"Group {group['group']} {said}.",
                group=group["group"],
                topic=topic["topic"],
                as_of=retention["as_of"],
            )


def _span(seconds: float | None) -> str:
    if seconds is None:
        return "an unknown time"
    minutes = max(0, round(seconds / 60))
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"
