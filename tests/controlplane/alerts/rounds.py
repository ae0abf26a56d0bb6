"""Rounds of the evaluator, and what they are begun from; the fixtures are in `conftest`."""

from datetime import timedelta

from django.utils import timezone

from controlplane.alerts import evaluation
from controlplane.analytics.models import CollectorState
from controlplane.clusters.models import Cluster
from controlplane.observed.models import ObservedCluster
from tests.controlplane.support import observed


class Rounds:
    """A clock that goes on from one round to the next; observed tables stay of now."""

    def __init__(self):
        self.now = timezone.now()

    def after(self, seconds=0):
        self.now += timedelta(seconds=seconds)
        ObservedCluster.objects.update(due_at=self.now)
        CollectorState.objects.update(last_sample_at=self.now)
        found = evaluation.evaluate(self.now)
        assert found is not None
        assert found.failed_tenants == 0
        return found


def quieten(world):
    """A cluster of which all that is in the tables is well."""
    world.gateway.add_topic("orders", partitions=3, rf=3)
    CollectorState.objects.create(cluster_id=world.cluster.id)
    Cluster.objects.update(created_at=timezone.now())
    observed(world)
    return world
