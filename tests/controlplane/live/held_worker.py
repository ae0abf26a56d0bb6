"""The product's Celery app, whose steps pass by the test's holds: `celery -A …held_worker`."""

import dataclasses
import os
from pathlib import Path

from celery.signals import worker_init

from controlplane.celery import app
from tests.controlplane.live.holds import AFTER, BEFORE, VARIABLE, Holds
from tests.controlplane.live.shared_fake import current_step

__all__ = ["app"]


@worker_init.connect
def watch_steps(**_):
    from controlplane.operations.operations import OperationKind, Wait

    holds, spec_of = Holds(Path(os.environ[VARIABLE])), OperationKind.step

    def watched(self, name):
        spec = spec_of(self, name)

        def run(kind, context):
            operation_id = context.operation.id
            holds.note(operation_id, name)
            token = current_step.set((operation_id, kind.name, name))
            outcome = None
            try:
                holds.pass_by(operation_id, kind.name, name, BEFORE)
                outcome = spec.run(kind, context)
                return outcome
            finally:
                # A tick that only notes what the next one will do is not what a test is after.
                if outcome != Wait(seconds=0.0):
                    holds.pass_by(operation_id, kind.name, name, AFTER)
                current_step.reset(token)

        return dataclasses.replace(spec, run=run)

    OperationKind.step = watched
