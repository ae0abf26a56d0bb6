"""A worker with holds over the cluster of `shared_fake.py`: `celery -A …live.fake_worker`.

Run as a program, `python -m tests.controlplane.live.fake_worker NAME…`, it starts an operation that
makes a topic for each name, and prints its id.
"""

import os
import sys
from pathlib import Path

import django
from celery.signals import beat_init, worker_init

from tests.controlplane.live.held_worker import app
from tests.controlplane.live.holds import VARIABLE, Holds
from tests.controlplane.live.shared_fake import SharedGateway

__all__ = ["app"]
SCHEDULE_READ_S = 1
# There is no address that telemetry could be sent to: the cluster would count as one that is away.
app.conf.beat_schedule.pop("analytics-collect", None)


@worker_init.connect
def use_fakes(**_):
    from controlplane.clusters.connections import use_gateways

    gateway = SharedGateway(Holds(Path(os.environ[VARIABLE])))
    use_gateways(lambda _cluster: gateway)


@beat_init.connect
def read_schedule_often(**_):
    """Every five minutes it is otherwise, which no test waits for."""
    from django_celery_beat import schedulers

    schedulers.SCHEDULE_SYNC_MAX_INTERVAL = SCHEDULE_READ_S


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
