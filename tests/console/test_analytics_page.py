"""Lag and retention by the page: the same rows and figures as of the whole, in the viewer's scope."""

import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.analytics.models import (
    GoldGroupExpiry,
    GoldGroupLag,
    GoldTopicRetention,
    GroupVerdict,
)
from controlplane.analytics.selectors import lag_series, retention_table
from controlplane.common.grants import EVERYTHING
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, cluster_make, tenant_make

pytestmark = pytest.mark.django_db
TOPICS = 60
SIZE = 50


def gold(world, index, ts_ms):
    topic, group = f"team-a-{index:02}", f"team-a-g{index:02}"
    about = {"cluster_id": world.cluster.id, "topic": topic, "ts_ms": ts_ms, "run_id": "run"}
    GoldGroupLag.objects.create(
        **about, group=group, sampled_ms=ts_ms, partitions=1, lag_records=index % 7,
        lag_seconds=None if index % 5 == 0 else float(index % 11), lag_seconds_at_least=3.0,
        trend="steady", trend_records_per_s=index % 3 - 1.0, eta_seconds=index % 4 or None,
        status="FALLING_BEHIND" if index % 6 == 0 else "CAUGHT_UP",
    )  # fmt: skip
    GoldGroupExpiry.objects.create(
        **about, group=group, oldest_unread_expires_in_s=float(index), lost_records=0,
        first_loss_in_s=None if index % 4 else 100.0 - index,
        status="AT_RISK" if index % 9 == 0 else "SAFE",
    )  # fmt: skip
    GoldTopicRetention.objects.create(
        **about, sampled_ms=ts_ms, partitions=1, bytes=None if index % 8 == 0 else index * 10,
        age_seconds=float(index % 13), retention_ms=60_000,
    )  # fmt: skip


def live(world, topic, group, now_ms, **more):
    found = {
        "lag_records": 5_000, "lag_seconds": 900.0, "status": "STALLED", "risk": "LOSING",
        "first_loss_in_s": 0.0, "oldest_unread_expires_in_s": 0.0, **more,
    }  # fmt: skip
    GroupVerdict.objects.create(
        cluster_id=world.cluster.id, topic=topic, group=group, sampled_ms=now_ms, partitions=1,
        judged_at="2026-01-01T00:00:00Z", trend="growing", **found,
    )  # fmt: skip


@pytest.fixture
def measured(world):
    """Sixty topics with a group each by Spark; of one the collector knows better, one it knows alone."""
    now_ms = int(time.time() * 1_000)
    for index in range(TOPICS):
        for window in (0, 1):
            gold(world, index, now_ms - 30_000 * (1 + window))
    live(world, "team-a-03", "team-a-g03", now_ms)
    live(world, "payments", "billing", now_ms, lag_records=9_000)
    live(world, "team-a-04", "team-a-g04", now_ms, status="UNKNOWN", risk="UNKNOWN")
    return world


def read(client, world, **query):
    answer = client.get(f"/console/api/pages/analytics/{world.cluster.id}", query)
    parts = answer.json()["parts"]
    assert {part["status"] for part in parts.values()} <= {"ok", "unavailable"}
    return {name: part["data"] for name, part in parts.items()}


def both(client, world, **query):
    """All rows of both lists, by going through the pages."""
    lag, topics = [], []
    for page in (1, 2):
        found = read(client, world, page=page, topics_page=page, **query)
        assert found["lag_counts"]["page"] == found["retention_counts"]["page"] == page
        lag += found["lag"]["data"]
        topics += found["retention"]["data"]
    return lag, topics


def test_the_pages_together_are_what_there_is(measured):
    client = client_for(measured.tenant)
    lag, topics = both(client, measured)
    of = measured.tenant, EVERYTHING, measured.cluster.id
    whole = lag_series(*of, latest=True)
    held = retention_table(*of)
    first = read(client, measured)
    assert len(lag) == len(whole["data"]) == first["lag_counts"]["matched"] == TOPICS + 1
    assert sorted(map(str, lag)) == sorted(map(str, whole["data"]))
    assert sorted(map(str, topics)) == sorted(map(str, held["data"]))
    for name in ("as_of", "stale_after", "run_id"):
        assert first["lag"][name] == whole[name]
        assert first["retention"][name] == held[name]


@pytest.mark.parametrize(
    ("order", "value"),
    [
        ("group", lambda row: row["group"]),
        ("topic", lambda row: row["topic"]),
        ("status", lambda row: row["status"]),
        ("records", lambda row: row["lag_records"]),
        ("trend", lambda row: row["trend_records_per_s"]),
        ("eta", lambda row: row["eta_seconds"]),
        (
            "seconds",
            lambda row: (
                row["lag_seconds"]
                if row["lag_seconds"] is not None
                else row["lag_seconds_at_least"]
            ),
        ),
    ],
)
@pytest.mark.parametrize("sign", ["", "-"])
def test_groups_are_in_any_order_and_what_is_unknown_is_last(measured, order, value, sign):
    lag, _ = both(client_for(measured.tenant), measured, sort=f"{sign}{order}")
    values = [value(row) for row in lag]
    known = [each for each in values if each is not None]
    assert known == sorted(known, reverse=bool(sign))
    assert values == known + [None] * (len(values) - len(known))


@pytest.mark.parametrize(
    ("order", "name"),
    [("topic", "topic"), ("bytes", "bytes"), ("age", "age_seconds"), ("retention", "retention_ms")],
)
def test_topics_are_in_any_order(measured, order, name):
    _, topics = both(client_for(measured.tenant), measured, topics_sort=f"-{order}")
    values = [row[name] for row in topics]
    known = [each for each in values if each is not None]
    assert values == sorted(known, reverse=True) + [None] * (len(values) - len(known))


def test_the_worst_risk_comes_first(measured):
    found = read(client_for(measured.tenant), measured, topics_sort="-risk")["retention"]["data"]
    assert [row["topic"] for row in found[:2]] == ["payments", "team-a-03"]
    assert [row["groups"][0]["status"] for row in found[2:4]] == ["AT_RISK", "AT_RISK"]


def test_figures_are_of_all_that_there_is(measured):
    found = read(client_for(measured.tenant), measured, page=2)
    of = measured.tenant, EVERYTHING, measured.cluster.id
    whole = lag_series(*of, latest=True)["data"]
    counts = found["lag_counts"]
    troubled = [row["group"] for row in whole if row["status"] in {"FALLING_BEHIND", "STALLED"}]
    assert counts["groups"] == counts["topics"] == TOPICS + 1
    assert (counts["in_trouble"], counts["troubled"]) == (len(troubled), troubled[:2])
    assert counts["lag_records"] == sum(row["lag_records"] for row in whole)
    assert (counts["behind_s"], counts["behind_is_exact"]) == (900.0, True)
    held = retention_table(*of)["data"]
    assert found["retention_counts"]["bytes"] == sum(row["bytes"] or 0 for row in held)
    assert found["retention_counts"]["first_loss"]["group"] == "billing"


def test_a_page_too_far_is_the_last(measured):
    found = read(client_for(measured.tenant), measured, page=99, topics_page=99)
    assert found["lag_counts"]["page"] == found["retention_counts"]["page"] == 2
    assert len(found["lag"]["data"]) == TOPICS + 1 - SIZE


def test_nothing_is_known_of_a_new_cluster(world):
    found = read(client_for(world.tenant), world)
    assert found["lag"] == {"as_of": None, "stale_after": None, "run_id": None, "data": []}
    assert found["lag_counts"]["matched"] == found["retention_counts"]["matched"] == 0
    assert found["retention_counts"]["first_loss"] is None


def test_what_a_scope_does_not_cover_is_in_no_row_and_no_figure(measured):
    found = read(member_of(measured.tenant), measured, sort="-records")
    assert found["lag_counts"]["matched"] == found["retention_counts"]["matched"] == TOPICS
    assert found["lag"]["data"][0]["group"] == "team-a-g03"
    assert found["lag_counts"]["groups"] == TOPICS
    assert found["retention_counts"]["first_loss"]["group"] == "team-a-g03"
    assert "billing" not in str(found)
    assert "payments" not in str(found)


def test_somebody_elses_cluster_is_not_found(measured):
    theirs = cluster_make(tenant_make("other"), "theirs")
    client = client_for(measured.tenant)
    client.raise_request_exception = False
    assert client.get(f"/console/api/pages/analytics/{theirs.id}").status_code == 404


def test_it_takes_as_many_statements_however_many_there_are(measured):
    client = client_for(measured.tenant)
    read(client, measured)
    with CaptureQueriesContext(connection) as many:
        read(client, measured)
    GoldGroupLag.objects.filter(topic__gt="team-a-10").delete()
    GoldGroupExpiry.objects.filter(topic__gt="team-a-10").delete()
    GoldTopicRetention.objects.filter(topic__gt="team-a-10").delete()
    with CaptureQueriesContext(connection) as few:
        read(client, measured)
    assert len(many) <= len(few)


def test_it_is_known_while_nothing_was_measured_since(measured):
    client = client_for(measured.tenant)
    address = f"/console/api/pages/analytics/{measured.cluster.id}"
    tag = client.get(address)["ETag"]
    assert client.get(address, HTTP_IF_NONE_MATCH=tag).status_code == 304
    GroupVerdict.objects.filter(group="billing").update(lag_records=9_001)
    assert client.get(address, HTTP_IF_NONE_MATCH=tag).status_code == 200
