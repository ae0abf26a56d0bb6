"""What it costs to say how fast lag objectives burn, on PostgreSQL: by REST, and for the alert rule.

Gold keeps 14 days of windows of 30 s: 40,320 of each group on a topic, 403 million of 10,000 such
series. Fewer are filled here, of each shape with the hours that runs roll them up to; the last
column is what 10,000 series take at most in CPU seconds, this process's and PostgreSQL's, by the
slope: what every question costs once is in it as many times as there would be more series.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench.controlplane.throwaway_postgres import postgres

WINDOW_MS, HOUR_MS = 30_000, 3_600_000
T0_MS = 1_760_400_000_000
SERIES = 10_000
# (what, series, hours, share of the series' hours with a late window)
SHAPES = (
    ("14 days, 1 hour in 100 late", 60, 336, 0.01),
    ("14 days, every hour late", 60, 336, 1.0),
    ("7 hours, 1 hour in 100 late", 2_000, 7, 0.01),
)
FILL = """
INSERT INTO gold_group_lag (cluster_id, "group", topic, ts_ms, sampled_ms, partitions, lag_records,
    lag_seconds, trend, status, reasons, run_id)
SELECT %(cluster)s, 'group-' || (n / 10), 'topic-' || n, at, at + 20000, 10, 5,
    CASE WHEN ((n * 7919 + at / 3600000 * 104729) %% 1000) < %(late)s * 1000
        AND (at / 30000) %% 3 = 0 THEN 300 ELSE 1 END,
    'steady', 'CAUGHT_UP', '', 'run_1'
FROM generate_series(0, %(series)s - 1) n,
    generate_series(%(from)s::bigint, %(to)s::bigint - 1, 30000) at
"""
ROLL = """
INSERT INTO gold_group_rollup (cluster_id, "group", topic, period_s, ts_ms, sampled_ms, samples,
    expected, partitions, lag_samples, time_lag_samples, lag_seconds_max, rewinds, run_id)
SELECT cluster_id, "group", topic, 3600, ts_ms - ts_ms %% 3600000, max(sampled_ms), count(*), 120,
    10, count(*), count(lag_seconds), max(lag_seconds), 0, 'run_2'
FROM gold_group_lag WHERE cluster_id = %(cluster)s AND ts_ms < %(rolled)s
GROUP BY cluster_id, "group", topic, ts_ms - ts_ms %% 3600000
"""


def fill(cluster_id: str, series: int, hours: int, late: float) -> int:
    """The start of the newest window. The last hour and a half is not rolled up yet."""
    from django.db import connection

    from controlplane.analytics.models import GoldClusterRollup

    end_ms = T0_MS + hours * HOUR_MS + HOUR_MS // 2
    rolled_ms = T0_MS + (hours - 1) * HOUR_MS
    given = {
        "cluster": cluster_id,
        "series": series,
        "from": T0_MS,
        "to": end_ms,
        "late": late,
        "rolled": rolled_ms,
    }
    with connection.cursor() as cursor:
        cursor.execute(FILL, given)
        cursor.execute(ROLL, given)
    GoldClusterRollup.objects.bulk_create(
        GoldClusterRollup(
            cluster_id=cluster_id,
            period_s=3600,
            ts_ms=at,
            sampled_ms=at + HOUR_MS - 10_000,
            samples=120,
            expected=120,
            partitions=10,
            topics=series,
            groups=series // 10,
            lag_samples=120,
            time_lag_samples=120,
            bytes_samples=120,
            run_id="run_2",
        )
        for at in range(T0_MS, rolled_ms, HOUR_MS)
    )
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE gold_group_lag")
        cursor.execute("VACUUM ANALYZE gold_group_rollup")
    return end_ms - WINDOW_MS


def cpu_s(backend: int) -> float:
    """Of this process and of PostgreSQL's that serves it."""
    after_name = Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + sum(map(int, after_name[11:13])) / os.sysconf("SC_CLK_TCK")


def timed(count: Callable[[], Any], backend: int) -> tuple[float, float, int]:
    """(seconds, CPU seconds, rows); the second of two, from a warm cache."""
    took_s = used_s = 0.0
    rows: Any = ()
    for _ in range(2):
        began_s, began_cpu_s = time.monotonic(), cpu_s(backend)
        rows = count()
        took_s, used_s = time.monotonic() - began_s, cpu_s(backend) - began_cpu_s
    return took_s, used_s, len(rows)


def measure(found: list[dict[str, Any]]) -> None:
    from django.db import connection

    from controlplane.analytics.insights import objectives
    from controlplane.analytics.insights.targets import Target

    own = [Target(objective_id="lo_1", seconds=60.0, share=0.99)]
    for at, (what, series, hours, late) in enumerate(SHAPES):
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE gold_group_lag, gold_group_rollup, gold_cluster_rollup")
        cluster_id = f"kc_{at}"
        as_of_ms = fill(cluster_id, series, hours, late)
        with connection.cursor() as cursor:
            cursor.execute("SET max_parallel_workers_per_gather = 0")
            cursor.execute("SELECT pg_backend_pid()")
            (backend,) = cursor.fetchone()
        asks = {
            "answer": lambda c=cluster_id, t=as_of_ms: objectives.rows(c, t, []),
            "rule": lambda c=cluster_id, t=as_of_ms: objectives.near(c, t, own),
        }
        for name, ask in asks.items():
            took_s, used_s, rows = timed(ask, backend)
            if rows != series:
                raise SystemExit(f"{what}: {rows} rows, not {series}")
            whole_s = used_s * SERIES / series
            row = {
                "what": f"{what}: {name}",
                "series": series,
                "windows": series * (hours * 120 + 60),
                "took_s": took_s,
                "cpu_s": used_s,
                "of_10000_cpu_s": whole_s,
            }
            found.append(row)
            print(
                f"{row['what']:<40} {series:>7,} {row['windows']:>11,} {took_s:>7.2f} {used_s:>6.2f}"
                f" {whole_s:>9.1f}",
                flush=True,
            )


def report() -> list[dict[str, Any]]:
    """Measure, print, answer what was found."""
    if "controlplane.settings" in sys.modules:
        print("\nObjectives: run by themselves, with --only objectives")
        return []
    found: list[dict[str, Any]] = []
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

        print("\nLag objectives on PostgreSQL: an answer about all, and the alert rule's count")
        print(f"{'':<40} {'series':>7} {'windows':>11} {'s':>7} {'CPU s':>6} {'of 10,000':>9}")
        measure(found)
        connections.close_all()
    return found
