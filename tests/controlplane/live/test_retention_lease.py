"""A retention lease on real brokers: it ends by itself although the worker that ends it is killed."""

import time

import pytest

from tests.controlplane.live.holds import AFTER

pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(300)]
BEGIN, RESTORE = "topic.retention_lease", "topic.retention_restore"
DAY_MS = 86_400_000
LEASE_S = 12
LATE_S_MAX = 60.0


def retention(service, name):
    """(value, whether the topic sets it itself), asked of the brokers: a plan reads them."""
    plan = service.plan("topic.update", name=name, configs={"retention.ms": "123456789"})
    before = plan["diff"]["before"]["configs"]["retention.ms"]
    return plan["diff"]["effective_before"]["retention.ms"], before is not None


def leases(service, name):
    rows = service.get(f"/clusters/{service.cluster_id}/retention-leases")["data"]
    return [row for row in rows if row["topic"] == name]


def await_(holds, what):
    deadline_s = time.monotonic() + LEASE_S + LATE_S_MAX
    while not (found := holds()):
        assert time.monotonic() < deadline_s, what()
        time.sleep(0.3)
    return found


def test_it_is_put_back_by_itself_though_the_worker_is_killed(service, cluster, clients):
    name = "leased"
    service.run(
        "topic.create",
        name=name,
        partitions=2,
        replication_factor=3,
        configs={"retention.ms": str(DAY_MS)},
    )
    clients.produce(name, 200)
    plan = service.plan(BEGIN, name=name, retention_ms=2 * DAY_MS, for_s=LEASE_S, reason="behind")
    disk = plan["diff"]["disk"]
    assert len(disk) == 3
    for row in disk:
        assert row["total_bytes"] > row["usable_bytes"] > 0
        assert row["bytes_at_end"] >= row["held_bytes"]
    operation = service.finish(service.confirm(plan))
    assert operation["state"] == "succeeded", operation
    assert retention(service, name) == (str(2 * DAY_MS), True)
    shown = service.get(f"/clusters/{service.cluster_id}/topics/{name}")["lease"]
    assert (shown["from_ms"], shown["to_ms"]) == (DAY_MS, 2 * DAY_MS)

    service.holds.place(RESTORE, "restore", AFTER)
    held = service.holds.await_held()
    assert leases(service, name)[0]["state"] == "restoring"
    service.kill_held(held)
    await_(
        lambda: leases(service, name)[0]["state"] == "restored",
        lambda: (leases(service, name), service.get("/operations")["data"][:2]),
    )
    assert retention(service, name) == (str(DAY_MS), True)
    assert service.get(f"/clusters/{service.cluster_id}/topics/{name}")["lease"] is None
    ended = service.finish({"id": held["operation_id"]})
    assert (ended["state"], ended["actor"]) == ("succeeded", "system")
    assert len(set(service.holds.workers_of(ended["id"]))) > 1


def test_begun_through_a_kill_and_undone_the_default_holds_again(service, cluster):
    name = "leased.default"
    service.run("topic.create", name=name, partitions=1, replication_factor=3)
    before = retention(service, name)
    assert before[1] is False
    plan = service.plan(BEGIN, name=name, retention_ms=100 * DAY_MS, for_s=3600)
    operation = service.run_through_kills(plan, ("alter", AFTER))
    assert retention(service, name) == (str(100 * DAY_MS), True)
    undo = service.post(f"/operations/{operation['id']}/undo-plan")
    assert service.finish(service.confirm(undo))["state"] == "succeeded"
    assert retention(service, name) == before
    assert leases(service, name)[0]["state"] == "restored"
