"""The lake kept small: hourly small files and old snapshots, daily old telemetry and lost files."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from spark_analytics.io import cursors, upkeep
from spark_analytics.io.tables import BRONZE, SILVER_GROUP, SILVER_TOPIC, TABLES, TIDIED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spark_analytics.contracts.runs import RunConfig
    from spark_analytics.io.lake import Lake

HOUR_MS: Final = 3600 * 1000
DAY_MS: Final = 24 * HOUR_MS
COMPACT_BACK_MS: Final = DAY_MS
"""Yesterday too: it was still written to after it was last compacted."""
SNAPSHOTS_KEEP_MS: Final = HOUR_MS
ORPHANS_KEEP_MS: Final = 2 * DAY_MS
"""Iceberg refuses less than a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tidied:
    """Data files by what was done with them: made into fewer, forgotten, dropped, found lost."""

    compacted: Mapping[str, int] = field(default_factory=dict)
    expired: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    orphans: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        parts = {
            "compacted": self.compacted,
            "expired": self.expired,
            "dropped": self.dropped,
            "orphans": self.orphans,
        }
        said = [f"{name} {sum(counts.values())}" for name, counts in parts.items() if counts]
        return "files: " + ", ".join(said) if said else "nothing is due"


def tidy(lake: Lake, config: RunConfig, *, now_ms: int | None = None) -> Tidied:
    """Do what is due: each table once an hour, and once a day what costs a listing of all files."""
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    compacted, expired = dict[str, int](), dict[str, int]()
    dropped, orphans = dict[str, int](), dict[str, int]()
    keep_ms = {
        BRONZE: config.bronze_keep_s * 1000,
        SILVER_TOPIC: config.silver_keep_s * 1000,
        SILVER_GROUP: config.silver_keep_s * 1000,
    }
    for table in TABLES:
        last_ms = int(lake.loaded(table).properties().get(TIDIED) or 0)
        if now_ms - last_ms < HOUR_MS or lake.loaded(table).currentSnapshot() is None:
            continue
        if last_ms // DAY_MS < now_ms // DAY_MS:
            dropped[table.name] = upkeep.drop_before(lake, table, now_ms - keep_ms[table])
            orphans[table.name] = upkeep.remove_orphans(lake, table, now_ms - ORPHANS_KEEP_MS)
        from_ms = (now_ms - COMPACT_BACK_MS) // DAY_MS * DAY_MS
        if upkeep.small_files(lake, table, from_ms) >= upkeep.SMALL_FILES_MIN:
            to_ms = now_ms // DAY_MS * DAY_MS + DAY_MS
            compacted[table.name] = upkeep.compact(lake, table, from_ms, to_ms)
        oldest_ms = min(now_ms - SNAPSHOTS_KEEP_MS, _wanted_from_ms(lake, now_ms - keep_ms[BRONZE]))
        expired[table.name] = upkeep.expire_snapshots(lake, table, oldest_ms)
        lake.loaded(table).updateProperties().set(TIDIED, str(now_ms)).commit()
    return Tidied(compacted=compacted, expired=expired, dropped=dropped, orphans=orphans)


def _wanted_from_ms(lake: Lake, floor_ms: int) -> int:
    """When the oldest snapshot was made that somebody goes on from, but not before `floor_ms`.

    These are the cursors of silver, and batches that a killed run left: Iceberg's sink knows by
    the snapshots whether such a batch was committed. A batch older than telemetry is kept has
    nothing left to be written twice.
    """
    bronze = lake.loaded(BRONZE)
    wanted = []
    for cursor in cursors.read(lake).values():
        snapshot = bronze.snapshot(cursor.snapshot)
        if snapshot is not None:
            wanted.append(int(snapshot.timestampMillis()))
    wanted += unfinished_batches_ms(lake)
    return min((at_ms for at_ms in wanted if at_ms >= floor_ms), default=2**62)


def unfinished_batches_ms(lake: Lake) -> list[int]:
    """When batches began that are noted as begun and not as done, one of a stream at most."""
    found = []
    root = lake.streams()
    for stream in lake.children(root):
        begun = lake.children(f"{root}/{stream}/offsets")
        done = lake.children(f"{root}/{stream}/commits")
        last = max((int(name) for name in begun if name.isdigit()), default=-1)
        if last >= 0 and str(last) not in done:
            found.append(begun[str(last)])
    return found
