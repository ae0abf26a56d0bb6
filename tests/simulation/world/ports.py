"""The small ports of a simulated process: clock, background threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.simulation.world.loop import HostLoop

EPOCH_MS = 1_700_000_000_000
WORK_MIN_S, WORK_MAX_S = 0.0005, 0.02


class MachineClock:
    """Virtual time; the wall clock of each machine may be stepped."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self.offset_ms = 0

    def monotonic_ms(self) -> int:
        return int(self._now_s() * 1000)

    def realtime_ms(self) -> int:
        return EPOCH_MS + self.offset_ms + int(self._now_s() * 1000)


class LoopBackground:
    """Work of other threads, done one after another on the process's loop, a little later."""

    def __init__(self, loop: HostLoop, delay_s: Callable[[], float]) -> None:
        self._loop = loop
        self._delay_s = delay_s
        self._open: dict[int, tuple[Callable[[], None], Callable[..., None] | None]] = {}
        self._numbers = 0

    def submit(
        self,
        work: Callable[[], None],
        done: Callable[[BaseException | None], None] | None = None,
    ) -> None:
        self._numbers += 1
        self._open[self._numbers] = (work, done)
        self._loop.call_later(self._delay_s(), self._run, self._numbers)

    def run_together(self, workers: Sequence[Callable[[], None]]) -> None:
        """One after another: which of several threads is quicker is nobody's to decide here."""
        for work in workers:
            work()

    def _run(self, number: int) -> None:
        entry = self._open.pop(number, None)
        if entry is None:
            return
        work, done = entry
        error: BaseException | None = None
        try:
            work()
        except Exception as caught:
            error = caught
        if done is not None:
            done(error)

    def close(self) -> None:
        """Finish what was submitted."""
        for number in list(self._open):
            self._run(number)
