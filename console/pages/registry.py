"""Which page name has which read model, and how many address segments follow it."""

from collections.abc import Callable
from dataclasses import dataclass

from console.pages.access import access
from console.pages.analytics import analytics
from console.pages.cluster import cluster
from console.pages.groups import group, groups
from console.pages.operations import operation, operations
from console.pages.overview import overview
from console.pages.reassign import reassign
from console.pages.topics import topic, topics
from console.parts import Part


@dataclass(frozen=True, slots=True)
class Page:
    build: Callable[..., dict[str, Part]]
    segments: int


PAGES: dict[str, Page] = {
    "overview": Page(overview, 0),
    "cluster": Page(cluster, 1),
    "topics": Page(topics, 1),
    "topic": Page(topic, 2),
    "groups": Page(groups, 1),
    "group": Page(group, 2),
    "access": Page(access, 1),
    "reassign": Page(reassign, 1),
    "analytics": Page(analytics, 1),
    "operations": Page(operations, 0),
    "operation": Page(operation, 1),
}
