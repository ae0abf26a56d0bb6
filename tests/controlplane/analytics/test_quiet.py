"""Groups that have just fallen silent, for the list of what needs attention."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.analytics.models import GroupVerdict
from controlplane.analytics.quiet import READ_MAX, SEEN_AFTER_S, SEEN_UNTIL_S, quiet_groups
from controlplane.analytics.rules import VERDICT_STALE_S
from controlplane.analytics.times import iso_ms
from controlplane.analytics.verdicts.evaluator import Evaluator
from controlplane.common.grants import EVERYTHING, VIEWER, Grant, Over, Scope
from controlplane.common.problems import NotFound
from spark_analytics.contracts.rules import Rules
from tests.controlplane.rest.teams import MAIN, TEAM
from tests.controlplane.support import tenant_make
from tests.spark_analytics.cases import group_slice, topic_slice


def verdict(world, group="billing", topic="orders", *, age_s=0.0, **more):
    values = {
        "sampled_ms": int((time.time() - age_s) * 1000),
        "judged_at": timezone.now() - timedelta(seconds=age_s),
        "partitions": 3,
        "lag_records": 12,
        "members": 1,
        "trend": "steady",
        "status": "LAGGING",
        "risk": "SAFE",
        "stuck_s": SEEN_AFTER_S + 5,
    }
    return GroupVerdict.objects.create(
        cluster_id=world.cluster.id, group=group, topic=topic, **{**values, **more}
    )


def names(world, scope=EVERYTHING):
    return [row["group"] for row in quiet_groups(world.tenant, scope, world.cluster.id)]


def test_it_says_since_when_and_how_much_is_unread(world):
    made = verdict(world)
    (row,) = quiet_groups(world.tenant, EVERYTHING, world.cluster.id)
    assert row == {
        "group": "billing",
        "topic": "orders",
        "partitions": 3,
        "lag_records": 12,
        "members": 1,
        "status": "LAGGING",
        "since": iso_ms(made.sampled_ms - int(made.stuck_s * 1000)),
        "as_of": iso_ms(made.sampled_ms),
    }


@pytest.mark.parametrize(
    "more",
    [
        {"stuck_s": SEEN_AFTER_S - 1},
        {"stuck_s": None},
        {"stuck_s": SEEN_UNTIL_S},  # an alert says it, or somebody wants none
        {"lag_records": 0},
        {"lag_records": None},
        {"age_s": 2 * VERDICT_STALE_S},
    ],
)
def test_others_are_left_alone(world, more):
    verdict(world, **more)
    assert names(world) == []


def test_the_longest_first_and_each_group_once(world):
    verdict(world, "late", "a", stuck_s=100.0)
    verdict(world, "late", "b", stuck_s=300.0)
    verdict(world, "later", "a", stuck_s=200.0)
    found = quiet_groups(world.tenant, EVERYTHING, world.cluster.id)
    assert [(row["group"], row["topic"]) for row in found] == [("late", "b"), ("later", "a")]
    assert READ_MAX <= 1_000


def test_what_a_scope_does_not_cover_is_not_there(world):
    verdict(world, "team-a-g", "team-a-x")
    verdict(world, "team-a-g", "others")
    verdict(world, "others", "team-a-x")
    both = tuple(
        Grant(role=VIEWER, clusters=MAIN, over=over, names=TEAM)
        for over in (Over.TOPIC, Over.GROUP)
    )
    found = quiet_groups(world.tenant, Scope((both,)), world.cluster.id)
    assert [(row["group"], row["topic"]) for row in found] == [("team-a-g", "team-a-x")]
    with pytest.raises(NotFound):
        quiet_groups(tenant_make("strangers"), EVERYTHING, world.cluster.id)


def test_the_collector_knows_it_before_the_verdict_does():
    """A group that commits until 0 s and not after it, while records come in."""
    evaluator = Evaluator()
    for at_s in range(-120, 121, 10):
        committed, end = min(at_s, 0) + 1_000, at_s + 1_001
        at = at_s / 60
        evaluator.feed([topic_slice(at, end), group_slice(at, committed, end)])
    (found,) = evaluator.verdicts()
    assert SEEN_AFTER_S <= found.stuck_s <= 120 < Rules().quiet_s
    assert found.status not in {"STALLED", "STOPPED"}
