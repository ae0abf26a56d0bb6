"""What a reassignment tells while it runs, asked by REST and followed by server-sent events."""

import itertools
import time

from tests.controlplane.live.service import TERMINAL


def move_of(operation):
    return next(row for row in operation["steps"] if row["name"] == "move")


def poll_to_the_end(service, operation):
    told = []
    deadline_s = time.monotonic() + 120
    while not told or told[-1]["state"] not in TERMINAL:
        assert time.monotonic() < deadline_s, told[-1]
        now = service.operation(operation)
        if not told or now != told[-1]:
            told.append(now)
        time.sleep(0.05)
    return told


def check_story(told, total):
    """Steps begin in order, bytes grow to the total, the estimate is there and shrinks."""
    assert told[-1]["state"] == "succeeded"
    assert told[-1]["progress"]["done"] == told[-1]["progress"]["total"]
    assert told[-1]["eta_seconds"] is None
    steps_done = [row["progress"]["done"] for row in told]
    assert steps_done == sorted(steps_done)
    assert len(set(steps_done)) > 1
    moving = [row for row in told if move_of(row)["state"] == "running"]
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
        for earlier, later in itertools.pairwise(told)
    )


def order(operation):
    return ["pending", "running", "verifying", "succeeded"].index(operation["state"])
