"""Gold's last rows: read once a run, and in the place of verdicts that know less."""

import pytest

from controlplane.analytics import last_gold
from controlplane.analytics.judged import judged_groups
from controlplane.analytics.last_gold import LAG_OF_GOLD, last_rows
from controlplane.analytics.models import GoldGroupExpiry, GoldGroupLag, GroupVerdict
from controlplane.common.grants import EVERYTHING
from spark_analytics.contracts.statuses import Status
from tests.controlplane.support import cluster_make, tenant_make

pytestmark = pytest.mark.django_db
T0_MS = 1_760_000_010_000
WINDOW_MS = 30_000


@pytest.fixture
def cluster():
    """Of an id of its own: what is kept outlives a test."""
    return cluster_make(tenant_make("acme"), name="main")


def gold(cluster, window, *, group="g", status="CAUGHT_UP", run_id="r1", **more):
    at_ms = T0_MS + window * WINDOW_MS
    return GoldGroupLag.objects.create(
        cluster_id=cluster.pk, group=group, topic="t", ts_ms=at_ms, sampled_ms=at_ms,
        partitions=1, trend="steady", status=status, run_id=run_id, **more,
    )  # fmt: skip


def read(cluster, newest):
    found = last_rows(GoldGroupLag, cluster.pk, T0_MS + newest * WINDOW_MS, LAG_OF_GOLD)
    return {series[0]: row[2] for series, row in found.items()}


def test_the_last_row_of_each_series_is_read_once_until_a_run_leaves_another(
    cluster, django_assert_num_queries
):
    gold(cluster, 0, status="STALLED")
    gold(cluster, 1)
    gold(cluster, 0, group="h")
    assert read(cluster, 1) == {"g": "CAUGHT_UP", "h": "CAUGHT_UP"}
    with django_assert_num_queries(1):
        assert read(cluster, 1) == {"g": "CAUGHT_UP", "h": "CAUGHT_UP"}
    gold(cluster, 2, status="LAGGING", run_id="r2")
    assert read(cluster, 2) == {"g": "LAGGING", "h": "CAUGHT_UP"}
    # Computed again: the same window, other rows.
    GoldGroupLag.objects.filter(run_id="r2").delete()
    gold(cluster, 2, status="STOPPED", run_id="r3")
    assert read(cluster, 2)["g"] == "STOPPED"
    # Of a series that is not there any more nothing is left.
    assert read(cluster, 11) == {"g": "STOPPED"}


def test_where_nothing_was_computed_nothing_is_kept(cluster):
    assert last_rows(GoldGroupLag, cluster.pk, None, LAG_OF_GOLD) == {}
    assert last_rows(GoldGroupLag, cluster.pk, T0_MS, LAG_OF_GOLD) == {}
    gold(cluster, 0)
    assert read(cluster, 0) == {"g": "CAUGHT_UP"}


def test_no_more_is_kept_than_its_bounds(cluster, monkeypatch, django_assert_num_queries):
    gold(cluster, 0)
    monkeypatch.setattr(last_gold, "KEPT_ROWS_MAX", 0)
    first = read(cluster, 0)
    with django_assert_num_queries(2):
        assert read(cluster, 0) == first
    monkeypatch.undo()
    read(cluster, 0)
    for number in range(last_gold.KEPT_MAX):
        other = cluster_make(cluster.tenant, name=f"c{number}")
        gold(other, 0)
        read(other, 0)
    with django_assert_num_queries(2):
        assert read(cluster, 0) == first


def verdict(cluster, window, *, group="g", **more):
    values = {"status": "STALLED", "risk": "SAFE", "trend": "steady", "partitions": 1}
    GroupVerdict.objects.create(
        cluster_id=cluster.pk, group=group, topic="t", judged_at="2026-01-01T00:00:00Z",
        sampled_ms=T0_MS + window * WINDOW_MS, **{**values, **more},
    )  # fmt: skip


def judged(cluster):
    found = judged_groups(cluster.tenant, EVERYTHING, cluster.pk)
    return {name: (one.lag_s, one.is_trouble) for name, one in found.items()}


@pytest.mark.parametrize(
    ("window", "status", "expected"),
    [
        (2, "STALLED", (9.0, True)),
        (1, "STALLED", (1.0, False)),
        (0, "STALLED", (1.0, False)),
        (2, Status.UNKNOWN.value, (1.0, False)),
    ],
    ids=["newer", "as old", "older", "newer, and knows less"],
)
def test_a_verdict_counts_where_it_is_newer_and_knows_something(cluster, window, status, expected):
    gold(cluster, 1, lag_seconds=1.0)
    verdict(cluster, window, status=status, lag_seconds=9.0)
    assert judged(cluster) == {"g": expected}


def test_groups_that_one_of_both_knows_are_there_and_the_risk_is_judged_by_itself(cluster):
    gold(cluster, 1, group="gold alone", lag_seconds=2.0)
    gold(cluster, 1, group="both")
    verdict(cluster, 2, group="verdict alone", status="CAUGHT_UP", lag_seconds=3.0)
    verdict(cluster, 2, group="both", status="CAUGHT_UP", risk="UNKNOWN")
    GoldGroupExpiry.objects.create(
        cluster_id=cluster.pk, topic="t", group="both", ts_ms=T0_MS + WINDOW_MS, lost_records=0,
        status="LOSING", run_id="r1",
    )  # fmt: skip
    assert judged(cluster) == {
        "gold alone": (2.0, False),
        "verdict alone": (3.0, False),
        "both": (None, True),
    }
