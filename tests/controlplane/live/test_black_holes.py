"""Clusters of one tenant that never answer, and what they hold of what others need."""

import json
import urllib.request

import pytest

from controlplane.operations.queues import NORMAL, SLOW
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
    login = service.new_user("stranger")
    with BlackHoles(HOLES, cluster["bootstrap_servers"].split(",")[0]) as holes:
        plans = [
            stranger.plan_registration(f"hole-{number}", address, login)
            for number, address in enumerate(holes.addresses)
        ]
        holes.turn()
        registrations = [stranger.confirm(plan) for plan in plans]
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


def test_the_metrics_page_speaks_of_what_workers_did(service, cluster):
    operation = service.run("topic.create", name="counted", partitions=1, replication_factor=1)
    assert operation["state"] == "succeeded"

    def shown():
        request = urllib.request.Request(
            f"{service.address}/metrics",
            headers={"Authorization": f"Bearer {service.environment['PENSTOCK_METRICS_TOKEN']}"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            rows = answer.read().decode().splitlines()
        return dict(row.rsplit(" ", 1) for row in rows if not row.startswith("#"))

    calls = f'penstock_gateway_calls_total{{cluster="{service.cluster_id}",outcome="ok"}}'
    wait_until(lambda: float(shown().get(calls, 0)) > 0)
    found = shown()
    assert found['penstock_metrics_source_up{source="redis"}'] == "1.0"
    assert {f'penstock_queue_age_seconds{{queue="{name}"}}' for name in (NORMAL, SLOW)} <= set(
        found
    )
    assert "penstock_sweep_lag_seconds" in found
    state = f'penstock_gateway_breaker_state{{cluster="{service.cluster_id}",state="closed"}}'
    assert found[state] == "1.0", json.dumps(found, indent=1)
