"""What the page of a group says beside the group itself."""

from datetime import timedelta

from django.utils import timezone

from console.pages.groups import group
from controlplane.analytics.models import CollectorState
from controlplane.analytics.rules import verdict_after_s
from controlplane.common.grants import EVERYTHING
from controlplane.common.times import iso
from spark_analytics.contracts.rules import Rules
from tests.controlplane.support import cluster_make, tenant_make


def test_it_says_when_a_first_verdict_is_due(db):
    tenant = tenant_make()
    cluster = cluster_make(tenant)
    first = timezone.now()
    CollectorState.objects.create(pk=cluster.id, first_sample_at=first)
    said = group(tenant, EVERYTHING, cluster.id, "g")["collector"].read()["first_verdict_due_at"]
    assert said == iso(first + timedelta(seconds=verdict_after_s(Rules())))
