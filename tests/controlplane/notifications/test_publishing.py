"""Many events at once: a round in which ten thousand groups stop tells of all of them."""

import random

import pytest
from django.db import transaction

from controlplane.notifications import services
from controlplane.notifications.models import Delivery
from tests.controlplane.notifications.events import event

pytestmark = pytest.mark.django_db


def many(tenant, count=60):
    """Changes of a few alerts, as they came; some of them twice."""
    dice = random.Random(7)
    made = []
    for at in range(count):
        alert = dice.randrange(9)
        made.append(
            event(
                tenant_id=tenant.pk,
                alert_id=f"al_{alert}",
                event_id=f"ev_{dice.choice([at, max(0, at - 1)])}",
                state=dice.choice(["firing", "acknowledged", "resolved"]),
                severity=dice.choice(["info", "warning", "critical"]),
                rule=dice.choice(["broker-down", "group-stopped"]),
            )
        )
    return made


def test_events_told_together_are_told_as_one_after_the_other(destination, tenant):
    destination(min_severity="critical")
    destination(rules=["broker-down"])
    destination(send_resolved=False)
    events, found = many(tenant), []
    for calls in ([[each] for each in events], [events[:30], events[30:]], [events]):
        with transaction.atomic():
            count = sum(services.publish_all(of_call) for of_call in calls)
        rows = Delivery.objects.values_list("destination_id", "event_id", "alert_id", "ordinal")
        found.append((count, sorted(rows)))
        Delivery.objects.all().delete()
    assert found[0] == found[1] == found[2]
    assert found[0][0] == len(found[0][1]) > 30


def test_statements_do_not_grow_with_the_events(
    destination, tenant, monkeypatch, django_assert_max_num_queries
):
    monkeypatch.setattr(services, "OPEN_MAX", 100)
    destination()
    destination()
    events = [
        event(tenant_id=tenant.pk, alert_id=f"al_{n}", event_id=f"ev_{n}") for n in range(400)
    ]
    with transaction.atomic(), django_assert_max_num_queries(20):
        assert services.publish_all(events) == 200
