"""A verifying step waits while the truth differs from the plan, and says what differs."""

import pytest

from controlplane.operations.operations import Done, Phase, Progress, Wait, kind_names, kind_of
from controlplane.operations.read_back import POLL_S, read_back, verified_by

PROGRESS = Progress(done=1, total=2, unit="partitions")


def test_what_differs_is_waited_for_and_said():
    assert read_back("orders is not seen yet", progress=PROGRESS) == Wait(
        seconds=POLL_S, detail="orders is not seen yet", progress=PROGRESS
    )
    assert read_back("not there", poll_s=2.0) == Wait(seconds=2.0, detail="not there")


@pytest.mark.parametrize("nothing", [None, ""])
def test_nothing_that_differs_is_done(nothing):
    assert read_back(nothing) == Done(detail="read back as planned")
    assert read_back(nothing, detail="gone", progress=PROGRESS) == Done(
        detail="gone", progress=PROGRESS
    )


def test_the_step_is_bound_to_its_method_and_runs_after_the_others():
    def compare(kind, context): ...

    step = verified_by(compare, deadline_s=5.0)
    assert (step.name, step.run, step.phase, step.deadline_s) == (
        "verify",
        compare,
        Phase.VERIFY,
        5.0,
    )


@pytest.mark.parametrize("name", kind_names())
def test_every_kind_verifies_before_it_succeeds(name):
    assert any(step.phase is Phase.VERIFY for step in kind_of(name).steps)
