"""What is known of brokers' log directories: asked of agents and brokers, for plans and pages."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from controlplane.clusters.capacity import MAIN, Capacity, DirectoryRoom
from controlplane.clusters.hosts import READ_WAIT_S, HostsUnavailableError, hosts
from controlplane.clusters.log_dir_rules import (
    FAILED,
    Directory,
    matched,
    missing,
    present_in,
)
from controlplane.clusters.models import MANAGED, Broker, Cluster
from controlplane.clusters.placing import STALE_S
from controlplane.clusters.reports import LogDir, Observed
from controlplane.clusters.versions_read import reported_by
from controlplane.clusters.zookeeper_away import away
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import Unavailable
from controlplane.gateway.patience import bounded
from controlplane.gateway.port import ClusterGateway

OF_WHOLE = "The disks of brokers are seen with a role on the whole cluster."
OLD_AGENT = "The agent of its host is of an earlier version, which knows of one directory alone."
NOT_RUN_HERE = "Its host is not run by this service."


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRoom:
    """The directories of one host, or in a sentence why they are not known."""

    capacity: Capacity
    unknown: str = ""

    @property
    def directories(self) -> tuple[DirectoryRoom, ...]:
        return () if self.unknown else self.capacity.directories

    @property
    def volumes(self) -> dict[str, str]:
        return {each.name: each.volume for each in self.capacity.directories if each.volume}


def rooms_of(brokers: Iterable[Broker], *, within_s: float | None = None) -> dict[str, HostRoom]:
    """By host, of the hosts of these brokers.

    Raises:
        Unavailable: ZooKeeper does not answer.
    """
    wanted = {row.host_id for row in brokers}
    try:
        found = {host.host_id: host for host in hosts().hosts(within_s=within_s)}
    except HostsUnavailableError as error:
        raise away(error) from error
    now_ms = int(timezone.now().timestamp() * 1000)
    rooms = {}
    for host_id in wanted:
        host = found.get(host_id)
        capacity = host.capacity if host is not None else Capacity()
        rooms[host_id] = HostRoom(
            capacity=capacity,
            unknown=_unknown(capacity, alive=host is not None and host.alive, now_ms=now_ms),
        )
    return rooms


def _unknown(capacity: Capacity, *, alive: bool, now_ms: int) -> str:
    age_s = capacity.age_s(now_ms)
    if not alive:
        return "The agent of its host is away."
    if capacity.problem:
        return capacity.problem
    if not capacity.directories:
        return OLD_AGENT
    if age_s is not None and age_s > STALE_S:
        return "The last report of its host is too old."
    return ""


def named_by(brokers: Iterable[Broker]) -> dict[int, Observed]:
    """By broker: the report of its agent, which has the names of its directories.

    Without the names a directory that is full would look like one that is not there.

    Raises:
        Unavailable: ZooKeeper does not answer, or an agent does not say, as right after its start.
    """
    rows = list(brokers)
    said = reported_by(rows)
    for row in rows:
        if row.broker_id not in said or not said[row.broker_id].log_dirs:
            raise Unavailable(
                f"The host of broker {row.broker_id} does not say which directories it has.",
                code="directories-unknown",
            )
    return said


def directories_of(
    gateway: ClusterGateway,
    broker: Broker,
    said: dict[int, Observed],
    room: HostRoom | None = None,
) -> list[Directory]:
    """Raises GatewayError: the broker does not say."""
    found = gateway.log_directories([broker.broker_id])
    report = said.get(broker.broker_id)
    named: Sequence[LogDir] = report.log_dirs if report is not None else ()
    return matched(named, found, room.volumes if room is not None else None)


def broker_directories(
    scope: Scope, cluster: Cluster, gateway: ClusterGateway, broker_id: int
) -> dict[str, Any]:
    """The page's part: {rows, further, further_unknown, lost_replicas, only_here, managed}.

    Raises:
        Unavailable: the reader sees a part of the cluster.
        GatewayError: the broker does not answer.
    """
    if not scope.sees(Area.CLUSTER, cluster.name):
        raise Unavailable(OF_WHOLE)
    row = cluster.brokers.filter(broker_id=broker_id).first() if cluster.kind == MANAGED else None
    said, room, unknown = _asked_of_host(row)
    found = gateway.log_directories([broker_id])
    report = said.get(broker_id)
    named = report.log_dirs if report is not None else ()
    among = matched(named, found)
    failed = any(each.state == FAILED for each in among)
    lost = (
        missing(broker_id, gateway.list_topics(), present_in(among))
        if failed
        else missing(broker_id, (), ())
    )
    used = {MAIN, *(each.name for each in among), *(row.log_dirs if row is not None else ())}
    return {
        "rows": [_shown(each, among, is_managed=row is not None) for each in among],
        "further": [
            {
                "name": each.name,
                "total_bytes": each.total_bytes,
                "free_bytes": each.free_bytes,
                "problem": each.problem or None,
            }
            for each in (room.directories if room is not None else ())
            if each.name not in used
        ],
        "further_unknown": unknown or None,
        "lost_replicas": len(lost.all),
        "only_here": len(lost.only_here),
        "managed": row is not None,
    }


def _asked_of_host(row: Broker | None) -> tuple[dict[int, Observed], HostRoom | None, str]:
    if row is None:
        return {}, None, NOT_RUN_HERE
    try:
        said = reported_by([row], within_s=bounded(READ_WAIT_S))
        room = rooms_of([row], within_s=bounded(READ_WAIT_S))[row.host_id]
    except Unavailable as error:
        return {}, None, str(error.detail)
    return said, room, room.unknown


def _shown(one: Directory, among: Sequence[Directory], *, is_managed: bool) -> dict[str, Any]:
    is_known = one.state != FAILED
    is_named = is_managed and one.name != one.path
    return {
        "name": one.name,
        "path": one.path,
        "state": one.state,
        "error": one.error or None,
        "problem": one.problem or None,
        "total_bytes": one.total_bytes,
        "usable_bytes": one.usable_bytes,
        "replicas": len(one.here) if is_known else None,
        "arriving": sum(row.is_future for row in one.replicas),
        "size_bytes": one.size_bytes if is_known else None,
        "can_be_emptied": is_named and len(among) > 1 and (is_known or one.name != MAIN),
        "can_be_removed": is_named and one.name != MAIN,
    }
