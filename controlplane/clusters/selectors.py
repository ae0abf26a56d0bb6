"""Reads: clusters and hosts of one tenant, with what agents and brokers say of them."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, prefetch_related_objects

from controlplane.clusters.authority import ca_pem
from controlplane.clusters.candidates import candidates
from controlplane.clusters.connections import gateway_for as gateway_for  # noqa: PLC0414 - public
from controlplane.clusters.described import Host
from controlplane.clusters.drift import broker_drift
from controlplane.clusters.hosts import (
    READ_WAIT_S,
    BrokerKey,
    HostsUnavailableError,
    hosts,
)
from controlplane.clusters.logins import client_mechanisms
from controlplane.clusters.models import (
    DEGRADED,
    DELETING,
    MANAGED,
    REGISTERED,
    RUNNING,
    UPDATING,
    Broker,
    Cluster,
    LostBroker,
)
from controlplane.clusters.placing import Decision, NoCapacityError, place
from controlplane.clusters.release_wanted import Releases, releases_on
from controlplane.clusters.reports import Observed
from controlplane.clusters.snippets import snippets
from controlplane.clusters.specs import ADMIN_USER, BROKER_USER, cut_bound_s
from controlplane.clusters.zookeeper_away import away
from controlplane.common.etags import FIELD, tag_of
from controlplane.common.grants import Area, Scope
from controlplane.common.kafka_configs import format_properties
from controlplane.common.problems import Conflict, NotFound, Problem
from controlplane.common.times import iso
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.patience import bounded
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.readings import (
    ALIVE_STATES,
    ClusterReader,
    Gap,
    GroupUse,
    Reading,
    total,
)
from controlplane.gateway.scoped import ScopedGateway
from controlplane.observed.readers import Reader
from controlplane.observed.sections import BROKERS
from controlplane.observed.selectors import ClusterView, cluster_views
from controlplane.observed.services import observed_section
from controlplane.operations.blast_radius import Extent, amount, listed
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.telemetry import TELEMETRY_TOPIC

ObservedBrokers = dict[BrokerKey, Observed]


def cluster_row(tenant: Tenant, cluster_id: str, *, with_brokers: bool = True) -> Cluster:
    """The model row; a foreign or deleted id is not found.

    Without the brokers it is one statement; those are then read when they are asked for.
    """
    rows = Cluster.objects.filter(tenant=tenant, id=cluster_id, deleted_at=None)
    found = (rows.prefetch_related("brokers", "lost_brokers") if with_brokers else rows).first()
    if found is None:
        raise NotFound("Cluster not found.")
    return found


def seen_cluster(
    tenant: Tenant, scope: Scope, cluster_id: str, *, with_brokers: bool = True
) -> Cluster:
    """As `cluster_row`; what no grant covers is not found either."""
    found = cluster_row(tenant, cluster_id, with_brokers=with_brokers)
    if not scope.sees(Area.OUTLINE, found.name):
        raise NotFound("Cluster not found.")
    return found


def seen_gateway(cluster: Cluster, scope: Scope) -> ClusterGateway:
    """The cluster as a reader sees it: what they make of it is of their part alone."""
    gateway = gateway_for(cluster)
    if scope.sees(Area.CLUSTER, cluster.name):
        return gateway
    return ScopedGateway(
        gateway,
        topic=partial(scope.sees, Area.TOPIC, cluster.name),
        group=partial(scope.sees, Area.GROUP, cluster.name),
    )


def reader_of(cluster: Cluster, scope: Scope) -> Reader:
    """As `seen_gateway`, of the observed tables."""
    return Reader(scope, cluster.id, cluster.name)


def names_by_id(tenant_id: str) -> dict[str, str]:
    """Of every cluster that the tenant has or had."""
    return dict(Cluster.objects.filter(tenant_id=tenant_id).values_list("pk", "name"))


def cluster_rows(tenant: Tenant, scope: Scope) -> list[Cluster]:
    rows = Cluster.objects.filter(tenant=tenant, deleted_at=None).prefetch_related("brokers")
    rows = rows.annotate(has_lost=Exists(LostBroker.objects.filter(cluster=OuterRef("pk"))))
    seen: list[Cluster] = [
        row for row in rows.order_by("-pk") if scope.sees(Area.OUTLINE, row.name)
    ]
    # Hardly any has lost a broker: without one they cost no statement.
    prefetch_related_objects([row for row in seen if _may_have_lost(row)], "lost_brokers")
    return seen


def cluster_list(tenant: Tenant, scope: Scope) -> list[dict[str, Any]]:
    """Every cluster as last observed, with its brokers as the agents see them."""
    rows = cluster_rows(tenant, scope)
    agents = observed_brokers(key_of(broker) for row in rows for broker in row.brokers.all())
    views = cluster_views([reader_of(row, scope) for row in rows])
    return [cluster_dict(row, agents, views[row.id]) for row in rows]


def cluster_get(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Any]:
    """One cluster; one that was never observed is looked at now."""
    row = seen_cluster(tenant, scope, cluster_id)
    reader = reader_of(row, scope)
    if row.phase == RUNNING:
        with contextlib.suppress(Problem):  # its health says so
            observed_section(reader, BROKERS)
    agents = observed_brokers(key_of(broker) for broker in row.brokers.all())
    return cluster_dict(row, agents, cluster_views([reader])[row.id])


def cluster_dict(
    cluster: Cluster, agents: ObservedBrokers | None, view: ClusterView
) -> dict[str, Any]:
    live = view.live if view.is_current and cluster.phase == RUNNING else None
    found = None if live is None else {row["id"]: row for row in view.brokers if row["live"]}
    brokers = (
        _managed_brokers(cluster, agents, found)
        if cluster.kind == MANAGED
        else _registered_brokers(view)
    )
    mechanisms = login_mechanisms(cluster)
    phase = cluster.phase
    changing = cluster.kind == MANAGED and any(
        broker.desired_state != "running" for broker in cluster.brokers.all()
    )
    if phase == RUNNING and changing:
        phase = UPDATING  # brokers join or leave: that they are not up is no fault
    elif phase == RUNNING and any(broker["alive"] is False for broker in brokers):
        phase = DEGRADED
    return {
        "id": cluster.id,
        "name": cluster.name,
        "kind": cluster.kind,
        "phase": phase,
        "health": view.health,
        "bootstrap_servers": cluster.bootstrap_servers,
        "security_protocol": cluster.security_protocol,
        "sasl_mechanism": next(iter(mechanisms), None),
        "sasl_mechanisms": mechanisms,
        "brokers": brokers,
        "controller_id": view.controller_id if live is not None else None,
        "unknown_because": view.unknown_because if cluster.phase == RUNNING else None,
        "zookeeper_path": cluster.zookeeper_path if cluster.kind == MANAGED else None,
        "cut_bound_s": cut_bound_s(cluster.config) if cluster.kind == MANAGED else None,
        "created_at": iso(cluster.created_at),
        FIELD: cluster_tag(cluster),
    }


def cluster_tag(cluster: Cluster) -> str:
    """Of what somebody decided about the cluster; the rest is its brokers' word."""
    names = ("id", "name", "kind", "phase", "bootstrap_servers", "security_protocol")
    way_in = {"sasl_mechanism": cluster.sasl_mechanism, "admin": cluster.admin_username}
    return tag_of({**{name: getattr(cluster, name) for name in names}, **way_in})


def _managed_brokers(
    cluster: Cluster, agents: ObservedBrokers | None, live: Mapping[int, dict[str, Any]] | None
) -> list[dict[str, Any]]:
    """Those that it should have, and those that it has lost with their hosts."""
    rows = [broker_dict(broker, agents, live) for broker in cluster.brokers.all()]
    may_have_lost = _may_have_lost(cluster)
    lost = [_lost_dict(broker) for broker in cluster.lost_brokers.all()] if may_have_lost else []
    return sorted([*rows, *lost], key=lambda row: row["id"])


def _may_have_lost(cluster: Cluster) -> bool:
    """False when `cluster_rows` found that it has none; a row that was read by itself may have."""
    return bool(getattr(cluster, "has_lost", True))


def _lost_dict(broker: LostBroker) -> dict[str, Any]:
    text = f"The host of broker {broker.broker_id} was declared lost."
    return {
        "id": broker.broker_id,
        "host": broker.address,
        "port": broker.client_port,
        "rack": broker.rack or None,
        "managed": False,
        "drift": [{"field": "live", "desired": "true", "observed": "false", "text": text}],
        "alive": False,
        "observed_state": "lost",
        "pid": None,
        "restarts": 0,
        "since_ms": int(broker.declared_at.timestamp() * 1000),
        "message": text,
    }


def broker_dict(
    broker: Broker, observed: ObservedBrokers | None, live: Mapping[int, dict[str, Any]] | None
) -> dict[str, Any]:
    """`live`: rows of the brokers in the cluster by id, where they are known of now."""
    seen = observed.get((broker.host_id, broker.key)) if observed is not None else None
    ignored = seen.disagreement(broker.generation) if seen else ""
    if ignored:
        seen = None
    alive: bool | None
    if live is not None:
        alive = broker.broker_id in live
    else:
        alive = None if seen is None else seen.state == "running"
    placed = {
        "id": broker.broker_id,
        "host": broker.address,
        "port": broker.client_port,
        "rack": broker.rack or None,
        "managed": True,
    }
    # What its host said before it died is no reason why it is not there now.
    said = ignored if seen is None else seen.message or seen.state if seen.is_watched else ""
    drift = None if live is None else broker_drift(placed, live.get(broker.broker_id), said=said)
    if drift and broker.desired_state != "running":
        drift = []  # it joins or leaves: its operation says how far that is
    return {
        **placed,
        "drift": drift,
        "alive": alive,
        "observed_state": seen.state if seen else "unknown",
        "pid": seen.pid if seen else None,
        "restarts": seen.restarts if seen else 0,
        "since_ms": seen.since_ms if seen else None,
        "message": seen.message if seen else ignored,
    }


def _registered_brokers(view: ClusterView) -> list[dict[str, Any]]:
    """Those that were in the cluster when it last answered."""
    return [
        {
            "id": row["id"],
            "host": row["host"],
            "port": row["port"],
            "rack": row["rack"],
            "managed": False,
            "alive": True if view.is_current else None,
            "observed_state": "registered",
            "pid": None,
            "restarts": 0,
            "since_ms": None,
            "message": "",
            "drift": [] if view.is_current else None,
        }
        for row in view.brokers
        if row["live"]
    ]


def deletion_extents(cluster: Cluster) -> list[Extent]:
    """What goes with a managed cluster; all of it is unknown while the cluster is away."""
    gateway = gateway_for(cluster)
    reader = ClusterReader(gateway)
    try:
        topics = gateway.list_topics()
        groups = reader.groups()
    except GatewayError as error:
        away = (Gap(f"the cluster {'did not answer' if error.retriable else 'refused'}"),)
        return _gone_with_cluster(
            topics=Reading(known=[], gaps=away),
            records=Reading(known=0, gaps=away),
            held=Reading(known=0, gaps=away),
            groups=Reading(known={}, gaps=away),
            users=Reading(known=[], gaps=away),
        )
    return _gone_with_cluster(
        topics=Reading(known=[topic.name for topic in topics if not topic.internal]),
        records=total(reader.records(topics)),
        held=total(reader.leader_bytes(topics)),
        groups=groups,
        users=_own_users(gateway),
    )


def own_extents(cluster: Cluster) -> list[Extent]:
    """What the service itself wrote to a registered cluster, which goes when it is let go."""
    gateway = gateway_for(cluster)
    try:
        names = sorted(gateway.describe_topics([TELEMETRY_TOPIC]))
        if names and is_shared(cluster, gateway.describe_cluster().cluster_id):
            names = []
    except GatewayError as error:
        away = Gap(f"the cluster {'did not answer' if error.retriable else 'refused'}")
        return [listed("own_topics", "topics-own", "topic", [], (away,))]
    return [listed("own_topics", "topics-own", "topic", names)]


def is_shared(cluster: Cluster, kafka_id: str) -> bool:
    """Whether another registration, of any tenant, is of the same Kafka.

    One that never learned its Kafka's id counts when it names one of the same addresses.
    """
    others = (
        Cluster.objects.filter(kind=REGISTERED, deleted_at=None)
        .exclude(pk=cluster.pk)
        .exclude(phase=DELETING)
    )
    own = set(cluster.bootstrap_servers.split(","))
    alike = others.filter(kafka_id__in={kafka_id, ""}).values_list("kafka_id", "bootstrap_servers")
    return any(known_id or own & set(addresses.split(",")) for known_id, addresses in alike)


def _gone_with_cluster(
    *,
    topics: Reading[list[str]],
    records: Reading[int],
    held: Reading[int],
    groups: Reading[dict[str, GroupUse]],
    users: Reading[list[str]],
) -> list[Extent]:
    reading_now = [name for name, use in groups.known.items() if use.state in ALIVE_STATES]
    return [
        listed("topics", "topics", "topic", topics.known, topics.gaps),
        amount("records", "records", "record", records),
        amount("bytes", "bytes", "byte", held),
        listed("groups", "groups", "group", groups.known, groups.gaps),
        listed("active_groups", "groups-active", "group", reading_now, groups.gaps),
        listed("users", "users", "user", users.known, users.gaps),
    ]


def _own_users(gateway: ClusterGateway) -> Reading[list[str]]:
    """The tenant's users, without the two that the service made for itself."""
    try:
        names = {row.username for row in gateway.list_users()} - {ADMIN_USER, BROKER_USER}
    except GatewayError as error:
        return Reading(known=[], gaps=(Gap(f"the users could not be read ({error.code})"),))
    return Reading(known=sorted(names))


def host_rows() -> list[Host]:
    try:
        return hosts().hosts(within_s=bounded(READ_WAIT_S))
    except HostsUnavailableError as error:
        raise away(error) from error


def release_rows(
    found: Iterable[Host], cluster: Cluster | None, *, broker_id: int | None = None
) -> Releases:
    """What that broker shall run, or the cluster's next one, and what these hosts have.

    Raises Unavailable while ZooKeeper is away.
    """
    try:
        wait_s = bounded(READ_WAIT_S)
        return releases_on(found, cluster, broker_id=broker_id, within_s=wait_s)
    except HostsUnavailableError as error:
        raise away(error) from error


def placed_now(
    broker_ids: Sequence[int],
    *,
    cluster: Cluster | None = None,
    present: Sequence[tuple[str, str]] = (),
) -> tuple[Decision, Releases]:
    """Where new brokers would go now, beside those that their cluster has (`placing.place`).

    A tenant's plan says no more of why not than how many fit.

    Raises Unavailable while ZooKeeper is away, Conflict when there are fewer places.
    """
    found = host_rows()
    releases = release_rows(found, cluster)
    try:
        decision = place(
            candidates(found, installed=releases.installed),
            broker_ids=broker_ids,
            disk_min_bytes=settings.BROKER_DISK_MIN_BYTES,
            present=present,
            wants=releases.wants,
        )
    except NoCapacityError as error:
        text = f"{error}.{releases.named} Operators of the platform see why."
        raise Conflict(text[:1].upper() + text[1:], code="no-capacity") from error
    return decision, releases


def explained(decision: Decision) -> dict[str, Any]:
    """Why each broker went where it went, and which hosts got none; for operators."""
    return {
        "reasons": {str(broker_id): said.text for broker_id, said in decision.reasons.items()},
        "said": {str(broker_id): said.as_row() for broker_id, said in decision.reasons.items()},
        "refused": [asdict(row) for row in decision.refused],
    }


CA_FILE = "ca.pem"
"""What snippets call the file of the cluster's authority."""


def login_mechanisms(cluster: Cluster) -> list[str]:
    """What the cluster's clients may log in by, the usual one first."""
    return client_mechanisms(
        is_managed=cluster.kind == MANAGED,
        security_protocol=cluster.security_protocol,
        service_mechanism=cluster.sasl_mechanism,
    )


def client_config(
    cluster: Cluster, *, username: str = "<user>", mechanisms: Sequence[str] | None = None
) -> dict[str, Any]:
    """A client's configuration with a placeholder where its own password goes.

    It names the first of the mechanisms: those that one user has a password for, or else those of
    the cluster, of which new users get the first.
    """
    usable = list(login_mechanisms(cluster) if mechanisms is None else mechanisms)
    values = {"bootstrap.servers": cluster.bootstrap_servers}
    values["security.protocol"] = cluster.security_protocol
    if cluster.security_protocol.startswith("SASL"):
        values["sasl.mechanism"] = next(iter(usable), "")
        values["sasl.username"] = username
        values["sasl.password"] = "<password>"
    authority = ca_pem(cluster)
    if authority:
        values["ssl.ca.location"] = CA_FILE
    programs = snippets(values)
    return {
        "values": values,
        "mechanisms": usable,
        "properties": format_properties(values),
        "java": format_properties(_of_java(values)),
        "python": next(row["text"] for row in programs if row["language"] == "python"),
        "snippets": programs,
        "ca_pem": authority or None,
    }


def _of_java(values: dict[str, str]) -> dict[str, str]:
    """The same for clients that are Java's: their keys, as a file of theirs takes them."""
    found = {key: values[key] for key in values if not key.startswith(("sasl.", "ssl."))}
    if "ssl.ca.location" in values:
        found["ssl.truststore.type"] = "PEM"
        found["ssl.truststore.location"] = values["ssl.ca.location"]
    mechanism = values.get("sasl.mechanism")
    if mechanism:
        found["sasl.mechanism"] = mechanism
    if mechanism == "PLAIN" or (mechanism or "").startswith("SCRAM"):
        kind = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
        found["sasl.jaas.config"] = (
            f"org.apache.kafka.common.security.{kind}LoginModule required"
            f' username={_in_jaas(values["sasl.username"])} password="<password>";'
        )
    return found


def _in_jaas(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def key_of(broker: Broker) -> BrokerKey:
    return broker.host_id, broker.key


def observed_brokers(keys: Iterable[BrokerKey]) -> ObservedBrokers | None:
    """What is known by the agents' reports; None while ZooKeeper does not answer."""
    keys = list(keys)
    if not keys:
        return {}
    try:
        found = hosts().observed(keys, within_s=bounded(READ_WAIT_S))
    except HostsUnavailableError:
        return None
    return {key: report.as_known() for key, report in found.items()}
