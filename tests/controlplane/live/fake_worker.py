"""A worker with holds whose clusters are in memory: `celery -A tests.controlplane.live.fake_worker`.

Run as a program, `python -m tests.controlplane.live.fake_worker NAME…`, it starts an operation that
makes a topic for each name, and prints its id.
"""

import os
import sys

import django
from celery.signals import worker_init

from tests.controlplane.live.held_worker import app

__all__ = ["app"]


@worker_init.connect
def use_fakes(**_):
    from controlplane.clusters.connections import use_gateways
    from controlplane.gateway.fake import FakeGateway

    gateway = FakeGateway()
    use_gateways(lambda _cluster: gateway)


def start_operations(names: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    use_fakes()
    from controlplane.clusters.fake_hosts import FakeHosts
    from controlplane.gateway.fake import FakeGateway
    from tests.controlplane.support import World, cluster_make, tenant_make

    tenant = tenant_make()
    cluster = tenant.clusters.first() or cluster_make(tenant)
    world = World(tenant=tenant, cluster=cluster, gateway=FakeGateway(), hosts=FakeHosts())
    for name in names:
        print(world.start(world.plan("topic.create", name=name)).id)


if __name__ == "__main__":
    start_operations(sys.argv[1:])
