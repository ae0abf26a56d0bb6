"""What a run is given of each cluster: addresses that were just looked at, and a fresh token.

Spark's JVM resolves and connects by itself, where no policy of ours holds. So a gateway, whose
every connection obeys the policy, looks right before a run where the cluster is and where it sends
its clients: the run gets the addresses that its names have now, and a cluster that leads elsewhere
is not read. What it needs of a token endpoint is asked for here, by the policy too.
"""

from __future__ import annotations

import concurrent.futures
import ipaddress
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from controlplane.clusters.connections import connection_spec, gateway_for
from controlplane.clusters.models import Cluster
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.egress import DNS_FAILED, checked_addresses
from controlplane.gateway.errors import EGRESS_REFUSED, GatewayError, unreachable
from controlplane.gateway.oauth import forget_token, token_of
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.probe import split_address
from spark_analytics.contracts.telemetry import TELEMETRY_TOPIC

log = logging.getLogger(__name__)
AT_ONCE = 8
LOOK_S_MAX = 20.0
"""For all clusters together: a tick of supervision holds its lease meanwhile."""
# Its last label begins with a letter, so that nobody takes it for an address in decimal, octal or
# hexadecimal digits: what the system's resolver and Java make of those is not the same.
_NAME = re.compile(r"(?i)(?:[a-z0-9_-]{1,63}\.)*[a-z_][a-z0-9_-]{0,62}\.?")


@dataclass(frozen=True, slots=True, kw_only=True)
class WayIn:
    """Of one cluster, as it was a moment ago.

    Attributes:
        bootstrap_servers: those of the cluster's whose names have addresses.
        hosts: by name its addresses, for every name by which the cluster is reached.
        token: what logs in where the mechanism is OAUTHBEARER.
        refusal: why a run must not read the cluster; empty where it may.
        telemetry_topic_id: of the telemetry topic that is there now; None where brokers give none.
    """

    spec: ConnectionSpec
    bootstrap_servers: tuple[str, ...] = ()
    hosts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    token: str | None = field(default=None, repr=False)
    refusal: str = ""
    telemetry_topic_id: str | None = None


def ways_in(clusters: Iterable[Cluster], *, timeout_s: float = LOOK_S_MAX) -> dict[str, WayIn]:
    """By the cluster's id; whoever does not answer in time is refused, and holds up nobody."""
    specs = {cluster.id: (connection_spec(cluster), gateway_for(cluster)) for cluster in clusters}
    pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE, "way-in")
    asked = {
        cluster_id: pool.submit(look, spec, gateway)
        for cluster_id, (spec, gateway) in specs.items()
    }
    done, _ = concurrent.futures.wait(asked.values(), timeout_s)
    pool.shutdown(wait=False, cancel_futures=True)
    late = f"there was no time to look at it: all clusters together took {timeout_s:.0f} s"
    return {
        cluster_id: future.result()
        if future in done
        else WayIn(spec=specs[cluster_id][0], refusal=late)
        for cluster_id, future in asked.items()
    }


def look(spec: ConnectionSpec, gateway: ClusterGateway) -> WayIn:
    """Never raises for what the cluster, its names or its token endpoint do."""
    try:
        brokers = gateway.describe_cluster().brokers
        topic = gateway.describe_topics([TELEMETRY_TOPIC]).get(TELEMETRY_TOPIC)
        bootstrap, hosts = _resolved(spec)
        for broker in brokers:
            _add(hosts, broker.host, broker.port, spec)
        if not bootstrap:
            raise unreachable("none of its names has an address")
        return WayIn(
            spec=spec,
            bootstrap_servers=bootstrap,
            hosts=hosts,
            token=_fresh_token(spec),
            telemetry_topic_id=(topic and topic.topic_id) or None,
        )
    except GatewayError as error:
        return WayIn(spec=spec, refusal=error.detail or error.code)


def _resolved(spec: ConnectionSpec) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """(bootstrap servers that have addresses, addresses by name)."""
    hosts: dict[str, tuple[str, ...]] = {}
    found = [
        address for address in spec.bootstrap_servers if _add(hosts, *split_address(address), spec)
    ]
    return tuple(found), hosts


def _add(hosts: dict[str, tuple[str, ...]], host: str, port: int, spec: ConnectionSpec) -> bool:
    """Whether the host has an address. Raises GatewayError: `egress-refused`."""
    try:
        found = [str(row[4][0]) for row in checked_addresses(host, port, spec.egress)]
    except GatewayError as error:
        if error.code != DNS_FAILED:
            raise
        # Without an entry the JVM finds it as little.
        log.info("a broker's name has no address: %s", error.detail)
        return False
    if _is_address(host):
        return True
    if not _NAME.fullmatch(host):
        raise GatewayError(
            EGRESS_REFUSED, f"{host!r} is no plain name: others may take it for another address"
        )
    bare = host.rstrip(".")
    hosts[bare] = hosts[f"{bare}."] = tuple(dict.fromkeys(found))
    return True


def _is_address(host: str) -> bool:
    try:
        return str(ipaddress.ip_address(host)) == host.lower()
    except ValueError:
        return False


def _fresh_token(spec: ConnectionSpec) -> str | None:
    """One that has its whole life before it: the run cannot ask for another."""
    if spec.oauth is None:
        return None
    forget_token(spec.oauth)
    return token_of(spec)
