"""The steps of creating and deleting a managed cluster, each idempotent."""

import contextlib
from collections.abc import Iterator

from django.conf import settings

from controlplane.clusters.connections import drop_gateway, gateway_for
from controlplane.clusters.hosts import HostsUnavailableError, Observed, hosts
from controlplane.clusters.models import Broker, Cluster
from controlplane.clusters.specs import (
    ADMIN_USER,
    BROKER_USER,
    broker_config,
    desired_spec,
    secret_config,
)
from controlplane.common.crypto import seal, unseal
from controlplane.common.words import counted
from controlplane.gateway.errors import GatewayError
from controlplane.operations.operations import Done, Progress, StepFailedError, StepRetryError, Wait

RESTARTS_TOLERATED = 4
POLL_S = 0.25


def write_desired(cluster: Cluster, *, state: str) -> Done:
    """Say what every broker should be; agents act on it by themselves."""
    brokers = list(cluster.brokers.all())
    passwords = unseal(cluster.secrets_token)
    salts = {user: bytes.fromhex(passwords[f"salt:{user}"]) for user in (BROKER_USER, ADMIN_USER)}
    secret = seal(
        secret_config(
            broker_password=passwords["broker"], admin_password=passwords["admin"], salts=salts
        )
    )
    with _zookeeper():
        hosts().make_chroot(cluster.zookeeper_path)
        for broker in brokers:
            config = broker_config(
                broker,
                zookeeper=settings.ZOOKEEPER,
                chroot=cluster.zookeeper_path,
                broker_count=len(brokers),
                of_tenant=cluster.config,
            )
            spec = desired_spec(
                cluster_id=cluster.id,
                broker_id=broker.broker_id,
                generation=broker.generation,
                state=state,
                config=config,
                secret=secret,
            )
            hosts().write_desired((broker.host_id, broker.key), spec)
    return Done(detail=f"{counted(len(brokers), 'broker')} {state}")


def await_processes(cluster: Cluster) -> Done | Wait:
    """Until every agent reports its broker as running."""
    brokers = list(cluster.brokers.all())
    seen = _observed(brokers)
    for broker in brokers:
        report = seen.get(broker.broker_id)
        if report is not None and _is_hopeless(report):
            raise StepFailedError(
                "broker-does-not-start",
                f"Broker {broker.broker_id} on {broker.host_id} does not start: "
                f"{report.message or report.state}",
                log_tail=list(report.log_tail)[-20:],
                broker_id=broker.broker_id,
            )
    running = sum(report.state == "running" for report in seen.values())
    progress = Progress(done=running, total=len(brokers), unit="brokers")
    if running == len(brokers):
        return Done(detail="all broker processes run", progress=progress)
    return Wait(
        seconds=POLL_S, detail=f"{running} of {len(brokers)} processes run", progress=progress
    )


def _is_hopeless(report: Observed) -> bool:
    return report.state == "failed" or (
        report.state in {"backoff", "exited"} and report.restarts > RESTARTS_TOLERATED
    )


def await_registration(cluster: Cluster) -> Done | Wait:
    """Until the cluster's own metadata shows every broker."""
    wanted = {broker.broker_id for broker in cluster.brokers.all()}
    try:
        found = {node.id for node in gateway_for(cluster).describe_cluster().brokers}
    except GatewayError as error:
        drop_gateway(cluster.id)
        return Wait(seconds=POLL_S, detail=f"no answer yet: {error}")
    progress = Progress(done=len(found & wanted), total=len(wanted), unit="brokers")
    if wanted <= found:
        return Done(detail="every broker has registered", progress=progress)
    missing = ", ".join(str(i) for i in sorted(wanted - found))
    return Wait(seconds=POLL_S, detail=f"waiting for {missing}", progress=progress)


def verify_cluster(cluster: Cluster) -> Done | Wait:
    """The administrator is let in, there is a controller, the topics can be read."""
    gateway = gateway_for(cluster)
    description = gateway.describe_cluster()
    if description.controller_id is None:
        return Wait(seconds=POLL_S, detail="no controller elected yet")
    gateway.list_topics()
    gateway.list_acls()
    return Done(detail=f"controller is broker {description.controller_id}")


def await_deleted(cluster: Cluster) -> Done | Wait:
    """Until no agent has a process or data of the cluster any more."""
    brokers = list(cluster.brokers.all())
    seen = _observed(brokers)
    left = [
        broker.broker_id
        for broker in brokers
        if broker.broker_id in seen and seen[broker.broker_id].state != "deleted"
    ]
    progress = Progress(done=len(brokers) - len(left), total=len(brokers), unit="brokers")
    if not left:
        return Done(detail="processes and data are gone", progress=progress)
    names = ", ".join(map(str, left))
    return Wait(seconds=POLL_S, detail=f"still there: {names}", progress=progress)


def purge(cluster: Cluster) -> Done:
    """Remove the cluster's nodes from ZooKeeper."""
    with _zookeeper():
        for broker in cluster.brokers.all():
            hosts().forget_broker((broker.host_id, broker.key))
        hosts().remove_chroot(cluster.zookeeper_path)
    drop_gateway(cluster.id)
    return Done(detail="no trace in ZooKeeper")


@contextlib.contextmanager
def _zookeeper() -> Iterator[None]:
    """A ZooKeeper that does not answer is asked again by the same step."""
    try:
        yield
    except HostsUnavailableError as error:
        raise StepRetryError(f"ZooKeeper does not answer: {error}") from error


def _observed(brokers: list[Broker]) -> dict[int, Observed]:
    keys = {(broker.host_id, broker.key): broker.broker_id for broker in brokers}
    with _zookeeper():
        seen = hosts().observed(keys)
    return {keys[key]: report for key, report in seen.items()}
