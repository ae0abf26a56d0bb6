"""Incidents of consumer groups: applications that go, lag, hang, or read what retention is about to
delete.

A trend is known after 3 minutes of samples, and what stands still is noticed after 5: that is how
long most of these take.
"""

import time

from confluent_kafka import Consumer, TopicPartition

from tests.controlplane.live.incidents.incident import Incident, until
from tests.controlplane.live.incidents.traffic import Reading, Writing
from tests.controlplane.live.incidents.world import Place, World

TREND_S = 180.0
QUIET_S = 300.0
READS_S = 35.0
BUSY_S = 240.0
"""What a machine that does all of these at once may take besides."""
HOUR_MS, DAY_MS = 3_600_000, 86_400_000


def topic_of(place: Place, name: str, partitions: int, **configs: int) -> None:
    settings = {key.replace("_", "."): str(value) for key, value in configs.items()}
    made = place.view.run(
        "topic.create", name=name, partitions=partitions, replication_factor=1, configs=settings
    )
    assert made["state"] == "succeeded", made


def started(reading: Reading) -> Reading:
    """Once it has read and committed."""
    until(lambda: reading.read, lambda: reading.failures, 60)
    return reading


def deserted(place: Place, topic: str, group: str) -> None:
    """The application reads for a few samples, so that it is known what it has seen, and goes."""
    reading = started(Reading(place.clients, topic, group))
    time.sleep(READS_S)
    reading.stop()


def caught_up(run, reading: Reading) -> None:
    run.until("group-lag", "ok")
    assert not reading.failures


def stopped(world: World) -> None:
    place = world.main
    topic_of(place, "stopped", 1)
    writing = Writing(place.clients, "stopped", per_s=10, partitions=1)
    subject = "group/stopped-app"
    deserted(place, "stopped", "stopped-app")
    one = Incident(world, "group-stopped", "the application ends", place=place, subject=subject)
    one.fires(TREND_S + BUSY_S)
    run = one.follow(group="stopped-app", topic="stopped")
    assert run.check("group-members")["text"] == "0 members, state Empty."
    assert run.check("group-members")["outcome"] == "bad"
    assert run.check("group-lag")["outcome"] == "bad"
    assert run.check("brokers-alive")["outcome"] == "ok"
    # No members: the application is down. Start it.
    writing.stop()
    reading = started(Reading(place.clients, "stopped", "stopped-app"))
    one.mended()
    run.until("group-members", "ok")
    caught_up(run, reading)
    one.resolves(60 + BUSY_S)
    reading.stop()


def falling_behind(world: World) -> None:
    place = world.main
    topic_of(place, "behind", 3)
    writing = Writing(place.clients, "behind", per_s=30, partitions=3)
    subject = "group/behind-app"
    cause = "30 records a second are written, 9 read"
    one = Incident(world, "group-falling-behind", cause, place=place, subject=subject)
    slow = started(Reading(place.clients, "behind", "behind-app", per_s=9))
    alert = one.fires(TREND_S + 120 + BUSY_S)
    assert alert["values"]["lag_s"] >= 60
    run = one.follow(group="behind-app", topic="behind")
    verdict = run.check("group-verdict")
    assert (verdict["outcome"], verdict["text"]) == (
        "bad",
        "FALLING_BEHIND on behind, the lag is growing.",
    )
    assert run.check("group-members")["outcome"] == "ok"
    # All partitions, offsets moving: too few consumers, or each too slow.
    assert run.check("group-skew")["outcome"] == "ok"
    more = [Reading(place.clients, "behind", "behind-app") for _ in range(2)]
    slow.stop()
    one.mended()
    run.until_so("group-verdict", lambda found: found["outcome"] == "ok")
    one.resolves(120 + BUSY_S)
    writing.stop()
    for each in more:
        each.stop()


def stalled(world: World) -> None:
    place = world.main
    topic_of(place, "stalled", 3)
    writing = Writing(place.clients, "stalled", per_s=15, partitions=3)
    cause = "a record that the consumer cannot process"
    subject = "group/stalled-app"
    one = Incident(world, "group-stalled", cause, place=place, subject=subject)
    poison = (0, 10)
    reading = started(Reading(place.clients, "stalled", "stalled-app", poison=poison))
    one.fires(QUIET_S + 60 + BUSY_S)
    run = one.follow(group="stalled-app", topic="stalled")
    assert run.check("group-verdict")["text"].startswith("STALLED on stalled")
    skew = run.check("group-skew")
    assert (skew["outcome"], skew["numbers"]["partition"]) == ("bad", "stalled-0")
    assert run.check("group-members")["outcome"] == "ok"
    # One partition: step over the record. Stop the consumers first.
    reading.stop()
    run.until("group-members", "bad")
    place.done(run.plan("offset.reset", partition=0))
    reading = started(Reading(place.clients, "stalled", "stalled-app", poison=poison))
    one.mended()
    run.until("group-verdict", "ok")
    assert min(offset for offset in committed(place, "stalled-app", "stalled", 0)) > 11
    one.resolves(60 + BUSY_S)
    writing.stop()
    reading.stop()


def committed(place: Place, group: str, topic: str, partition: int) -> list[int]:
    asking = Consumer({**place.config, "group.id": group, "log_level": 0})
    try:
        return [found.offset for found in asking.committed([TopicPartition(topic, partition)], 20)]
    finally:
        asking.close()


def losing_data(world: World) -> None:
    """280 s are kept, and nobody reads: at risk from the half of them on. That the group has
    stopped is counted inside.
    """
    place = world.main
    topic_of(place, "losing", 1, retention_ms=280_000)
    writing = Writing(place.clients, "losing", per_s=10, partitions=1)
    cause = "280 s are kept, and the application ends"
    subject = "group/losing-app"
    deserted(place, "losing", "losing-app")
    one = Incident(world, "group-losing-data", cause, place=place, subject=subject)
    alert = one.fires(TREND_S + 30 + BUSY_S)
    assert alert["severity"] == "critical"
    assert 0 < alert["values"]["first_loss_in_s"] <= 140
    inside = until(lambda: one.now()["consequences"], one.now, 30)
    assert {row["rule"] for row in inside} == {"group-stopped"}
    mine = [row["subject"] for row in place.view.get("/alerts?rule=group-stopped")["data"]]
    assert subject not in mine
    run = one.follow(group="losing-app", topic="losing")
    expiry = run.check("group-expiry")
    assert expiry["outcome"] == "bad"
    assert expiry["text"].startswith("The first unread record expires in ")
    assert run.check("topic-retention")["text"].endswith("no lease.")
    assert run.check("group-lag")["outcome"] == "bad"
    # Take the lease: longer than the lag is old, for as long as catching up takes.
    place.done(run.plan("topic.retention_lease", retention_ms=2 * DAY_MS, for_s=3600))
    reading = started(Reading(place.clients, "losing", "losing-app"))
    one.mended()
    assert "under a lease until" in run.check("topic-retention")["text"]
    writing.stop()
    caught_up(run, reading)
    assert sum(reading.read.values()) == last_offset(place, "losing") - first_read(reading)
    run.until("group-expiry", "ok")
    place.done(run.plan("topic.retention_restore"))
    assert run.check("topic-retention")["text"].endswith("no lease.")
    one.resolves(120 + BUSY_S)
    reading.stop()


def last_offset(place: Place, topic: str) -> int:
    asking = Consumer({**place.config, "group.id": "none", "log_level": 0})
    try:
        _, high = asking.get_watermark_offsets(TopicPartition(topic, 0), 20)
    finally:
        asking.close()
    return int(high)


def first_read(reading: Reading) -> int:
    assert reading.first is not None
    return reading.first


def headroom(world: World) -> None:
    """The default warns in the last fifth of the retention; of this topic from 95 % on."""
    place = world.main
    body = {"rule": "retention-headroom", "cluster_id": place.id, "resource": "topic"}
    found = {"name": "headroom", "thresholds": {"left_share": 0.95}}
    place.view.post("/alert-overrides", {**body, **found})
    topic_of(place, "headroom", 1, retention_ms=HOUR_MS)
    writing = Writing(place.clients, "headroom", per_s=20, partitions=1)
    cause = "an hour is kept, and of 20 records a second 5 are read"
    subject = "topic/headroom"
    one = Incident(world, "retention-headroom", cause, place=place, subject=subject)
    slow = started(Reading(place.clients, "headroom", "headroom-app", per_s=5))
    alert = one.fires(2 * TREND_S + 60 + BUSY_S)
    assert alert["values"]["expires_in_s"] <= 0.95 * HOUR_MS / 1000
    run = one.follow(group="headroom-app", topic="headroom")
    kept = run.check("topic-retention")
    assert (kept["outcome"], kept["numbers"]["retention.ms"]) == ("ok", str(HOUR_MS))
    assert run.check("topic-partitions")["outcome"] == "ok"
    # No lease stands, its partitions are well: choose one of the acts.
    place.done(run.plan("topic.update", retention_ms=DAY_MS))
    one.mended()
    run.until_so("topic-retention", lambda found: str(DAY_MS) in found["text"])
    one.resolves(120 + BUSY_S)
    writing.stop()
    slow.stop()
