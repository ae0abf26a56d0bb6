"""Closing the ZooKeeper nodes of a cluster that was made before there were logins.

As with Kafka's own migration: first every broker gets its login, one after another, while the nodes
stay open; then every broker begins to close what it makes; then what was there before is closed. A
node that one broker closes is read by the others only when they all have the login. What was
interrupted goes on by being run again: how far it came stands among the cluster's secrets.
"""

import time
from collections.abc import Callable

from controlplane.clusters import services
from controlplane.clusters.connections import drop_gateway, gateway_for
from controlplane.clusters.hosts import hosts
from controlplane.clusters.models import Broker, Cluster
from controlplane.clusters.specs import (
    CLOSED,
    CLOSING,
    OPEN,
    ZOOKEEPER_NODES,
    ZOOKEEPER_PASSWORD,
    ZOOKEEPER_ROTATION,
)
from controlplane.common.crypto import new_password, seal, unseal
from controlplane.common.words import counted
from controlplane.gateway.errors import GatewayError
from controlplane.operations.models import Operation
from controlplane.operations.states import ACTIVE_STATES

POLL_S = 0.5
Say = Callable[[str], None]


class ProtectionError(Exception):
    """That cannot be done to the cluster now; what was done stays, and running again goes on."""


def protect(cluster: Cluster, *, is_stopped: bool, timeout_s: float, say: Say) -> int:
    """Give the cluster its login and close its nodes; how many there were.

    Args:
        cluster: a managed one; no operation may be under way on it.
        is_stopped: its brokers do not run: they get everything at once, at their next start.
        timeout_s: how long one broker may take to come back in sync.
        say: gets a line for each thing done.

    Raises:
        ProtectionError: an operation is under way, or a broker does not come back.
        StepRetryError, HostsUnavailableError: ZooKeeper does not answer.
    """
    refuse_while_busy(cluster)
    secrets = unseal(cluster.secrets_token)
    if ZOOKEEPER_ROTATION in secrets:
        raise ProtectionError(f"the login of {cluster.name} is being replaced; finish that first")
    if ZOOKEEPER_PASSWORD not in secrets:
        secrets |= {ZOOKEEPER_PASSWORD: new_password(), ZOOKEEPER_NODES: OPEN}
        _keep(cluster, secrets)
    broker_ids = list(cluster.brokers.values_list("broker_id", flat=True))
    if is_stopped and secrets.get(ZOOKEEPER_NODES, CLOSED) != CLOSED:
        secrets[ZOOKEEPER_NODES] = CLOSING
        _keep(cluster, secrets)
        for broker_id in broker_ids:
            services.restart_broker(cluster, broker_id)
    elif not is_stopped:
        if secrets.get(ZOOKEEPER_NODES) == OPEN:
            _restart_in_turn(cluster, broker_ids, timeout_s, say, "has its login")
            secrets[ZOOKEEPER_NODES] = CLOSING
            _keep(cluster, secrets)
        if secrets.get(ZOOKEEPER_NODES) == CLOSING:
            _restart_in_turn(cluster, broker_ids, timeout_s, say, "closes what it makes")
    owners, _ = services.zookeeper_settings(cluster, secrets)
    count = hosts().protect_chroot(cluster.zookeeper_path, *owners)
    if secrets.get(ZOOKEEPER_NODES) is not None:
        secrets[ZOOKEEPER_NODES] = CLOSED
        _keep(cluster, secrets)
    say(f"{cluster.name}: {counted(count, 'node')} of its own")
    return count


def refuse_while_busy(cluster: Cluster) -> None:
    """Raises ProtectionError while an operation is under way on the cluster."""
    if Operation.objects.filter(cluster_id=cluster.id, state__in=sorted(ACTIVE_STATES)).exists():
        raise ProtectionError(f"an operation is under way on {cluster.name}")


def _keep(cluster: Cluster, secrets: dict[str, str]) -> None:
    cluster.secrets_token = seal(secrets)
    cluster.save(update_fields=["secrets_token"])


def _restart_in_turn(
    cluster: Cluster, broker_ids: list[int], timeout_s: float, say: Say, what: str
) -> None:
    for broker_id in broker_ids:
        services.restart_broker(cluster, broker_id)
        await_in_sync(cluster, broker_id, timeout_s)
        say(f"{cluster.name}: broker {broker_id} {what}")


def await_in_sync(cluster: Cluster, broker_id: int, timeout_s: float) -> None:
    """Until the broker runs as desired, is back in the cluster, and every replica is in sync.

    Raises ProtectionError when it is not after `timeout_s` seconds.
    """
    deadline_s = time.monotonic() + timeout_s
    while (why := _what_is_missing(cluster, broker_id)) and time.monotonic() < deadline_s:
        time.sleep(POLL_S)
    if why:
        raise ProtectionError(
            f"broker {broker_id} of {cluster.name}, restarted, after {timeout_s:g} s: {why}"
        )


def _what_is_missing(cluster: Cluster, broker_id: int) -> str:
    broker = Broker.objects.get(cluster=cluster, broker_id=broker_id)
    key = (broker.host_id, broker.key)
    report = hosts().observed([key]).get(key)
    if report is None:
        return "its agent has reported nothing"
    if why := report.disagreement(broker.generation):
        return why
    if report.state != "running":
        return f"it is {report.state}. {report.message}"
    try:
        gateway = gateway_for(cluster)
        if broker_id not in {node.id for node in gateway.describe_cluster().brokers}:
            return "it is not back in the cluster"
        behind = sum(
            len(partition.isr) < len(partition.replicas)
            for topic in gateway.list_topics()
            for partition in topic.partitions
        )
    except GatewayError as error:
        drop_gateway(cluster.id)
        return f"the cluster does not answer: {error}"
    return f"{behind} partitions are not in sync" if behind else ""
