"""What needs a person's eye, worst first. Pure: from clusters and Spark's rows to sentences."""

from collections.abc import Iterable
from typing import Any

DANGER, WARNING = "danger", "warning"
SHOWN = 8

_LAG = {
    "STOPPED": (DANGER, "has stopped: nobody consumes and {records} records wait"),
    "STALLED": (DANGER, "is stalled: members are there, but nothing is committed"),
    "FALLING_BEHIND": (WARNING, "is falling behind: {records} records unread"),
    "DATA_LOST": (DANGER, "has lost records that expired unread"),
    "REWOUND": (WARNING, "went back to earlier offsets"),
}
_EXPIRY = {
    "AT_RISK": (DANGER, "at its present pace loses unread records of {topic} in {left}"),
    "LOSING": (DANGER, "is losing unread records of {topic} to retention"),
}
# Without a forecast of the first loss no more is known than when today's oldest record goes.
_EXPIRES = (WARNING, "has unread records of {topic}; the oldest expires in {left}")
_RANK = {DANGER: 0, WARNING: 1}


def attention(
    cluster: dict[str, Any], lag: dict[str, Any], retention: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows {cluster_id, cluster_name, severity, text, group, topic, as_of} of one cluster."""
    found = [*_brokers(cluster), *_groups(lag), *_expiries(retention)]
    base = {"cluster_id": cluster["id"], "cluster_name": cluster["name"]}
    return sorted(({**base, **row} for row in found), key=lambda row: _RANK[row["severity"]])


def _row(severity: str, text: str, **about: Any) -> dict[str, Any]:
    return {"severity": severity, "text": text, "group": None, "topic": None, "as_of": None} | about


def _brokers(cluster: dict[str, Any]) -> Iterable[dict[str, Any]]:
    down = [str(broker["id"]) for broker in cluster["brokers"] if broker["alive"] is False]
    if down and cluster["phase"] != "CREATING":
        noun = "Broker" if len(down) == 1 else "Brokers"
        yield _row(DANGER, f"{noun} {', '.join(down)} not serving.")
    if cluster["phase"] == "FAILED":
        yield _row(DANGER, "The cluster did not come up.")


def _groups(lag: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """The worst row of each group speaks for it."""
    worst: dict[str, tuple[int, dict[str, Any], str]] = {}
    for point in lag["data"]:
        rule = _LAG.get(point["status"])
        if rule is None:
            continue
        severity, text = rule
        key = (_RANK[severity], point, f"{_subject(point)} {text}.")
        seen = worst.get(point["group"])
        if seen is None or key[0] < seen[0]:
            worst[point["group"]] = key
    for rank, point, text in worst.values():
        records = point["lag_records"]
        yield _row(
            DANGER if rank == 0 else WARNING,
            text.format(records="some" if records is None else f"{records:,}"),
            group=point["group"],
            topic=point["topic"],
            as_of=lag["as_of"],
        )


def _subject(point: dict[str, Any]) -> str:
    return f"Group {point['group']}".replace("{", "{{").replace("}", "}}")


def _expiries(retention: dict[str, Any]) -> Iterable[dict[str, Any]]:
    for topic in retention["data"]:
        for group in topic["groups"]:
            rule = _EXPIRY.get(group["status"])
            if rule is None:
                continue
            left = group["first_loss_in_s"]
            if left is None and group["status"] == "AT_RISK":
                rule, left = _EXPIRES, group["oldest_unread_expires_in_s"]
            severity, text = rule
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
