"""What a cluster's next broker shall run, and which hosts have it: asked of agents, for placing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from controlplane.clusters.described import Host
from controlplane.clusters.hosts import hosts
from controlplane.clusters.models import Broker, Cluster
from controlplane.clusters.release_fit import ANY, Wanted, wanted
from controlplane.clusters.versions import NOT_KNOWN, OWN, Installed


@dataclass(frozen=True, slots=True, kw_only=True)
class Releases:
    """What is wanted of a host, and what each has."""

    wants: Wanted
    installed: dict[str, Installed]

    @property
    def named(self) -> str:
        """What a refusal for want of places adds, for whoever may know the cluster's version."""
        if self.wants.name == OWN:
            return ""
        return f" Hosts without version {self.wants.name} of the broker do not count."


NO_RELEASE: Final = Releases(wants=ANY, installed={})
"""Of a new cluster, whose brokers are of what their hosts' agents are."""


def releases_on(
    found: Iterable[Host],
    cluster: Cluster | None,
    *,
    broker_id: int | None = None,
    there: Sequence[Broker] | None = None,
    within_s: float | None = None,
) -> Releases:
    """Of these hosts, for a broker of the cluster that is there, or else for its next one.

    `cluster` is null where a new one is to be made, of what the hosts themselves have. `there` are
    those of its brokers that say what is wanted, where they are at hand; None: all of them.

    Raises:
        HostsUnavailableError: ZooKeeper does not answer.
    """
    names = {host.host_id for host in found}
    if cluster is None:
        return Releases(wants=ANY, installed=hosts().versions(sorted(names), within_s=within_s))
    rows = _rows(cluster) if there is None else there
    asked = sorted(names.union(row.host_id for row in rows))
    installed = hosts().versions(asked, within_s=within_s)
    return Releases(wants=_wanted(cluster, rows, installed, broker_id), installed=installed)


def wanted_by(cluster: Cluster, installed: Mapping[str, Installed], broker_id: int) -> Wanted:
    """What a broker of the cluster shall run, by what hosts were found to have."""
    return _wanted(cluster, _rows(cluster), installed, broker_id)


def _rows(cluster: Cluster) -> list[Broker]:
    return list(Broker.objects.filter(cluster=cluster))


def _wanted(
    cluster: Cluster,
    rows: Sequence[Broker],
    installed: Mapping[str, Installed],
    broker_id: int | None,
) -> Wanted:
    own = next((row.version for row in rows if row.broker_id == broker_id), "")
    there = sorted({row.host_id for row in rows})
    return wanted(
        own or cluster.version,
        cluster.protocol_version,
        [installed.get(host, NOT_KNOWN) for host in there],
    )
