"""Topics of a cluster a page at a time, and one topic with what Spark knows of its retention."""

from functools import cache
from typing import Any

from console.list_query import ListQuery
from console.pages import analytics_parts
from console.pages.shared import asked, counts_of, observed, observed_parts
from console.parts import Part
from console.sources import Beside, OfSections
from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Scope
from controlplane.drift.selectors import sightings_revision
from controlplane.messages.selectors import rights
from controlplane.observed.listings import Listed, Wanted
from controlplane.observed.sections import TOPICS
from controlplane.observed.selectors import Section
from controlplane.tenants.models import Tenant
from controlplane.topics.replicas import topic_replicas
from controlplane.topics.selectors import (
    TOPIC,
    TOPIC_FILTERS,
    TOPIC_ORDERS,
    drift_revision,
    topic_detail,
    topic_row,
    topics_listed,
    with_drift,
)

TOPICS_QUERY = ListQuery(tuple(TOPIC_ORDERS), TOPIC_FILTERS, "name", "topic")


def _drift(cluster: Cluster) -> Beside | None:
    found = drift_revision(cluster.pk)
    if found is None:
        return None
    # What no operation was about is not compared: nobody has seen a difference of it.
    done, *_ = found
    return Beside([*found, sightings_revision(cluster.pk, TOPIC) if done else None])


TOPICS_SOURCES = OfSections(topics=TOPICS, counts=TOPICS, more=_drift)


def topics(tenant: Tenant, scope: Scope, wanted: Wanted, cluster_id: str) -> dict[str, Part]:
    cluster = seen_cluster(tenant, scope, cluster_id, with_brokers=False)
    reader = reader_of(cluster, scope)

    @cache
    def page() -> Listed:
        return topics_listed(reader, wanted)

    def rows(at: Section) -> list[dict[str, Any]]:
        return with_drift(reader, [topic_row(row, at) for row in page().rows])

    def counts(_at: Section) -> dict[str, Any]:
        return counts_of(page(), wanted)

    return observed_parts(cluster, scope, TOPICS, topics=rows, counts=counts)


def replicas(tenant: Tenant, scope: Scope, cluster_id: str, name: str) -> dict[str, Part]:
    """A page of its own: it asks every holder, and what is observed does not wait for that."""
    row = seen_cluster(tenant, scope, cluster_id)
    return {"replicas": asked(row, scope, lambda *_: topic_replicas(row, scope, name))}


def topic(tenant: Tenant, scope: Scope, cluster_id: str, name: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    reader = reader_of(row, scope)
    return {
        "topic": observed(row, scope, TOPICS, lambda _at: topic_detail(reader, name)),
        "retention": analytics_parts.retention(tenant, scope, cluster_id, name),
        "messages": Part(lambda: rights(tenant, scope, row, name)),
    }
