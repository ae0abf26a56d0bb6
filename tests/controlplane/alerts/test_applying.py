"""Alerts that change alike are written together; what is written is what changed, of each."""

import random
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.alerts import applying
from controlplane.alerts.models import Alert
from tests.controlplane.alerts.test_api import alert_make

pytestmark = pytest.mark.django_db
NAMES = [field.attname for field in Alert._meta.concrete_fields]


def kept(alert):
    return {name: getattr(alert, name) for name in NAMES}


@pytest.mark.parametrize("seed", range(6))
def test_what_is_written_together_is_what_each_became(world, seed, monkeypatch):
    dice = random.Random(seed)
    monkeypatch.setattr(applying, "ALIKE_MAX", dice.choice([0, 1, 20]))
    monkeypatch.setattr(applying, "ROWS_A_STATEMENT", dice.choice([1, 3, 500]))
    now = timezone.now()
    alerts = [alert_make(world, subject=f"group/g{at}", values={"n": 1}) for at in range(12)]
    untouched = {alert.pk: kept(alert) for alert in alerts[10:]}
    changed = []
    for at, alert in enumerate(alerts[:10]):
        every = {
            "severity": dice.choice(["critical", "info"]),
            "told": "",
            "unknown_since": now,
            "clear_since": dice.choice([None, now + timedelta(seconds=at)]),
            "times_fired": dice.choice([1, 2]),
            "summary": dice.choice(["alike", f"own {at}"]),
            "values": {"n": at, "none": None, "text": "é"},
            "members": dice.choice([[], [f"t{at}"]]),
            "touches": [["group", f"g{at}"]],
        }
        changes = {name: every[name] for name in every if dice.random() < 0.5}
        for name, value in changes.items():
            setattr(alert, name, value)
        if changes:
            changed.append((alert, changes))
    applying.write_changed(changed)
    found = {row.pk: kept(row) for row in Alert.objects.all()}
    assert found == {alert.pk: kept(alert) for alert in alerts[:10]} | untouched


def test_a_thousand_that_change_alike_are_a_few_statements(world, django_assert_num_queries):
    alerts = [alert_make(world, subject=f"group/g{at}") for at in range(40)]
    for alert in alerts:
        alert.told = ""
    with django_assert_num_queries(1):
        applying.write_changed([(alert, {"told": ""}) for alert in alerts])
    assert set(Alert.objects.values_list("told", flat=True)) == {""}
    with django_assert_num_queries(0):
        applying.write_changed([])
