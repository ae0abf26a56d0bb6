"""One broker: its row with its load and its disk, its settings, what its agent reports."""

from __future__ import annotations

from typing import Any

from controlplane.clusters.hosts import READ_WAIT_S, HostsUnavailableError, hosts
from controlplane.clusters.models import MANAGED, Cluster
from controlplane.clusters.reports import Observed
from controlplane.clusters.selectors import cluster_get, key_of, reader_of
from controlplane.clusters.zookeeper_away import away
from controlplane.common.grants import Area, Scope, Verb
from controlplane.common.problems import NotFound, Unavailable
from controlplane.gateway.patience import bounded
from controlplane.gateway.port import ClusterGateway
from controlplane.observed.rows import broker_key, config_row
from controlplane.observed.sections import BROKERS
from controlplane.observed.selectors import loads, row_of, section
from controlplane.tenants.models import Tenant

ID_DIGITS_MAX = 10
OF_WHOLE = "are seen with a role on the whole cluster."
NO_LOG = "Lines of the log are shown to those who may change the cluster."
NOT_OURS = "This broker is not run by an agent of the service: its host knows its process and log."


def broker_id_of(text: str) -> int:
    """Of an address.

    Raises:
        NotFound: it is no id.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= ID_DIGITS_MAX):
        raise no_such_broker()
    return int(text)


def no_such_broker() -> NotFound:
    return NotFound("The broker was not found.")


def broker_get(tenant: Tenant, scope: Scope, cluster: Cluster, broker: int) -> dict[str, Any]:
    """The cluster's row of it, with {cluster_kind, may_change, is_controller, leaders, replicas,
    size_bytes, disk_total_bytes, disk_usable_bytes}; what is not known, or not for this reader, is
    null.

    One that is gone is there while partitions name it.

    Raises:
        NotFound: nobody placed it, and the cluster does not name it.
        Problem: nobody has ever looked at the cluster.
    """
    reader = reader_of(cluster, scope)
    whole = cluster_get(tenant, scope, cluster.id)
    placed = next((row for row in whole["brokers"] if row["id"] == broker), None)
    seen = row_of(reader, BROKERS, broker_key(broker))
    load = next((row for row in loads(reader) if row["id"] == broker), None)
    if placed is None and load is None:
        at = section(reader, BROKERS)
        raise no_such_broker() if at.as_of is not None else at.problem()
    row = seen.row if seen is not None else {}
    disk = row if reader.sees_whole else {}
    return {
        **(placed or _only_named(row, broker)),
        "cluster_kind": cluster.kind,
        "may_change": may_change(scope, cluster),
        "is_controller": None
        if whole["controller_id"] is None
        else whole["controller_id"] == broker,
        "leaders": load["leaders"] if load else None,
        "replicas": load["replicas"] if load else None,
        "size_bytes": load["size_bytes"] if load else None,
        "disk_total_bytes": disk.get("disk_total_bytes"),
        "disk_usable_bytes": disk.get("disk_usable_bytes"),
    }


def may_change(scope: Scope, cluster: Cluster) -> bool:
    """Whether brokers may be restarted, leaders elected, and log lines read."""
    return scope.allows(Verb.WRITE, Area.CLUSTER, cluster.name)


def _only_named(row: dict[str, Any], broker: int) -> dict[str, Any]:
    """Of a broker that is not in the cluster and was placed by nobody here."""
    return {
        "id": broker,
        "host": row.get("host") or "",
        "port": row.get("port") or 0,
        "rack": row.get("rack"),
        "managed": False,
        "alive": row.get("live", False),
        "observed_state": "unknown",
        "pid": None,
        "restarts": 0,
        "since_ms": None,
        "message": "Partitions name it, and it is not in the cluster.",
        "drift": None,
    }


def broker_settings(scope: Scope, cluster: Cluster, gateway: ClusterGateway, broker: int) -> Any:
    """Every setting by name, with where it comes from; values of sensitive ones are null.

    Raises:
        Unavailable: the reader sees a part of the cluster.
        GatewayError: the broker does not answer.
    """
    if not scope.sees(Area.CLUSTER, cluster.name):
        raise Unavailable(f"The settings of brokers {OF_WHOLE}")
    entries = gateway.broker_configs([broker])[broker]
    rows = [config_row(entry) for entry in sorted(entries, key=lambda entry: entry.name)]
    return [{**row, "value": None} if row["sensitive"] else row for row in rows]


def broker_process(scope: Scope, cluster: Cluster, broker: int) -> dict[str, Any]:
    """What its agent reports: {state, pid, restarts, since_ms, exit_code, message, reported_at_ms,
    version, software, protocol, digest, ends, log_tail, log_hidden}; `log_tail` is of a process
    that does not run.

    Raises:
        Unavailable: no agent runs it, ZooKeeper does not answer, or nothing was reported.
    """
    if cluster.kind != MANAGED:
        raise Unavailable(NOT_OURS)
    if not scope.sees(Area.CLUSTER, cluster.name):
        raise Unavailable(f"Processes of brokers {OF_WHOLE}")
    row = cluster.brokers.filter(broker_id=broker).first()
    if row is None:
        raise Unavailable(NOT_OURS)
    try:
        reports = hosts().observed([key_of(row)], within_s=bounded(READ_WAIT_S))
    except HostsUnavailableError as error:
        raise away(error) from error
    found = reports.get(key_of(row))
    if found is None:
        raise Unavailable("The agent of its host has reported nothing of it yet.")
    ignored = found.disagreement(row.generation)
    if ignored:
        raise Unavailable(ignored)
    return _report(found.as_known(), shows_log=may_change(scope, cluster))


def _report(found: Observed, *, shows_log: bool) -> dict[str, Any]:
    """Log lines may name what clients did: they are for who may change the cluster."""
    return {
        "state": found.state,
        "pid": found.pid,
        "restarts": found.restarts,
        "since_ms": found.since_ms,
        "exit_code": found.exit_code,
        "message": found.message,
        "reported_at_ms": found.reported_at_ms,
        "version": found.version or None,
        "software": found.software or None,
        "protocol": found.protocol or None,
        "digest": found.digest or None,
        "ends": [
            {
                "at_ms": end.at_ms,
                "exit_code": end.exit_code,
                "message": end.message,
                "log_tail": list(end.log_tail) if shows_log else None,
            }
            for end in reversed(found.ends)
        ],
        "log_tail": list(found.log_tail) if shows_log else None,
        "log_hidden": None if shows_log else NO_LOG,
    }
