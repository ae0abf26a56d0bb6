"""A cluster of 10,000 topics in the tables of a running service, observed once and then left alone.

Run with the service's own environment: `python -m tests.bench.console.fill demo` prints the id of
the cluster that it makes for that tenant. Its brokers are a fake in this process, so nobody can
ask them again; its next observation is far off.
"""

import os
import sys
from datetime import timedelta

NAME = "bench-large"
NEXT_LOOK = timedelta(days=1)


def fill(tenant_slug: str) -> str:
    from django.utils import timezone

    from controlplane.clusters.connections import use_gateways
    from controlplane.clusters.models import REGISTERED, RUNNING, Cluster
    from controlplane.observed.models import ObservedCluster
    from controlplane.observed.services import observe
    from controlplane.tenants.models import Tenant
    from tests.bench.controlplane.large_cluster import LargeCluster

    tenant = Tenant.objects.get(slug=tenant_slug)
    cluster = Cluster.objects.create(
        tenant=tenant,
        name=NAME,
        kind=REGISTERED,
        phase=RUNNING,
        bootstrap_servers="127.0.0.1:9",
        security_protocol="PLAINTEXT",
    )
    gateway = LargeCluster()
    use_gateways(lambda _cluster: gateway)
    if not observe(cluster.id):
        raise SystemExit("the observation did not count")
    ObservedCluster.objects.filter(pk=cluster.id).update(due_at=timezone.now() + NEXT_LOOK)
    return cluster.id


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    print(fill(sys.argv[1]))
