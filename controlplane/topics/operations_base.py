"""What the kinds of operations on topics share."""

from collections.abc import Collection, Iterable, Mapping

from controlplane.clusters.operations_base import ClusterOperationKind, Touched, cluster_of
from controlplane.common.problems import Unavailable
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.types import SET_ON_TOPIC
from controlplane.observed.sections import TOPICS
from controlplane.operations.details import Detail, detail_of
from controlplane.operations.locks import Resource
from controlplane.operations.models import Plan
from controlplane.operations.operations import PlanContext
from controlplane.topics.selectors import config_values


class TopicKind(ClusterOperationKind):
    def lock_names(self, resource: Resource, plan: Plan) -> Iterable[str]:
        if resource in {Resource.TOPIC, Resource.TOPIC_CONFIG}:
            return [plan.inputs["name"]]
        return super().lock_names(resource, plan)

    def cluster_name(self, context: PlanContext) -> str:
        return cluster_of(context).name

    def touched(self, plan: Plan) -> Touched:
        return {TOPICS: [plan.inputs["name"]]}


def not_seen(wanted: Mapping[str, str | None], seen: Mapping[str, str | None]) -> str | None:
    """The settings that do not have their planned value, as a detail; None when all have it."""
    differing = sorted(key for key, value in wanted.items() if seen.get(key) != value)
    return settings_not_seen(differing) if differing else None


def settings_not_seen(keys: Collection[str]) -> Detail:
    return detail_of("settings/not-seen", settings=", ".join(sorted(keys)))


def settings_unread(topic: str) -> Detail:
    """A broker knows of no settings of the topic, or not of the topic."""
    return detail_of("settings/unread", topic=topic)


def topic_settings(
    gateway: ClusterGateway, name: str
) -> tuple[dict[str, str | None], dict[str, str | None], dict[str, str | None]]:
    """(settings made on the topic itself, effective values, what holds without the own ones)."""
    entries = gateway.topic_configs([name]).get(name)
    if entries is None:
        raise Unavailable(f"The brokers do not give the settings of {name} now.")
    own = config_values(entry for entry in entries if entry.source in SET_ON_TOPIC)
    return own, config_values(entries), {entry.name: entry.default for entry in entries}
