"""Stopping a worker at a named point of an operation, so that a kill provably hits the middle.

A test writes a hold; the first worker that gets there takes it, says so and does nothing any
more until it is killed or let go: the worker of `held_worker.py` calls `Holds.pass_by` around each
step, `shared_fake.py` after each write within one.
Every step that a worker begins is also noted with the worker's pid.
"""

import json
import os
import time
from pathlib import Path
from typing import Any

VARIABLE = "PENSTOCK_TEST_HOLDS"
BEFORE, DURING, AFTER = "before", "during", "after"
HELD_TIMEOUT_S = 60.0
POLL_S = 0.02


class Holds:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    # -- in the worker ------------------------------------------------------------------------
    def note(self, operation_id: str, step: str) -> None:
        line = json.dumps([operation_id, step, os.getpid()]) + "\n"
        with (self.directory / "steps").open("a") as steps:  # appends of one line are atomic
            steps.write(line)

    def pass_by(self, operation_id: str, kind: str, step: str, when: str) -> None:
        """Go on, unless this point is held; then stay until `let_go`."""
        hold = self.directory / f"{kind}.{step}.{when}"
        taken = hold.with_suffix(f".{when}-{os.getpid()}")
        try:
            hold.rename(taken)
        except FileNotFoundError:
            return
        written = taken.with_name("held.new")
        written.write_text(json.dumps({"pid": os.getpid(), "operation_id": operation_id}))
        written.rename(self.directory / "held")
        gone_on = self.directory / f"let-go.{operation_id}"
        while not gone_on.exists():
            time.sleep(POLL_S)

    # -- in the test --------------------------------------------------------------------------
    def place(self, kind: str, step: str, when: str) -> None:
        (self.directory / f"{kind}.{step}.{when}").touch()

    def await_held(self) -> dict[str, Any]:
        """{pid, operation_id} of the worker that stands at the hold."""
        held = self.directory / "held"
        deadline_s = time.monotonic() + HELD_TIMEOUT_S
        while not held.exists():
            if time.monotonic() > deadline_s:
                raise AssertionError(f"no worker came to {sorted(self.directory.iterdir())}")
            time.sleep(0.01)
        found: dict[str, Any] = json.loads(held.read_text())
        held.unlink()
        return found

    def let_go(self, operation_id: str) -> None:
        """Whoever stands at a hold with this operation goes on."""
        (self.directory / f"let-go.{operation_id}").touch()

    def workers_of(self, operation_id: str) -> list[int]:
        """Pids of the workers that began steps of the operation, in order."""
        return [pid for _, pid in self._begun(operation_id)]

    def steps_of(self, operation_id: str) -> list[str]:
        """Steps of the operation as they were begun, in order; each once unless it was repeated."""
        return [step for step, _ in self._begun(operation_id)]

    def _begun(self, operation_id: str) -> list[tuple[str, int]]:
        steps = self.directory / "steps"
        rows = map(json.loads, steps.read_text().splitlines() if steps.exists() else ())
        return [(step, pid) for found, step, pid in rows if found == operation_id]
