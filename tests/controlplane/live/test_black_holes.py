"""Clusters of one tenant that never answer, and what they hold of what others need."""

import pytest

from tests.controlplane.live.black_holes import BlackHoles
from tests.controlplane.live.service import SLOW_WORKER, TERMINAL, WORKERS
from tests.waiting import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(300)]
HOLES = 8
TOPICS = 5


def test_black_holes_hold_no_slot_of_the_pool_that_others_need(service, cluster):
    stranger = service.tenant("stranger")
    slow_pid = service.processes[SLOW_WORKER].pid
    normal_pids = {service.processes[name].pid for name in WORKERS}
    with BlackHoles(HOLES) as holes:
        registrations = [
            stranger.register(f"hole-{number}", address)
            for number, address in enumerate(holes.addresses)
        ]
        wait_until(lambda: [row for row in registrations if service.holds.workers_of(row["id"])])
        for number in range(TOPICS):
            created = service.run(
                "topic.create", name=f"beside-{number}", partitions=1, replication_factor=3
            )
            assert created["state"] == "succeeded"
            assert set(service.holds.workers_of(created["id"])) <= normal_pids
            service.run("topic.delete", name=f"beside-{number}")
        states = [stranger.operation(row)["state"] for row in registrations]
        assert len([state for state in states if state not in TERMINAL]) >= HOLES - 2, states
        ended = [stranger.finish(row, timeout_s=240) for row in registrations]
    assert {row["state"] for row in ended} == {"failed"}
    assert {row["steps"][0]["state"] for row in ended} == {"failed"}
    for row in ended:
        assert set(service.holds.workers_of(row["id"])) == {slow_pid}, "never in the normal pool"
