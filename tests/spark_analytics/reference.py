"""The formulas again, slowly and in plain Python; written from the definitions, not from Spark's.

Works on telemetry slices (dictionaries), gives gold rows (dictionaries) of all windows. A row's
`method` is the set of those that are true of it: of two partitions of equal age either one's is.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import Any

from spark_analytics.contracts.rules import Rules

Row = dict[str, Any]


def gold(slices: list[Row], rules: Rules) -> dict[str, list[Row]]:
    topics = last_slices([s for s in slices if s["kind"] == "topic"], rules)
    groups = last_slices([s for s in slices if s["kind"] == "group"], rules)
    series = log_ends(topics)
    all_samples = {key: Log(samples) for key, samples in series.items()}
    stands = [
        stand
        for part in by_series(groups).values()
        for stand in judge(part, topics, all_samples, rules)
    ]
    return {
        "group_lag": group_lag(stands, rules),
        "topic_retention": [retention(s) for s in topics],
        "group_expiry": expiry(stands, rules),
    }


def last_slices(slices: list[Row], rules: Rules) -> list[Row]:
    last: dict[tuple, Row] = {}
    for one in slices:
        window = one["ts_ms"] // (rules.window_s * 1000) * rules.window_s * 1000
        key = (one["cluster_id"], one.get("group"), one["topic"], window)
        if key not in last or one["ts_ms"] >= last[key]["ts_ms"]:
            last[key] = {**one, "window_ms": window}
    return sorted(last.values(), key=lambda s: s["window_ms"])


def log_ends(topics: list[Row]) -> dict[tuple, list[tuple[int, int, int]]]:
    series = defaultdict(list)
    for one in topics:
        parts = zip(one["partition"], one["log_end_offset"], one["leader_epoch"], strict=True)
        for p, end, epoch in parts:
            if end is not None:
                series[(*log_key(one), p)].append((one["ts_ms"], end, epoch))
    return series


def log_key(one: Row) -> tuple:
    return one["cluster_id"], one["topic"], one.get("topic_id") or ""


class Log:
    """When one log, of one topic id, had which end; a leader epoch that begins below what was there
    cuts it.
    """

    def __init__(self, samples: list[tuple[int, int, int]]) -> None:
        self.samples = samples
        epochs = []
        for epoch in {epoch for _, _, epoch in samples}:
            mine = [(ts, end) for ts, end, other in samples if other == epoch]
            epochs.append((*min(mine), epoch, max(end for _, end in mine)))
        reached = -1
        self.cuts = []
        for ts, end, _, top in sorted(epochs, key=lambda e: (e[0], e[2])):
            if end < reached:
                self.cuts.append((ts, end))
            reached = max(reached, top)

    def cuts_by(self, ts_ms: int) -> int:
        return len([ts for ts, _ in self.cuts if ts <= ts_ms])

    def known_at(self, ts_ms: int) -> list[tuple[int, int]]:
        """The samples that are true of the log as it was at that instant; flat runs need not be
        compressed for the meaning."""
        history = self.cuts_by(ts_ms)
        found = []
        for i, (ts, end, _) in enumerate(self.samples):
            own = self.cuts_by(ts)
            later = [e for t, e, _ in self.samples[i + 1 :] if self.cuts_by(t) == own]
            passed = [e for _, e in self.cuts[own:history]]
            if own <= history and all(e >= end for e in later + passed):
                found.append((ts, end))
        return found


def first_unread(  # noqa: PLR0911 - one return a rule
    q: Row, series: list[tuple[int, int]], rules: Rules
) -> tuple[float | None, str | None]:
    at, end, now = q["committed"], q["end"], q["ts_ms"]
    if at < 0:
        return None, "no_commit"
    if end is None:
        return None, None
    if at >= end:
        return float(now), "caught_up"
    if at <= q["start"] and q["oldest_ts_ms"] is not None:
        return float(min(q["oldest_ts_ms"], now)), "exact"
    below = [(o, ts) for ts, o in series if o <= at]
    above = [(o, ts) for ts, o in series if o > at]
    if not below or max(below)[1] > now:
        return None, "out_of_history"
    left_offset, left_ms = max(below)
    right_offset, right_ms = min(above) if above else (end, now)
    if right_ms > now:
        right_offset, right_ms = end, now
    if right_ms - left_ms > rules.offset_samples_gap_max_s * 1000:
        return None, "out_of_history"
    share = (at - left_offset) / (right_offset - left_offset)
    return left_ms + share * (right_ms - left_ms), "interpolated"


def theil_sen(points: list[tuple[float, float]]) -> float | None:
    slopes = [
        (y2 - y1) / (x2 - x1)
        for i, (x1, y1) in enumerate(points)
        for x2, y2 in points[i + 1 :]
        if x2 != x1
    ]
    return statistics.median(slopes) if slopes else None


def per_s(slope: float | None) -> float | None:
    """Of a slope by milliseconds; as seconds since 1970 they would lose digits."""
    return None if slope is None else slope * 1000


def by_series(groups: list[Row]) -> dict[tuple, list[Row]]:
    series = defaultdict(list)
    for one in groups:
        for i, p in enumerate(one["partition"]):
            series[(*log_key(one), one["group"], p)].append(
                {
                    **{k: one[k] for k in ("cluster_id", "group", "topic", "window_ms", "ts_ms")},
                    "topic_id": one.get("topic_id") or "",
                    **{k: one[k] for k in ("state", "members")},
                    "partition": p,
                    "committed": one["committed_offset"][i],
                    "start": one["log_start_offset"][i],
                    "end": one["log_end_offset"][i],
                }
            )
    return series


def is_apart(one: Row, other: Row, rules: Rules) -> bool:
    return bool(other["window_ms"] - one["window_ms"] > rules.trend_s * 1000)


def judge(part: list[Row], topics: list[Row], all_samples, rules: Rules) -> list[Row]:
    of_topic = {}
    for one in topics:
        for i, p in enumerate(one["partition"]):
            of_topic[(*log_key(one), p, one["window_ms"])] = {
                "size_bytes": one["size_bytes"][i],
                "oldest_ts_ms": one["oldest_ts_ms"][i],
                "retention_ms": one["retention_ms"],
                "retention_bytes": one["retention_bytes"],
            }
    nothing = dict.fromkeys(("size_bytes", "oldest_ts_ms", "retention_ms", "retention_bytes"))
    changed_ms = waiting_ms = None
    for i, q in enumerate(part):
        key = (*log_key(q), q["partition"])
        q.update(of_topic.get((*key, q["window_ms"]), nothing))
        series = all_samples[key].known_at(q["ts_ms"]) if key in all_samples else []
        q["first_unread_ms"], q["method"] = first_unread(q, series, rules)
        committed = q["committed"] >= 0
        q["lag"] = max(0, q["end"] - q["committed"]) if committed and q["end"] is not None else None
        q["lost"] = max(0, q["start"] - q["committed"]) if committed else None
        age_ms = None if q["first_unread_ms"] is None else q["ts_ms"] - q["first_unread_ms"]
        q["time_lag"] = age_ms / 1000 if committed and age_ms is not None else None
        # The first sample above the committed offset proves that the record was there by then.
        above = [(end, ts) for ts, end in series if end > q["committed"]]
        there_ms = min(min(above)[1] if above else q["ts_ms"], q["ts_ms"])
        bound_ms = q["ts_ms"] - there_ms
        q["at_least"] = (
            None if not committed else bound_ms / 1000 if age_ms is None else age_ms / 1000
        )
        trail = [
            r for r in part[: i + 1] if r["window_ms"] >= q["window_ms"] - rules.trend_s * 1000
        ]
        q["p"] = per_s(theil_sen([(r["ts_ms"], r["end"]) for r in trail if r["end"] is not None]))
        q["c"] = per_s(theil_sen([(r["ts_ms"], r["committed"]) for r in trail]))
        # What was not there for longer than trends look is another one of that name.
        before = part[i - 1] if i and not is_apart(part[i - 1], q, rules) else None
        if before is None or q["committed"] != before["committed"]:
            changed_ms = q["ts_ms"]
        if before is None:
            waiting_ms = None
        q["unchanged"] = (q["ts_ms"] - changed_ms) / 1000
        if not (q["committed"] < 0 and q["end"] is not None and q["end"] > q["start"]):
            waiting_ms = None
        elif waiting_ms is None:
            # The time before is its own: the commit was still there, or nothing is known.
            waiting_ms = (before or q)["ts_ms"]
        q["waiting"] = None if waiting_ms is None else (q["ts_ms"] - waiting_ms) / 1000
        first = part.index(trail[0])
        steps = [
            part[j]["committed"] - part[j - 1]["committed"]
            for j in range(max(first, 1), i + 1)
            if not is_apart(part[j - 1], part[j], rules)
        ]
        q["went_back"] = any(step < 0 for step in steps)
        closing = None if q["p"] is None else q["c"] - q["p"]
        q["eta"] = (
            q["lag"] / closing
            if closing is not None and closing > 0 and q["lag"] is not None
            else None
        )
        floor = max(float(rules.allowed_lag_records), (q["p"] or 0.0) * 10)
        fresh = q["time_lag"] is not None and q["time_lag"] <= rules.slo_s
        q["behind"] = None if q["lag"] is None else q["lag"] > floor and not fresh
    return part


def rolled(stands: list[Row]) -> dict[tuple, list[Row]]:
    found = defaultdict(list)
    for q in stands:
        found[q["cluster_id"], q["group"], q["topic"], q["window_ms"]].append(q)
    return found


def biggest(values):
    known = [v for v in values if v is not None]
    return max(known) if known else None


def millionths(rate):
    """What a sum of rates takes of each, so that it does not depend on their order."""
    return None if rate is None else round(rate, 6)


def total(values):
    known = [v for v in values if v is not None]
    return sum(known) if known else None


def group_lag(stands: list[Row], rules: Rules) -> list[Row]:
    rows = []
    for (cluster, group, topic, window), parts in sorted(rolled(stands).items()):
        committed = [q for q in parts if q["committed"] >= 0]
        known = bool(committed) and all(q["lag"] is not None for q in committed)
        unread = [q for q in committed if q["lag"]]
        untimed = [q for q in unread if q["time_lag"] is None]
        behind = [q for q in parts if q["behind"]]
        method = (
            {"no_commit"}
            if not committed
            else {None}
            if not known
            else {"out_of_history"}
            if untimed
            else {"caught_up"}
            if not unread
            else methods_at(max(q["time_lag"] for q in unread), unread, lambda q: q["time_lag"])
        )
        rows.append(
            {
                "cluster_id": cluster,
                "group": group,
                "topic": topic,
                "ts_ms": window,
                "sampled_ms": parts[0]["ts_ms"],
                "partitions": len(parts),
                "lag_records": sum(q["lag"] for q in committed) if known else None,
                "lag_seconds": max(q["time_lag"] for q in committed)
                if known and not untimed
                else None,
                "lag_seconds_at_least": biggest(q["at_least"] for q in parts),
                "method": method,
                "produce_records_per_s": total(millionths(q["p"]) for q in parts),
                "consume_records_per_s": total(millionths(q["c"]) for q in parts),
                "eta_seconds": (
                    None
                    if not known
                    else 0.0
                    if not behind
                    else None
                    if any(q["eta"] is None for q in behind)
                    else max(q["eta"] for q in behind)
                ),
                "lost_records": total(q["lost"] for q in parts),
                "members": parts[0]["members"],
                "state": parts[0]["state"],
                "uncommitted_partitions": len(parts) - len(committed),
                "uncommitted_records": total_of_all(
                    None if q["end"] is None else q["end"] - q["start"]
                    for q in parts
                    if q["committed"] < 0
                ),
                "reasons": ",".join(
                    word
                    for word, holds in (
                        ("PARTIAL_COMMIT", 0 < len(committed) < len(parts)),
                        ("REWOUND", any(q["went_back"] for q in parts)),
                    )
                    if holds
                ),
                "_committed": len(committed),
                "_waiting": biggest(q["waiting"] for q in parts),
                "_behind": len(behind),
                "_stuck": biggest(q["unchanged"] for q in behind),
                "_topic_id": parts[0]["topic_id"],
                "_back": any(q["went_back"] for q in parts),
            }
        )
    for row in rows:
        same = [
            r
            for r in rows
            if (r["cluster_id"], r["group"], r["topic"], r["_topic_id"])
            == (row["cluster_id"], row["group"], row["topic"], row["_topic_id"])
            and row["ts_ms"] - rules.trend_s * 1000 <= r["ts_ms"] <= row["ts_ms"]
            and r["lag_records"] is not None
        ]
        points = [(r["sampled_ms"], r["lag_records"]) for r in same]
        enough = (
            len(points) >= rules.samples_min
            and points[-1][0] - points[0][0] >= rules.span_min_s * 1000
        )
        slope = per_s(theil_sen(points)) if enough else None
        steady = max(rules.steady_records_per_s, (row["produce_records_per_s"] or 0.0) * 0.02)
        row["trend_records_per_s"] = slope
        row["trend"] = (
            "unknown"
            if slope is None
            else "growing"
            if slope > steady
            else "shrinking"
            if slope < -steady
            else "steady"
        )
        row["status"] = status(row, enough, rules)
    return [{k: v for k, v in row.items() if not k.startswith("_")} for row in rows]


def methods_at(value: float, parts: list[Row], of) -> set[str | None]:
    """The methods of the partitions that have that value, to a microsecond."""
    return {q["method"] for q in parts if of(q) is not None and abs(of(q) - value) < 1e-6}


def status(row: Row, enough: bool, rules: Rules) -> str:  # noqa: PLR0911 - one return a rule
    stuck = row["_stuck"] is not None and row["_stuck"] >= rules.quiet_s
    waiting = row["_waiting"] is not None and row["_waiting"] >= rules.quiet_s and row["members"]
    behind = row["_behind"] and row["lag_records"] is not None and enough
    jumped = row["trend"] == "growing" and not row["_back"]
    if row["lost_records"]:
        return "DATA_LOST"
    if behind and row["members"] == 0 and (stuck or jumped):
        return "STOPPED"
    if behind and row["members"] and stuck:
        return "STALLED"
    if behind and jumped:
        return "FALLING_BEHIND"
    if behind and row["_back"]:
        return "REWOUND"
    if behind and row["trend"] != "shrinking":
        return "LAGGING"
    if waiting:
        return "NOT_COMMITTING"
    if behind:
        return "CATCHING_UP"
    if not row["_committed"]:
        return "NO_COMMIT"
    return "CAUGHT_UP" if row["lag_records"] is not None and enough else "UNKNOWN"


def total_of_all(values):
    values = list(values)
    return None if None in values else sum(values)


def retention(one: Row) -> Row:
    ends, starts = one["log_end_offset"], one["log_start_offset"]
    ages = [ts for ts in one["oldest_ts_ms"] if ts is not None]
    return {
        "cluster_id": one["cluster_id"],
        "topic": one["topic"],
        "ts_ms": one["window_ms"],
        "sampled_ms": one["ts_ms"],
        "partitions": len(one["partition"]),
        "bytes": total_of_all(one["size_bytes"]),
        "records": None if None in ends else sum(ends) - sum(starts),
        "age_seconds": max(0, one["ts_ms"] - min(ages)) / 1000 if ages else None,
        "retention_ms": one["retention_ms"],
        "retention_bytes": one["retention_bytes"],
    }


def expiry(stands: list[Row], rules: Rules) -> list[Row]:
    rows = []
    ranks = ["SAFE", "UNKNOWN", "WATCH", "AT_RISK", "LOSING"]
    for (cluster, group, topic, window), parts in sorted(rolled(stands).items()):
        expiries = [left for q in parts if (left := expires(q)) is not None]
        methods = {q["method"] for q in parts if q["method"] is not None} or {None}
        losses = [loss for q in parts if (loss := first_loss(q)) is not None]
        rows.append(
            {
                "cluster_id": cluster,
                "topic": topic,
                "group": group,
                "ts_ms": window,
                "oldest_unread_expires_in_s": min(expiries, default=None),
                "first_loss_in_s": min(losses, default=None),
                "method": methods_at(min(expiries), parts, expires) if expiries else methods,
                "lost_records": total(q["lost"] for q in parts) or 0,
                "status": max((risk(q, rules) for q in parts), key=ranks.index),
            }
        )
    return rows


def expires(q: Row) -> float | None:
    if q["end"] is None or q["end"] <= max(q["committed"], q["start"]):
        return None
    limits = []
    if q["retention_ms"] is not None and q["retention_ms"] >= 0:
        born = q["first_unread_ms"] if q["first_unread_ms"] is not None else q["oldest_ts_ms"]
        if born is None:
            return None
        limits.append(max(0.0, (born + q["retention_ms"] - q["ts_ms"]) / 1000))
    held = q["end"] - q["start"]
    if (
        q["retention_bytes"] is not None
        and q["retention_bytes"] >= 0
        and held > 0
        and (q["p"] or 0) > 0
    ):
        each = q["size_bytes"] / held
        if each > 0:
            unread = q["end"] - max(q["committed"], q["start"])
            limits.append(max(0.0, q["retention_bytes"] - unread * each) / (q["p"] * each))
    return min(limits, default=None)


def keeps_up(q: Row) -> bool:
    left = expires(q)
    if left is None or q["behind"] or q["time_lag"] is None:
        return False
    return q["time_lag"] < left


def first_loss(q: Row) -> float | None:
    """The lag in time grows by 1 - consume / produce each second, until it is all that is kept."""
    left = expires(q)
    if left is None or q["p"] is None or q["c"] is None or keeps_up(q):
        return None
    growth = 0.0 if q["c"] > 0 else 1.0
    if q["p"] > 0:
        growth = min(1.0, 1 - q["c"] / q["p"])
    return left / growth if growth > 0.02 else None


def kept(q: Row) -> float:
    limits = []
    if q["retention_ms"] >= 0:
        limits.append(q["retention_ms"] / 1000)
    held = q["end"] - q["start"]
    if q["retention_bytes"] >= 0 and (q["p"] or 0) > 0 and q["size_bytes"]:
        limits.append(q["retention_bytes"] / (q["p"] * q["size_bytes"] / held))
    return min(limits)


def risk(q: Row, rules: Rules) -> str:  # noqa: PLR0911 - one return a rule
    left = expires(q)
    if q["committed"] < 0 or q["end"] is None:
        return "UNKNOWN"
    if q["lost"]:
        return "LOSING"
    if q["end"] <= max(q["committed"], q["start"]):
        return "SAFE"
    if q["retention_ms"] is None or q["retention_bytes"] is None:
        return "UNKNOWN" if left is None else "SAFE"
    no_size_limit = q["retention_bytes"] < 0 or (q["p"] is not None and q["p"] <= 0)
    if q["retention_ms"] < 0 and no_size_limit:
        return "SAFE"
    if left is None:
        return "UNKNOWN"
    if keeps_up(q):
        return "SAFE"
    if q["eta"] is not None and q["eta"] < left / 2:
        return "SAFE"
    if q["p"] is None or q["c"] is None:
        return "UNKNOWN"
    loss, soon = first_loss(q), min(rules.at_risk_s, rules.at_risk_share * kept(q))
    if loss is not None and loss <= soon:
        return "AT_RISK"
    if loss is None and q["eta"] is None and left > soon:
        return "SAFE"
    return "WATCH"
