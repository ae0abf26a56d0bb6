"""The steps of creating and deleting a managed cluster, each idempotent."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from controlplane.clusters import owed
from controlplane.clusters.authority import CA_PEM, certificate_of, has_tls
from controlplane.clusters.candidates import no_longer_fit
from controlplane.clusters.connections import drop_gateway, gateway_for
from controlplane.clusters.hosts import HostsUnavailableError, hosts, zookeeper_access
from controlplane.clusters.models import Broker, Cluster, LostBroker
from controlplane.clusters.release_wanted import releases_on
from controlplane.clusters.reports import Observed
from controlplane.clusters.rules import Placement
from controlplane.clusters.sealing import NoHostKeyError, host_keyrings, sealed_with
from controlplane.clusters.selectors import is_shared
from controlplane.clusters.specs import (
    ADMIN_USER,
    BROKER_USER,
    OPEN,
    ZOOKEEPER_NODES,
    ZOOKEEPER_PASSWORD,
    broker_config,
    cluster_logins,
    desired_spec,
    secret_config,
    zookeeper_config,
)
from controlplane.clusters.versions import PROTOCOL_KEY
from controlplane.clusters.zookeeper_away import asked_again
from controlplane.clusters.zookeeper_tree import administrators
from controlplane.common.crypto import unseal
from controlplane.gateway.errors import AcceptedRefusals, GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.operations.details import Detail, broker_params, detail_of, together
from controlplane.operations.operations import Done, Progress, StepFailedError, StepRetryError, Wait
from spark_analytics.contracts.telemetry import TELEMETRY_TOPIC
from zookeeper_access import keys
from zookeeper_access.settings import AccessError

RESTARTS_TOLERATED = 4
POLL_S = 0.25
AWAY_GRACE_S = 15.0
"""An agent that is restarted is away for less."""
AWAY_SINCE = "away_since"
"""In the memo: since when hosts are waited for that are away."""
OWED = "owed"
"""In the memo: the keys of the brokers whose hosts owe their deletion."""


def still_placed(
    cluster: Cluster, brokers: list[Broker] | None = None, *, there: Sequence[Broker] = ()
) -> Done:
    """Look once more whether the hosts take the brokers that were planned for them, or these.

    `there` are those that the cluster has already, by which goes what the others shall run.

    Raises StepFailedError with the first broker whose host does not.
    """
    brokers = list(Broker.objects.filter(cluster=cluster)) if brokers is None else brokers
    with _zookeeper():
        found = hosts().hosts()
        releases = releases_on(found, cluster, there=there)
    placed = [placement_of(row) for row in brokers]
    gone = no_longer_fit(placed, found, releases, but_cluster=cluster.id)
    for broker_id, why in sorted(gone.items()):
        raise StepFailedError(
            "place-gone",
            together(detail_of("lead/host-takes-it-no-more", broker=str(broker_id)), why.text),
            broker_id=broker_id,
            reason=why.code,
        )
    return Done(detail=detail_of("step/as-planned"))


def counted_brokers(of_cluster: QuerySet[Broker]) -> tuple[list[Broker], int]:
    """The rows of a cluster's brokers, and how many it was made with; by one statement.

    Those that were lost with their hosts count: settings that follow from the number stay, so that
    topics get no fewer replicas while one broker is gone.
    """
    same = LostBroker.objects.filter(cluster=OuterRef("cluster")).order_by().values("cluster")
    lost = Subquery(same.annotate(count=Count("pk")).values("count"))
    rows = list(of_cluster.annotate(lost=Coalesce(lost, 0)))
    return [*rows], len(rows) + (rows[0].lost if rows else 0)


def made_with(cluster: Cluster) -> int:
    """How many brokers a cluster was made with, as `counted_brokers` counts them."""
    return cluster.brokers.count() + cluster.lost_brokers.count()


def placement_of(broker: Broker) -> Placement:
    return Placement(
        broker_id=broker.broker_id,
        host_id=broker.host_id,
        rack=broker.rack,
        address=broker.address,
        client_port=broker.client_port,
        internal_port=broker.internal_port,
    )


def note_desired(cluster: Cluster, *, state: str) -> Wait:
    """Keep in our own rows what every broker should be; `write_desired` then says it to the hosts.

    What is desired now is another generation than what was; asked again it is the same one.
    """
    rows = Broker.objects.filter(cluster=cluster).exclude(desired_state=state)
    rows.update(desired_state=state, generation=F("generation") + 1)
    return Wait(seconds=0.0)


def write_desired(cluster: Cluster, *, state: str) -> Done:
    """Say what every broker should be, as it is noted; agents act on it by themselves."""
    brokers, count = counted_brokers(Broker.objects.filter(cluster=cluster))
    _write(cluster, brokers, state=state, count=count)
    return Done(detail=detail_of("hosts/to-be", brokers=len(brokers), state=state))


def restart_broker(cluster: Cluster, broker_id: int) -> None:
    """Write a broker's desired state as a generation of its own, so that its agent restarts it."""
    rows = Broker.objects.filter(cluster=cluster, broker_id=broker_id)
    rows.update(generation=F("generation") + 1)
    write_restart(cluster, broker_id)


def note_restart(cluster: Cluster, broker_id: int, generation: int) -> Wait:
    """Keep in our own rows that the broker starts again; `write_restart` then says it to its host.

    Who restarted it meanwhile has noted a later generation, which is as good.
    """
    rows = Broker.objects.filter(cluster=cluster, broker_id=broker_id)
    rows.filter(generation__lt=generation).update(generation=generation)
    return Wait(seconds=0.0)


def write_restart(cluster: Cluster, broker_id: int) -> Done:
    """Say what the broker should be, as it is noted; its agent stops and starts it."""
    brokers, count = counted_brokers(Broker.objects.filter(cluster=cluster))
    mine = [broker for broker in brokers if broker.broker_id == broker_id]
    _write(cluster, mine, state="running", count=count)
    return Done(detail=detail_of("roll/to-restart", broker=str(broker_id)))


def restart_to(cluster: Cluster, broker: Broker, generation: int, *, count: int) -> None:
    """Note that a broker of the cluster, made with `count` of them, starts again; tell its host.

    By the generation that is wanted, so that again it is the same restart; a later one is as good.
    """
    if broker.generation < generation:
        rows = Broker.objects.filter(pk=broker.pk, generation__lt=generation)
        rows.update(generation=generation)
        broker.generation = generation
    _write(cluster, [broker], state="running", count=count)


def write_desired_of(cluster: Cluster, broker: Broker, *, state: str, count: int) -> None:
    """Tell the host of one broker of the cluster, made with `count` of them, what it shall be."""
    _write(cluster, [broker], state=state, count=count)


def reports_of(brokers: list[Broker]) -> dict[int, Observed]:
    """By broker id: what agents report of what is desired of them now.

    Raises:
        StepRetryError: ZooKeeper does not answer.
    """
    return _observed(brokers)[0]


def write_state(cluster: Cluster, brokers: list[Broker], *, state: str, count: int) -> None:
    """Tell the hosts of these brokers what each should be; the cluster was made with `count`.

    Raises:
        StepRetryError: ZooKeeper does not answer, or a host has no key.
    """
    _write(cluster, brokers, state=state, count=count)


def _write(cluster: Cluster, brokers: list[Broker], *, state: str, count: int) -> None:
    passwords = unseal(cluster.secrets_token)
    salts = {user: bytes.fromhex(passwords[f"salt:{user}"]) for user in (BROKER_USER, ADMIN_USER)}
    with _zookeeper():
        owners, zookeeper = zookeeper_settings(cluster, passwords)
    secret = zookeeper
    if state != "deleted":  # to be fenced and removed a broker needs no password
        secret = zookeeper | secret_config(
            broker_password=passwords["broker"], admin_password=passwords["admin"], salts=salts
        )
    with _zookeeper():
        keys_of = host_keyrings({broker.host_id for broker in brokers})
        hosts().make_chroot(cluster.zookeeper_path, *owners)
        for broker in brokers:
            own = {}
            if has_tls(cluster) and state != "deleted":
                certificate = certificate_of(broker, passwords, now=timezone.now())
                own = certificate.settings(passwords[CA_PEM])
            config = broker_config(
                broker,
                zookeeper=broker.zookeeper,
                chroot=cluster.zookeeper_path,
                broker_count=count,
                of_tenant=cluster.config,
                security_protocol=cluster.security_protocol,
            )
            if cluster.protocol_version:
                config[PROTOCOL_KEY] = cluster.protocol_version
            spec = desired_spec(
                cluster_id=cluster.id,
                broker_id=broker.broker_id,
                generation=broker.generation,
                state=state,
                config=config,
                secret=sealed_with(keys_of[broker.host_id], secret | own),
                version=broker.version or cluster.version,
                log_dirs=broker.log_dirs,
                given_up=broker.given_up_dirs,
            )
            hosts().write_desired((broker.host_id, broker.key), spec)


def zookeeper_settings(
    cluster: Cluster, passwords: dict[str, str]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The cluster's owners in ACLs, and what its brokers get of that; none while its nodes are
    everybody's. While its login is being replaced there are two.

    Raises:
        HostsUnavailableError: the control plane's own settings cannot be read.
    """
    try:
        access = zookeeper_access()
    except AccessError as error:
        raise HostsUnavailableError(str(error)) from error
    # A cluster of before there were such logins has none until it is given one.
    password = passwords.get(ZOOKEEPER_PASSWORD, "")
    if not access.set_acl or not password:
        return (), {}
    logins = cluster_logins(cluster.id, passwords)
    also = (login.owner() for login in logins.also_on_nodes)
    config = zookeeper_config(logins.own, administrators=(*administrators(access), *also))
    if passwords.get(ZOOKEEPER_NODES) == OPEN:
        # Its brokers are getting their login one after another: none may close a node to the rest.
        return (), config | {keys.SET_ACL: "false"}
    return tuple(login.owner() for login in logins.on_chroot), config


def await_processes(cluster: Cluster, *, only: int | None = None) -> Done | Wait:
    """Until every agent reports its broker as running; with `only`, that of this broker."""
    return await_processes_of(
        [row for row in cluster.brokers.all() if only is None or row.broker_id == only], only=only
    )


def await_processes_of(brokers: list[Broker], *, only: int | None = None) -> Done | Wait:
    """As `await_processes`, of rows that are read already."""
    seen, ignored = _observed(brokers)
    for broker in brokers:
        report = seen.get(broker.broker_id)
        if report is not None and _is_hopeless(report):
            raise StepFailedError(
                "broker-does-not-start",
                together(
                    detail_of("lead/does-not-start", broker=str(broker.broker_id)),
                    report.message or report.state,
                ),
                log_tail=list(report.log_tail)[-20:],
                broker_id=broker.broker_id,
            )
    running = sum(report.state == "running" for report in seen.values())
    progress = Progress(done=running, total=len(brokers), unit="brokers")
    if running == len(brokers):
        detail = detail_of("process/all") if only is None else detail_of("process/one")
        return Done(detail=detail, progress=progress)
    so_far = detail_of("process/so-far", running=running, brokers=len(brokers))
    detail = together(so_far, *ignored.values())
    return Wait(seconds=POLL_S, detail=detail, progress=progress)


def _is_hopeless(report: Observed) -> bool:
    return report.state == "failed" or (
        report.state in {"backoff", "exited"} and report.restarts > RESTARTS_TOLERATED
    )


def await_registration(cluster: Cluster, *, only: int | None = None) -> Done | Wait:
    """Until the cluster's own metadata shows every broker; with `only`, this one."""
    wanted = {only} if only is not None else {row.broker_id for row in cluster.brokers.all()}
    try:
        found = {node.id for node in gateway_for(cluster).describe_cluster().brokers}
    except GatewayError as error:
        drop_gateway(cluster.id)
        return Wait(seconds=POLL_S, detail=detail_of("register/no-answer", reason=str(error)))
    progress = Progress(done=len(found & wanted), total=len(wanted), unit="brokers")
    if wanted <= found:
        detail = detail_of("register/all") if only is None else detail_of("register/one")
        return Done(detail=detail, progress=progress)
    missing = ", ".join(str(i) for i in sorted(wanted - found))
    return Wait(
        seconds=POLL_S, detail=detail_of("register/waiting", brokers=missing), progress=progress
    )


def verify_cluster(cluster: Cluster) -> Done | Wait:
    """The administrator is let in, there is a controller, the topics can be read."""
    gateway = gateway_for(cluster)
    description = gateway.describe_cluster()
    if description.controller_id is None:
        return Wait(seconds=POLL_S, detail=detail_of("cluster/no-controller"))
    gateway.list_topics()
    gateway.list_acls()
    return Done(detail=detail_of("cluster/controller", broker=str(description.controller_id)))


def await_deleted(
    cluster: Cluster,
    memo: dict[str, Any] | None = None,
    *,
    brokers: list[Broker] | None = None,
) -> Done | Wait:
    """Until no agent has a process or data of the cluster any more; of these brokers, if given.

    With a memo, hosts that stay away for `AWAY_GRACE_S` are not waited for: they owe the deletion
    (`owed`), and do it when they are back.
    """
    brokers = list(cluster.brokers.all()) if brokers is None else brokers
    seen, ignored = _observed(brokers)
    with _zookeeper():
        alive = {host.host_id for host in hosts().hosts() if host.alive}
    left, away = [], []
    for broker in brokers:
        report = seen.get(broker.broker_id)
        if report is not None and report.state == "deleted":
            continue
        if broker.host_id not in alive:
            away.append(broker)
        elif report is not None or broker.broker_id in ignored:
            left.append(broker.broker_id)
    if away:
        already = owed.owed_of(cluster)
        if memo is not None:
            memo[OWED] = sorted(row.key for row in away if (row.host_id, row.key) in already)
        away = [row for row in away if (row.host_id, row.key) not in already]
    if away and not left and memo is not None and _grace_is_over(memo):
        owed.note(away)
        memo[OWED] = sorted({*memo[OWED], *(broker.key for broker in away)})
        return Done(
            detail=detail_of("host/owes", hosts=len({broker.host_id for broker in away})),
            progress=Progress(done=len(brokers) - len(away), total=len(brokers), unit="brokers"),
        )
    left += [broker.broker_id for broker in away]
    for broker in away:
        ignored[broker.broker_id] = detail_of("host/away", broker=str(broker.broker_id))
    progress = Progress(done=len(brokers) - len(left), total=len(brokers), unit="brokers")
    if not left:
        return Done(detail=detail_of("process/gone"), progress=progress)
    names = ", ".join(map(str, sorted(left)))
    detail = together(detail_of("process/still-there", brokers=names), *ignored.values())
    return Wait(seconds=POLL_S, detail=detail, progress=progress)


def _grace_is_over(memo: dict[str, Any]) -> bool:
    now_s = timezone.now().timestamp()
    since_s: float = memo.setdefault(AWAY_SINCE, now_s)
    return now_s - since_s >= AWAY_GRACE_S


def purge(cluster: Cluster, memo: Mapping[str, Any]) -> Done:
    """Remove the cluster's nodes from ZooKeeper, but for what hosts still have to read."""
    kept = memo.get(OWED, ())
    with _zookeeper():
        for broker in cluster.brokers.all():
            if broker.key not in kept:
                hosts().forget_broker((broker.host_id, broker.key))
        hosts().remove_chroot(cluster.zookeeper_path)
    drop_gateway(cluster.id)
    if kept:
        return Done(detail=detail_of("cluster/owed-in-zookeeper", brokers=len(kept)))
    return Done(detail=detail_of("cluster/no-trace"))


def let_go(cluster: Cluster) -> Done:
    """Remove what the service wrote to a registered cluster; one that is away keeps it.

    The cluster goes on running without us either way, so a refusal ends nothing.
    """
    try:
        gateway = gateway_for(cluster)
        if is_shared(cluster, gateway.describe_cluster().cluster_id):
            detail = detail_of("own-topic/shared", topic=TELEMETRY_TOPIC)
        else:
            detail = _remove_own_topic(gateway)
    except GatewayError as error:
        detail = detail_of("own-topic/may-stay", topic=TELEMETRY_TOPIC, error=error.code)
    drop_gateway(cluster.id)
    return Done(detail=detail)


def _remove_own_topic(gateway: ClusterGateway) -> Detail:
    if not gateway.describe_topics([TELEMETRY_TOPIC]):
        return detail_of("own-topic/not-there", topic=TELEMETRY_TOPIC)
    # A deletion of a moment ago may not have reached the broker that was asked.
    with AcceptedRefusals("UNKNOWN_TOPIC_OR_PARTITION"):
        gateway.delete_topic(TELEMETRY_TOPIC)
    return detail_of("own-topic/removed", topic=TELEMETRY_TOPIC)


@contextlib.contextmanager
def _zookeeper() -> Iterator[None]:
    """A ZooKeeper that does not answer is asked again by the same step; so is a host's key."""
    try:
        yield
    except HostsUnavailableError as error:
        raise asked_again(error) from error
    except NoHostKeyError as error:
        raise StepRetryError(detail_of("host/no-key", hosts=error.hosts)) from error


def _observed(brokers: list[Broker]) -> tuple[dict[int, Observed], dict[int, Detail]]:
    """Reports of what is desired now, and why others are ignored; both by broker id."""
    with _zookeeper():
        found = hosts().observed((broker.host_id, broker.key) for broker in brokers)
    current: dict[int, Observed] = {}
    ignored: dict[int, Detail] = {}
    for broker in brokers:
        report = found.get((broker.host_id, broker.key))
        if report is None:
            continue
        why = report.disagreement(broker.generation)
        if why:
            of_it = detail_of("lead/brokers", **broker_params([broker.broker_id]))
            ignored[broker.broker_id] = together(of_it, why)
        else:
            current[broker.broker_id] = report
    return current, ignored
