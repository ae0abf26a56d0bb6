"""The figures of `make bench-spark`: which telemetry, and what is done with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.bench.spark import ingest, polars_beside, runs


@dataclass(frozen=True, slots=True)
class Figure:
    """`prepare` leaves what `measure` reads below a folder; each is a process of its own.

    `goal` is what the figure is held against, by whoever reads the table.
    """

    title: str
    goal: str
    prepare: Callable[[Path], None]
    measure: Callable[[Path, str, str], None]


def _run(title: str, goal: str, work: runs.Work) -> Figure:
    return Figure(
        title,
        goal,
        lambda path: runs.prepare(work, path),
        lambda path, *words: runs.measure(work, path, *words),
    )


HOUR = runs.Work(range_s=3_600, history_s=1_800)
FIGURES = {
    "run-5min": _run(
        "5 minutes, 24 h of history",
        "≤ 25 CPU-s",
        runs.Work(range_s=300, history_s=24 * 3_600),
    ),
    "run-5min-short": _run(
        "5 minutes, 30 min of history", "-", runs.Work(range_s=300, history_s=1_800)
    ),
    "hour": _run("an hour", "≤ 20 s", HOUR),
    "ten-million": _run(
        "three hours of 3,100 partitions",
        "≤ 90 s",
        runs.Work(range_s=3 * 3_600, history_s=1_800, partitions=3_100),
    ),
    "steady": _run(
        "5 minutes, 15 days of silver, tidied",
        "≤ 15 % of 2 cores",
        runs.Work(range_s=300, history_s=24 * 3_600, days=15, tidies=True),
    ),
    "hourly": Figure("the hourly run, of two hours", "-", runs.prepare_hours, runs.measure_hours),
    "polars": Figure(
        "an hour, lag and time lag, beside polars",
        "-",
        lambda path: runs.prepare(HOUR, path),
        polars_beside.measure,
    ),
    "ingest": Figure("ingest of an hour", "≥ 500,000 a s", ingest.prepare, ingest.measure),
}
