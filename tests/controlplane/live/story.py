"""What a reassignment reports while it runs, polled by REST and followed by server-sent events."""

import itertools
import time

from tests.controlplane.live.service import TERMINAL


def move_of(operation):
    return next(row for row in operation["steps"] if row["name"] == "move")


def poll_to_the_end(service, operation):
    reported = []
    deadline_s = time.monotonic() + 120
    while not reported or reported[-1]["state"] not in TERMINAL:
        assert time.monotonic() < deadline_s, reported[-1]
        now = service.operation(operation)
        if not reported or now != reported[-1]:
            reported.append(now)
        time.sleep(0.05)
    return reported


def check_story(reported, total):
    """Steps begin in order, bytes grow to the total, the estimate is there and shrinks."""
    assert reported[-1]["state"] == "succeeded"
    assert reported[-1]["progress"]["done"] == reported[-1]["progress"]["total"]
    assert reported[-1]["eta_seconds"] is None
    steps_done = [row["progress"]["done"] for row in reported]
    assert steps_done == sorted(steps_done)
    assert len(set(steps_done)) > 1
    moving = [row for row in reported if move_of(row)["state"] == "running"]
    counted = [row for row in moving if move_of(row)["progress_total"]]
    assert all(move_of(row)["unit"] == "bytes" for row in counted)
    assert all(move_of(row)["progress_total"] == total for row in counted)
    done = [move_of(row)["progress_done"] for row in counted]
    assert done == sorted(done)
    assert len(set(done)) >= 4, done
    assert 0 <= done[0] < total
    assert len({move_of(row)["detail"] for row in counted}) >= 4
    estimates = [row["eta_seconds"] for row in counted if row["eta_seconds"] is not None]
    assert len(set(estimates)) >= 4, estimates
    assert estimates[-1] < max(estimates)
    assert all(
        later["state"] == earlier["state"] or order(earlier) < order(later)
        for earlier, later in itertools.pairwise(reported)
    )


def order(operation):
    return ["pending", "running", "verifying", "succeeded"].index(operation["state"])
