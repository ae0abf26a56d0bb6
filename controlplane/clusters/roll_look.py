"""What a roll looks at before it takes a broker: the cluster as any broker tells it, then each one.

Whoever answers first may know less than the others: what is about to be taken away is asked of
every live broker by name, and one that does not answer is in the way itself.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from controlplane.clusters import services
from controlplane.clusters.models import Broker
from controlplane.clusters.reports import Observed
from controlplane.clusters.rolls import Facts, Obstacle, Unavoidable, held, obstacles
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.readings import AWAY
from controlplane.gateway.types import TopicDescription
from controlplane.operations.details import detail_of

MIN_ISR = "min.insync.replicas"
RUNNING = "running"
OFFLINE, UNWRITABLE = "offline", "unwritable"
"""Names of the plan's extents."""


def look(
    gateway: ClusterGateway,
    brokers: Sequence[Broker],
    reports_of: Callable[[list[Broker]], Mapping[int, Observed]] = services.reports_of,
) -> Facts:
    """One look at the whole cluster. Only of brokers that are not up `reports_of` asks hosts.

    Raises:
        GatewayError: it cannot be read.
        StepRetryError: ZooKeeper does not answer.
    """
    described = gateway.describe_cluster()
    topics = tuple(gateway.list_topics())
    live = frozenset(node.id for node in described.brokers)
    wanted = frozenset(broker.broker_id for broker in brokers)
    reports = reports_of(list(brokers)) if wanted - live else {}
    return Facts(
        live=live,
        wanted=wanted,
        controller=described.controller_id,
        topics=topics,
        min_isr=least_in_sync(gateway, [topic.name for topic in topics]),
        moving=frozenset(row.tp for row in gateway.list_reassignments()),
        starting=frozenset(
            broker
            for broker in wanted - live
            if broker in reports and reports[broker].state == RUNNING
        ),
    )


def objections(
    gateway: ClusterGateway, broker: int, facts: Facts, accepted: Unavoidable
) -> list[Obstacle]:
    """What each other live broker says against taking this one away now.

    Raises:
        GatewayError: a broker refuses to say it.
    """
    names = sorted({topic for topic, _ in held(broker, facts.topics)})
    found: list[Obstacle] = []
    for other in sorted(facts.live - {broker}):
        try:
            seen = gateway.at(other).describe_topics(names)
        except GatewayError as error:
            if not error.retriable:
                raise
            found.append(
                Obstacle(
                    code="broker-silent",
                    text=detail_of("obstacle/broker-silent", broker=str(other)),
                )
            )
            continue
        found += obstacles(broker, _as_seen(facts, tuple(seen.values())), accepted, seen_by=other)
    return found


def _as_seen(facts: Facts, topics: tuple[TopicDescription, ...]) -> Facts:
    return Facts(
        live=facts.live,
        wanted=facts.wanted,
        controller=facts.controller,
        topics=topics,
        min_isr=facts.min_isr,
    )


def least_in_sync(gateway: ClusterGateway, names: list[str]) -> dict[str, int | None]:
    """By topic; nothing where nobody said it: the one that was asked may be the one that hangs,
    and is to be restarted for that.
    """
    try:
        configs = gateway.topic_configs(names, [MIN_ISR]) if names else {}
    except GatewayError as error:
        if error.code not in AWAY:
            raise
        return {}
    values = {
        name: next((row.value for row in rows if row.name == MIN_ISR), None)
        for name, rows in configs.items()
    }
    return {name: int(value) if value else None for name, value in values.items()}


def accepted_by(impact: Mapping[str, Any]) -> Unavoidable:
    """What the plan has named, and its confirmation has accepted."""
    names = {row["name"]: frozenset(row["names"] or ()) for row in impact.get("blast_radius", ())}
    return Unavoidable(
        offline=names.get(OFFLINE, frozenset()), unwritable=names.get(UNWRITABLE, frozenset())
    )
