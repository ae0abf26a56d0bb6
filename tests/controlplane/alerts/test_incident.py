"""One incident through all parts: judged, alerted of, told, followed by its runbook, resolved."""

import json
from datetime import timedelta

import pytest

from controlplane.analytics.models import GroupVerdict
from controlplane.common.crypto import seal
from controlplane.gateway.types import TP
from controlplane.notifications import sending
from controlplane.notifications.models import Destination
from tests.controlplane.alerts.rounds import Rounds
from tests.controlplane.notifications.receivers import http_receiver
from tests.controlplane.support import client_for, observed


@pytest.fixture
def stopped(world, settings):
    """A group whose application has gone, of which the collector says so with each sample."""
    settings.EGRESS_ALLOWED = ["127.0.0.0/8"]
    world.gateway.add_topic("orders", partitions=1, rf=3, records=500)
    world.gateway.add_group("billing", {TP("orders", 0): 100})
    observed(world)
    return world


def judged(world, now, status):
    GroupVerdict.objects.update_or_create(
        cluster_id=world.cluster.id,
        group="billing",
        topic="orders",
        defaults={
            "sampled_ms": int(now.timestamp() * 1000),
            "judged_at": now,
            "partitions": 1,
            "trend": "growing",
            "status": status,
            "risk": "SAFE",
            "lag_records": 400 if status == "STOPPED" else 0,
        },
    )


def round_of(rounds, world, seconds, status):
    judged(world, rounds.now + timedelta(seconds=seconds), status)
    rounds.after(seconds)
    sending.send_due(round_s=5)


def alerts_of(client):
    found = client.get("/api/v1/alerts").json()["data"]
    return [row for row in found if row["rule"] == "group-stopped"]


def test_a_group_stops_and_comes_back(stopped):
    world, client, rounds = stopped, client_for(stopped.tenant), Rounds()
    with http_receiver() as (url, told):
        Destination.objects.create(
            tenant=world.tenant,
            name="on call",
            kind="webhook",
            config={"url": url},
            rules=["group-stopped"],
            secrets_token=seal({"signing_secret": "s3cret-" * 5}),
        )
        # It has to hold for 30 s: nobody is called for a restart.
        round_of(rounds, world, 0, "STOPPED")
        assert (alerts_of(client), told) == ([], [])
        round_of(rounds, world, 31, "STOPPED")
        (alert,) = alerts_of(client)
        assert (alert["state"], alert["runbook"]) == ("firing", "group-stopped")
        (event,) = [json.loads(request.body)["event"] for request in told]
        assert (event["state"], event["alert_id"]) == ("firing", alert["id"])
        assert event["labels"]["group"] == "billing"
        assert event["runbook"] == "group-stopped"

        about = {"cluster_id": world.cluster.id, "group": "billing", "topic": "orders"}
        run = client.post(
            f"/api/v1/runbooks/{event['runbook']}/runs",
            {**about, "alert_id": alert["id"]},
            format="json",
        ).json()
        assert check(client, run, "group-members")["outcome"] == "bad"
        assert check(client, run, "group-lag")["outcome"] == "bad"

        world.gateway.add_group("billing", {TP("orders", 0): 500}, members=2)
        observed(world)
        assert check(client, run, "group-lag")["outcome"] == "ok"
        round_of(rounds, world, 10, "CAUGHT_UP")
        assert alerts_of(client)[0]["state"] == "firing"  # it may yet come back
        round_of(rounds, world, 61, "CAUGHT_UP")
        assert [row["state"] for row in alerts_of(client)] in ([], ["resolved"])
        assert [json.loads(request.body)["event"]["state"] for request in told] == [
            "firing",
            "resolved",
        ]


def check(client, run, name):
    document = client.get(f"/api/v1/runbooks/{run['runbook']}").json()
    parts = [part for section in document["sections"] for part in section["parts"]]
    (number,) = [part["number"] for part in parts if part["name"] == name]
    path = f"/api/v1/runbook-runs/{run['id']}/checks/{number}"
    answer = client.post(path, format="json")
    assert answer.status_code == 201, answer.content
    return answer.json()
