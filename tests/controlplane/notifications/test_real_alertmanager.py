"""Deliveries to a real Alertmanager, as it shows them itself and tells others of them."""

import json
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.notifications import sending
from controlplane.notifications.events import RESOLVED, WARNING
from controlplane.notifications.models import SENT, Delivery
from tests.alertmanager import Alertmanager
from tests.controlplane.notifications.events import HOSTILE
from tests.controlplane.notifications.receivers import http_receiver

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("loopback"),
]
TOLD_WITHIN_S = 30.0


@pytest.fixture
def alertmanager(tmp_path):
    """Yields (it, the requests that it made of its receiver)."""
    with http_receiver((200,)) as (url, requests):
        made = Alertmanager(tmp_path, url)
        made.start()
        yield made, requests
        made.stop()


def told_by_it(requests, state, **labels):
    """Waits until it tells its receiver of an alert with these labels in this state."""
    ends_s = time.monotonic() + TOLD_WITHIN_S
    while True:
        for request in list(requests):
            for alert in json.loads(request.body)["alerts"]:
                if alert["status"] == state and labels.items() <= alert["labels"].items():
                    return alert
        assert time.monotonic() < ends_s, [request.body for request in requests]
        time.sleep(0.05)


def delivered():
    assert sending.send_due() == 1
    last = Delivery.objects.latest("created_at")
    assert last.state == SENT, (last.state, last.error_code, last.error_text)


def test_an_alert_is_there_changes_its_severity_and_ends(alertmanager, destination, told):
    server, requests = alertmanager
    destination(server.url, kind="alertmanager", secrets={})
    now = timezone.now()
    told(started_at=now - timedelta(minutes=5), occurred_at=now)
    delivered()
    (active,) = server.alerts()
    assert active["labels"] == {
        "alertname": "group-losing-data",
        "alert_id": "al_1",
        "cluster": "main",
        "cluster_id": "kc_1",
        "group": "billing",
        "topic": "orders",
        "severity": "critical",
    }
    assert active["annotations"]["summary"] == "Group billing loses unread records in 2 h"
    assert active["generatorURL"] == "https://penstock.example/alerts/al_1"
    told_by_it(requests, "firing", severity="critical")

    # Less severe now: one alert still, and not two.
    told(event_id="ev_2", severity=WARNING, started_at=now - timedelta(minutes=5), occurred_at=now)
    delivered()
    assert [each["labels"]["severity"] for each in server.alerts()] == ["warning"]
    told_by_it(requests, "firing", severity="warning")

    later = timezone.now()
    told(
        event_id="ev_3",
        state=RESOLVED,
        severity=WARNING,
        started_at=now - timedelta(minutes=5),
        occurred_at=later,
        resolved_at=later,
    )
    delivered()
    assert server.alerts() == []
    ended = told_by_it(requests, "resolved", severity="warning")
    assert ended["labels"]["alert_id"] == "al_1"


def test_it_stays_until_it_is_said_to_end(alertmanager, destination, told):
    """Without an end of its own it would end after Alertmanager's `resolve_timeout`."""
    server, _ = alertmanager
    destination(server.url, kind="alertmanager", secrets={})
    told(started_at=timezone.now(), occurred_at=timezone.now())
    delivered()
    (active,) = server.alerts()
    assert active["endsAt"] > (timezone.now() + timedelta(days=29)).isoformat()


def test_it_takes_every_name_that_a_client_can_choose(alertmanager, destination, told):
    server, _ = alertmanager
    destination(server.url, kind="alertmanager", secrets={})
    for number, name in enumerate(HOSTILE):
        told(
            event_id=f"ev_{number}",
            alert_id=f"al_{number}",
            cluster_name=name,
            labels={"group": name, name: name},
            started_at=timezone.now(),
            occurred_at=timezone.now(),
        )
    sending.send_due()
    states = dict(Delivery.objects.values_list("id", "state"))
    assert set(states.values()) == {SENT}, states
    assert {each["labels"]["alert_id"] for each in server.alerts()} == {
        f"al_{number}" for number in range(len(HOSTILE))
    }
