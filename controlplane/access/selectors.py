"""Reads: users and ACLs through a gateway."""

from dataclasses import asdict
from typing import Any

from controlplane.clusters.models import Cluster
from controlplane.clusters.specs import ADMIN_USER, BROKER_USER
from controlplane.gateway.port import ClusterGateway

SERVICE_USERS = frozenset({ADMIN_USER, BROKER_USER})


def user_list(cluster: Cluster, gateway: ClusterGateway) -> list[dict[str, Any]]:
    """Users; `managed` marks those that the service itself needs."""
    del cluster  # every selector takes it; this one needs only the way in
    mechanisms: dict[str, list[str]] = {}
    for credential in gateway.list_users():
        mechanisms.setdefault(credential.username, []).append(credential.mechanism)
    return [
        {
            "username": name,
            "mechanisms": sorted(found),
            "managed": name in SERVICE_USERS,
        }
        for name, found in sorted(mechanisms.items())
    ]


def acl_list(cluster: Cluster, gateway: ClusterGateway) -> list[dict[str, Any]]:
    del cluster  # see user_list
    return [asdict(binding) for binding in gateway.list_acls()]
