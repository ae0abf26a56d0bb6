"""The product's Celery app, whose steps pass by the test's holds: `celery -A …held_worker`."""

import os
from pathlib import Path

from celery.signals import worker_init

from controlplane.celery import app
from tests.controlplane.live.holds import AFTER, BEFORE, VARIABLE, Holds

__all__ = ["app"]


@worker_init.connect
def watch_steps(**_):
    from controlplane.operations import engine

    holds, run = Holds(Path(os.environ[VARIABLE])), engine._run

    def watched(kind, context, step):
        operation_id = context.operation.id
        holds.note(operation_id, step.name)
        holds.pass_by(operation_id, kind.name, step.name, BEFORE)
        outcome = run(kind, context, step)
        holds.pass_by(operation_id, kind.name, step.name, AFTER)
        return outcome

    engine._run = watched
