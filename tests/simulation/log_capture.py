"""The brokers' own log: errors always, everything when a trace is wanted."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation


class LogCapture(logging.Handler):
    def __init__(self, sim: Simulation) -> None:
        super().__init__()
        self._sim = sim
        self._logger = logging.getLogger("dataplane")
        self._before = (self._logger.level, self._logger.propagate)

    def install(self) -> None:
        self._before = (self._logger.level, self._logger.propagate)
        self._logger.setLevel(logging.INFO if self._sim.detail else logging.ERROR)
        self._logger.propagate = False
        self._logger.addHandler(self)

    def remove(self) -> None:
        self._logger.removeHandler(self)
        self._logger.setLevel(self._before[0])
        self._logger.propagate = self._before[1]

    def emit(self, record: logging.LogRecord) -> None:
        try:
            name = getattr(asyncio.get_running_loop(), "name", "?")
        except RuntimeError:
            name = "?"
        error = record.exc_info[1] if record.exc_info else None
        if self._sim.detail:
            suffix = f": {error!r}" if error is not None else ""
            self._sim.note(f"  [{name}] {record.levelname} {record.getMessage()}{suffix}")
        if record.levelno >= logging.ERROR and error is not None:
            for invariant in self._sim.invariants:
                invariant.logged_error(name, record.getMessage(), error)
