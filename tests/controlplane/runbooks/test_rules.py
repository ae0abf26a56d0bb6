"""What checks make of readings that live processes do not show at will."""

from datetime import UTC, datetime, timedelta

import pytest

from controlplane.alerts.conditions.brokers import started
from controlplane.alerts.overrides import Tuning
from controlplane.runbooks import rules

NOW = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)
QUARTER_S = 900.0


def broker(number, restarts, state="running"):
    return {"id": number, "observed_state": state, "restarts": restarts, "message": ""}


@pytest.mark.parametrize(
    ("starts", "restarts", "outcome"),
    [
        ({1: 3}, 3, "bad"),
        ({1: 2}, 9, "ok"),  # the others are of long ago
        ({}, 9, "bad"),  # nobody has noted when
        ({}, 0, "ok"),
    ],
)
def test_starts_of_long_ago_say_nothing_of_now(starts, restarts, outcome):
    found = rules.restarts([broker(1, restarts), broker(2, 0)], starts, QUARTER_S)
    assert (found.outcome, found.numbers["restarts"]) == (outcome, restarts)
    assert "15 minutes" in found.text


def test_the_check_counts_as_the_alert_does():
    setting = Tuning().of("broker-restarting", "kc_1")
    points = tuple((NOW - timedelta(minutes=ago), count) for ago, count in ((40, 1), (14, 4)))
    assert started(points, setting, NOW) == 3
    assert started(points, setting, NOW + timedelta(minutes=5)) == 0
    assert started((), setting, NOW) == 0


def test_agents_that_say_nothing_are_not_known():
    silent = [broker(1, 0, "unknown")]
    assert rules.restarts(silent, {}, QUARTER_S).outcome == "unknown"
    assert rules.restarts([broker(1, 0, "registered")], {}, QUARTER_S).outcome == "unknown"
