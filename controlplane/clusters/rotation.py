"""Another login to ZooKeeper for a cluster that has one, while it serves.

Nodes belong to the hash of a password, and a broker has one password, by which it must reach what
every other one makes. So each broker is restarted three times, one broker at a time:

adding    brokers log in by the present password, and what they make belongs to both; then what was
          there before is given to both too
moving    they log in by the following password; what they make belongs to both still, since some
          have the present one yet
removing  what they make belongs to the following password alone: none has the other any more
leaving   no restart: what is there is taken from the password of before, which opens nothing now

How far it came stands among the cluster's secrets, with both passwords: whatever is written for a
broker meanwhile, by an operation too, fits (`specs.cluster_logins`). What was interrupted goes on
by being run again; a broker that has what it is to have is not restarted. A second run takes over
from the first, which ends before it writes anything more.
"""

import secrets
from typing import Final

from django.db import transaction

from controlplane.clusters import services
from controlplane.clusters.hosts import hosts
from controlplane.clusters.models import Broker, Cluster
from controlplane.clusters.protection import (
    ProtectionError,
    Say,
    await_in_sync,
    refuse_while_busy,
)
from controlplane.clusters.sealing import NoHostKeyError, open_for_host
from controlplane.clusters.specs import (
    ADDING,
    CLOSED,
    LEAVING,
    MOVING,
    REMOVING,
    ZOOKEEPER_NEXT,
    ZOOKEEPER_NODES,
    ZOOKEEPER_PASSWORD,
    ZOOKEEPER_ROTATION,
)
from controlplane.common.crypto import new_password, seal, unseal
from controlplane.common.keyring import SecretUnreadableError

RUN: Final = "zookeeper:rotation:run"
AFTER: Final = {ADDING: MOVING, MOVING: REMOVING, REMOVING: LEAVING}
DONE: Final = {
    ADDING: "gives what it makes to both logins",
    MOVING: "has its new login",
    REMOVING: "gives what it makes to the new login alone",
}


def rotate(cluster: Cluster, *, timeout_s: float, say: Say) -> int:
    """Replace the cluster's login to ZooKeeper; how many nodes the new one owns.

    Args:
        cluster: a managed one with closed nodes, all of whose brokers run; no operation may be
            under way on it.
        timeout_s: how long one broker may take to come back in sync.
        say: gets a line for each thing done.

    Raises:
        ProtectionError: it has no login yet, an operation is under way, a broker does not come
            back, or another run has taken over.
        StepRetryError, HostsUnavailableError: ZooKeeper does not answer.
    """
    run = secrets.token_hex(8)
    cluster = _begin(cluster, run)
    while (phase := unseal(cluster.secrets_token)[ZOOKEEPER_ROTATION]) != LEAVING:
        for broker_id in cluster.brokers.order_by("broker_id").values_list("broker_id", flat=True):
            cluster = _held(cluster, run)
            refuse_while_busy(cluster)
            if not _has_what_is_wanted(cluster, broker_id):
                services.restart_broker(cluster, broker_id)
            await_in_sync(cluster, broker_id, timeout_s)
            say(f"{cluster.name}: broker {broker_id} {DONE[phase]}")
        cluster = _held(cluster, run)
        if not all(
            _has_what_is_wanted(cluster, broker_id)
            for broker_id in cluster.brokers.values_list("broker_id", flat=True)
        ):
            continue  # somebody wrote meanwhile, or added a broker
        if phase == ADDING:
            _give_all(cluster)
        cluster = _keep(cluster, run, **{ZOOKEEPER_ROTATION: AFTER[phase]})
    count = _give_all(cluster)
    following = unseal(cluster.secrets_token)[ZOOKEEPER_NEXT]
    forgotten = (ZOOKEEPER_NEXT, ZOOKEEPER_ROTATION, RUN)
    _keep(cluster, run, *forgotten, **{ZOOKEEPER_PASSWORD: following})
    say(f"{cluster.name}: {count} nodes are the new login's alone")
    return count


@transaction.atomic
def _begin(cluster: Cluster, run: str) -> Cluster:
    """Take the rotation over, or begin one."""
    row, held = _locked(cluster)
    refuse_while_busy(row)
    if ZOOKEEPER_PASSWORD not in held or held.get(ZOOKEEPER_NODES, CLOSED) != CLOSED:
        raise ProtectionError(
            f"{row.name} has no login that could be replaced: `manage.py zookeeper protect`"
        )
    if ZOOKEEPER_ROTATION not in held:
        held |= {ZOOKEEPER_NEXT: new_password(), ZOOKEEPER_ROTATION: ADDING}
    return _save(row, held | {RUN: run})


def _held(cluster: Cluster, run: str) -> Cluster:
    """The row as it is now, if the rotation is this run's still."""
    return _keep(cluster, run)


@transaction.atomic
def _keep(cluster: Cluster, run: str, *without: str, **change: str) -> Cluster:
    """Change the cluster's secrets, if the rotation is this run's still."""
    row, held = _locked(cluster)
    if held.get(RUN) != run:
        raise ProtectionError(f"another run has taken over the login of {row.name}")
    if not without and not change:
        return row
    return _save(row, {key: value for key, value in held.items() if key not in without} | change)


def _locked(cluster: Cluster) -> tuple[Cluster, dict[str, str]]:
    row = Cluster.objects.select_for_update().filter(pk=cluster.pk, deleted_at=None).first()
    if row is None:
        raise ProtectionError(f"{cluster.name} is being deleted")
    return row, unseal(row.secrets_token)


def _save(row: Cluster, held: dict[str, str]) -> Cluster:
    row.secrets_token = seal(held)
    row.save(update_fields=["secrets_token"])
    return row


def _give_all(cluster: Cluster) -> int:
    owners, _ = services.zookeeper_settings(cluster, unseal(cluster.secrets_token))
    return hosts().protect_chroot(cluster.zookeeper_path, *owners)


def _has_what_is_wanted(cluster: Cluster, broker_id: int) -> bool:
    """Whether what is desired of the broker says what this phase is about already."""
    _, wanted = services.zookeeper_settings(cluster, unseal(cluster.secrets_token))
    broker = Broker.objects.get(cluster=cluster, broker_id=broker_id)
    token = hosts().sealed_for((broker.host_id, broker.key))
    try:
        opened = open_for_host(broker.host_id, token) if token else {}
    except (NoHostKeyError, SecretUnreadableError):
        return False
    return wanted.items() <= opened.items()
