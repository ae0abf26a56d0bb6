"""Usage of a whole tenant: the sum of what may be seen, and never a cost that is not known."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import pytest

from controlplane.analytics.insights import prices, usage
from controlplane.analytics.insights.scene import scene_of
from spark_analytics.contracts.analyses import TENANT_USAGE
from tests.controlplane.analytics.rollup_rows import HOUR_MS, stored
from tests.controlplane.analytics.test_insights import BOOK, HOURS, hours, observe
from tests.controlplane.support import client_for, cluster_make, tenant_make

pytestmark = pytest.mark.django_db


def get(tenant, **query):
    return client_for(tenant, "viewer").get("/api/v1/analytics/usage", query)


@pytest.fixture
def clusters(world, monkeypatch):
    monkeypatch.setenv(prices.VARIABLE, BOOK)
    other = cluster_make(world.tenant, "other", kind="registered")
    for seed, cluster_id in enumerate((world.cluster.id, other.id)):
        hours(cluster_id, seed)
        observe(cluster_id, a=3, b=2, c=1)
    return world.cluster.id, other.id


def test_the_sum_equals_the_reference(world, clusters):
    body = get(world.tenant).json()
    assert (body["analysis"], body["complete"]) == (TENANT_USAGE.id, True)
    found = {row["cluster_id"]: row for row in body["data"]}
    assert found.keys() == {*clusters, None}
    costs, priced, names = Decimal(0), True, ("gib_hours", "gib_in", "gib_out")
    sums = dict.fromkeys(names, 0.0)
    for cluster_id in clusters:
        scene = scene_of(cluster_id, from_ms=None, to_ms=None, span_ms=30 * 24 * HOUR_MS)
        parts = usage.rows(scene, prices.price_book())
        row = found[cluster_id]
        for name in names:
            mine = sum(part[name] or 0 for part in parts)
            assert row[name] == pytest.approx(mine)
            sums[name] += mine
        unknown = [part for part in parts if part["cost"] is None]
        assert row["unknown_parts"] == len(unknown)
        amount = sum(Decimal(part["cost"]) for part in parts if part["cost"] is not None)
        assert Decimal(row["cost_at_least"]) == amount
        assert row["cost"] == (None if unknown else row["cost_at_least"])
        assert (row["topics"], row["groups"]) == (3, 1)
        priced, costs = priced and not unknown, costs + amount
    whole = found[None]
    for name in names:
        assert whole[name] == pytest.approx(sums[name])
    assert Decimal(whole["cost_at_least"]) == costs
    assert (whole["cost"] is not None) == priced
    assert whole["currency"] == "EUR"
    text = get(world.tenant, format="csv").content.decode()
    assert len(list(csv.DictReader(io.StringIO(text)))) == len(body["data"]) == 3


def test_a_cluster_of_which_nothing_is_known_leaves_the_sum_without_a_cost(world, clusters):
    dark = cluster_make(world.tenant, "dark", kind="registered")
    body = get(world.tenant).json()
    found = {row["cluster_id"]: row for row in body["data"]}
    row = found[dark.id]
    assert (row["gib_hours"], row["cost"], row["as_of_ms"]) == (None, None, None)
    assert row["unknown_parts"] == 1
    assert found[None]["cost"] is None
    assert found[None]["cost_at_least"] is not None
    assert not body["complete"]


def test_without_a_price_book_nothing_has_a_cost(world, clusters, monkeypatch):
    monkeypatch.setenv(prices.VARIABLE, "")
    rows = get(world.tenant).json()["data"]
    assert {(row["cost"], row["cost_at_least"], row["currency"]) for row in rows} == {
        (None, None, None)
    }
    assert all(row["gib_in"] for row in rows)


def test_nobody_sees_another_tenant_s_usage(world, clusters):
    rival = tenant_make("rival")
    assert get(rival).json()["data"] == []
    cluster = cluster_make(rival, name="theirs")
    stored("cluster_rollup", cluster.id, HOURS)
    ids = {row["cluster_id"] for row in get(rival).json()["data"]}
    assert ids == {cluster.id, None}


def test_at_most_31_days(world, clusters):
    assert get(world.tenant, **{"from": "2025-01-01T00:00:00Z"}).status_code == 422
