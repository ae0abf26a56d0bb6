"""What one broker leads and holds, by topic. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

ROWS_MAX = 200
"""Topics that are named, those in trouble first; the numbers are of all."""
Row = dict[str, Any]


def on_broker(
    broker: int, topics: Iterable[tuple[str, Mapping[str, Any]]], *, rows_max: int = ROWS_MAX
) -> dict[str, Any]:
    """`topics` are names and details of observed topics.

    {leads, follows, out_of_sync, offline, preferred_elsewhere, topics, rows}, of partitions that
    have a replica there; `preferred_elsewhere` those that it should lead and somebody else does,
    `topics` how many there are, rows {topic, leads, follows, out_of_sync, offline, size_bytes}:
    bytes of the logs that it leads, null while one of them is not known.
    """
    rows = []
    elsewhere = 0
    for name, detail in topics:
        row, away = _of_topic(broker, name, detail)
        elsewhere += away
        if row is not None:
            rows.append(row)
    rows.sort(key=_worst_first)
    sums = {
        name: sum(row[name] for row in rows)
        for name in ("leads", "follows", "out_of_sync", "offline")
    }
    return {
        **sums,
        "preferred_elsewhere": elsewhere,
        "topics": len(rows),
        "rows": rows[:rows_max],
    }


def _of_topic(broker: int, name: str, detail: Mapping[str, Any]) -> tuple[Row | None, int]:
    leads = follows = behind = offline = away = 0
    size: int | None = 0
    for _, leader, _, replicas, isr, _, _, held in detail["partitions"]:
        if broker not in replicas:
            continue
        if leader == broker:
            leads += 1
            size = None if size is None or held is None else size + held
        else:
            follows += 1
            away += replicas[0] == broker and leader is not None
        behind += broker not in isr
        offline += leader is None
    if not leads + follows:
        return None, 0
    return {
        "topic": name,
        "leads": leads,
        "follows": follows,
        "out_of_sync": behind,
        "offline": offline,
        "size_bytes": size,
    }, away


def _worst_first(row: Row) -> tuple[Any, ...]:
    return -row["offline"], -row["out_of_sync"], -row["leads"], -row["follows"], row["topic"]
