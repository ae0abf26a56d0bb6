"""`gateway_for(cluster)`: one gateway per cluster and process, renewed when the way in changes."""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, cast

from django.conf import settings
from redis.exceptions import RedisError

from controlplane.clusters.models import MANAGED, REGISTERED, Cluster
from controlplane.common.crypto import unseal
from controlplane.common.fence import fenced
from controlplane.common.hashing import content_hash
from controlplane.common.tally import TALLY
from controlplane.gateway.breakers import BREAKERS
from controlplane.gateway.passage import GuardedGateway, Passage, as_gateway
from controlplane.gateway.port import READS, VIEWS, ClusterGateway

if TYPE_CHECKING:
    from controlplane.gateway.connection_spec import ConnectionSpec
    from controlplane.gateway.fake_records import FakeRecordsMixin
    from controlplane.gateway.record_port import Isolation, NewRecord, RecordReader, Written

log = logging.getLogger(__name__)
_lock = threading.Lock()
_open: dict[str, tuple[str, GuardedGateway]] = {}
_factory: Callable[[Cluster], ClusterGateway] | None = None
_followers: list[Callable[[str], None]] = []


def gateway_for(cluster: Cluster) -> ClusterGateway:
    """Kept open between calls; thread-safe. Never close it: `drop_gateway` and `tidy` do.

    A step of an operation gets it fenced: it writes only while its worker holds the lease.
    """
    return fenced(_gateway_of(cluster), READS, VIEWS)


def _gateway_of(cluster: Cluster) -> ClusterGateway:
    if _factory is not None:
        return _factory(cluster)
    mark = content_hash(
        [
            cluster.bootstrap_servers,
            cluster.security_protocol,
            cluster.sasl_mechanism,
            cluster.admin_username,
            cluster.secrets_token,
        ]
    )
    with _lock:
        found = _open.get(cluster.id)
        if found is not None and found[0] == mark:
            return as_gateway(found[1])
        # The Kafka library is large; commands that never ask a cluster do not wait for it.
        from controlplane.gateway.kafka import KafkaGateway

        gateway = GuardedGateway(KafkaGateway(connection_spec(cluster)), passage_for(cluster))
        _open[cluster.id] = (mark, gateway)
    if found is not None:
        found[1].close()
        BREAKERS.forget(cluster.id)  # what was found out was so by another way
    return as_gateway(gateway)


def passage_for(cluster: Cluster) -> Passage:
    """The bounds and the breaker of a cluster, for what asks it beside its gateway."""
    return Passage(cluster.id, str(cluster.tenant_id))


def record_reader(
    cluster: Cluster, topic: str, partitions: Collection[int], isolation: "Isolation"
) -> "RecordReader":
    """A reader of the topic's records, the caller's to close. Opening it passes the breaker.

    What it brings later does not: that nothing comes says nothing of the cluster.

    Raises:
        GatewayError: the cluster is away, busy or refuses.
    """
    if _factory is not None:
        return cast("FakeRecordsMixin", _factory(cluster)).record_reader(
            topic, partitions, isolation
        )
    from controlplane.gateway.record_reader import KafkaRecordReader

    spec = connection_spec(cluster)
    return passage_for(cluster).run(
        lambda: KafkaRecordReader(spec, topic, partitions, isolation),
        what="open a reader of records",
    )


def write_record(
    cluster: Cluster, topic: str, record: "NewRecord", *, timeout_s: float
) -> "Written":
    """One record, acknowledged by all in-sync replicas.

    Raises:
        GatewayError: refused, away, busy; or of unknown outcome.
    """
    if _factory is not None:
        fake = cast("FakeRecordsMixin", _factory(cluster))
        return fake.write_record(topic, record, timeout_s=timeout_s)
    from controlplane.gateway import record_reader as records

    spec = connection_spec(cluster)
    return passage_for(cluster).run(
        lambda: records.write_record(spec, topic, record, timeout_s=timeout_s),
        what="write a record",
        is_particular=True,
    )


def drop_gateway(cluster_id: str) -> None:
    with _lock:
        found = _open.pop(cluster_id, None)
    if found is not None:
        found[1].close()


def follow_removals(follower: Callable[[str], None]) -> None:
    """Call it with the id of each cluster whose connection `tidy` closes: removed, or idle."""
    if follower not in _followers:
        _followers.append(follower)


def tidy(now_s: float | None = None) -> list[str]:
    """Close this process's gateways of clusters that are removed, and those long idle; their ids.

    Whoever removed the cluster closed its own alone. Called every few seconds in every process
    (`controlplane.upkeep`); one statement, none while nothing is open.
    """
    now_s = time.monotonic() if now_s is None else now_s
    with _lock:
        ids = set(_open)
        idle = {
            cluster_id
            for cluster_id, (_, gateway) in _open.items()
            if now_s - gateway.used_at_s > settings.GATEWAY_IDLE_S
        }
    if not ids:
        return []
    there = set(Cluster.objects.filter(pk__in=ids, deleted_at=None).values_list("pk", flat=True))
    closed = sorted((ids - there) | idle)
    for cluster_id in closed:
        drop_gateway(cluster_id)
        for follower in _followers:
            follower(cluster_id)
    for cluster_id in ids - there:
        _forget(cluster_id)
    return closed


def forget_removed() -> list[str]:
    """Remove the counts of clusters that are removed and that no process had open; their ids."""
    try:
        counted = {
            value for _, labels in TALLY.read() for label, value in labels if label == "cluster"
        }
    except RedisError as error:
        log.debug("counts of removed clusters stay for now: %s", error)
        return []
    rows = Cluster.objects.filter(pk__in=counted, deleted_at=None)
    gone = sorted(counted - set(rows.values_list("pk", flat=True)))
    for cluster_id in gone:
        _forget(cluster_id)
    return gone


def _forget(cluster_id: str) -> None:
    """What was counted and known of a cluster that is removed."""
    BREAKERS.forget(cluster_id)
    try:
        TALLY.forget("cluster", cluster_id)
    except RedisError as error:
        log.debug("the counts of %s stay for now: %s", cluster_id, error)


def connection_spec(cluster: Cluster) -> "ConnectionSpec":
    """How the control plane reaches the cluster, by what is sealed with it."""
    secrets = unseal(cluster.secrets_token) if cluster.secrets_token else {}
    return spec_of(
        kind=cluster.kind,
        bootstrap_servers=cluster.bootstrap_servers,
        security_protocol=cluster.security_protocol,
        sasl_mechanism=cluster.sasl_mechanism,
        username=cluster.admin_username,
        secrets=secrets,
    )


def spec_of(
    *,
    kind: str,
    bootstrap_servers: str,
    security_protocol: str,
    sasl_mechanism: str,
    username: str,
    secrets: Mapping[str, str],
) -> "ConnectionSpec":
    """A way in, its secrets by the names under which `credentials` keeps them.

    Where the brokers of a managed cluster are, the operator's hosts say. Any other address is a
    tenant's word, and so is what the Kafka there advertises.
    """
    from controlplane.gateway.connection_spec import ConnectionSpec, OAuthClient
    from controlplane.gateway.egress import ANYWHERE, policy_of

    oauth = None
    if "oauth_token_url" in secrets:
        oauth = OAuthClient(
            token_url=secrets["oauth_token_url"],
            client_id=secrets.get("oauth_client_id", ""),
            client_secret=secrets.get("oauth_client_secret", ""),
            scope=secrets.get("oauth_scope", ""),
        )
    return ConnectionSpec(
        bootstrap_servers=tuple(bootstrap_servers.split(",")),
        security_protocol=security_protocol,
        sasl_mechanism=sasl_mechanism or None,
        username=username or None,
        password=secrets.get("admin"),
        ca_pem=secrets.get("ca_pem"),
        client_certificate_pem=secrets.get("client_certificate_pem"),
        client_key_pem=secrets.get("client_key_pem"),
        oauth=oauth,
        egress=ANYWHERE if kind == MANAGED else policy_of(settings.EGRESS_ALLOWED),
        timeout_s=settings.GATEWAY_TIMEOUT_S,
    )


@contextlib.contextmanager
def trial_gateway(spec: "ConnectionSpec") -> Iterator[ClusterGateway]:
    """A gateway to what is not stored yet, closed afterwards."""
    if _factory is not None:
        yield _factory(Cluster(kind=REGISTERED))
        return
    from controlplane.gateway.kafka import KafkaGateway

    gateway = KafkaGateway(spec)
    try:
        yield gateway
    finally:
        gateway.close()


def use_gateways(factory: Callable[[Cluster], ClusterGateway] | None) -> None:
    """Tests bring their own."""
    global _factory  # noqa: PLW0603 - one switch per process
    _factory = factory
