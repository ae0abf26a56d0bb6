"""Incidents of brokers and of ZooKeeper: what is killed, hangs, fills up or fails."""

import json
import os
import signal
import time

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError

from tests.controlplane.live.incidents.incident import HostIncident, Incident, until
from tests.controlplane.live.incidents.world import Place, World
from tests.controlplane.live.service import Refused
from tests.local_cluster import eventually
from tests.processes import hold_still

SESSION_S = 18.0
BUSY_S = 240.0
FAILED = "log-directory-failed"
PARTITIONS = {"partitions-offline", "partitions-under-replicated", "partitions-under-min-isr"}


def topics(place: Place, placed: dict[str, list[list[int]]], **configs: dict[str, str]) -> None:
    admin = AdminClient({**place.config, "log_level": 0})
    wanted = [
        NewTopic(
            name,
            num_partitions=len(rows),
            replica_assignment=rows,
            config=configs.get(name, {}),
        )
        for name, rows in placed.items()
    ]
    for _ in eventually(30, "topics are made"):
        try:
            for future in admin.create_topics(wanted).values():
                future.result(20)
        except KafkaException:
            continue
        return


def whole(place: Place, names: tuple[str, ...]) -> bool:
    """Whether the last look at the cluster saw these with all their replicas."""
    for name in names:
        try:
            row = place.view.get(f"/clusters/{place.id}/topics/{name}")
        except Refused:
            return False
        for part in row["partitions"]:
            if part["leader"] is None or len(part["isr"]) < len(part["replicas"]):
                return False
    return True


def rules_firing(place: Place) -> set[str]:
    rows = place.view.get(f"/alerts?cluster_id={place.id}&page_size=100")["data"]
    return {row["rule"] for row in rows if row["state"] == "firing"}


def broker_down(world: World) -> None:
    """One hangs. What it takes with it is one alert, and that of the broker."""
    place = world.three
    leader = place.view.get(f"/clusters/{place.id}")["controller_id"]
    victim = next(row for row in place.brokers() if row["id"] != leader)
    number = victim["id"]
    left = next(row["id"] for row in place.brokers() if row["id"] != number)
    topics(
        place,
        {"lone": [[number]] * 2, "pair": [[number, left]] * 2},
        lone={"min.insync.replicas": "1"},
        pair={"min.insync.replicas": "2"},
    )
    until(lambda: whole(place, ("lone", "pair")), lambda: "the topics are not seen whole", BUSY_S)
    cause = "SIGSTOP of one of three brokers"
    one = Incident(world, "broker-down", cause, place=place)
    hold_still(victim["pid"])
    alert = one.fires(SESSION_S + 20 + BUSY_S)
    until(lambda: {row["rule"] for row in one.now()["consequences"]} == PARTITIONS, one.now, 30)
    assert one.now()["severity"] == "critical"
    assert alert["members"] == [str(number)]
    assert not PARTITIONS & rules_firing(place)
    run = one.follow(broker=number)
    assert run.check("brokers-alive")["text"] == f"2 brokers in the cluster; missing: {number}."
    assert run.check("broker-alive")["outcome"] == "bad"
    assert run.check("partitions-under-min-isr")["outcome"] == "bad"
    assert run.check("partitions-offline")["numbers"]["affected"] == 2
    assert run.check("zookeeper-answers")["outcome"] == "ok"
    # Its process runs and is not in the cluster: stopped and started by its agent.
    place.done(run.plan("broker.restart"))
    one.mended()
    for name in ("brokers-alive", "broker-alive", "partitions-under-min-isr", "partitions-offline"):
        run.until(name, "ok")
    one.resolves(60 + BUSY_S)
    assert not PARTITIONS & rules_firing(place)


def broker_restarting(world: World) -> None:
    """Killed three times; the alert counts starts of a quarter of an hour, of this cluster of one
    minute.
    """
    place = world.three
    place.override("broker-restarting", within_s=60)
    cause = "SIGKILL of a broker, four times"
    one = Incident(world, "broker-restarting", cause, place=place)
    number = place.brokers()[0]["id"]
    for _ in range(4):
        dead = alive(place, number)
        os.kill(dead, signal.SIGKILL)
        until(lambda dead=dead: alive(place, number) != dead, place.brokers, 60)
    alert = one.fires(BUSY_S)
    assert alert["members"] == [str(number)]
    run = one.follow(broker=number)
    found = run.check("broker-restarts")
    assert (found["outcome"], f"{number} (" in found["text"]) == ("bad", True)
    run.until("disk-usage", "ok")
    assert run.check("zookeeper-answers")["outcome"] == "ok"
    # Killed without an error: whoever kills it is stopped. Here it was this test.
    one.mended()
    run.until("partitions-under-min-isr", "ok")
    run.until("broker-restarts", "ok")
    one.resolves(60 + 300 + BUSY_S)


def alive(place: Place, number: int) -> int:
    """Its process, once its agent has one."""

    def pid() -> int | None:
        row = next(row for row in place.brokers() if row["id"] == number)
        return row["pid"] if row["observed_state"] == "running" else None

    return int(until(pid, place.brokers, 60))


def failed_directory(world: World) -> None:
    """One of a broker's two directories fills up and is given up: the broker is there, and what it
    has there is not. Partitions have alerts of their own where nobody is told of the directory.
    """
    place, disk, kafka = world.theirs, world.second_disk, world.theirs.kafka
    is_off = place.switch_off(FAILED)
    topics(
        place,
        {"lone": [[0]] * 4, "pair": [[0, 1]] * 4, "trio": [[0, 1, 2]] * 4},
        lone={"min.insync.replicas": "1"},
        trio={"min.insync.replicas": "2"},
        pair={"min.insync.replicas": "2"},
    )
    kafka.wait_until_whole()
    cause = "a log directory's disk is full, and the directory given up"
    found = {rule: Incident(world, rule, cause, place=place) for rule in sorted(PARTITIONS)}
    disk.fill()
    write_until_refused(place, ["lone", "pair", "trio"], 4)
    runs = {}
    for rule in ("partitions-offline", "partitions-under-min-isr", "partitions-under-replicated"):
        found[rule].fires(120 + BUSY_S)
        runs[rule] = found[rule].follow(broker=0)
        # All brokers are there: a directory has failed.
        assert runs[rule].until("brokers-alive", "ok")["numbers"]["missing"] == 0
        assert runs[rule].check(rule)["outcome"] == "bad"  # of the alert's own name
    assert not {"broker-down", FAILED} & rules_firing(place)
    cause = "the same directory, from when its rule is asked"
    found[FAILED] = Incident(world, FAILED, cause, place=place)
    place.view.call("DELETE", f"/alert-overrides/{is_off}")
    alert = found[FAILED].fires(20 + BUSY_S)
    assert alert["members"] == ["0"]
    runs["log-directories"] = found[FAILED].follow(broker=0)
    said = runs["log-directories"].check("log-directories")
    assert (said["outcome"], said["numbers"]["failed"]) == ("bad", 1)
    assert str(disk.path / "data") in said["text"]
    # Space was the reason: make some, restart the broker, and it opens the directory again.
    disk.free()
    place.world.kept(lambda: kafka.kill(0))
    for one in found.values():
        one.mended()
    for rule, run in runs.items():
        run.until(rule, "ok")
    for one in found.values():
        one.resolves(60 + BUSY_S)


def write_until_refused(place: Place, names: list[str], partitions: int) -> None:
    """Each partition is written to for as long as a directory needs to be given up, and longer."""
    refused: list[object] = []
    producer = Producer(
        {**place.config, "log_level": 0, "acks": "1", "message.timeout.ms": 5_000, "retries": 0}
    )
    end_s = time.monotonic() + 40
    while time.monotonic() < end_s:
        for name in names:
            for part in range(partitions):
                producer.produce(
                    name,
                    b"x" * 20_000,
                    partition=part,
                    on_delivery=lambda error, _: refused.append(error) if error else None,
                )
        producer.flush(10)
        time.sleep(0.5)
    assert refused


def disk_filling(world: World) -> None:
    """Records fill a small disk to nine tenths."""
    place, disk = world.tight, world.disk
    configs = {"segment.bytes": str(4 * 2**20), "file.delete.delay.ms": "1000"}
    topics(place, {"large": [[place.brokers()[0]["id"]]]}, large=configs)
    volume = os.statvfs(disk.path)
    size = volume.f_blocks * volume.f_frsize
    one = Incident(world, "disk-filling", "records fill 87 % of a small disk", place=place)
    producer = Producer({**place.config, "log_level": 0, "linger.ms": 20})
    while disk.free_bytes() > 0.13 * size:
        for _ in range(20):
            producer.produce("large", os.urandom(50_000), partition=0)
        producer.flush(30)
    alert = one.fires(60 + BUSY_S)
    assert alert["values"]["used_share"] >= 0.8
    run = one.follow(topic="large")
    found = run.check("disk-usage")
    assert (found["outcome"], found["text"].startswith("Less than 15% free: broker")) == (
        "bad",
        True,
    ), found
    assert run.check("partitions-offline")["outcome"] == "ok"
    # Make room: shorten the retention of the largest topic whose owner agrees.
    place.done(run.plan("topic.update", retention_ms=1_000))
    one.mended()
    run.until("disk-usage", "ok")
    one.resolves(300 + BUSY_S)


def controller_missing(world: World) -> None:
    """What a migration to another controller leaves that was given up: `/controller` names one that
    is no broker, and no session ends it.
    """
    place = world.theirs
    until(lambda: not rules_firing(place), lambda: rules_firing(place), BUSY_S)
    cause = "/controller names one that is no broker, and nobody's session holds it"
    one = Incident(world, "controller-missing", cause, place=place)
    keeper = KazooClient(hosts=place.zookeeper.connect_string)
    keeper.start()
    try:
        left = json.dumps({"version": 2, "brokerid": 3000, "timestamp": "0"}).encode()
        for _ in eventually(30, "brokers are not faster"):
            keeper.delete("/controller")
            try:
                keeper.create("/controller", left)
            except NodeExistsError:
                continue
            break
        one.fires(30 + BUSY_S)
        run = one.follow()
        found = run.check("controller")
        assert (found["outcome"], found["text"]) == (
            "bad",
            "Broker 3000 is the controller, which is not in the cluster.",
        )
        assert run.check("brokers-alive")["outcome"] == "ok"
        # It names something that is no broker, and no session holds it: delete it.
        assert keeper.exists("/controller").ephemeralOwner == 0
        keeper.delete("/controller")
    finally:
        keeper.stop()
        keeper.close()
    one.mended()
    run.until("controller", "ok")
    one.resolves(30 + BUSY_S)


def zookeeper_unreachable(world: World) -> None:
    """The service's own. Brokers of managed clusters go on meanwhile, with what they know.

    Tenants are told, and operators, who do not know meanwhile which hosts are silent.
    """
    view, service = world.service, world.service
    place = world.main
    cause = "SIGKILL of the service's ZooKeeper"
    one = Incident(world, "zookeeper-unreachable", cause, view=view)
    operators = HostIncident(world, "host-registry-away", cause)
    service.kill("zookeeper")
    alert = one.fires(30 + BUSY_S)
    assert "main" in alert["members"]
    assert operators.fires(30 + BUSY_S)["severity"] == "critical"
    run = one.follow(cluster_id=place.id)
    for each in (run, operators.follow(cluster_id=place.id)):
        assert each.check("zookeeper-answers")["outcome"] == "unknown"
        assert each.check("partitions-offline")["outcome"] == "ok"
    # Members are down: restart them. On a single machine the launcher does.
    world.kept(service.start_zookeeper)
    for told in (one, operators):
        told.mended()
    for each in (run, operators.run):
        each.until("zookeeper-answers", "ok")
        each.until("controller", "ok")
    for told in (one, operators):
        told.resolves(60 + BUSY_S)
    assert not {"broker-down", "controller-missing"} & rules_firing(place)
