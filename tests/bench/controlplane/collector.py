"""What the collector does with a sample, by itself: records, JSON, history, verdicts, PostgreSQL.

What the brokers take to answer and to store is theirs, and not in it. A sample is due each 10 s;
what 5,000,000 series (a partition of a topic for a group) take is said on paper from the slope.
"""

from __future__ import annotations

import itertools
import math
import os
import resource
import sys
import tempfile
import time
from typing import Any

from tests.bench.controlplane.throwaway_postgres import postgres

SHAPES = ((100, 100, 2), (500, 100, 2), (1_000, 100, 2), (10_000, 10, 2))
"""Topics, partitions of each, groups that read all of them; the first three make the slope."""
GOAL_SERIES, PAPER_SERIES = 200_000, 5_000_000
WINDOWS = 22
"""As many as a trend looks back on: the history is whole."""
T0_MS = 1_760_000_000_000
PARTS = ("records", "json", "history", "verdicts", "sql")


def sample_of(topics: int, partitions: int, groups: int, at: int, ts_ms: int) -> Any:
    from controlplane.analytics.slices import Sample
    from controlplane.gateway.types import (
        TP,
        CommittedOffset,
        OffsetAt,
        PartitionDescription,
        TopicDescription,
    )

    parts = tuple(
        PartitionDescription(
            partition=number, leader=1, leader_epoch=3, replicas=(1, 2, 3), isr=(1, 2, 3)
        )
        for number in range(partitions)
    )
    described = tuple(
        TopicDescription(
            name=f"topic-{number:05d}", topic_id=f"{number:022d}", internal=False, partitions=parts
        )
        for number in range(topics)
    )
    tps = [TP(topic.name, number) for topic in described for number in range(partitions)]
    end = 2_000_000_000 + at * 30_000
    return Sample(
        ts_ms=ts_ms,
        topics=described,
        log_starts=dict.fromkeys(tps, OffsetAt(offset=1_000_000_000)),
        log_ends=dict.fromkeys(tps, OffsetAt(offset=end)),
        oldest_ts_ms=dict.fromkeys(tps, T0_MS - 86_400_000),
        committed={
            f"group-{number:03d}": dict.fromkeys(tps, CommittedOffset(offset=end - 300_000))
            for number in range(groups)
        },
    )


def measure(shape: tuple[int, int, int]) -> dict[str, Any]:
    """CPU seconds of the last of `WINDOWS` samples by part, and the longest record."""
    from django.utils import timezone

    from controlplane.analytics.chunks import encoded
    from controlplane.analytics.judge import store
    from controlplane.analytics.slices import records
    from controlplane.analytics.verdicts.evaluator import Evaluator

    evaluator, took = Evaluator(), [0.0] * len(PARTS)
    for at in range(WINDOWS):
        sample = sample_of(*shape, at, T0_MS + at * 30_000)
        marks = [time.process_time()]
        rows = records("kc_bench", sample)
        marks.append(time.process_time())
        sent = encoded(rows)
        marks.append(time.process_time())
        evaluator.feed(rows)
        marks.append(time.process_time())
        if at < WINDOWS - 2:
            continue
        verdicts = evaluator.verdicts()
        marks.append(time.process_time())
        # Twice: rows that are there are replaced each time.
        store("kc_bench", sample, verdicts, timezone.now())
        marks.append(time.process_time())
        took = [after - before for before, after in itertools.pairwise(marks)]
    topics, partitions, groups = shape
    said = {str(row.status) for row in verdicts}
    if len(verdicts) != topics * groups or len(said) != 1 or "UNKNOWN" in said:
        raise SystemExit(f"judged wrongly: {len(verdicts)} verdicts, {said}")
    return {
        "topics": topics,
        "partitions": partitions,
        "groups": groups,
        "series": topics * partitions * groups,
        **dict(zip(PARTS, took, strict=True)),
        "cpu_s": sum(took),
        "record_bytes_max": max(len(record.value) for record in sent),
    }


def show(row: dict[str, Any], period_s: float) -> None:
    missed = row["series"] >= GOAL_SERIES and row["cpu_s"] > period_s
    print(
        f"{row['series']:>9,} {row['topics']:>7,} × {row['partitions']:>4} × {row['groups']}"
        + "".join(f" {row[name]:>8.2f}" for name in PARTS)
        + f" {row['cpu_s']:>7.2f} {row['record_bytes_max']:>9,}  {'MISSED' if missed else 'ok'}",
        flush=True,
    )


def on_paper(rows: list[dict[str, Any]], period_s: float) -> dict[str, float]:
    """From the first and the third shape, which differ in their topics alone."""
    small, large = rows[0], rows[2]
    slope_s = (large["cpu_s"] - small["cpu_s"]) / (large["series"] - small["series"])
    needed_s = slope_s * PAPER_SERIES
    found = {
        "us_per_series": slope_s * 1e6,
        "cpu_s_per_sample": needed_s,
        "processes": math.ceil(needed_s / period_s),
    }
    print(
        f"{found['us_per_series']:.1f} µs a series: {PAPER_SERIES:,} take {needed_s:.0f} CPU-s a"
        f" sample, which is {found['processes']} processes that do nothing else"
    )
    return found


def report() -> dict[str, Any]:
    """Measure, print, answer what was found."""
    if "controlplane.settings" in sys.modules:
        print("\nCollector: run by itself, with --only collector")
        return {}
    with postgres() as url, tempfile.TemporaryDirectory(prefix="penstock-bench-") as directory:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
            "DATABASE_URL": url,
            "PENSTOCK_DATA_DIR": directory,
        }
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        from django.db import connections

        from controlplane.analytics.models import GroupVerdict
        from spark_analytics.contracts.telemetry import SAMPLE_INTERVAL_S

        period_s = float(SAMPLE_INTERVAL_S)
        print(f"\nCollector: CPU seconds of a sample, its own part (at most {period_s:g})")
        heads = "".join(f" {name:>8}" for name in PARTS)
        print(f"{'series':>9} {'topics × parts × groups':>18}{heads} {'all':>7} {'record B':>9}")
        rows = []
        for shape in SHAPES:
            rows.append(measure(shape))
            show(rows[-1], period_s)
            GroupVerdict.objects.all().delete()
        paper = on_paper(rows, period_s)
        connections.close_all()
    most_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"memory of the process at most: {most_mib:.0f} MiB, of all shapes one after another")
    return {"shapes": rows, "paper": paper}
