"""What the steps of growing and shrinking a cluster share: who its brokers are, stop, wipe, forget.

A broker that leaves is stopped first and keeps its data until every other broker has said that it
is no replica of anything; only then is it wiped. So nothing is lost by whatever is written or made
in between, and until the wipe a broker that was stopped is started again as it was.

What a broker shall be is noted in our own rows before its host is told, and again it is the same
note: a killed worker's successor goes on with the same broker.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import F
from django.utils import timezone

from controlplane.clusters import services
from controlplane.clusters.connections import drop_gateway
from controlplane.clusters.hosts import HostsUnavailableError, hosts
from controlplane.clusters.models import Broker, Cluster, OwedDeletion
from controlplane.clusters.operations_base import cluster_of
from controlplane.clusters.rolls import candidates
from controlplane.clusters.scaling_rules import held_by
from controlplane.clusters.zookeeper_away import asked_again
from controlplane.gateway.port import BrokerView, ClusterGateway
from controlplane.operations.details import Detail, detail_of
from controlplane.operations.operations import Done, Progress, StepContext, Wait
from controlplane.operations.read_back import read_back_everywhere

JOINING: Final = "joining"
"""Desired state of a row whose operation has not succeeded yet: nobody misses it meanwhile."""
RUNNING, STOPPED, DELETED = "running", "stopped", "deleted"
POLL_S: Final = 0.25
STOP_DEADLINE_S: Final = 1_800.0
"""Of all of them; each hands nothing over, as it holds nothing."""
AWAY_SINCE: Final = "stop_away_since"
STOP, TOLD = "stop", "told"
"""In the memo: who has stopped and who is stopping; what the hosts were told last."""
KEPT: Final = "kept"
"""In the memo: new brokers that hold replicas, and so are not taken away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """The cluster's brokers as rows; `count` is how many it was made with."""

    cluster: Cluster
    rows: list[Broker]
    count: int

    def of(self, ids: Collection[int]) -> list[Broker]:
        """Those of `ids` that are there still: one whose host was declared lost is not."""
        return [row for row in self.rows if row.broker_id in set(ids)]


def members(context: StepContext) -> Members:
    """By one statement."""
    rows, count = services.counted_brokers(
        Broker.objects.filter(
            cluster_id=context.operation.cluster_id,
            cluster__tenant=context.tenant,
            cluster__deleted_at=None,
        ).select_related("cluster")
    )
    if rows:
        context.cluster = rows[0].cluster
    return Members(cluster=cluster_of(context), rows=rows, count=count)


def note(cluster: Cluster, ids: Collection[int], state: str) -> None:
    """Another generation for each that was to be something else; again it is the same."""
    rows = Broker.objects.filter(cluster=cluster, broker_id__in=ids).exclude(desired_state=state)
    rows.update(desired_state=state, generation=F("generation") + 1)


def tell(
    context: StepContext, found: Members, ids: Collection[int], state: str, *, detail: str
) -> Done | Wait:
    """Noted by the first tick, written to the hosts by the second: each takes few statements."""
    rows = found.of(ids)
    if context.memo.get(TOLD) != state:
        context.memo[TOLD] = state
        note(found.cluster, [row.broker_id for row in rows], state)
        return Wait(seconds=0.0)
    services.write_state(found.cluster, rows, state=state, count=found.count)
    return Done(detail=detail)


# -- stopping
Check = Callable[[ClusterGateway], Collection[int]]
"""Asked right before each: who is not to be stopped after all; it may raise StepFailedError."""


def stop(
    context: StepContext,
    found: Members,
    gateway: ClusterGateway,
    ids: Collection[int],
    check: Check,
) -> Done | Wait:
    """One after the other, whoever is the controller then at the end; asked again before each."""
    book = context.memo.setdefault(STOP, {"done": [], "current": None, TOLD: False})
    current = found.of([book["current"]] if book["current"] is not None else [])
    if current:
        return _stop_one(context, found, gateway, current[0], book, total=len(ids))
    left = {row.broker_id for row in found.of(ids)} - set(book["done"])
    if left:
        left -= set(check(gateway))
    if not left:
        return Done(
            detail=detail_of("scale/stopped-of", brokers=len(book["done"])),
            progress=Progress(done=len(book["done"]), total=len(book["done"]), unit="brokers"),
        )
    (chosen, *_) = candidates(sorted(left), gateway.describe_cluster().controller_id)
    note(found.cluster, [chosen], STOPPED)
    book["current"], book[TOLD] = chosen, False
    context.memo.pop(AWAY_SINCE, None)
    return Wait(seconds=0.0)


def _stop_one(
    context: StepContext,
    found: Members,
    gateway: ClusterGateway,
    broker: Broker,
    book: dict[str, Any],
    *,
    total: int,
) -> Wait:
    progress = Progress(done=len(book["done"]), total=total, unit="brokers")
    if not book[TOLD]:
        services.write_state(found.cluster, [broker], state=STOPPED, count=found.count)
        book[TOLD] = True
        to_stop = detail_of("scale/to-stop", broker=str(broker.broker_id))
        return Wait(seconds=POLL_S, detail=to_stop, progress=progress)
    is_live = broker.broker_id in {node.id for node in gateway.describe_cluster().brokers}
    report = services.reports_of([broker]).get(broker.broker_id)
    has_stopped = report is not None and report.state in {STOPPED, DELETED}
    if not is_live and (has_stopped or _is_away(context, broker)):
        book["done"].append(broker.broker_id)
        book["current"] = None
        return Wait(
            seconds=0.0,
            detail=detail_of("scale/stopped", broker=str(broker.broker_id)),
            progress=Progress(done=len(book["done"]), total=total, unit="brokers"),
        )
    code = "scale/still-registered" if has_stopped else "scale/stopping"
    said = detail_of(code, broker=str(broker.broker_id))
    return Wait(seconds=POLL_S, detail=said, progress=progress)


def _is_away(context: StepContext, broker: Broker) -> bool:
    """Its agent has been away for longer than a restart of it takes: nobody can stop it there."""
    try:
        alive = {host.host_id for host in hosts().hosts() if host.alive}
    except HostsUnavailableError as error:
        raise asked_again(error) from error
    if broker.host_id in alive:
        context.memo.pop(AWAY_SINCE, None)
        return False
    now_s = timezone.now().timestamp()
    since_s: float = context.memo.setdefault(AWAY_SINCE, now_s)
    return now_s - since_s >= services.AWAY_GRACE_S


def holding(gateway: ClusterGateway, ids: Collection[int]) -> dict[int, list[str]]:
    """Partitions by broker, of those of `ids` that hold any or are to get any now."""
    found: dict[int, list[str]] = {}
    for partition, brokers in held_by(ids, gateway.list_topics()).items():
        for broker in brokers:
            found.setdefault(broker, []).append(partition)
    for row in gateway.list_reassignments():
        for broker in set(ids) & {*row.replicas, *row.adding}:
            found.setdefault(broker, []).append(f"{row.tp.topic}-{row.tp.partition}")
    return found


def no_broker_names(
    context: StepContext, gateway: ClusterGateway, ids: Collection[int], *, memo_key: str
) -> Done | Wait:
    """Until every live broker says that none of `ids` is a replica of anything."""
    names = [topic.name for topic in gateway.list_topics()]

    def differing(view: BrokerView, broker: int) -> str | None:
        if broker in ids:
            return detail_of("scale/still-registered/itself")
        held = held_by(ids, view.describe_topics(names).values())
        return detail_of("scale/has-replica", broker=str(min(held))) if held else None

    detail = detail_of("scale/no-replica")
    return read_back_everywhere(context, gateway, differing, detail=detail, memo_key=memo_key)


# -- wiping
def await_wiped(context: StepContext, ids: Collection[int]) -> Done | Wait:
    """Until no agent has a process or data of theirs; hosts that stay away owe it."""
    found = members(context)
    return services.await_deleted(found.cluster, context.memo, brokers=found.of(ids))


def forget(context: StepContext, ids: Collection[int]) -> Detail:
    """Nothing is desired of them any more, but for what hosts that are away still have to read.

    Those are fenced by `directory.id`, too: a process that lives without its agent never registers.
    """
    found = members(context)
    kept = context.memo.get(services.OWED, ())
    path = found.cluster.zookeeper_path
    try:
        for row in found.of(ids):
            if row.key in kept:
                hosts().fence_directories(path, hosts().directories_of(path, row.broker_id))
            else:
                hosts().forget_broker((row.host_id, row.key))
    except HostsUnavailableError as error:
        raise asked_again(error) from error
    if kept:
        return detail_of("scale/owed", brokers=len(kept))
    return detail_of("scale/forgotten")


def take_back_owed(cluster: Cluster, ids: Collection[int]) -> None:
    """They are to run again: their hosts do not owe their deletion any more."""
    OwedDeletion.objects.filter(cluster_id=cluster.id, broker_id__in=ids).delete()


# -- rows
def settle_bootstrap(cluster_id: str | None, *, leaving: Collection[int] = ()) -> None:
    """What clients are told to connect to: all brokers that are to run and do not leave."""
    rows = Broker.objects.filter(cluster_id=cluster_id, desired_state=RUNNING)
    rows = rows.exclude(broker_id__in=leaving).order_by("broker_id")
    names = [f"{row.address}:{row.client_port}" for row in rows.only("address", "client_port")]
    if names:
        Cluster.objects.filter(pk=cluster_id).update(bootstrap_servers=",".join(names))
        drop_gateway(str(cluster_id))


def ids_in_use(cluster: Cluster, gateway: ClusterGateway) -> set[int]:
    """Every broker id of which something may be anywhere."""
    found = {node.id for node in gateway.describe_cluster().brokers}
    for topic in gateway.list_topics():
        for part in topic.partitions:
            found.update(part.replicas)
    found.update(cluster.brokers.values_list("broker_id", flat=True))
    found.update(cluster.lost_brokers.values_list("broker_id", flat=True))
    owing = OwedDeletion.objects.filter(cluster_id=cluster.id)
    return found | set(owing.values_list("broker_id", flat=True))
