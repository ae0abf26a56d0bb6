"""Redis is taken away from the running service, several times, and comes back.

Web, two workers, beat and Redis are real and have the product's own settings; the cluster is a fake
that notes each write.
"""

import time

import pytest

from tests.controlplane.live.faked_service import FakedService
from tests.controlplane.live.holds import DURING
from tests.vanishing_proxy import VanishingProxy

# It waits more than it works, as those on real brokers do.
pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(300)]
BACK_S = 15.0
"""A second between two tries to connect, one to the next sweep, two until a tick counts as lost; the
rest is for a machine that is busy with other things."""
UNANSWERED_S = 30.0
"""Also until those have given up who wait for an answer on a connection that is dead."""
KILLED, HANGS = "killed", "hangs"
OUTAGES = [(KILLED, 1.0), (KILLED, 21.0), (HANGS, 7.0), (KILLED, 4.0)]
"""In this order, on one service: shorter and longer than a lease and than the sockets' timeouts. A
visibility timeout plays no part: ticks that are lost are brought by the sweep."""


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    made = FakedService(tmp_path_factory.mktemp("redis-away"), PENSTOCK_OPERATION_SWEEP_S="1")
    del made.environment["PENSTOCK_OPERATION_LEASE_S"]
    try:
        made.start()
        yield made
    finally:
        made.stop()


def take(service, how):
    if how == KILLED:
        service.kill_redis()
    else:
        service.pause_redis()


def give_back(service, how):
    if how == KILLED:
        service.start_redis()
    else:
        service.resume_redis()


def begin(service, name):
    return service.confirm(
        service.plan("topic.create", name=name, partitions=1, replication_factor=3)
    )


@pytest.mark.parametrize(("how", "length_s"), OUTAGES, ids=str)
def test_operations_go_on_within_seconds(service, capsys, how, length_s):
    topics = [f"{step}-{how}-{length_s}" for step in ("under-way", "confirmed", "after")]
    service.holds.place("topic.create", "create", DURING)
    under_way = begin(service, topics[0])
    assert service.holds.await_held()["operation_id"] == under_way["id"]
    take(service, how)
    taken_s = time.monotonic()
    service.holds.let_go(under_way["id"])
    confirmed = begin(service, topics[1])  # REST goes on without Redis
    time.sleep(max(0.0, taken_s + length_s - time.monotonic()))
    give_back(service, how)
    back_s = time.monotonic()
    operations = [under_way, confirmed]
    for operation in operations:
        assert service.finish(operation, timeout_s=BACK_S)["state"] == "succeeded"
    took_s = time.monotonic() - back_s
    operations.append(begin(service, topics[2]))
    assert service.finish(operations[2], timeout_s=BACK_S)["state"] == "succeeded"
    assert took_s < BACK_S
    with capsys.disabled():
        print(f"\nRedis {how} for {length_s} s: went on after {took_s:.2f} s")
    for operation in operations:
        assert service.holds.steps_of(operation["id"]) == ["create", "verify"], "nothing ran twice"
        writes = [row for row in service.cluster.writes() if row.operation_id == operation["id"]]
        assert [row.method for row in writes] == ["create_topic"]
    for name in ("web", "beat", "worker-1", "worker-2"):
        assert service.processes[name].poll() is None, f"{name} ended"


def test_a_redis_that_vanished_is_left_for_the_one_that_took_its_place(tmp_path, capsys):
    """Nobody hangs up on the workers, and their connections are never heard of again."""
    service = FakedService(tmp_path / "service", PENSTOCK_OPERATION_SWEEP_S="1")
    with VanishingProxy(service.redis_port) as redis:
        service.environment["PENSTOCK_REDIS_URL"] = f"redis://127.0.0.1:{redis.port}/0"
        try:
            service.start()
            assert service.finish(begin(service, "before"))["state"] == "succeeded"
            redis.vanish()
            operation = begin(service, "meanwhile")
            time.sleep(1.0)
            redis.come_back()
            back_s = time.monotonic()
            assert service.finish(operation, timeout_s=UNANSWERED_S)["state"] == "succeeded"
            with capsys.disabled():
                print(f"\nRedis vanished: went on after {time.monotonic() - back_s:.2f} s")
        finally:
            service.stop()
