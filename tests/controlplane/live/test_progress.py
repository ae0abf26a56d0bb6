"""A reassignment tells how far it is while it runs: steps, bytes, time left, over REST and SSE."""

import itertools
import time

import pytest

from tests.controlplane.live.clients import Watcher
from tests.controlplane.live.service import TERMINAL

pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(300)]

PARTITIONS, RECORDS, RECORD_BYTES = 8, 400, 10_000
TARGET, RATE_BYTES_PER_S = 1, 250_000


def move_of(operation):
    return next(row for row in operation["steps"] if row["name"] == "move")


def test_a_move_shows_its_steps_its_bytes_and_its_time_left(service, cluster, clients):
    service.run("topic.create", name="t.progress", partitions=PARTITIONS, replication_factor=1)
    for partition in range(PARTITIONS):
        clients.produce("t.progress", RECORDS // PARTITIONS, size=RECORD_BYTES, partition=partition)
    found = service.get(f"/clusters/{service.cluster_id}/topics/t.progress")
    moves = [
        {"topic": "t.progress", "partition": row["partition"], "replicas": [TARGET]}
        for row in found["partitions"]
        if row["replicas"] != [TARGET]
    ]
    plan = service.plan(
        "reassignment", moves=moves, batch_size=1, throttle_bytes_per_s=RATE_BYTES_PER_S
    )
    total = plan["impact"]["bytes_to_move"]
    assert total >= len(moves) * RECORDS // PARTITIONS * RECORD_BYTES
    expected_s = plan["impact"]["seconds_estimated"]
    assert expected_s == pytest.approx(total / RATE_BYTES_PER_S)
    started_s = time.monotonic()
    operation = service.confirm(plan)
    watcher = Watcher(service.address, service.login, operation["id"])
    polled = poll_to_the_end(service, operation)
    took_s = time.monotonic() - started_s
    assert polled[-1]["state"] == "succeeded", polled[-1]
    # The first partition is let through whole, and the rest at the rate.
    assert expected_s * 0.5 < took_s < expected_s * 2 + 15
    for told in (polled, watcher.finish()):
        check_story(told, total)


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
