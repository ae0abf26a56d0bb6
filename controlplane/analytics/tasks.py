"""Celery's entries into this app; each fetches and calls, nothing more."""

from __future__ import annotations

import contextlib
from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down
from django.db import DatabaseError

from controlplane.analytics import collect, schedule, services, supervise
from controlplane.analytics.conf import conf
from controlplane.operations import dispatch
from spark_analytics.contracts.telemetry import SAMPLE_INTERVAL_S


@shared_task(name=schedule.COLLECT)
def collect_all() -> None:
    """One task a cluster: a slow one keeps nobody else waiting."""
    for cluster_id in collect.watched_cluster_ids():
        collect_cluster.apply_async((cluster_id,), expires=SAMPLE_INTERVAL_S)


@shared_task(name=schedule.COLLECT_CLUSTER, bind=True)
def collect_cluster(self: Any, cluster_id: str) -> bool:
    tenant_id = collect.tenant_of(cluster_id)
    if tenant_id is None:
        return False
    place = dispatch.place_of_cluster(
        f"collect:{cluster_id}", tenant_id=tenant_id, cluster_id=cluster_id
    )
    found = dispatch.run_here(
        self, place, lambda: collect.collect_cluster(cluster_id), expires=SAMPLE_INTERVAL_S
    )
    return bool(found)


@shared_task(name=schedule.TICK)
def tick() -> None:
    supervise.tick()


@shared_task(name=schedule.HOUSEKEEPING)
def housekeeping() -> int:
    return services.forget_old(conf())


@worker_shutting_down.connect
def end_run(**_: Any) -> None:
    """Nothing of ours outlives its worker; without the database the run ends itself, later."""
    with contextlib.suppress(DatabaseError):
        supervise.stop_here()
