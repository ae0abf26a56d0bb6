"""Change impact: the hours before operations beside those after, against a slow reference."""

from __future__ import annotations

import random
import statistics
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.analytics.insights import impact
from controlplane.audit.models import AuditEvent
from controlplane.audit.services import About, Actor, audit_record
from spark_analytics.contracts.analyses import IMPACT
from tests.controlplane.analytics.rollup_rows import HOUR_MS, T0_MS, stored
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, tenant_make

pytestmark = pytest.mark.django_db
VALUES = st.lists(st.none() | st.floats(0, 1e12), max_size=12)


@given(VALUES, VALUES, st.integers(1, 48))
def test_a_verdict_equals_the_reference(before, after, hours):
    got = impact.compared(before, after, hours)
    first = sorted(v for v in before if v is not None)
    then = sorted(v for v in after if v is not None)
    assert (got.hours_before, got.hours_after) == (len(first), len(then))
    need = min(3, hours)
    if len(first) < need or len(then) < need:
        assert got.verdict == "unknown"
        return
    middle, level = statistics.median(first), statistics.median(then)
    assert (got.before, got.after) == (middle, level)
    above = level > first[-1] and level >= middle + 0.1 * middle
    below = level < first[0] and level <= middle - 0.1 * middle
    assert got.verdict == ("rose" if above else "fell" if below else "steady")
    assert (got.share is None) == (middle == 0)


@given(st.lists(st.floats(1, 1e9), min_size=3, max_size=12), st.integers(2, 9))
def test_what_does_not_change_is_steady_and_what_grows_tenfold_rose(values, factor):
    assert impact.compared(values, values, 6).verdict == "steady"
    assert impact.compared(values, [max(values) * factor] * 3, 6).verdict == "rose"
    assert impact.compared(values, [min(values) / factor] * 3, 6).verdict == "fell"


def change(world, at_ms, *touches, kind="topic.change", outcome="succeeded", tenant=None):
    """An operation's end in the record, at that time."""
    event = audit_record(
        tenant_id=(tenant or world.tenant).id,
        actor=Actor(name="user:ann"),
        action=f"{kind}.{outcome}",
        resource="cluster/c/topic/orders",
        outcome=outcome,
        about=About(cluster_id=world.cluster.id, cluster_name=world.cluster.name, touches=touches),
    )
    # The database lets no row be changed: it is written anew with the time that is wanted.
    values = {f.name: getattr(event, f.name) for f in AuditEvent._meta.fields}
    moved = datetime.fromtimestamp(at_ms / 1000, UTC)
    made = AuditEvent(**{**values, "id": f"{event.id}x"[:40], "created_at": moved})
    field = AuditEvent._meta.get_field("created_at")
    field.auto_now_add = False
    try:
        made.save(force_insert=True)
    finally:
        field.auto_now_add = True
    return made


def hours(world, seed=0, count=24, jump_at=12):
    dice = random.Random(seed)
    for at in range(count):
        more = 10 if at >= jump_at else 1
        known = dice.random() > 0.1
        stored("cluster_rollup", world.cluster.id, at, lag_seconds_p95=dice.uniform(1, 2) * more)
        stored(
            "topic_rollup",
            world.cluster.id,
            at,
            topic="orders",
            samples=120 if dice.random() > 0.2 else 60,
            records_in=dice.randrange(900, 1100) if known else None,
        )
        stored(
            "group_rollup",
            world.cluster.id,
            at,
            topic="orders",
            group="billing",
            lag_seconds_p95=dice.uniform(1, 2) * more if known else None,
        )


def get(world, role="viewer", **query):
    where = f"/api/v1/clusters/{world.cluster.id}/analytics/change-impact"
    return client_for(world.tenant, role).get(where, query)


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_equals_the_reference(world, seed):
    hours(world, seed)
    at_ms = T0_MS + 12 * HOUR_MS - 5 * 60_000
    event = change(world, at_ms, ["topic", "orders"])
    body = get(world).json()
    assert (body["analysis"], body["formula_version"]) == (IMPACT.id, IMPACT.formula_version)
    assert body["complete"]
    found = {(row["group"], row["measure"]): row for row in body["data"]}
    assert found.keys() == {
        *((None, name) for name in ("records_in", "bytes_in", "bytes_last")),
        *(("billing", n) for n in ("lag_seconds_p95", "lag_records_p95", "records_out", "lost_records")),
    }  # fmt: skip
    from controlplane.analytics.models import GoldGroupRollup, GoldTopicRollup

    def side(model, name, begin, end):
        inside = [
            (row.ts_ms - T0_MS) // HOUR_MS for row in model.objects.all() if row.samples >= 108
        ]
        rows = model.objects.order_by("ts_ms")
        kept = [getattr(r, name) for r in rows if begin <= (r.ts_ms - T0_MS) // HOUR_MS < end
                and (r.ts_ms - T0_MS) // HOUR_MS in inside]  # fmt: skip
        return [value for value in kept if value is not None]

    for key, model in (
        (("billing", "lag_seconds_p95"), GoldGroupRollup),
        ((None, "records_in"), GoldTopicRollup),
    ):
        row = found[key]
        # The change lies in the twelfth hour, which is on neither side.
        before, after = side(model, key[1], 5, 11), side(model, key[1], 12, 18)
        assert row["event_id"] == event.id
        assert row["before"] == pytest.approx(statistics.median(before))
        assert row["after"] == pytest.approx(statistics.median(after))
        assert (row["hours_before"], row["hours_after"]) == (len(before), len(after))
        assert row["hours_asked"] == 6
    assert found["billing", "lag_seconds_p95"]["verdict"] == "rose"
    assert found["billing", "lag_seconds_p95"]["change_share"] > 3
    assert found[None, "records_in"]["verdict"] in {"steady", "unknown"}
    assert found[None, "bytes_last"]["verdict"] == "unknown"


def test_what_is_too_fresh_is_unknown_and_not_steady(world):
    hours(world)
    change(world, T0_MS + 22 * HOUR_MS, ["group", "billing"])
    found = {row["measure"]: row for row in get(world).json()["data"]}
    row = found["lag_seconds_p95"]
    assert (row["verdict"], row["hours_after"]) == ("unknown", 1)


def test_a_change_of_the_cluster_is_measured_by_its_totals(world):
    hours(world)
    change(world, T0_MS + 12 * HOUR_MS - 1, ["cluster", ""], kind="broker.restart")
    found = {row["measure"]: row for row in get(world, hours=3).json()["data"]}
    assert (found["lag_seconds_p95"]["verdict"], found["lag_seconds_p95"]["topic"]) == (
        "rose",
        None,
    )
    assert found["records_in"]["before"] is None


def test_who_sees_some_topics_alone_gets_no_totals_of_all(world):
    hours(world)
    change(world, T0_MS + 12 * HOUR_MS - 1, ["outline", ""], kind="broker.restart")
    where = f"/api/v1/clusters/{world.cluster.id}/analytics/change-impact"
    answer = member_of(world.tenant).get(where)
    assert (answer.status_code, answer.json()["data"]) == (200, [])
    assert get(world).json()["data"] != []


def test_other_changes_of_the_same_thing_are_counted(world):
    hours(world)
    for minute, touches in ((0, ["topic", "orders"]), (9, ["topic", "orders"]),
                            (20, ["topic", "else"]), (30, ["cluster", ""])):  # fmt: skip
        change(world, T0_MS + 12 * HOUR_MS + minute * 60_000, touches)
    rows = get(world).json()["data"]
    by_event = {row["event_id"]: row["others"] for row in rows if row["topic"] == "orders"}
    assert sorted(by_event.values()) == [2, 2]


def test_refusals_and_words_are_no_changes(world):
    hours(world)
    for outcome in ("ok", "refused"):
        change(world, T0_MS + 12 * HOUR_MS, ["topic", "orders"], outcome=outcome)
    assert get(world).json()["data"] == []
    change(world, T0_MS + 12 * HOUR_MS, ["topic", "orders"], outcome="failed")
    assert {row["outcome"] for row in get(world).json()["data"]} == {"failed"}


def test_another_tenant_s_record_of_this_cluster_is_not_read(world):
    hours(world)
    change(world, T0_MS + 12 * HOUR_MS, ["topic", "orders"], tenant=tenant_make("rival"))
    assert get(world).json()["data"] == []


def test_there_are_no_more_than_so_many_changes(world, monkeypatch):
    monkeypatch.setattr(impact, "CHANGES_MAX", 1)
    hours(world)
    first = change(world, T0_MS + 10 * HOUR_MS, ["topic", "orders"])
    last = change(world, T0_MS + 12 * HOUR_MS, ["topic", "orders"])
    body = get(world).json()
    assert not body["complete"]
    assert {row["event_id"] for row in body["data"]} == {last.id}
    assert first.id


def test_a_bad_question_is_refused(world):
    assert get(world, hours=0).status_code == 422
    assert get(world, hours=49).status_code == 422
