"""What a queued run computes: of each cluster what it has missed, and less while runs fail."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.analytics import services
from controlplane.analytics.conf import conf
from controlplane.analytics.models import AnalyticsRun, CollectorState, RunCluster
from controlplane.operations.states import CANCELLED, FAILED, SUCCEEDED
from tests.controlplane.support import cluster_make, tenant_make

pytestmark = pytest.mark.django_db
MAX_MS = 6 * 3_600_000


@pytest.fixture
def clusters():
    """Two that are sampled: one was computed five minutes ago, the other never."""
    tenant = tenant_make()
    made = [cluster_make(tenant, name=name) for name in ("known", "fresh")]
    for cluster in made:
        CollectorState.objects.create(
            pk=cluster.id, first_sample_at=timezone.now() - timedelta(hours=9)
        )
    at_ms = int((timezone.now() - timedelta(minutes=5)).timestamp() * 1000)
    run = AnalyticsRun.objects.create(
        trigger="schedule", from_ts_ms=0, to_ts_ms=at_ms, state=SUCCEEDED
    )
    RunCluster.objects.create(run=run, cluster_id=made[0].id)
    AnalyticsRun.objects.update(created_at=timezone.now() - timedelta(minutes=6))
    return [cluster.id for cluster in made]


def ended(*states: str) -> None:
    """Runs that ended so, the newest last."""
    for ago_s, state in zip(range(340, 0, -1), states, strict=False):
        run = AnalyticsRun.objects.create(trigger="schedule", from_ts_ms=0, to_ts_ms=1, state=state)
        at = timezone.now() - timedelta(seconds=ago_s)
        AnalyticsRun.objects.filter(pk=run.pk).update(created_at=at)


def queued() -> AnalyticsRun:
    run = services.run_schedule(conf())
    assert run is not None
    return run


def test_a_new_cluster_does_not_make_the_others_be_computed_again(clusters):
    known, fresh = clusters
    run = queued()
    assert run.starts_ms.keys() == set(clusters)
    assert run.to_ts_ms - run.starts_ms[fresh] == MAX_MS
    assert run.to_ts_ms - run.starts_ms[known] < 8 * 60_000
    assert run.from_ts_ms == run.starts_ms[fresh]


def test_a_range_that_fails_is_not_tried_again_for_ever(clusters):
    _, fresh = clusters
    ended(FAILED, CANCELLED, FAILED)
    run = queued()
    assert run.to_ts_ms - run.starts_ms[fresh] == MAX_MS // 4


def test_after_a_success_the_whole_range_is_computed(clusters):
    _, fresh = clusters
    ended(FAILED, FAILED, SUCCEEDED)
    run = queued()
    assert run.to_ts_ms - run.starts_ms[fresh] == MAX_MS
