"""What was appended to bronze since a cluster's cursor, in steps of bounded size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spark_analytics.io.tables import BRONZE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from spark_analytics.io.lake import Lake

STEP_RECORDS = 20_000
"""Slices that are absorbed at once. A slice holds up to thousands of partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What was appended after the snapshot `start` up to `end`; all that is there without one.

    `records` is how many that are, None where nobody counted.
    """

    start: int | None
    end: int
    records: int | None = None


def head(lake: Lake) -> int | None:
    """The snapshot that bronze is at; None while it is empty."""
    snapshot = lake.loaded(BRONZE).currentSnapshot()
    return None if snapshot is None else int(snapshot.snapshotId())


def steps(lake: Lake, since: int | None) -> list[Step]:
    """From the snapshot `since` to now, in the order of time.

    One step without a start where `since` is None, or not among the snapshots that are kept.
    """
    table = lake.loaded(BRONZE)
    snapshot: Any = table.currentSnapshot()
    if snapshot is None:
        return []
    newest = int(snapshot.snapshotId())
    whole = [Step(start=None, end=newest)]
    if since is None:
        return whole
    behind: list[tuple[int, int]] = []
    while snapshot is not None and snapshot.snapshotId() != since:
        is_append = snapshot.operation() == "append"
        records = int(snapshot.summary().get("added-records") or 0) if is_append else 0
        behind.append((int(snapshot.snapshotId()), records))
        parent = snapshot.parentId()
        snapshot = None if parent is None else table.snapshot(parent)
    if snapshot is None:
        return whole
    found: list[Step] = []
    start, taken = since, 0
    for snapshot_id, records in reversed(behind):
        taken += records
        if taken >= STEP_RECORDS or snapshot_id == newest:
            found.append(Step(start=start, end=snapshot_id, records=taken))
            start, taken = snapshot_id, 0
    return found


def read(lake: Lake, step: Step) -> DataFrame:
    """The bronze rows of a step."""
    if step.start is None:
        return lake.spark.read.option("snapshot-id", step.end).table(BRONZE.path)
    return (
        lake.spark.read.option("start-snapshot-id", step.start)
        .option("end-snapshot-id", step.end)
        .table(BRONZE.path)
    )
