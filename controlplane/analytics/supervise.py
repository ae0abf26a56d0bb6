"""One tick of supervision: re-reads the truth (row, process, files) and takes one step.

Whoever dies, the next tick goes on: a worker killed while Spark runs finds the process again by its
pid file; a run without a supervisor ends itself when its lease file gets old.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import socket
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db.models import F, QuerySet
from django.utils import timezone

from controlplane.analytics import process, rules, services
from controlplane.analytics.conf import AnalyticsConf, conf
from controlplane.analytics.launch import LEASE_FILE, SECRETS_FILE, TOKENS, launch
from controlplane.analytics.load import LoadError, load_result
from controlplane.analytics.models import AnalyticsRun
from controlplane.common import leases
from controlplane.common.lease_keeper import HeldLease, keeper
from controlplane.operations.states import (
    ANALYTICS_RUN_ACTIVE_STATES,
    CANCELLED,
    FAILED,
    QUEUED,
    RUNNING,
)
from spark_analytics.contracts.errors import ContractError
from spark_analytics.contracts.runs import PROGRESS_FILE, RESULT_FILE, Job, RunResult

log = logging.getLogger(__name__)
TICK_LEASE = timedelta(seconds=5)
"""Renewed at each third: a run whose worker was killed is followed by another one so soon."""
HOST_LOST_AFTER = timedelta(seconds=120)
ATTEMPTS_MAX = 3
WORK_DIRS_KEPT = 5


def tick() -> None:
    """Start what is due, follow what runs, finish what is done."""
    settings = conf()
    _tick((Job.TELEMETRY,), settings, lambda: services.run_schedule(settings))
    # One at a time of these: nobody waits for them, and a box has few cores.
    _tick((Job.HOURLY, Job.DAILY), settings, services.rollups_schedule)


def _tick(
    jobs: tuple[Job, ...], settings: AnalyticsConf, due: Callable[[], AnalyticsRun | None]
) -> None:
    now = timezone.now()
    active = AnalyticsRun.objects.filter(job__in=jobs, state__in=ANALYTICS_RUN_ACTIVE_STATES)
    run = active.order_by("pk").first() or due()
    if run is None:
        return
    lease = keeper().claim(active, run.pk, TICK_LEASE, skips_locked=True)
    if lease is None:
        return
    try:
        run.refresh_from_db()
        _step(run, lease, settings, now)
    finally:
        lease.drop()
        leases.release(AnalyticsRun.objects.filter(pk=run.pk), lease.token)


def stop_here() -> None:
    """This host's worker goes: its runs end with it and wait for the next worker."""
    for run in AnalyticsRun.objects.filter(state=RUNNING, host=socket.gethostname()):
        _stop(run)


def _stop(run: AnalyticsRun) -> None:
    _end(process.find(Path(run.work_dir)))
    _forget_secrets(Path(run.work_dir))
    # A finished result stays where it is, and the attempt does not count.
    if not (Path(run.work_dir) / RESULT_FILE).exists():
        AnalyticsRun.move_all(
            AnalyticsRun.objects.filter(pk=run.pk), QUEUED, attempt=F("attempt") - 1
        )


def _held(run: AnalyticsRun) -> QuerySet[AnalyticsRun]:
    """The row, while it is ours: what a tick finds out after it lost its lease does not count."""
    return AnalyticsRun.objects.filter(pk=run.pk, lease_token=run.lease_token)


def _step(run: AnalyticsRun, lease: HeldLease, settings: AnalyticsConf, now: datetime) -> None:
    here = socket.gethostname()
    if run.state == QUEUED:
        if run.cancel_requested:
            _finish(run, CANCELLED, "")
        else:
            _launch(run, settings, now, here)
    elif run.host == here:
        _follow(run, lease, now)
    elif run.heartbeat_at is None or now - run.heartbeat_at > HOST_LOST_AFTER:
        _again(run, f"host {run.host} does not report any more")


def _launch(run: AnalyticsRun, settings: AnalyticsConf, now: datetime, here: str) -> None:
    # The row first: a process that nobody knows of could not be ended. Only what a launch is
    # about is written: whoever asks to cancel meanwhile is not overwritten.
    launched = AnalyticsRun.move_all(
        _held(run),
        RUNNING,
        attempt=run.attempt + 1,
        host=here,
        work_dir=str(settings.runs_dir / f"{run.id}-{run.attempt + 1}"),
        started_at=run.started_at or now,
        heartbeat_at=now,
        deadline_at=now
        + timedelta(seconds=rules.deadline_s(run.to_ts_ms - run.from_ts_ms, settings.deadline_s)),
        progress={"phase": "starting", "done": 0, "total": 0, "message": ""},
    )
    if not launched:
        return
    run.refresh_from_db()
    try:
        launch(run, settings)
    except OSError as error:
        _finish(run, FAILED, f"could not be started: {error}")


def _follow(run: AnalyticsRun, lease: HeldLease, now: datetime) -> None:
    work = Path(run.work_dir)
    if work.exists():
        os.utime(work / LEASE_FILE) if (work / LEASE_FILE).exists() else None
    running = process.find(work)
    _held(run).update(heartbeat_at=now, progress=_progress(work))
    if run.cancel_requested:
        _end(running)
        _finish(run, CANCELLED, "")
    elif (work / RESULT_FILE).exists():
        _end(running)
        _complete(run, lease, work)
    elif running is None or not process.is_alive(running):
        _again(run, process.last_words(work) or "the process went away")
    elif run.deadline_at is not None and now > run.deadline_at:
        _end(running)
        words = process.last_words(work)
        _finish(run, FAILED, ": ".join(filter(None, ("the deadline has passed", words))))


def _complete(run: AnalyticsRun, lease: HeldLease, work: Path) -> None:
    try:
        result = RunResult.from_json((work / RESULT_FILE).read_text())
        if not result.ok:
            _finish(run, FAILED, result.error or "the run failed")
            return
        lease.rest()  # the rows are loaded in one transaction, which locks the run
        load_result(run, result)
    except (LoadError, ContractError, OSError) as error:
        _finish(run, FAILED, str(error))
        return
    _tidy(run)


def _again(run: AnalyticsRun, reason: str) -> None:
    """The same run once more, in a new folder; a few times, then it has failed."""
    _end(process.find(Path(run.work_dir)))
    _forget_secrets(Path(run.work_dir))
    if run.attempt >= ATTEMPTS_MAX:
        _finish(run, FAILED, reason)
        return
    log.warning("analytics run %s, attempt %s: %s; starting again", run.id, run.attempt, reason)
    AnalyticsRun.move_all(_held(run), QUEUED, error=reason[:400])


def _finish(run: AnalyticsRun, state: str, error: str) -> None:
    if error:
        log.warning("analytics run %s %s: %s", run.id, state, error)
    if AnalyticsRun.move_all(_held(run), state, error=error[:400], finished_at=timezone.now()):
        _tidy(run)


def _end(running: process.RunProcess | None) -> None:
    if running is not None:
        process.end(running)


def _progress(work: Path) -> dict[str, Any]:
    """The last whole line of the run's progress."""
    try:
        lines = (work / PROGRESS_FILE).read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    for line in reversed(lines):
        try:
            row: dict[str, Any] = json.loads(line)
        except ValueError:
            continue
        return row
    return {}


def _tidy(run: AnalyticsRun) -> None:
    """Keep the last few runs' logs; Spark's scratch goes at once."""
    if not run.work_dir:
        return
    work = Path(run.work_dir)
    _forget_secrets(work)
    for name in ("scratch", "warehouse"):
        shutil.rmtree(work / name, ignore_errors=True)
    kept = sorted(work.parent.glob("run_*"), key=lambda path: path.stat().st_mtime)
    for old in kept[:-WORK_DIRS_KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def _forget_secrets(work: Path) -> None:
    """Of an attempt that is over. The run removes the file itself once it has read it."""
    (work / SECRETS_FILE).unlink(missing_ok=True)
    shutil.rmtree(work / TOKENS, ignore_errors=True)
