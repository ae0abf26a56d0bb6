"""`gateway_for(cluster)`: one gateway per cluster and process, renewed when the way in changes."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from django.conf import settings

from controlplane.clusters.models import Cluster
from controlplane.common.crypto import unseal
from controlplane.common.hashing import content_hash
from controlplane.gateway.port import ClusterGateway

if TYPE_CHECKING:
    from controlplane.gateway.connection_spec import ConnectionSpec

_lock = threading.Lock()
_open: dict[str, tuple[str, ClusterGateway]] = {}
_factory: Callable[[Cluster], ClusterGateway] | None = None


def gateway_for(cluster: Cluster) -> ClusterGateway:
    """Kept open between calls; thread-safe. Never close it: `drop_gateway` does."""
    if _factory is not None:
        return _factory(cluster)
    mark = content_hash(
        [cluster.bootstrap_servers, cluster.security_protocol, cluster.secrets_token]
    )
    with _lock:
        found = _open.get(cluster.id)
        if found is not None and found[0] == mark:
            return found[1]
        # The Kafka library is large; commands that never ask a cluster do not wait for it.
        from controlplane.gateway.kafka import KafkaGateway

        gateway = KafkaGateway(connection_spec(cluster))
        _open[cluster.id] = (mark, gateway)
    if found is not None:
        found[1].close()
    return gateway


def drop_gateway(cluster_id: str) -> None:
    with _lock:
        found = _open.pop(cluster_id, None)
    if found is not None:
        found[1].close()


def connection_spec(cluster: Cluster) -> "ConnectionSpec":
    from controlplane.gateway.connection_spec import ConnectionSpec

    secrets = unseal(cluster.secrets_token) if cluster.secrets_token else {}
    return ConnectionSpec(
        bootstrap_servers=tuple(cluster.bootstrap_servers.split(",")),
        security_protocol=cluster.security_protocol,
        sasl_mechanism=cluster.sasl_mechanism or None,
        username=cluster.admin_username or None,
        password=secrets.get("admin"),
        timeout_s=settings.GATEWAY_TIMEOUT_S,
    )


def use_gateways(factory: Callable[[Cluster], ClusterGateway] | None) -> None:
    """Tests bring their own."""
    global _factory  # noqa: PLW0603 - one switch per process
    _factory = factory
