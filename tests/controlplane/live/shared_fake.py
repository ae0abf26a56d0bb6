"""One cluster in memory for all processes of a test: a `FakeGateway` in a file, changed under a lock.

Every write is also noted, with the step that made it and when, and passes by the test's holds once
it is made: that is the middle of a step.
"""

import fcntl
import json
import pickle
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

from controlplane.gateway.fake import FakeGateway
from controlplane.gateway.port import READS
from tests.controlplane.live.holds import DURING, Holds

current_step: ContextVar[tuple[str, str, str] | None] = ContextVar("current_step", default=None)
"""(operation id, kind, step) that this thread is at."""


class Write(NamedTuple):
    operation_id: str
    step: str
    method: str
    boottime_s: float


class SharedGateway:
    """`broker`: as that broker sees the cluster."""

    def __init__(self, holds: Holds, broker: int | None = None) -> None:
        self._holds, self._broker = holds, broker
        self._file = holds.directory / "cluster"
        self._journal = holds.directory / "writes"

    def at(self, broker: int) -> "SharedGateway":
        return SharedGateway(self._holds, broker)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        def call(*args: Any, **kwargs: Any) -> Any:
            with self._locked() as gateway:
                target = gateway if self._broker is None else gateway.at(self._broker)
                answer = getattr(target, name)(*args, **kwargs)
                if name not in READS:
                    self._note(name)
            if name not in READS and (at := current_step.get()):
                self._holds.pass_by(*at, DURING)
            return answer

        return call

    @contextmanager
    def _locked(self) -> Iterator[FakeGateway]:
        with Path(f"{self._file}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            is_there = self._file.exists()
            gateway = pickle.loads(self._file.read_bytes()) if is_there else FakeGateway()
            yield gateway
            written = self._file.with_suffix(".new")
            written.write_bytes(pickle.dumps(gateway))
            written.rename(self._file)

    def _note(self, method: str) -> None:
        operation_id, _, step = current_step.get() or ("", "", "")
        row = Write(operation_id, step, method, time.clock_gettime(time.CLOCK_BOOTTIME))
        with self._journal.open("a") as journal:
            journal.write(json.dumps(row) + "\n")

    def writes(self) -> list[Write]:
        """All that were made so far, in order."""
        if not self._journal.exists():
            return []
        return [Write(*json.loads(line)) for line in self._journal.read_text().splitlines()]
