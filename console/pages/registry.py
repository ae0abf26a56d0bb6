"""Which page has which read model, shape and address."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rest_framework.serializers import Serializer

from console import serializers as shapes
from console.access_query import AccessQuery
from console.analytics_query import AnalyticsQuery
from console.list_query import PageQuery
from console.operation_query import OperationsQuery
from console.pages.access import access
from console.pages.analytics import analytics
from console.pages.broker import PLACEMENT_SOURCES, broker, directories, placement
from console.pages.clients import CLIENTS_SOURCES, clients, producers
from console.pages.cluster import cluster
from console.pages.drift import drift
from console.pages.groups import GROUPS_QUERY, GROUPS_SOURCES, group, groups
from console.pages.operations import operation, operations
from console.pages.overview import overview
from console.pages.reassign import reassign
from console.pages.topics import TOPICS_QUERY, TOPICS_SOURCES, replicas, topic, topics
from console.parts import Part
from console.sources import Sources
from controlplane.common.grants import Area


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a tenant.

    Attributes:
        build: gives its parts, of what the viewer's scope covers.
        address: follows its name, as in `urls`.
        area: what a viewer has to see something of.
        query: of a page that is a list; `build` is then given what of it is wanted, too.
        sources: what it is made of, of a page that can be known not to have changed unread.
    """

    build: Callable[..., dict[str, Part]]
    shape: type[Serializer[Any]]
    summary: str
    address: str = ""
    area: Area = Area.OUTLINE
    query: PageQuery | None = None
    sources: Callable[..., Sources | None] | None = None


_CLUSTER = "/<str:cluster_id>"

# Names of topics and groups may hold slashes, so the last segment takes all the rest.
PAGES: dict[str, Page] = {
    "overview": Page(overview, shapes.OverviewPageSerializer, "The tenant's clusters"),
    "cluster": Page(cluster, shapes.ClusterPageSerializer, "One cluster", _CLUSTER),
    "broker": Page(
        broker, shapes.BrokerPageSerializer, "One broker", f"{_CLUSTER}/<str:broker_id>"
    ),
    "placement": Page(
        placement,
        shapes.PlacementPageSerializer,
        "What one broker leads and holds",
        f"{_CLUSTER}/<str:broker_id>",
        sources=PLACEMENT_SOURCES,
    ),
    "directories": Page(
        directories,
        shapes.DirectoriesPageSerializer,
        "Where one broker has its logs",
        f"{_CLUSTER}/<str:broker_id>",
    ),
    "topics": Page(
        topics,
        shapes.TopicsPageSerializer,
        "A cluster's topics",
        _CLUSTER,
        query=TOPICS_QUERY,
        sources=TOPICS_SOURCES,
    ),
    "topic": Page(topic, shapes.TopicPageSerializer, "One topic", f"{_CLUSTER}/<path:topic>"),
    "clients": Page(
        clients,
        shapes.ClientsPageSerializer,
        "Who uses a topic",
        f"{_CLUSTER}/<path:topic>",
        sources=CLIENTS_SOURCES,
    ),
    "producers": Page(
        producers,
        shapes.ProducersPageSerializer,
        "Who writes to a topic",
        f"{_CLUSTER}/<path:topic>",
    ),
    "replicas": Page(
        replicas, shapes.ReplicasPageSerializer, "A topic's replicas", f"{_CLUSTER}/<path:topic>"
    ),
    "groups": Page(
        groups,
        shapes.GroupsPageSerializer,
        "A cluster's groups",
        _CLUSTER,
        query=GROUPS_QUERY,
        sources=GROUPS_SOURCES,
    ),
    "group": Page(group, shapes.GroupPageSerializer, "One group", f"{_CLUSTER}/<path:group>"),
    "access": Page(
        access,
        shapes.AccessPageSerializer,
        "Users and ACLs",
        _CLUSTER,
        Area.ACCESS,
        query=AccessQuery(),
    ),
    "drift": Page(drift, shapes.DriftPageSerializer, "What is not as it was left", _CLUSTER),
    "reassign": Page(reassign, shapes.ReassignPageSerializer, "What can be moved", _CLUSTER),
    "analytics": Page(
        analytics,
        shapes.AnalyticsPageSerializer,
        "Lag and retention",
        _CLUSTER,
        query=AnalyticsQuery(),
    ),
    "operations": Page(
        operations,
        shapes.OperationsPageSerializer,
        "Operations, newest first",
        area=Area.OPERATION,
        query=OperationsQuery(),
    ),
    "operation": Page(
        operation,
        shapes.OperationPageSerializer,
        "One operation",
        "/<str:operation_id>",
        Area.OPERATION,
    ),
}
