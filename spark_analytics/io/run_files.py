"""The files of one run: its secrets, its progress, its gold rows, its result.

The supervisor reads them while the run is a process of its own. Each file but the progress appears
complete or not at all; the result comes last.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_analytics.contracts.errors import ContractError
from spark_analytics.contracts.runs import PROGRESS_FILE, RESULT_FILE, RunResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def take_secrets(path: str | None) -> Mapping[str, Mapping[str, str]]:
    """Connector options by cluster, read once: the file is gone afterwards.

    Raises:
        ContractError: readable by others than its owner, or not a JSON object of objects.
    """
    if path is None:
        return {}
    file = Path(path)
    if not file.exists():
        raise ContractError(f"secrets file {path} is not there")
    if file.stat().st_mode & 0o077:
        raise ContractError(f"secrets file {path} is open to others; mode 0600 is needed")
    try:
        secrets: dict[str, dict[str, str]] = json.loads(file.read_text())
    except ValueError as error:
        raise ContractError(f"secrets file {path}: {error}") from error
    finally:
        file.unlink()
    return secrets


class Progress:
    """One JSON line per step: {"ts_ms", "phase", "done", "total", "message"}."""

    def __init__(self, work_dir: str) -> None:
        self._path = Path(work_dir) / PROGRESS_FILE
        self.phases_s: dict[str, float] = {}
        self._phase = ""
        self._since_s = time.monotonic()

    def enter(self, phase: str, *, total: int = 0, message: str = "") -> None:
        """Begin a phase; the time since the last `enter` goes to the one before."""
        self._close_phase()
        self._phase = phase
        self.step(0, total, message)

    def step(self, done: int, total: int = 0, message: str = "") -> None:
        row = {
            "ts_ms": time.time_ns() // 1_000_000,
            "phase": self._phase,
            "done": done,
            "total": total,
            "message": message,
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def finish(self) -> Mapping[str, float]:
        """Seconds spent in each phase."""
        self._close_phase()
        return dict(self.phases_s)

    def _close_phase(self) -> None:
        now_s = time.monotonic()
        if self._phase:
            spent_s = self.phases_s.get(self._phase, 0.0) + now_s - self._since_s
            self.phases_s[self._phase] = round(spent_s, 3)
        self._phase, self._since_s = "", now_s


def write_rows(work_dir: str, table: str, rows: Iterable[Mapping[str, Any]]) -> int:
    """Gold rows as JSON lines, streamed; their number."""
    path = Path(work_dir) / f"{table}.jsonl"
    part = path.with_suffix(".part")
    count = 0
    with part.open("w", encoding="utf-8") as file:
        for row in rows:
            # allow_nan: NaN is not JSON and never an answer; better to fail here than to show it.
            file.write(json.dumps(row, allow_nan=False, separators=(",", ":")) + "\n")
            count += 1
    part.replace(path)
    return count


def join_rows(work_dir: str, table: str, from_dirs: Sequence[Path]) -> None:
    """The files of that table in these folders, one behind the other, as one."""
    path = Path(work_dir) / f"{table}.jsonl"
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        for folder in from_dirs:
            with (folder / path.name).open("rb") as rows:
                shutil.copyfileobj(rows, file)
    part.replace(path)


def write_result(work_dir: str, result: RunResult) -> None:
    path = Path(work_dir) / RESULT_FILE
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        file.write(result.to_json())
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
