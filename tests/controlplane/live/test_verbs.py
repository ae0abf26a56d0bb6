"""Each governing verb on real brokers, its Celery worker killed in the middle of it.

`AFTER` a step: its work is done on the brokers, but nobody has written that down; `BEFORE`: it
is marked as running and nothing is done yet.
"""

import json
import time

import pytest
from confluent_kafka import KafkaException

from controlplane.clusters.probing import PROBE_TOPIC
from tests.controlplane.live.clients import Clients, Watcher
from tests.controlplane.live.conftest import GOVERNED
from tests.controlplane.live.holds import AFTER, BEFORE
from tests.controlplane.live.service import Refused
from tests.controlplane.live.story import check_story, poll_to_the_end
from tests.controlplane.live.writer import Writer
from tests.local_cluster import eventually
from tests.processes import hold_still

LISTED_S = 60.0
"""A worker that was killed may have been reading the cluster: its lease ends after 5 s."""
pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(300)]


def step(operation, name):
    return next(row for row in operation["steps"] if row["name"] == name)


def topic(service, name):
    return service.get(f"/clusters/{service.cluster_id}/topics/{name}")


def test_added_through_a_kill(service, cluster):
    assert cluster["phase"] == "RUNNING"
    assert [row["alive"] for row in cluster["brokers"]] == [True] * 3
    assert cluster["controller_id"] in {1, 2, 3}


def test_topics(service, cluster):
    plan = service.plan("topic.create", name="t.one", partitions=3, replication_factor=3)
    assert service.run_through_kills(plan, ("create", AFTER))["state"] == "succeeded"
    assert len(topic(service, "t.one")["partitions"]) == 3

    plan = service.plan("topic.update", name="t.one", configs={"retention.ms": "60000"})
    updated = service.run_through_kills(plan, ("alter", BEFORE))
    assert updated["state"] == "succeeded"
    configs = {row["name"]: row for row in topic(service, "t.one")["configs"]}
    assert configs["retention.ms"]["value"] == "60000"
    assert configs["retention.ms"]["is_default"] is False

    undo = service.post(f"/operations/{updated['id']}/undo-plan")
    assert service.finish(service.confirm(undo))["state"] == "succeeded"
    assert service.operation(updated)["state"] == "reverted"
    configs = {row["name"]: row for row in topic(service, "t.one")["configs"]}
    assert configs["retention.ms"]["is_default"] is True

    plan = service.plan("topic.partitions", name="t.one", partitions=5)
    assert service.run_through_kills(plan, ("add", AFTER))["state"] == "succeeded"
    assert len(topic(service, "t.one")["partitions"]) == 5

    plan = service.plan("topic.delete", name="t.one")
    assert service.run_through_kills(plan, ("delete", AFTER))["state"] == "succeeded"
    with pytest.raises(Refused) as caught:
        topic(service, "t.one")
    assert caught.value.status == 404


def test_a_refused_topic_is_refused_in_the_brokers_words(service, cluster):
    least = {"min.compaction.lag.ms": "9", "max.compaction.lag.ms": "8"}
    with pytest.raises(Refused) as caught:
        service.plan("topic.create", name="t.bad", configs=least)
    assert caught.value.status == 422
    assert caught.value.problem["kafka_error"] == "INVALID_CONFIG"
    assert caught.value.problem["errors"][0]["pointer"] == "/inputs/configs/min.compaction.lag.ms"
    with pytest.raises(Refused) as caught:
        service.plan("topic.create", name="t.bad", replication_factor=7)
    assert caught.value.problem["kafka_error"] == "INVALID_REPLICATION_FACTOR"
    assert caught.value.problem["errors"][0]["pointer"] == "/inputs/replication_factor"


def test_a_user_without_an_acl_is_refused_and_with_it_served(service, cluster):
    service.run("topic.create", name="t.acl", partitions=1, replication_factor=3)
    plan = service.plan("user.create", username="app")
    operation = service.run_through_kills(plan, ("credential", AFTER))
    assert operation["state"] == "succeeded"
    secret = service.post(f"/operations/{operation['id']}/secret")
    with pytest.raises(Refused) as caught:
        service.post(f"/operations/{operation['id']}/secret")
    assert caught.value.status == 410
    app = Clients(cluster["bootstrap_servers"], secret, ca_pem=service.ca_pem)
    with pytest.raises(KafkaException, match=r"(?i)authoriz"):
        app.produce("t.acl", 1)
    for _ in eventually(30, "a broker's host says that it was denied"):
        if denied(service, "User:app", "t.acl"):
            break

    acl = {
        "principal": "User:app",
        "operation": "WRITE",
        "resource_type": "TOPIC",
        "resource_name": "t.",
        "pattern_type": "PREFIXED",
    }
    plan = service.plan("acl.create", bindings=[acl])
    added = service.run_through_kills(plan, ("create", AFTER))
    assert added["state"] == "succeeded"
    produce_when_allowed(app, "t.acl")
    path = f"/clusters/{service.cluster_id}/topics/t.acl/partitions/0/segments"
    [segment] = service.get(path)["data"]
    assert segment["base_offset"] == 0
    assert segment["size_bytes"] > 0

    denial = {**acl, "permission": "DENY", "resource_name": "t.acl", "pattern_type": "LITERAL"}
    refusal = service.run("acl.create", bindings=[denial])
    refused_soon(app, "t.acl")
    undo = service.post(f"/operations/{refusal['id']}/undo-plan")
    assert service.run_through_kills(undo, ("delete", AFTER))["state"] == "succeeded"
    produce_when_allowed(app, "t.acl")

    plan = service.plan("user.delete", username="app")
    assert service.run_through_kills(plan, ("acls", BEFORE))["state"] == "succeeded"
    users = service.get(f"/clusters/{service.cluster_id}/users")["data"]
    assert "app" not in [row["username"] for row in users]
    acls = service.get(f"/clusters/{service.cluster_id}/acls")["data"]
    assert "User:app" not in [row["principal"] for row in acls]


def denied(service, principal, name):
    """What of this topic brokers denied the principal, as their hosts say it now."""
    rows = service.get(f"/clusters/{service.cluster_id}/access/denials")["data"]
    return [
        row
        for row in rows
        if (row["principal"], row["resource_type"], row["resource_name"])
        == (principal, "TOPIC", name)
    ]


def produce_when_allowed(client, name):
    """ACL changes reach each broker by a notification, a moment after ZooKeeper has them."""
    deadline_s = time.monotonic() + 10
    while True:
        try:
            client.produce(name, 1)
        except KafkaException:
            if time.monotonic() > deadline_s:
                raise
        else:
            return


def refused_soon(client, name):
    deadline_s = time.monotonic() + 10
    while time.monotonic() < deadline_s:
        try:
            client.produce(name, 1)
        except KafkaException:
            return
    pytest.fail("a DENY rule was not enforced")


def test_a_reassigned_partitions_data_is_there_and_gone_here(service, cluster, clients):
    service.run("topic.create", name="t.move", partitions=2, replication_factor=2)
    clients.produce("t.move", 2_000, size=1_000)
    before = {row["partition"]: row["replicas"] for row in topic(service, "t.move")["partitions"]}
    moves = [
        {"topic": "t.move", "partition": part, "replicas": rotated(replicas)}
        for part, replicas in before.items()
    ]
    plan = service.plan("reassignment", moves=moves, batch_size=1, throttle_bytes_per_s=50_000_000)
    assert plan["impact"]["bytes_to_move"] > 1_000_000
    operation = service.run_through_kills(plan, ("throttle", AFTER), ("move", AFTER))
    assert operation["state"] == "succeeded", operation
    assert step(operation, "verify")["state"] == "done"
    assert throttles(service, "t.move") == []
    after = {row["partition"]: row["replicas"] for row in topic(service, "t.move")["partitions"]}
    assert after == {move["partition"]: move["replicas"] for move in moves}
    assert service.get(f"/clusters/{service.cluster_id}/reassignments")["data"] == []
    for partition, replicas in after.items():
        for broker in (1, 2, 3):
            held = f"t.move-{partition}" in service.partitions_on(broker)
            assert held == (broker in replicas), (partition, broker)
    assert len(clients.read("t.move", "after-move", 2_000)) == 2_000

    undo = service.post(f"/operations/{operation['id']}/undo-plan")
    assert service.finish(service.confirm(undo))["state"] == "succeeded"
    back = {row["partition"]: row["replicas"] for row in topic(service, "t.move")["partitions"]}
    assert back == before


def test_a_topic_is_spread_over_brokers_by_bytes_and_leaders(service, cluster, clients):
    service.run("topic.create", name="t.spread", partitions=6, replication_factor=2)
    for partition in range(6):
        clients.produce("t.spread", 200, size=1_000, partition=partition)
    crowded = [
        {"topic": "t.spread", "partition": partition, "replicas": [1, 2]} for partition in range(6)
    ]
    service.finish(service.confirm(service.plan("reassignment", moves=crowded, batch_size=6)))
    # The other topics' load is reckoned with: emptying a broker is what holds in any order of tests.
    inputs = {"topics": ["t.spread"], "target_brokers": [1, 3], "batch_size": 6}
    plan = service.plan("reassignment", **inputs)
    loads = {row["id"]: row for row in plan["diff"]["brokers"]}
    assert plan["diff"]["balance"]["basis"] == "bytes"
    assert plan["impact"]["bytes_to_move"] == sum(
        row["bytes"] for row in plan["diff"]["partitions"]
    )
    assert loads[3]["after_bytes"] - loads[3]["before_bytes"] >= 6 * 200 * 1_000
    assert loads[2]["after_replicas"] == loads[2]["before_replicas"] - 6
    operation = service.finish(service.confirm(plan))
    assert operation["state"] == "succeeded", operation
    rows = topic(service, "t.spread")["partitions"]
    assert all(set(row["replicas"]) == {1, 3} for row in rows)
    wanted = {row["partition"]: row["after"] for row in plan["diff"]["partitions"]}
    assert {row["partition"]: row["replicas"] for row in rows} == wanted
    with pytest.raises(Refused) as caught:
        service.plan("reassignment", **inputs)
    assert caught.value.problem["code"] == "nothing-to-do"


# The next test's move: so many partitions, each with its share of the records.
PARTITIONS, RECORDS, RECORD_BYTES = 12, 600, 10_000
TARGET, RATE_BYTES_PER_S = 1, 400_000


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
    for reported in (polled, watcher.finish()):
        check_story(reported, total)


def rotated(replicas):
    """One of the two replicas goes to the broker that has none."""
    (free,) = {1, 2, 3} - set(replicas)
    return [replicas[0], free]


def test_a_reset_group_reads_again_from_there_and_undo_puts_it_back(service, cluster, clients):
    service.run("topic.create", name="t.reset", partitions=2, replication_factor=3)
    clients.produce("t.reset", 500, partition=0)
    clients.produce("t.reset", 500, partition=1)
    assert len(clients.read("t.reset", "readers", 1_000)) == 1_000

    leave = join(clients, "readers", "t.reset")
    with pytest.raises(Refused) as caught:
        service.plan("offset.reset", group="readers", strategy="earliest")
    assert caught.value.status == 409
    assert caught.value.problem["code"] == "group-active"
    leave()

    stale = service.plan("offset.reset", group="readers", strategy="earliest")
    clients.produce("t.reset", 10, partition=0)
    assert len(clients.read("t.reset", "readers", 10)) == 10
    with pytest.raises(Refused) as caught:
        service.confirm(stale)
    assert caught.value.problem["code"] == "plan-stale"

    late = service.plan("offset.reset", group="readers", strategy="earliest")
    service.holds.place("offset.reset", "commit", BEFORE)
    operation = service.confirm(late)
    held = service.holds.await_held()
    leave = join(clients, "readers", "t.reset")
    service.kill_held(held)
    refused = service.finish(operation)
    leave()
    assert (refused["state"], refused["error"]["code"]) == ("failed", "group-active"), refused
    for _ in eventually(LISTED_S, "what the failed operation left is seen"):
        if committed(service, "readers") == {0: 510, 1: 500}:
            break

    plan = service.plan("offset.reset", group="readers", strategy="offset", value=100)
    rows = {row["partition"]: row for row in plan["diff"]["partitions"]}
    assert (rows[0]["from"], rows[0]["to"], rows[0]["records"]) == (510, 100, 410)
    assert (rows[1]["from"], rows[1]["to"], rows[1]["records"]) == (500, 100, 400)
    operation = service.run_through_kills(plan, ("commit", AFTER))
    assert operation["state"] == "succeeded", operation
    assert committed(service, "readers") == {0: 100, 1: 100}

    undo = service.post(f"/operations/{operation['id']}/undo-plan")
    assert service.run_through_kills(undo, ("commit", BEFORE))["state"] == "succeeded"
    assert committed(service, "readers") == {0: 510, 1: 500}
    assert service.operation(operation)["state"] == "reverted"

    assert service.run("offset.reset", group="readers", strategy="offset", value=100)
    again = clients.read("t.reset", "readers", 810)
    assert min(at for part, at in again if part == 0) == 100
    assert len(again) == 810


def test_a_deleted_group_is_gone_and_undo_puts_its_offsets_back(service, cluster, clients):
    service.run("topic.create", name="t.forget", partitions=2, replication_factor=3)
    clients.produce("t.forget", 20)
    leave = join(clients, "passers", "t.forget")
    with pytest.raises(Refused) as caught:
        service.plan("group.delete", group="passers")
    assert caught.value.problem["code"] == "group-active"
    assert caught.value.problem["members"]
    leave()
    clients.read("t.forget", "passers", 20)
    places = committed(service, "passers")
    assert sum(places.values()) == 20
    plan = service.plan("group.delete", group="passers")
    assert {row["partition"]: row["committed"] for row in plan["diff"]["offsets"]} == places
    operation = service.run_through_kills(plan, ("delete", BEFORE), ("delete", AFTER))
    assert operation["state"] == "succeeded"
    with pytest.raises(Refused) as caught:
        service.get(f"/clusters/{service.cluster_id}/groups/passers")
    assert caught.value.status == 404

    undo = service.post(f"/operations/{operation['id']}/undo-plan")
    assert service.finish(service.confirm(undo))["state"] == "succeeded"
    assert committed(service, "passers") == places
    assert service.operation(operation)["state"] == "reverted"


def join(clients, group, name):
    """A member that has its partitions; answers what makes it leave."""
    reader = clients.consumer(group)
    reader.subscribe([name])
    deadline_s = time.monotonic() + 20
    while not reader.assignment():
        reader.poll(0.05)
        assert time.monotonic() < deadline_s
    return reader.close


def committed(service, group):
    found = service.get(f"/clusters/{service.cluster_id}/groups/{group}")
    return {row["partition"]: row["committed"] for row in found["offsets"]}


def test_a_cancelled_move_is_as_before_and_leaves_no_throttle(service, cluster, clients):
    service.run("topic.create", name="t.cancel", partitions=2, replication_factor=2)
    clients.produce("t.cancel", 1_000, size=1_000)
    before = {r["partition"]: r["replicas"] for r in topic(service, "t.cancel")["partitions"]}
    moves = [
        {"topic": "t.cancel", "partition": part, "replicas": rotated(replicas)}
        for part, replicas in before.items()
    ]
    plan = service.plan("reassignment", moves=moves, batch_size=1, throttle_bytes_per_s=20_000)
    service.holds.place("reassignment", "move", AFTER)
    service.holds.place("reassignment", "stop", AFTER)
    operation = service.confirm(plan)
    moving = service.holds.await_held()
    service.post(f"/operations/{operation['id']}/cancellation")
    for _ in eventually(LISTED_S, "the limit is in the list"):
        if throttles(service, "t.cancel"):
            break
    service.kill_held(moving)
    stopping = service.holds.await_held()
    assert service.operation(operation)["state"] == "cancelling"
    service.kill_held(stopping)
    ended = service.finish(operation)
    assert len(set(service.holds.workers_of(operation["id"]))) > 1
    assert ended["state"] == "cancelled", ended
    assert step(ended, "unthrottle")["state"] == "done"
    after = {r["partition"]: r["replicas"] for r in topic(service, "t.cancel")["partitions"]}
    assert after == before
    assert throttles(service, "t.cancel") == []


@pytest.mark.skipif(GOVERNED != "penstock", reason="it restarts brokers that the service runs")
def test_all_brokers_are_restarted_while_clients_write(service, cluster, clients, capsys):
    """Every acknowledged record is there, nobody is restarted twice, and what it cost is known."""
    service.run("topic.create", name="t.roll", partitions=6, replication_factor=3)
    plan = service.plan("cluster.restart", canary_s=2)
    order = [row["id"] for row in plan["diff"]["brokers"]]
    assert order[-1] == service.get(f"/clusters/{service.cluster_id}")["controller_id"]
    before = generations(service)
    writer = Writer(clients, "t.roll")
    try:
        # Chosen and nothing done to it yet; told to its host and not awaited yet.
        ended = service.run_through_kills(plan, ("roll", AFTER), ("roll", AFTER))
    finally:
        writer.stop()
    assert ended["state"] == "succeeded", ended
    assert not writer.failures
    assert writer.written > 0
    found = clients.read("t.roll", "accounts", writer.written, timeout_s=60)
    assert len(set(found)) >= writer.written
    assert generations(service) == {broker: count + 1 for broker, count in before.items()}
    rows = ended["outcome"]["roll"]["brokers"]
    assert {row["state"] for row in rows} == {"done"}
    seen = {row["id"]: row["seen"] for row in rows}
    with capsys.disabled():
        print("\nbroker, what a producer with acks=all saw of its restart:", seen)
    assert any(row is not None for row in seen.values())
    # Its own bound is printed; this one holds on a machine that does much else.
    assert all(row["gap_s"] < 20 for row in seen.values() if row)
    assert all(not row["failed"] for row in seen.values() if row)
    for _ in eventually(LISTED_S, "the probe's topic is listed as an internal one"):
        listed = service.get(f"/clusters/{service.cluster_id}/topics")["data"]
        if [row["internal"] for row in listed if row["name"] == PROBE_TOPIC] == [True]:
            break
    with pytest.raises(Refused) as caught:
        service.plan("topic.delete", name=PROBE_TOPIC)
    assert caught.value.problem["code"] == "internal-topic"


def test_a_setting_of_all_brokers_is_taken_while_they_run(service, cluster):
    """As the default of all of them, through a kill; the undo removes it again."""
    before = generations(service)
    plan = service.plan("cluster.configure", config={"log.retention.ms": "7200000"})
    assert [row["way"] for row in plan["diff"]["changes"]] == ["dynamic"]
    changed = service.run_through_kills(plan, ("dynamic", AFTER))
    assert changed["state"] == "succeeded", changed
    again = service.plan("cluster.configure", config={"log.retention.ms": "3600000"})
    (row,) = again["diff"]["changes"]
    assert (row["before"], row["now"]) == ("7200000", "7200000")
    undo = service.post(f"/operations/{changed['id']}/undo-plan")
    assert service.finish(service.confirm(undo))["state"] == "succeeded"
    (row,) = service.plan("cluster.configure", config={"log.retention.ms": "3600000"})["diff"][
        "changes"
    ]
    assert row["before"] is None
    assert generations(service) == before, "nobody was restarted for it"


def generations(service):
    """How often each broker was told another thing, by id; what its host reads of it."""
    found = {}
    for file in (service.directory / "brokers").glob("*/broker.pid"):
        found[int(file.parent.name.rpartition("-")[2])] = json.loads(file.read_text())["generation"]
    return found


def throttles(service, name):
    """What limits the replication of the topic now."""
    return [
        row["name"]
        for row in topic(service, name)["configs"]
        if row["name"].endswith("throttled.replicas") and row["value"]
    ]


def test_with_the_queue_gone_a_confirmed_operation_waits_and_then_runs(service, cluster):
    """Redis stopped for a moment: REST still takes the operation, the outbox keeps the task."""
    redis = service.processes["redis"]
    plan = service.plan("topic.create", name="t.outbox", partitions=1, replication_factor=3)
    hold_still(redis.pid)  # connections hang, as with a network that swallows packets
    try:
        asked_s = time.monotonic()
        operation = service.confirm(plan)
        assert operation["state"] == "pending"
        assert time.monotonic() - asked_s < 2, "REST waited for the queue"
    finally:
        redis.send_signal(18)  # SIGCONT
    assert service.finish(operation)["state"] == "succeeded"


def test_a_queue_that_died_with_its_messages_loses_no_operation(service, cluster):
    plan = service.plan("topic.create", name="t.lost", partitions=1, replication_factor=3)
    service.kill_redis()
    try:
        operation = service.confirm(plan)
        assert service.operation(operation)["state"] == "pending"
    finally:
        service.start_redis()
    assert service.finish(operation)["state"] == "succeeded"
