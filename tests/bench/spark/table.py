"""The lines that benchmarks of Spark print."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.bench.spark.cpu import tree_cpu_s

WIDE = 42
HEAD = f"{'figure':<{WIDE}}{'samples':>12}{'phase':>14}{'CPU-s':>8}{'wall s':>8}  goal"


@contextmanager
def timed(
    phase: str, title: str = "", samples: int | None = None, goal: str = ""
) -> Iterator[None]:
    cpu_s, wall_s = tree_cpu_s(), time.monotonic()
    yield
    line(title, samples, phase, tree_cpu_s() - cpu_s, time.monotonic() - wall_s, goal)


def line(  # noqa: PLR0917 - the columns in their order
    title: str, samples: int | None, phase: str, cpu_s: float, wall_s: float, goal: str = ""
) -> None:
    count = "" if samples is None else f"{samples:,}"
    text = f"{title:<{WIDE}}{count:>12}{phase:>14}{cpu_s:>8.1f}{wall_s:>8.1f}  {goal}"
    print(text.rstrip(), flush=True)


def note(text: str) -> None:
    print(f"{'':<{WIDE}}{text}", flush=True)
