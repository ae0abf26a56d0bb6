"""Gives inputs to a target and judges what happens: escaped errors, time, memory.

The one clock that runs over every input is that of the process's own CPU time, so that a machine
under load finds nothing. Memory and time are measured on a sample; every input is held by the limit
on address space and by the tick.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import hashlib
import resource
import signal
import time
import tracemalloc
import types
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.target import Finding, Target

SAMPLE_EVERY = 64
CPU_S_MAX = 0.25
"""Of a sampled input. Generated code is compiled at first use, which the seeds do before."""
TICK_S = 1.0
"""An input that sees two ticks is stuck."""
ADDRESS_SPACE_BYTES = 1 << 30
"""What a process may take beyond what it has when it begins."""
KEPT_INPUT_BYTES_MAX = 8192


class _StuckError(BaseException):
    """Not an Exception, so that no handler in between takes it for an error of its own."""


@dataclasses.dataclass(slots=True)
class Found:
    """One kind of finding with the first input that led to it, in hex."""

    kind: str
    message: str
    input_hex: str
    count: int = 1


@dataclasses.dataclass(slots=True)
class Watch:
    """Counts inputs of one target and keeps one finding of each kind and place."""

    target: Target
    inputs: int = 0
    understood: int = 0
    cpu_s_max: float = 0.0
    allocated_bytes_max: int = 0
    found: dict[str, Found] = dataclasses.field(default_factory=dict)
    _ticked_at: int = -1

    def take_seed(self, data: bytes) -> None:
        """`take` without measuring: code is generated at the first use of a version."""
        self.take(data, measured=False)

    def take(self, data: bytes, *, measured: bool = True) -> bool:
        """Whether the target understood `data`. What is wrong is noted, never raised."""
        self.inputs += 1
        try:
            turn = self.inputs % SAMPLE_EVERY if measured else -1
            if turn == 0:
                understood = self._with_memory(data)
            elif turn == SAMPLE_EVERY // 2:
                understood = self._with_time(data)
            else:
                understood = self.target.run(data)
        except Finding as finding:
            self._note(finding.kind, str(finding), finding.place, data)
            return False
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever it is, it must not have come out
            kind = "stuck" if isinstance(error, _StuckError) else "escaped"
            self._note(kind, f"{type(error).__name__}: {error}", _place(error), data)
            return False
        self.understood += understood
        return understood

    @contextlib.contextmanager
    def bounded(self) -> Iterator[None]:
        """With the tick running and the address space limited."""
        limits = resource.getrlimit(resource.RLIMIT_AS)
        allowed = _address_space_bytes() + ADDRESS_SPACE_BYTES
        before = signal.signal(signal.SIGVTALRM, self._tick)
        resource.setrlimit(resource.RLIMIT_AS, (allowed, limits[1]))
        signal.setitimer(signal.ITIMER_VIRTUAL, TICK_S, TICK_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            resource.setrlimit(resource.RLIMIT_AS, limits)
            signal.signal(signal.SIGVTALRM, before)

    def _tick(self, _signal: int, _frame: types.FrameType | None) -> None:
        if self._ticked_at == self.inputs:
            raise _StuckError(f"no answer within {TICK_S} s of CPU time")
        self._ticked_at = self.inputs

    def _with_memory(self, data: bytes) -> bool:
        tracemalloc.start()
        try:
            understood = self.target.run(data)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        self.allocated_bytes_max = max(self.allocated_bytes_max, peak)
        allowed = self.target.allocation_bytes + self.target.allocation_factor * len(data)
        if peak > allowed:
            raise Finding("memory", f"{len(data)} bytes made it allocate {peak}")
        return understood

    def _with_time(self, data: bytes) -> bool:
        began = time.thread_time()
        understood = self.target.run(data)
        took = time.thread_time() - began
        self.cpu_s_max = max(self.cpu_s_max, took)
        if took > CPU_S_MAX:
            raise Finding("slow", f"{len(data)} bytes took {took:.3f} s")
        return understood

    def _note(self, kind: str, message: str, place: str, data: bytes) -> None:
        key = f"{kind} {place}"
        if key in self.found:
            self.found[key].count += 1
        else:
            text = f"{message} {place}".strip()
            self.found[key] = Found(kind, text[:500], data[:KEPT_INPUT_BYTES_MAX].hex())

    def report(self) -> dict[str, object]:
        """As plain data, for the process that adds them up."""
        return {
            "name": self.target.name,
            "inputs": self.inputs,
            "understood": self.understood,
            "cpu_s_max": self.cpu_s_max,
            "allocated_bytes_max": self.allocated_bytes_max,
            "found": [dataclasses.asdict(each) for each in self.found.values()],
        }


def _place(error: BaseException) -> str:
    """The innermost line of ours: findings of one place are one."""
    lines = collections.deque[str](maxlen=1)
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if "dataplane" in code.co_filename or code.co_filename.startswith("<"):
            lines.append(f"({code.co_filename.rpartition('/')[2]}:{traceback.tb_lineno})")
        traceback = traceback.tb_next
    return "".join(lines)


def _address_space_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def name_of(data: bytes) -> str:
    """A file name for an input."""
    return hashlib.sha256(data).hexdigest()[:16]
