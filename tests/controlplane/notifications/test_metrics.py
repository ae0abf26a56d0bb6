"""What operators see of the telling: counts of all processes, and the age of what is due."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.common.tally import TALLY
from controlplane.notifications import services
from controlplane.notifications.models import Delivery
from controlplane.notifications.sending import send_due
from tests.controlplane.notifications.receivers import http_receiver
from tests.controlplane.test_metrics_page import value

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("loopback", "redis_server"),
]


def counted(name, kind="webhook"):
    TALLY.flush()
    return value(f"penstock_deliveries_{name}_total", kind=kind)


def test_what_is_sent_fails_and_dies_is_counted(destination, told, monkeypatch):
    with http_receiver([500, 404, 204]) as (url, _):
        destination(url)
        for n in range(3):
            told(event_id=f"ev_{n}", alert_id=f"al_{n}")
            send_due()
    assert (counted("sent"), counted("failed"), counted("dead")) == (1, 2, 1)
    assert counted("sent", "slack") is None
    monkeypatch.setattr(services, "OPEN_MAX", 1)
    told(event_id="ev_9", alert_id="al_9")
    assert counted("left_out") == 1


def test_the_oldest_that_is_due_has_an_age(destination, told):
    name = "penstock_oldest_due_delivery_seconds"
    assert value(name, kind="webhook") == 0
    destination()
    told()
    Delivery.objects.update(next_try_at=timezone.now() - timedelta(seconds=90))
    assert 90 <= value(name, kind="webhook") < 95
    assert value(name, kind="email") == 0
    assert value("penstock_deliveries_waiting", kind="webhook") == 1
    Delivery.objects.update(next_try_at=timezone.now() + timedelta(seconds=90))
    assert value(name, kind="webhook") == 0
    assert value("penstock_deliveries_waiting", kind="webhook") == 1
