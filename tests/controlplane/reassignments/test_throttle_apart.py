"""Limits whose operation died come off, whatever one tenant's cluster answers or how late."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.clusters.models import REGISTERED, RUNNING
from controlplane.gateway.patience import bounded
from controlplane.operations import dispatch
from controlplane.reassignments import tasks
from controlplane.reassignments.models import ThrottleLease
from tests.controlplane.support import cluster_make, tenant_make

LONG_S = 3_600.0


@pytest.fixture
def expired(world, monkeypatch):
    """Three limits on a hostile tenant's cluster, and one on the world's after them; and which are
    asked about, with how long that may take.
    """
    world.hostile = cluster_make(tenant_make("hostile"), "theirs", phase=RUNNING, kind=REGISTERED)
    for number, cluster in enumerate([world.hostile] * 3 + [world.cluster]):
        ThrottleLease.objects.create(
            operation_id=f"op_{number}",
            cluster_id=cluster.pk,
            broker_ids=[1],
            topics=[],
            expires_at=timezone.now() - timedelta(minutes=1),
        )
    world.asked, world.bounds_s, real = [], [], tasks.throttle_release

    def release(gateway, operation_id, cluster_id):
        world.asked.append(operation_id)
        world.bounds_s.append(bounded(LONG_S))
        if cluster_id == world.hostile.pk:
            raise TypeError("'NoneType' object is not iterable")
        return real(gateway, operation_id, cluster_id)

    monkeypatch.setattr(tasks, "throttle_release", release)
    return world


def test_one_that_breaks_keeps_no_other_from_being_lifted(expired):
    assert tasks.release_expired() == 1
    assert ThrottleLease.objects.get(operation_id="op_3").released_at is not None
    assert ThrottleLease.objects.filter(released_at=None).count() == 3
    assert expired.asked == ["op_0", "op_3", "op_1", "op_2"], "tenants take turns"
    assert all(left_s <= tasks.RELEASE_S for left_s in expired.bounds_s)


def test_a_tenant_at_its_share_of_the_pool_waits_alone(expired, settings):
    settings.SLOW_TASKS_PER_TENANT = 1
    tenant_id = str(expired.hostile.tenant_id)
    with dispatch.slow_share(tenant_id=tenant_id, cluster_id="kc_another") as is_free:
        assert is_free
        assert tasks.release_expired() == 1
    assert expired.asked == ["op_3"]
