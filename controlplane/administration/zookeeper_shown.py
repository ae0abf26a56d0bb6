"""By which connect strings a host's agent and brokers reach ZooKeeper, as operators see it."""

from collections.abc import Sequence
from typing import Any

from controlplane.clusters.described import Host
from controlplane.clusters.hosts import READ_WAIT_S, HostsUnavailableError, hosts
from controlplane.clusters.reports import Observed
from controlplane.gateway.patience import bounded


def own_tree() -> str | None:
    """The identity of the tree that this service sees; None while it is not known."""
    try:
        return hosts().ensemble(within_s=bounded(READ_WAIT_S)) or None
    except HostsUnavailableError:
        return None


def host_zookeeper(
    host: Host, brokers: Sequence[dict[str, Any]], tree: str | None
) -> dict[str, Any]:
    """`brokers` are rows of `brokers_on`, `tree` is `own_tree`."""
    return {
        "connect": host.zookeeper or None,
        "ensemble": host.ensemble or None,
        "is_ours": None if tree is None or not host.ensemble else host.ensemble == tree,
        "brokers_elsewhere": (
            sum(row["zookeeper"] != host.zookeeper for row in brokers) if host.zookeeper else None
        ),
    }


def started_with(report: Observed | None, cluster_id: str) -> str | None:
    """The string that the process was started with, without its cluster's chroot; None: not known,
    also of a process that nobody watches.
    """
    if report is None or report.state == "unknown" or not report.zookeeper:
        return None
    return report.zookeeper.removesuffix(f"/penstock/clusters/{cluster_id}")
