"""A worker whose database is away says so once a minute; every other error keeps its traceback."""

import logging

import pytest
from celery.app.trace import build_tracer
from django.db import InterfaceError, OperationalError, ProgrammingError

from controlplane import task_base
from controlplane.celery import app
from controlplane.common.once_a_minute import OnceAMinute
from controlplane.operations import tasks

LIBRARY = "celery.app.trace"


@pytest.fixture
def run(monkeypatch, caplog):
    """Have the sweep meet an error, as a worker runs it; the lines that are written then."""
    monkeypatch.setattr(task_base, "SAID", OnceAMinute(None))
    caplog.set_level(logging.WARNING)
    task = app.tasks[tasks.sweep.name]

    def traced(error):
        def fails():
            raise error

        monkeypatch.setattr(task, "run", fails)
        monkeypatch.setattr(task, "__call__", fails, raising=False)
        caplog.clear()
        build_tracer(task.name, task, app=app)("id-1", (), {}, {"id": "id-1", "task": task.name})
        return list(caplog.records)

    return traced


def test_every_task_has_it():
    app.autodiscover_tasks(force=True)
    ours = [task for name, task in app.tasks.items() if not name.startswith("celery.")]
    assert len(ours) > 10
    assert all(isinstance(task, task_base.DatabaseTask) for task in ours)


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_one_line_a_minute(run, error):
    lines = [row for _ in range(20) for row in run(error("connection refused\n"))]
    assert [row.name for row in lines] == [task_base.__name__]
    assert lines[0].exc_info is None
    assert "operations.sweep" in lines[0].getMessage()
    assert "connection refused" in lines[0].getMessage()


@pytest.mark.parametrize("error", [RuntimeError, ProgrammingError])
def test_a_bug_keeps_its_traceback_each_time(run, error):
    lines = [row for _ in range(2) for row in run(error("a bug"))]
    assert [row.name for row in lines] == [LIBRARY, LIBRARY]
    assert all(row.exc_info for row in lines)
