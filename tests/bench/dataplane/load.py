"""Start the generator on a task, count the broker's CPU meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from dataplane.runtime.parent_death import die_with_parent
from tests.bench.dataplane.proc import cpu_s
from tests.bench.dataplane.task import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.bench.dataplane.task import Task

ROOT = Path(__file__).resolve().parents[3]


class BenchError(Exception):
    """A figure could not be measured, or what was measured is wrong: the run fails."""


def drive(task: Task, pids: Iterable[int] = ()) -> tuple[Outcome, float]:
    """What the generator measured, and the CPU seconds of `pids` meanwhile. BenchError."""
    pids = list(pids)
    before = cpu_s(pids)
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.dataplane.generator"],
        input=json.dumps(asdict(task)),
        capture_output=True,
        text=True,
        cwd=ROOT,
        preexec_fn=die_with_parent(),
        timeout=task.seconds + 120,
        check=False,
    )
    spent = cpu_s(pids) - before
    if done.returncode:
        raise BenchError(done.stderr.strip() or f"the generator ended with {done.returncode}")
    return Outcome(**json.loads(done.stdout)), spent
