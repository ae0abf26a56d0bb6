"""A runbook followed by REST on real brokers: a group is behind, its topic's records are kept, and
a broker that is killed and comes back is seen to be away and then back.
"""

import contextlib
import os
import signal
import time

import pytest

from tests.controlplane.live.followed import Followed
from tests.controlplane.live.holds import AFTER
from tests.processes import hold_still

pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(300)]


def test_a_group_that_is_behind_is_helped(service, cluster, clients):
    service.run("topic.create", name="followed", partitions=3, replication_factor=3)
    clients.produce("followed", 300)
    clients.read("followed", "late-readers", 100)
    run = Followed(service, "group-losing-data", group="late-readers", topic="followed")
    lag = run.until("group-lag", "bad")
    assert 0 < lag["numbers"]["lag"] <= 200
    disks = run.check("disk-usage")
    assert disks["numbers"]["directories"] == 3
    assert 0 < disks["numbers"]["least_free_share"] < 1
    before = run.check("topic-retention")
    assert (before["outcome"], before["text"].endswith("no lease.")) == ("ok", True)
    plan = run.plan("topic.retention_lease", for_s=3600)
    assert service.get(f"/clusters/{service.cluster_id}/topics/followed")["lease"] is None
    assert service.finish(service.confirm(plan))["state"] == "succeeded"
    assert "under a lease until" in run.check("topic-retention")["text"]
    clients.read("followed", "late-readers", 200)
    assert run.until("group-lag", "ok")["numbers"]["lag"] == 0
    back = run.plan("topic.retention_restore")
    assert service.finish(service.confirm(back))["state"] == "succeeded"
    assert run.check("topic-retention")["text"].endswith("no lease.")
    assert run.end()["state"] == "resolved"
    entries = service.get(run.path)["entries"]
    assert [row["operation_id"] is not None for row in entries if row["type"] == "act"] == [
        True,
        True,
    ]


def test_a_broker_that_is_killed_is_seen_away_and_then_back(service, cluster):
    if cluster["kind"] != "managed":
        pytest.skip("its brokers are not this service's to kill")
    run = Followed(service, "broker-down", broker=last_broker(service)["id"])
    run.until("brokers-alive", "ok")
    # Topics of other tests have one replica, which is less than they ask for, and stay so.
    below = below_min_isr(run.check("partitions-under-min-isr"))
    with held_still(last_broker(service)["pid"]):
        # One that is killed at once may be back before a pass misses it. One that stands still is
        # away from the end of its session until it is killed.
        assert run.until("broker-alive", "bad")["numbers"]["missing"] == 1
        run.until("brokers-alive", "bad")
    assert run.until("brokers-alive", "ok")["numbers"]["missing"] == 0
    assert run.check("broker-restarts")["numbers"]["restarts"] >= 1
    run.until_so("partitions-under-min-isr", lambda found: below_min_isr(found) == below)
    assert run.end()["state"] == "resolved"


def test_a_broker_that_hangs_is_restarted_by_a_plan(service, cluster, clients):
    if cluster["kind"] != "managed":
        pytest.skip("its brokers are not this service's to restart")
    service.run("topic.create", name="restarted", partitions=3, replication_factor=3)
    clients.produce("restarted", 50)
    broker = last_broker(service)
    run = Followed(service, "broker-down", broker=broker["id"])
    run.until("brokers-alive", "ok")
    plan = run.plan("broker.restart")
    assert plan["impact"]["summary"].startswith(
        f"Stop and start broker {broker['id']}, which leads"
    )
    began_s = time.monotonic()
    operation = service.run_through_kills(plan, ("restart", AFTER))
    assert operation["state"] == "succeeded", operation
    print(f"restarted, with a worker killed: {time.monotonic() - began_s:.1f} s")
    after = last_broker(service)
    assert after["pid"] != broker["pid"]
    assert run.until("broker-alive", "ok")["numbers"]["missing"] == 0
    assert len(clients.read("restarted", "after-restart", 50)) == 50
    assert run.end()["state"] == "resolved"


def below_min_isr(found):
    assert found["numbers"]["not_known"] == 0, str(found)
    return found["numbers"]["below"]


def last_broker(service):
    return service.get(f"/clusters/{service.cluster_id}")["brokers"][-1]


@contextlib.contextmanager
def held_still(pid):
    """A process that does nothing any more, and is killed at the end."""
    hold_still(pid)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)
