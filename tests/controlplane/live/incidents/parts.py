"""Incidents of the service and of a tenant's own: clusters that go silent, what is not sampled or
computed, operations, certificates, keys, limits.
"""

import contextlib
import datetime as dt
import os
import signal

from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from cryptography import x509

from controlplane.operations.states import ANALYTICS_RUN_ACTIVE_STATES
from spark_analytics.contracts.telemetry import TELEMETRY_TOPIC
from tests.controlplane.live.followed import patient
from tests.controlplane.live.holds import BEFORE
from tests.controlplane.live.incidents.incident import HostIncident, Incident, until
from tests.controlplane.live.incidents.world import (
    CLUSTERS_MAX,
    FIRST_HOST,
    Place,
    World,
    registered,
    served_certificate,
)
from tests.controlplane.live.service import Refused
from tests.processes import hold_still

BUSY_S = 240.0
SHORT = """
import datetime as dt
from django.utils import timezone
from controlplane.clusters.models import Broker
from controlplane.clusters.renewal import renew_certificates
from tests.processes import hold_still
then = timezone.now() - dt.timedelta(days=75)
Broker.objects.filter(cluster_id="{}").update(certificate_ends_at=then)
print(renew_certificates(then))
"""
ACTIVE = set(ANALYTICS_RUN_ACTIVE_STATES)
RENEW = "from controlplane.clusters.tasks import renew; print(renew())"


def cluster_away(world: World) -> None:
    """Its only broker hangs. That it is not sampled either is counted inside."""
    place = world.lone
    place.override("collector-late", late_s=30)
    one = Incident(world, "cluster-away", "SIGSTOP of a registered Kafka", place=place)
    pid = place.kafka.broker_pid(0)
    hold_still(pid)
    try:
        alert = one.fires(60 + BUSY_S)
        assert alert["severity"] == "critical"
        inside = until(lambda: one.now()["consequences"], one.now, 90)
        assert "collector-late" in {row["rule"] for row in inside}
        assert not place.view.get(f"/alerts?rule=collector-late&cluster_id={place.id}")["data"]
        run = one.follow()
        assert run.check("cluster-answers")["outcome"] == "unknown"
        health = run.check("cluster-health")
        assert health["outcome"] == "bad"
        assert health["text"].startswith("The cluster is unreachable.")
    finally:
        # Registered: its owner. He lets it go on.
        os.kill(pid, signal.SIGCONT)
    one.mended()
    run.until("cluster-answers", "ok")
    one.resolves(30 + BUSY_S)


def collector_late(world: World) -> None:
    """Somebody lets the telemetry topic take no record of the size of a sample."""
    place = world.lone
    with contextlib.suppress(Refused):
        place.override("collector-late", late_s=30)
    until(
        lambda: place.view.get(f"/clusters/{place.id}/analytics/collector")["last_sample_at"],
        lambda: "never sampled",
        60,
    )
    cause = "max.message.bytes of the telemetry topic set to 100"
    one = Incident(world, "collector-late", cause, place=place)
    limit_telemetry(place, AlterConfigOpType.SET)
    one.fires(30 + 30 + BUSY_S)
    run = one.follow()
    found = run.check("collector-age")
    assert found["outcome"] == "bad"
    assert found["text"].startswith("The last sample was ")
    # It answers: the collector's reason says what it may not do.
    assert run.check("cluster-answers")["outcome"] == "ok"
    assert "max.message.bytes is 100" in found["text"]
    limit_telemetry(place, AlterConfigOpType.DELETE)
    one.mended()
    run.until("collector-age", "ok")
    one.resolves(60 + BUSY_S)


def limit_telemetry(place: Place, operation: AlterConfigOpType) -> None:
    entry = ConfigEntry("max.message.bytes", "100", incremental_operation=operation)
    resource = ConfigResource(ResourceType.TOPIC, TELEMETRY_TOPIC)
    resource.add_incremental_config(entry)
    admin = AdminClient({**place.config, "log_level": 0})
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(20)


def spark_late(world: World) -> None:
    """Samples come, and every run fails. This tenant is told after 5 minutes."""
    view, place = world.service, world.main
    view.post("/alert-overrides", {"rule": "spark-late", "thresholds": {"late_s": 300}})
    one = Incident(world, "spark-late", "every run fails: Spark's jars are missing", view=view)
    alert = one.fires(300 + 60 + BUSY_S)
    assert "main" in alert["members"]
    run = one.follow(cluster_id=place.id)
    found = run.check("spark-run-age")
    assert (found["outcome"], found["text"]) == ("bad", "There was no analytics run yet.")
    run.until("collector-age", "ok")
    # Runs fail, and the log has the reason: mend it, and begin one now.
    until(
        lambda: states(world) and not ACTIVE & set(states(world).values()),
        lambda: states(world),
        120,
    )
    assert set(states(world).values()) == {"failed"}
    world.lay_jars()
    begun = patient(view, "/analytics/runs", {})
    one.mended()
    until(lambda: states(world)[begun["id"]] not in ACTIVE, lambda: states(world), 300 + BUSY_S)
    assert states(world)[begun["id"]] == "succeeded"
    world.spark_can_run.set()
    run.until("spark-run-age", "ok")
    one.resolves(60 + BUSY_S)


def states(world: World) -> dict[str, str]:
    """Of analytics runs, by id."""
    rows = world.service.get("/analytics/runs")["data"]
    return {row["id"]: row["state"] for row in rows}


def operation_stuck(world: World) -> None:
    """A worker hangs in the middle of a step. Of this cluster it is told after a minute."""
    place = world.main
    place.override("operation-stuck", step_s=60)
    made = place.view.run("topic.create", name="held", partitions=1, replication_factor=1)
    assert made["state"] == "succeeded", made
    plan = place.view.plan("topic.delete", name="held")
    world.service.holds.place("topic.delete", "delete", BEFORE)
    operation = place.view.confirm(plan)
    held = world.service.holds.await_held()
    assert held["operation_id"] == operation["id"]
    subject = f"operation/{operation['id']}"
    cause = "the worker hangs in a step"
    one = Incident(world, "operation-stuck", cause, place=place, subject=subject)
    one.fires(60 + BUSY_S)
    run = one.follow(operation_id=operation["id"])
    found = run.check("operation-state")
    assert found["outcome"] == "unknown"
    assert "It is running, at “Delete the topic”" in found["text"], found
    assert run.check("cluster-answers")["outcome"] == "ok"
    # A worker that was killed is replaced, and the operation goes on by itself.
    world.kept(lambda: world.service.kill_held(held))
    one.mended()
    assert run.until("operation-state", "ok")["numbers"]["state"] == "succeeded"
    one.resolves(BUSY_S)


def operation_failed(world: World) -> None:
    """What was planned and confirmed is not possible any more when its turn comes."""
    place = world.main
    made = {"name": "taken", "partitions": 2, "replication_factor": 1}
    assert place.view.run("topic.create", **made)["state"] == "succeeded"
    plan = place.view.plan("topic.partitions", name="taken", partitions=3)
    world.service.holds.place("topic.partitions", "add", BEFORE)
    began = place.view.confirm(plan)
    subject = f"operation/{began['id']}"
    cause = "somebody deletes the topic that an operation is about to change"
    one = Incident(world, "operation-failed", cause, place=place, subject=subject)
    assert world.service.holds.await_held()["operation_id"] == began["id"]
    admin = AdminClient({**place.config, "log_level": 0})
    admin.delete_topics(["taken"])["taken"].result(20)
    until(lambda: "taken" not in admin.list_topics(timeout=10).topics, lambda: "it is there", 30)
    world.service.holds.let_go(began["id"])
    ended = place.view.finish(began)
    assert ended["state"] == "failed", ended
    one.fires(BUSY_S)
    run = one.follow(operation_id=began["id"])
    found = run.check("operation-state")
    assert found["outcome"] == "bad"
    assert ended["error"]["detail"] in found["text"]
    assert run.check("cluster-answers")["outcome"] == "ok"
    assert run.check("brokers-alive")["outcome"] == "ok"
    # Mend the reason that the error names, plan it again.
    assert place.view.run("topic.create", **made)["state"] == "succeeded"
    place.done(place.view.plan("topic.partitions", name="taken", partitions=3))
    one.mended()
    one.resolves(BUSY_S)


def certificate_ending(world: World) -> None:
    """One that was issued 75 days ago and has 15 left, as no renewal came.

    The tenant is told of the broker, and the operators of the host that it is on.
    """
    place = world.main
    cause = "the broker serves a certificate that has 15 days left"
    one = Incident(world, "certificate-ending", cause, place=place)
    operators = HostIncident(world, "host-certificate-ending", cause, FIRST_HOST)
    said = world.service.manage("shell", "--command", SHORT.format(place.id))
    assert "Renewal(made=1, sent=1, left=0)" in said
    until(lambda: days_served(place) == 14, lambda: days_served(place), 60)
    one.fires(60 + BUSY_S)
    alert = operators.fires(60 + BUSY_S)
    assert (alert["severity"], alert["members"]) == ("warning", [f"{place.id}-1"])
    for run in (one.follow(), operators.follow(cluster_id=place.id)):
        found = run.check("certificate-end")
        assert found["outcome"] == "bad"
        assert found["text"].startswith("The first certificate ends in 14 days")
        assert run.check("zookeeper-answers")["outcome"] == "ok"
    # At once, as the runbook says; the next hour would do it, too.
    world.service.manage("shell", "--command", RENEW)
    for told in (one, operators):
        told.mended()
        told.run.until("certificate-end", "ok")
    until(lambda: days_served(place) == 89, lambda: days_served(place), 60)
    for told in (one, operators):
        told.resolves(60 + BUSY_S)


def days_served(place: Place) -> int:
    row = place.brokers()[0]
    served = x509.load_pem_x509_certificate(served_certificate(row["host"], row["port"]).encode())
    return (served.not_valid_after_utc - dt.datetime.now(dt.UTC)).days


def key_ending(world: World) -> None:
    """A key of one day. This tenant is told in all of a key's life, not in its last fifth."""
    view, owner = world.service, world.owner
    view.post("/alert-overrides", {"rule": "key-ending", "thresholds": {"left_share": 1.0}})
    one = Incident(world, "key-ending", "an API key has a day left", view=view)
    ends_at = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
    body = {"name": "pipeline", "scope": "read", "expires_at": ends_at.isoformat()}
    key = owner.post("/api-keys", body)
    alert = one.fires(60 + BUSY_S)
    assert alert["members"] == ["pipeline"]
    run = one.follow()
    found = run.check("key-ends")
    assert (found["outcome"], "pipeline on " in found["text"]) == ("bad", True)
    # In use: rotate it with an overlap.
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=90)
    rotation = {"overlap_s": 3600, "expires_at": later.isoformat()}
    made = owner.post(f"/api-keys/{key['id']}/rotation", rotation)
    one.mended()
    assert made["replaces"] == key["id"]
    run.until("key-ends", "ok")
    one.resolves(60 + BUSY_S)


def quota_hit(world: World) -> None:
    """As many clusters as the tenant may have."""
    view, kafka = world.full, world.lone.kafka
    one = Incident(world, "quota-hit", f"{CLUSTERS_MAX} of {CLUSTERS_MAX} clusters", view=view)
    places = [registered(world, view, f"copy-{number}", kafka) for number in range(CLUSTERS_MAX)]
    alert = one.fires(60 + BUSY_S)
    assert (alert["severity"], alert["members"]) == ("warning", ["clusters"])
    run = one.follow()
    found = run.check("tenant-limits")
    assert found["outcome"] == "bad"
    assert f"clusters {CLUSTERS_MAX} of {CLUSTERS_MAX}" in found["text"]
    with contextlib.suppress(Refused):
        registered(world, view, "one-more", kafka)
        raise AssertionError("more than the tenant may have")
    # Clusters: remove what nobody uses.
    ended = places[-1].view.finish(places[-1].view.confirm(places[-1].view.plan("cluster.delete")))
    assert ended["state"] == "succeeded", ended
    one.mended()
    run.until("tenant-limits", "ok")
    one.resolves(60 + BUSY_S)
