"""Brokers that follow something that their host's agent says of itself, one cluster after another.

A row a host; a round looks at each, and begins the next cluster's roll where none is under way.
Whatever is in the way is kept as the reason, and tried again.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Generic, TypeVar

from django.utils import timezone

from controlplane.audit.services import SYSTEM, Actor, audit_record
from controlplane.clusters.described import Host
from controlplane.clusters.hosts import HostsUnavailableError, hosts
from controlplane.clusters.models import Broker, Cluster
from controlplane.common import leases
from controlplane.common.apart import apart
from controlplane.common.problems import Problem, Unavailable
from controlplane.common.said import Said
from controlplane.gateway.errors import GatewayError
from controlplane.healing.models import HostAddressChange, HostZooKeeperChange
from controlplane.healing.waiting import after_ended, as_it_came, joined, keep, led_in, waiting_of
from controlplane.operations.models import Operation
from controlplane.operations.operations import PlanContext, required_kind
from controlplane.operations.services import announced_start
from controlplane.operations.states import ACTIVE_STATES, SUCCEEDED

log = logging.getLogger(__name__)
LEASE = timedelta(seconds=120)
AGAIN = timedelta(seconds=30)
"""How soon something that was refused is tried again."""
HOSTS_AT_A_TIME = 50
ODD = waiting_of("not-understood")
ROLL_INPUTS = {"canary_s": 60}

Row = TypeVar("Row", HostAddressChange, HostZooKeeperChange)


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed(Generic[Row]):
    """What is followed.

    Attributes:
        model: of its rows, one a host.
        kind: the operation that a cluster follows by.
        reason: of these operations, to the tenant, who reads it.
        event: begins the names of what the audit log keeps.
        left: brokers that have not followed yet.
        objection: why what the row says is not followed now, by what the host says; null: nothing.
        about: of the row, for the audit log.
    """

    model: type[Row]
    kind: str
    reason: str
    event: str
    left: Callable[[Row], list[Broker]]
    objection: Callable[[Host | None, Row], Said | None]
    about: Callable[[Row], dict[str, Any]]

    def stop(self, *, host_id: str, actor: Actor) -> None:
        """No other cluster is begun; the one under way goes on, and is cancelled as any operation.
        Again, or where none is under way, it changes nothing.
        """
        ended = self.model.objects.filter(host_id=host_id, ended_at=None).update(
            ended_at=timezone.now(), **joined([waiting_of("stopped", by=actor.name)])
        )
        if ended:
            record(host_id, actor, f"{self.event}_stop")

    def round(self, now: datetime | None = None) -> int:
        """One look at every host whose brokers follow; how many rolls it began."""
        now = now or timezone.now()
        rows = self.model.objects.filter(ended_at=None).order_by("tried_at", "host_id")
        ids = list(rows.values_list("pk", flat=True)[:HOSTS_AT_A_TIME])
        if not ids:
            return 0
        try:
            found = {host.host_id: host for host in hosts().hosts()}
        except HostsUnavailableError as error:
            log.info("what agents say by now is not known: %s", error)
            return 0
        return sum(
            apart(
                f"following {host_id}",
                partial(self._look, host_id, found.get(host_id), now),
                otherwise=False,
            )
            for host_id in ids
        )

    def _look(self, host_id: str, host: Host | None, now: datetime) -> bool:
        rows = self.model.objects.filter(pk=host_id, ended_at=None)
        token = leases.claim(rows, LEASE)
        if token is None:
            return False
        row = rows.get()
        try:
            return self._step(row, host, now)
        finally:
            # Whoever stopped it meanwhile has written to the row: that stands.
            ended = row.ended_at is not None
            names = ("moved", "operation_id", "operation_about", "tried_at")
            kept = {name: getattr(row, name) for name in names}
            if ended or rows.exists():
                open_names = ("waiting_for", "waiting_for_parts", "ended_at")
                kept |= {name: getattr(row, name) for name in open_names}
            leases.release(self.model.objects.filter(pk=host_id), token, **kept)

    def _step(self, row: Row, host: Host | None, now: datetime) -> bool:
        """True when a roll was begun."""
        if row.operation_id and _is_under_way(row, now):
            return False
        left = self.left(row)
        if not left:
            keep(row)
            row.ended_at = now
            record(row.host_id, SYSTEM, f"{self.event}_followed", **self.about(row))
            return False
        if row.waiting_for and row.tried_at is not None and now - row.tried_at < AGAIN:
            return False
        row.tried_at = now
        if objection := self.objection(host, row):
            keep(row, [objection])
            return False
        first = list[Said]()
        for cluster in {each.cluster_id: each.cluster for each in left}.values():
            begun = apart(f"the roll of {cluster.pk}", partial(self._begun, cluster), otherwise=ODD)
            if isinstance(begun, Said):
                first = first or led_in(cluster.name, begun)
                continue
            keep(row)
            row.operation_id, row.operation_about = begun.id, cluster.name[:200]
            return True
        keep(row, first)
        return False

    def _begun(self, cluster: Cluster) -> Operation | Said:
        """Its roll, or why there is none."""
        try:
            return self._start(cluster)
        except Problem as problem:
            return as_it_came(problem.detail)

    def _start(self, cluster: Cluster) -> Operation:
        """The roll that a person would get by a plan.

        Raises:
            Problem: it is refused, the cluster does not answer, or another operation is in the way.
        """
        context = PlanContext(tenant=cluster.tenant, cluster_id=cluster.id, actor=SYSTEM)
        try:
            draft = required_kind(self.kind).plan(context, ROLL_INPUTS)
        except GatewayError as error:
            raise error.as_problem() from error
        return announced_start(
            tenant=cluster.tenant,
            kind_name=self.kind,
            cluster_id=cluster.id,
            inputs=ROLL_INPUTS,
            draft=draft,
            reason=self.reason,
        )


def said_by(host_id: str) -> Host | None:
    """What the host's agent says of itself. Raises Unavailable: ZooKeeper does not answer."""
    try:
        return {host.host_id: host for host in hosts().hosts()}.get(host_id)
    except HostsUnavailableError as error:
        raise Unavailable(f"ZooKeeper does not answer: {error}", code="zookeeper-away") from error


def record(host_id: str, actor: Actor, action: str, **data: object) -> None:
    audit_record(
        tenant_id="",
        actor=actor,
        action=action,
        resource=f"host/{host_id}",
        data=dict(data) or None,
    )


def _is_under_way(row: HostAddressChange | HostZooKeeperChange, now: datetime) -> bool:
    found = Operation.objects.filter(pk=row.operation_id).first()
    if found is not None and found.state in ACTIVE_STATES:
        return True
    if found is not None and found.state == SUCCEEDED:
        row.moved += 1
        keep(row)
    elif found is not None:
        keep(row, after_ended(row.operation_about, found.state, found.error))
        row.tried_at = now
    row.operation_id = row.operation_about = ""
    return False
