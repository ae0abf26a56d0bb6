"""One broker: its load, what it leads and holds, its process, its settings, operations about it."""

from console.pages.shared import asked, observed
from console.parts import Part
from console.sources import OfSections
from controlplane.clusters.brokers import (
    broker_get,
    broker_id_of,
    broker_process,
    broker_settings,
)
from controlplane.clusters.log_dirs import broker_directories
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Scope
from controlplane.observed.sections import TOPICS
from controlplane.observed.selectors import placed_on, trouble_on
from controlplane.operations.selectors import operation_list
from controlplane.tenants.models import Tenant

OPERATIONS_SHOWN = 20
"""The newest ones that are about the broker alone."""
PLACEMENT_SOURCES = OfSections(partitions=TOPICS)


def broker(tenant: Tenant, scope: Scope, cluster_id: str, broker_id: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    number = broker_id_of(broker_id)
    reader = reader_of(row, scope)
    return {
        "broker": Part(lambda: broker_get(tenant, scope, row, number), remote=True),
        "trouble": observed(row, scope, TOPICS, lambda _at: trouble_on(reader, number)),
        "process": Part(lambda: broker_process(scope, row, number), remote=True),
        "settings": asked(
            row, scope, lambda cluster, gateway: broker_settings(scope, cluster, gateway, number)
        ),
        "operations": Part(
            lambda: operation_list(
                tenant,
                scope,
                cluster_id=row.pk,
                resource=f"broker/{number}",
                limit=OPERATIONS_SHOWN,
            )
        ),
    }


def placement(tenant: Tenant, scope: Scope, cluster_id: str, broker_id: str) -> dict[str, Part]:
    """All that it leads and holds: every topic is looked at, so it is a page of its own."""
    row = seen_cluster(tenant, scope, cluster_id, with_brokers=False)
    number = broker_id_of(broker_id)
    reader = reader_of(row, scope)
    return {"partitions": observed(row, scope, TOPICS, lambda _at: placed_on(reader, number))}


def directories(tenant: Tenant, scope: Scope, cluster_id: str, broker_id: str) -> dict[str, Part]:
    """Its log directories with all that lies there, and what its host has beside them."""
    row = seen_cluster(tenant, scope, cluster_id)
    number = broker_id_of(broker_id)
    return {
        "directories": asked(
            row, scope, lambda cluster, gateway: broker_directories(scope, cluster, gateway, number)
        )
    }
