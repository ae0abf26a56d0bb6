"""What the evaluator is told: hosts as ZooKeeper has them, brokers as their cluster has them."""

import logging
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from controlplane.clusters.connections import gateway_for
from controlplane.clusters.host_states import LOST
from controlplane.clusters.hosts import HostsUnavailableError, hosts
from controlplane.clusters.models import Broker, Cluster, HostState
from controlplane.clusters.replacing import KIND
from controlplane.clusters.reports import Observed
from controlplane.clusters.roll_look import least_in_sync
from controlplane.gateway.errors import GatewayError
from controlplane.healing.models import HealingCase, HostLook, HostSilence
from controlplane.healing.rules import BrokerFact, Facts, silences
from controlplane.healing.states import DISMISSED, FAILED
from controlplane.operations.locks import LOCKS, Resource
from controlplane.operations.models import Operation
from controlplane.operations.states import ACTIVE_STATES

log = logging.getLogger(__name__)
CASES_LOOKED_AT = 50


def silent_hosts(now: datetime) -> dict[str, datetime] | None:
    """Since when each host that runs brokers is silent; null while ZooKeeper does not answer."""
    try:
        found = hosts().hosts()
    except HostsUnavailableError as error:
        log.info("which hosts are silent is not known: %s", error)
        return None
    lost = set(HostState.objects.filter(state=LOST).values_list("pk", flat=True))
    used = set(Broker.objects.values_list("host_id", flat=True).distinct())
    alive = {host.host_id for host in found if host.alive}
    return _kept({host for host in used - alive if host not in lost}, now)


@transaction.atomic
def _kept(silent: set[str], now: datetime) -> dict[str, datetime]:
    last = HostLook.objects.first()
    since = silences(
        HostSilence.objects.values_list("host_id", "since"),
        last.looked_at if last is not None else None,
        silent,
        now,
    )
    HostSilence.objects.exclude(host_id__in=silent).delete()
    for host_id, at in since.items():
        HostSilence.objects.update_or_create(host_id=host_id, defaults={"since": at})
    HostLook.objects.update_or_create(pk=1, defaults={"looked_at": now})
    return since


def facts_of(cluster: Cluster, silent: dict[str, datetime] | None, now: datetime) -> Facts:
    """Brokers are asked only where a host is silent: otherwise nothing hangs on the answer."""
    rows, lost = list(cluster.brokers.all()), list(cluster.lost_brokers.all())
    if silent is None:
        return Facts(now=now, brokers=(), zookeeper_sure=False)
    reports = _reports(rows)
    is_asked = bool(lost) or any(row.host_id in silent for row in rows)
    up, is_harmed = _of_cluster(cluster) if is_asked else (None, None)
    cases = list(HealingCase.objects.filter(cluster=cluster)[:CASES_LOOKED_AT])
    return Facts(
        now=now,
        brokers=(
            *(
                BrokerFact(
                    id=row.broker_id,
                    host_id=row.host_id,
                    silent_since=silent.get(row.host_id),
                    is_up=None if up is None else row.broker_id in up,
                    state=reports[row.broker_id].state if row.broker_id in reports else "unknown",
                    restarts=reports[row.broker_id].restarts if row.broker_id in reports else 0,
                )
                for row in rows
            ),
            *(
                BrokerFact(
                    id=row.broker_id,
                    host_id=row.host_id,
                    is_up=None if up is None else row.broker_id in up,
                    is_lost=True,
                )
                for row in lost
            ),
        ),
        silent_hosts=silent,
        under_way=under_way(cluster),
        started=tuple(case.started_at for case in cases if case.started_at and case.by == ""),
        dismissed=frozenset(
            case.broker_id
            for case in cases
            if case.state == DISMISSED and case.silent_since == silent.get(case.host_id)
        ),
        failed=tuple((case.broker_id, case.moved_at) for case in cases if case.state == FAILED),
        is_harmed=is_harmed,
    )


def under_way(cluster: Cluster) -> str:
    """The operation that holds where the cluster's brokers are, but for a replacement's own."""
    rows = Operation.objects.filter(cluster_id=cluster.id, state__in=ACTIVE_STATES).order_by("pk")
    held = (row.kind for row in rows if Resource.PLACEMENT in LOCKS.get(row.kind, {}))
    return next(held, "")


def replacement_of(cluster: Cluster, broker_id: int) -> Operation | None:
    """The replacement of the broker that is under way."""
    rows = Operation.objects.filter(
        cluster_id=cluster.id, kind=KIND, state__in=ACTIVE_STATES, resource=f"broker/{broker_id}"
    )
    return rows.order_by("pk").first()


def _reports(rows: Iterable[Broker]) -> dict[int, Observed]:
    rows = list(rows)
    try:
        found = hosts().observed([(row.host_id, row.key) for row in rows])
    except HostsUnavailableError:
        return {}
    return {
        row.broker_id: found[row.host_id, row.key].as_known()
        for row in rows
        if (row.host_id, row.key) in found
    }


def _of_cluster(cluster: Cluster) -> tuple[set[int] | None, bool | None]:
    """Who is registered, and whether a partition fails already; null: nobody answered."""
    try:
        gateway = gateway_for(cluster)
        up = {node.id for node in gateway.describe_cluster().brokers}
        topics = gateway.list_topics()
        least = least_in_sync(gateway, [topic.name for topic in topics])
    except GatewayError as error:
        log.info("%s does not answer: %s", cluster.id, error)
        return None, None
    return up, any(
        part.leader is None or len(part.isr) < (least.get(topic.name) or 0)
        for topic in topics
        for part in topic.partitions
    )
