"""What is known of a cluster's software: asked of agents and brokers, for plans and pages."""

from collections.abc import Iterable
from typing import Any

from controlplane.clusters.hosts import READ_WAIT_S, HostsUnavailableError, hosts
from controlplane.clusters.models import MANAGED, Broker, Cluster
from controlplane.clusters.reports import Observed
from controlplane.clusters.selectors import key_of
from controlplane.clusters.versions import (
    OWN,
    PROTOCOL_KEY,
    Installed,
    Offer,
    changes,
    offers,
    one_of,
    raised_to,
)
from controlplane.clusters.zookeeper_away import away
from controlplane.common.grants import Area, Scope, Verb
from controlplane.common.problems import Unavailable
from controlplane.common.times import iso_of_ms
from controlplane.gateway.patience import bounded
from controlplane.gateway.port import ClusterGateway

NOT_OURS = "Its brokers are run by somebody else, who decides on their software."
OF_WHOLE = "The software of brokers is seen with a role on the whole cluster."


def version_of(cluster: Cluster, broker: Broker) -> str:
    """The version that a broker shall run."""
    return broker.version or cluster.version


def installed_on(
    brokers: Iterable[Broker], *, within_s: float | None = None
) -> dict[str, Installed]:
    """By host, of the hosts of these brokers.

    Raises:
        Unavailable: ZooKeeper does not answer.
    """
    wanted = sorted({row.host_id for row in brokers})
    try:
        return hosts().versions(wanted, within_s=within_s)
    except HostsUnavailableError as error:
        raise away(error) from error


def reported_by(brokers: Iterable[Broker], *, within_s: float | None = None) -> dict[int, Observed]:
    """By broker id: what agents that live say of the generation that is desired.

    Raises:
        Unavailable: ZooKeeper does not answer.
    """
    rows = list(brokers)
    try:
        found = hosts().observed([key_of(row) for row in rows], within_s=within_s)
    except HostsUnavailableError as error:
        raise away(error) from error
    seen = {row.broker_id: (row, found.get(key_of(row))) for row in rows}
    return {
        broker: report
        for broker, (row, report) in seen.items()
        if report is not None and report.is_watched and not report.disagreement(row.generation)
    }


def protocol_of(
    cluster: Cluster, brokers: list[Broker], said: dict[int, Observed], gateway: ClusterGateway
) -> str | None:
    """What the brokers speak to each other: as it is set, else as they all say; None: not known.

    Raises:
        GatewayError: a broker that did not tell its agent cannot be asked.
    """
    if cluster.protocol_version:
        return cluster.protocol_version
    told = [said[row.broker_id].protocol if row.broker_id in said else "" for row in brokers]
    if all(told):
        return one_of([*told])
    found = gateway.broker_configs([row.broker_id for row in brokers], [PROTOCOL_KEY])
    return one_of([_setting(found.get(row.broker_id, [])) for row in brokers])


def _setting(entries: Iterable[Any]) -> str | None:
    return next((entry.value for entry in entries if entry.name == PROTOCOL_KEY), None)


def cluster_versions(scope: Scope, cluster: Cluster) -> dict[str, Any]:
    """The page's part: {version, protocol, protocol_newest, changes, is_mixed, may_change, brokers,
    offers}; null is what is not known.

    Raises:
        Unavailable: others run the brokers, the reader sees a part, ZooKeeper does not answer.
    """
    if cluster.kind != MANAGED:
        raise Unavailable(NOT_OURS)
    if not scope.sees(Area.CLUSTER, cluster.name):
        raise Unavailable(OF_WHOLE)
    rows = list(cluster.brokers.all())
    installed = installed_on(rows, within_s=bounded(READ_WAIT_S))
    said = reported_by(rows, within_s=bounded(READ_WAIT_S))
    protocol = cluster.protocol_version or one_of(
        [said[row.broker_id].protocol or None if row.broker_id in said else None for row in rows]
    )
    found = offers(installed, protocol)
    now = next((each for each in found if each.name == cluster.version), None)
    newest = raised_to(now.release, protocol) if now and now.release and protocol else None
    return {
        "version": cluster.version,
        "software": now.release.software if now and now.release else None,
        "protocol": protocol,
        "protocol_newest": newest,
        "changes": changes(protocol, newest) if protocol and newest else [],
        "is_mixed": any(version_of(cluster, row) != cluster.version for row in rows),
        "may_change": scope.allows(Verb.WRITE, Area.CLUSTER, cluster.name),
        "brokers": [_broker(cluster, row, said.get(row.broker_id)) for row in rows],
        "offers": [_offer(each, cluster) for each in found],
        "reported_at": _oldest(installed),
    }


def _broker(cluster: Cluster, row: Broker, said: Observed | None) -> dict[str, Any]:
    return {
        "id": row.broker_id,
        "desired": version_of(cluster, row),
        "running": (said.version or None) if said else None,
        "software": (said.software or None) if said else None,
        "protocol": (said.protocol or None) if said else None,
        "digest": (said.digest or None) if said else None,
    }


def _offer(each: Offer, cluster: Cluster) -> dict[str, Any]:
    release = each.release
    return {
        "name": each.name,
        "is_own": each.name == OWN,
        "is_current": each.name == cluster.version,
        "software": release.software if release else None,
        "digest": release.digest if release else None,
        "oldest": release.oldest if release else None,
        "newest": release.newest if release else None,
        "why_not": each.why_not,
    }


def _oldest(installed: dict[str, Installed]) -> str | None:
    """Of the report that is the longest ago; agents write when something changed."""
    times = [found.reported_at_ms for found in installed.values() if found.reported_at_ms]
    return iso_of_ms(min(times)) if times else None
