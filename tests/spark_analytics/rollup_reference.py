"""The rollups again, slowly and in plain Python; written from the definitions, not from Spark's."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

from spark_analytics.contracts.gold import SHARD_PARTITIONS
from spark_analytics.contracts.rules import Rules
from tests.spark_analytics import reference

Row = dict[str, Any]


def rollups(
    slices: list[Row], rules: Rules, *, period_s: int, from_ms: int, to_ms: int
) -> dict[str, list[Row]]:
    topics = reference.last_slices([s for s in slices if s["kind"] == "topic"], rules)
    groups = reference.last_slices([s for s in slices if s["kind"] == "group"], rules)
    logs = {key: reference.Log(ends) for key, ends in reference.log_ends(topics).items()}
    stands = [
        stand
        for part in reference.by_series(groups).values()
        for stand in reference.judge(part, topics, logs, rules)
    ]
    cells = topic_cells(topics)
    for series in partitioned(cells, "topic_id", "partition").values():
        steps(series, "end", "step", rules)
    for series in partitioned(stands, "group", "topic_id", "partition").values():
        steps(series, "end", "came", rules)
        steps(series, "committed", "went", rules)
    period_ms = period_s * 1000

    def by_period(rows: list[Row], *names: str) -> dict[tuple, list[Row]]:
        found = defaultdict(list)
        for row in rows:
            if from_ms <= row["window_ms"] < to_ms:
                start = row["window_ms"] // period_ms * period_ms
                found[(row["cluster_id"], *(row[n] for n in names), start)].append(row)
        return found

    base = {"period_s": period_s, "expected": period_s // rules.window_s}
    topic_rows = [
        {**base, "cluster_id": c, "topic": t, "ts_ms": at, **topic_row(rows)}
        for (c, t, at), rows in by_period(cells, "topic").items()
    ]
    group_rows = [
        {**base, "cluster_id": c, "group": g, "topic": t, "ts_ms": at, **group_row(rows)}
        for (c, g, t, at), rows in by_period(stands, "group", "topic").items()
    ]
    held, read = by_period(cells), by_period(stands)
    cluster_rows = [
        {
            **base,
            "cluster_id": c,
            "ts_ms": at,
            **cluster_row(
                held.get((c, at), []),
                read.get((c, at), []),
                [r for r in topic_rows if (r["cluster_id"], r["ts_ms"]) == (c, at)],
                [r for r in group_rows if (r["cluster_id"], r["ts_ms"]) == (c, at)],
            ),
        }
        for c, at in held.keys() | read.keys()
    ]
    partition_rows = [
        {**base, "cluster_id": c, "topic": t, "ts_ms": at, "shard": shard, **row}
        for (c, t, at), rows in by_period(cells, "topic").items()
        for shard, row in partition_rows_of(rows)
    ]
    return {
        "topic_rollup": topic_rows,
        "group_rollup": group_rows,
        "cluster_rollup": cluster_rows,
        "partition_rollup": partition_rows,
    }


def topic_cells(topics: list[Row]) -> list[Row]:
    return [
        {
            **{k: one[k] for k in ("cluster_id", "topic", "window_ms", "ts_ms")},
            **{k: one[k] for k in ("retention_ms", "retention_bytes")},
            "topic_id": one.get("topic_id") or "",
            "partition": p,
            "start": one["log_start_offset"][i],
            "end": one["log_end_offset"][i],
            "size_bytes": one["size_bytes"][i],
        }
        for one in topics
        for i, p in enumerate(one["partition"])
    ]


def partitioned(rows: list[Row], *names: str) -> dict[tuple, list[Row]]:
    found = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["window_ms"]):
        found[(row["cluster_id"], row["topic"], *(row[n] for n in names))].append(row)
    return found


def steps(series: list[Row], column: str, name: str, rules: Rules) -> None:
    last = None
    for row in series:
        row[name] = row[f"{name}_ms"] = None
        if row[column] is None or row[column] < 0:
            continue
        if (
            last is not None
            and row["ts_ms"] - last["ts_ms"] <= rules.offset_samples_gap_max_s * 1000
        ):
            row[name] = row[column] - last[column]
            row[f"{name}_ms"] = row["ts_ms"] - last["ts_ms"]
        last = row


def by_window(rows: list[Row]) -> list[list[Row]]:
    found = defaultdict(list)
    for row in rows:
        found[row["window_ms"]].append(row)
    return [found[at] for at in sorted(found)]


def by_partition(rows: list[Row]) -> dict[int, list[Row]]:
    found = defaultdict(list)
    for row in rows:
        found[row["partition"]].append(row)
    return found


def known(values) -> list[Any]:
    return [value for value in values if value is not None]


def forwards(rows: list[Row], name: str) -> int | None:
    moved = known(row[name] for row in rows)
    return sum(max(0, step) for step in moved) if moved else None


def in_bytes(records: int | None, rows: list[Row]) -> int | None:
    if not records:
        return records
    sized = [
        row
        for row in rows
        if row["end"] is not None and row["end"] > row["start"] and row["size_bytes"] is not None
    ]
    held = sum(row["end"] - row["start"] for row in sized)
    if not held:
        return None
    return math.floor(records * (sum(row["size_bytes"] for row in sized) / held) + 0.5)


def all_bytes(pairs: list[tuple[int | None, int | None]]) -> int | None:
    """Of (records, bytes): null when bytes of records that came are not known."""
    if any(records is not None and size is None for records, size in pairs):
        return None
    return reference.total(size for _, size in pairs)


def percentile(values: list[float], share: float) -> float | None:
    if not values:
        return None
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def rate(count: int | None, over_ms: list[int]) -> float | None:
    longest = max(over_ms, default=0)
    return None if count is None or longest <= 0 else count / (longest / 1000)


def held_row(held: list[int | None]) -> Row:
    found = known(held)
    return {
        "bytes_samples": len(found),
        "bytes_avg": sum(found) / len(found) if found else None,
        "bytes_max": max(found, default=None),
        "bytes_last": held[-1] if held else None,
    }


def lag_row(windows: list[tuple[int | None, float | None, float | None]]) -> Row:
    """Of (lag, seconds, at least) by window."""
    lags, late = known(w[0] for w in windows), known(w[1] for w in windows)
    row: Row = {
        "lag_samples": len(lags),
        "lag_records_max": max(lags, default=None),
        "lag_records_last": windows[-1][0] if windows else None,
        "time_lag_samples": len(late),
        "lag_seconds_max": max(late, default=None),
        "lag_seconds_at_least_max": max(known(w[2] for w in windows), default=None),
    }
    for number in (50, 95, 99):
        row[f"lag_records_p{number}"] = percentile(lags, number / 100)
        row[f"lag_seconds_p{number}"] = percentile(late, number / 100)
    return row


def topic_row(rows: list[Row]) -> Row:
    windows = by_window(rows)
    parts = by_partition(rows)
    rose = {p: forwards(cells, "step") for p, cells in parts.items()}
    came = sorted(known(rose.values()))
    total = sum(came) if came else None
    n = len(came)
    busiest = max(
        ((count, -p) for p, count in rose.items() if count is not None), default=(None, 0)
    )
    mean_difference = sum(abs(x - y) for x in came for y in came)
    last = windows[-1]
    return {
        "sampled_ms": max(row["ts_ms"] for row in rows),
        "samples": len(windows),
        "partitions": max(len(window) for window in windows),
        "start_offset": reference.total_of_all(cell["start"] for cell in last),
        "end_offset": reference.total_of_all(cell["end"] for cell in last),
        "retention_ms": last[0]["retention_ms"],
        "retention_bytes": last[0]["retention_bytes"],
        "records_in": total,
        "bytes_in": all_bytes([(rose[p], in_bytes(rose[p], parts[p])) for p in parts]),
        "produce_records_per_s": rate(
            total, [sum(known(c["step_ms"] for c in cells)) for cells in parts.values()]
        ),
        "resets": sum(1 for row in rows if row["step"] is not None and row["step"] < 0),
        "last_write_ms": max(
            (row["ts_ms"] for row in rows if (row["step"] or 0) > 0), default=None
        ),
        **held_row([reference.total_of_all(c["size_bytes"] for c in w) for w in windows]),
        "busiest_partition": -busiest[1] if total else None,
        "busiest_share": busiest[0] / total if total else None,
        "gini": mean_difference / (2 * n * total) if total and n > 1 else None,
    }


def partition_rows_of(rows: list[Row]) -> list[tuple[int, Row]]:
    """(shard, row) of one topic and period."""
    shards = defaultdict(list)
    for partition, cells in sorted(by_partition(rows).items()):
        came = forwards(cells, "step")
        took = known(cell["step_ms"] for cell in cells)
        numbers = {
            "partition": partition,
            "records_in": came,
            "bytes_in": in_bytes(came, cells),
            "covered_ms": sum(took) if took else None,
            "start_offset": last_known(cells, "start"),
            "end_offset": last_known(cells, "end"),
            "bytes_last": last_known(cells, "size_bytes"),
        }
        shards[partition // SHARD_PARTITIONS].append((numbers, cells))
    return [
        (
            shard,
            {
                "sampled_ms": max(cell["ts_ms"] for _, cells in found for cell in cells),
                "samples": max(len(by_window(cells)) for _, cells in found),
                "partitions": len(found),
                **{
                    name: ",".join("" if n[name] is None else str(n[name]) for n, _ in found)
                    for name in found[0][0]
                },
            },
        )
        for shard, found in shards.items()
    ]


def last_known(cells: list[Row], name: str) -> int | None:
    found = [cell for cell in cells if cell[name] is not None and cell[name] >= 0]
    return max(found, key=lambda cell: cell["window_ms"])[name] if found else None


def group_window(cells: list[Row]) -> tuple[int | None, float | None, float | None, bool]:
    """(lag, seconds, at least, committed at all) of one group and topic in one window."""
    committed = [q for q in cells if q["committed"] >= 0]
    whole = bool(committed) and all(q["lag"] is not None for q in committed)
    timed = whole and all(q["time_lag"] is not None for q in committed if q["lag"])
    return (
        sum(q["lag"] for q in committed) if whole else None,
        max(known(q["time_lag"] for q in committed)) if timed else None,
        max(known(q["at_least"] for q in cells), default=None),
        bool(committed),
    )


def group_row(rows: list[Row]) -> Row:
    windows = by_window(rows)
    parts = by_partition(rows)
    came = {p: forwards(cells, "came") for p, cells in parts.items()}
    went = {p: forwards(cells, "went") for p, cells in parts.items()}
    worst = max(((q["lag"], -q["partition"]) for q in rows if q["lag"]), default=None)
    return {
        "sampled_ms": max(row["ts_ms"] for row in rows),
        "samples": len(windows),
        "partitions": max(len(window) for window in windows),
        **lag_row([group_window(window)[:3] for window in windows]),
        "worst_partition": None if worst is None else -worst[1],
        "worst_partition_lag_records": None if worst is None else worst[0],
        "records_in": reference.total(came.values()),
        "records_out": reference.total(went.values()),
        "bytes_out": all_bytes([(went[p], in_bytes(went[p], parts[p])) for p in parts]),
        "produce_records_per_s": rate(
            reference.total(came.values()),
            [sum(known(q["came_ms"] for q in cells)) for cells in parts.values()],
        ),
        "consume_records_per_s": rate(
            reference.total(went.values()),
            [sum(known(q["went_ms"] for q in cells)) for cells in parts.values()],
        ),
        "rewinds": sum(1 for q in rows if q["went"] is not None and q["went"] < 0),
        "lost_records": max(
            known(reference.total(q["lost"] for q in window) for window in windows), default=None
        ),
    }


def cluster_row(held: list[Row], read: list[Row], topics: list[Row], groups: list[Row]) -> Row:
    moments = sorted({row["window_ms"] for row in [*held, *read]})
    lags, bytes_held, partitions = [], [], []
    for at in moments:
        here = [row for row in held if row["window_ms"] == at]
        series = defaultdict(list)
        for row in read:
            if row["window_ms"] == at:
                series[row["group"], row["topic"]].append(row)
        found = [group_window(cells) for cells in series.values()]
        began = [w for w in found if w[3]]
        lags.append(
            (
                sum(w[0] for w in began)
                if began and all(w[0] is not None for w in began)
                else None,
                max(w[1] for w in began)
                if began and all(w[1] is not None for w in began)
                else None,
                max(known(w[2] for w in found), default=None),
            )
        )
        bytes_held.append(reference.total_of_all(r["size_bytes"] for r in here) if here else None)
        partitions.append(len(here))
    return {
        "sampled_ms": max(row["ts_ms"] for row in [*held, *read]),
        "samples": len(moments),
        "partitions": max(partitions),
        "topics": len(topics),
        "groups": len({row["group"] for row in groups}),
        **lag_row(lags),
        **held_row(bytes_held),
        "records_in": reference.total_of_all(t["records_in"] for t in topics) if topics else None,
        "bytes_in": reference.total_of_all(t["bytes_in"] for t in topics) if topics else None,
        "records_out": reference.total(g["records_out"] for g in groups),
        "bytes_out": all_bytes([(g["records_out"], g["bytes_out"]) for g in groups]),
        "lost_records": reference.total(g["lost_records"] for g in groups),
    }
