"""A plan of each kind, of a world in which there can be one."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from controlplane.access.inputs import bindings_of
from controlplane.clusters import services
from controlplane.clusters.capacity import Capacity, DirectoryRoom
from controlplane.clusters.models import MANAGED, Broker, HostState
from controlplane.clusters.operations import first_secrets
from controlplane.clusters.services import write_restart
from controlplane.common.crypto import seal
from controlplane.gateway.types import TP
from controlplane.topics.selectors import open_leases
from tests.controlplane.support import World, cluster_make

MECHANISM, SECOND = "SCRAM-SHA-512", "SCRAM-SHA-256"
BINDING = {"host": "*", "permission": "ALLOW", "pattern_type": "LITERAL"}
NEW = {"cluster.create", "cluster.register"}
VERSIONED = {"cluster.upgrade", "cluster.finalize_version"}
ADDRESSES = "cluster.change_addresses"
ZOOKEEPER = "cluster.change_zookeeper"
DIRECTORIES = {"cluster.add_log_directory", "cluster.empty_log_directory"}
ROLLS = {
    *("cluster.restart", "cluster.configure", "cluster.replace_broker", ADDRESSES, ZOOKEEPER),
    *VERSIONED,
    *DIRECTORIES,
}
SCALES = {"cluster.add_brokers", "cluster.remove_brokers"}


def add_broker(world: World, number: int) -> None:
    """A broker of the world's cluster as a row, on one of the three hosts, with ports that no
    plan gives to another."""
    clusters = type(world.cluster).objects.filter(pk=world.cluster.pk)
    clusters.update(kind=MANAGED)
    if not clusters.get().secrets_token:
        clusters.update(secrets_token=seal(first_secrets()))
    Broker.objects.get_or_create(
        cluster=world.cluster,
        broker_id=number,
        defaults={
            "host_id": f"host-{(number - 1) % 3 + 1}",
            "address": "127.0.0.1",
            "client_port": 15_000 + 2 * number,
            "internal_port": 15_001 + 2 * number,
        },
    )


def of_version(world: World, *, version: str = "agent", protocol: str) -> None:
    """The brokers of the world's cluster run a version and say so to their agents."""
    clusters = type(world.cluster).objects.filter(pk=world.cluster.pk)
    clusters.update(version=version, protocol_version=protocol)
    cluster = clusters.get()
    rows = list(Broker.objects.filter(cluster=cluster))
    services.write_desired(cluster, state="running")
    assert {row.version for row in rows} == {""}


def told(world: World) -> None:
    """The hosts of the world's cluster have been told to run its brokers, as rows have them."""
    cluster = type(world.cluster).objects.get(pk=world.cluster.pk)
    services.write_desired(cluster, state="running")


def moved_hosts(world: World, address: str, *only: str) -> None:
    """Agents of these hosts, or of all, were started again with another address."""
    world.hosts.known = [
        replace(host, address=address) if not only or host.host_id in only else host
        for host in world.hosts.known
    ]


def moved_ensemble(world: World, connect: str, *only: str) -> None:
    """Agents of these hosts, or of all, were started again with another connect string."""
    world.hosts.known = [
        replace(host, zookeeper=connect) if not only or host.host_id in only else host
        for host in world.hosts.known
    ]


def give_hosts_a_disk(world: World, name: str = "fast", **room: Any) -> None:
    """Every host has a second directory."""
    usual: dict[str, Any] = {"total_bytes": 10**12, "free_bytes": 10**11, "volume": "2"}
    second = DirectoryRoom(name=name, path=f"/disks/{name}", **usual | room)
    first = DirectoryRoom(name="main", path="/", total_bytes=10**12, free_bytes=10**11, volume="1")
    world.hosts.known = [
        replace(host, capacity=Capacity(directories=(first, second))) for host in world.hosts.known
    ]


def use_disk(world: World, broker: int, *topics: str, name: str = "fast") -> None:
    """A broker of the cluster has a second directory, in which replicas of these topics lie."""
    cluster = type(world.cluster).objects.get(pk=world.cluster.pk)
    Broker.objects.filter(cluster=cluster, broker_id=broker).update(log_dirs=[name])
    services.write_desired(cluster, state="running")
    for topic in topics:
        for part in world.gateway.topics[topic].partitions:
            if broker in part.replicas:
                part.lies_in[broker] = f"/disks/{name}"


@contextlib.contextmanager
def alone(world: World, number: int) -> Iterator[None]:
    """Meanwhile new brokers have one of the hosts to go to: plans of two numbers take other ports."""
    known = [host.host_id for host in world.hosts.known]
    others = set(known) - {known[(number - 1) % len(known)]}
    others -= set(HostState.objects.values_list("pk", flat=True))
    HostState.objects.bulk_create([HostState(host_id=host, by="test") for host in others])
    try:
        yield
    finally:
        HostState.objects.filter(pk__in=others).delete()


def add_served_broker(world: World, number: int) -> None:
    """As `add_broker`, and it runs and is in the cluster; above those that come and go by hand."""
    add_broker(world, number)
    cluster = type(world.cluster).objects.get(pk=world.cluster.pk)
    write_restart(cluster, number)


def rolling(world: World) -> Any:
    """A restart of all brokers that has just been confirmed, on a cluster of its own."""
    other = cluster_make(world.tenant, "rolled")
    Broker.objects.create(
        cluster=other,
        broker_id=1,
        host_id="host-1",
        address="127.0.0.1",
        client_port=16_001,
        internal_port=16_002,
    )
    return world.start(world.plan("cluster.restart", other.id, canary_s=0))


def plan_of(world: World, kind: str, number: int = 1) -> Any:
    """A plan of the kind, of a world in which there can be one.

    Those of one number are about the same topic, group, user and name.
    """
    gateway = world.gateway
    topic, group, user = f"orders-{number}", f"readers-{number}", f"app-{number}"
    if kind == "topic.create":
        gateway.topics.pop(topic, None)
    elif topic not in gateway.topics:
        gateway.add_topic(topic, partitions=2, rf=2, records=50)
    gateway.add_group(group, {TP(topic, 0): 10})
    gateway.users.pop((user, MECHANISM), None)
    if kind != "user.create":
        gateway.users[user, MECHANISM] = "secret"
    gateway.users.pop((user, SECOND), None)
    if kind == "user.retire":
        gateway.users[user, SECOND] = "older"
    if kind == "topic.retention_restore" and not open_leases(world.cluster.pk).filter(topic=topic):
        lease = {"name": topic, "retention_ms": 1_209_600_000, "for_s": 3600}
        made = world.run("topic.retention_lease", **lease)
        assert made.state == "succeeded", made.error
    if kind == "cluster.credentials":
        type(world.cluster).objects.filter(pk=world.cluster.pk).update(kind="registered")
    if kind == "broker.restart":
        add_broker(world, number)
    if kind == "cluster.replace_broker":  # nothing may fall below its minimum
        for each in gateway.topics.values():
            each.configs["min.insync.replicas"] = "1"
    if kind in ROLLS | SCALES:
        for each in (1, 2, 3):
            add_broker(world, each)
    if kind in SCALES:  # as every cluster that runs
        world.hosts.make_chroot(world.cluster.zookeeper_path)
    if kind == "cluster.replace_broker":  # so is what its hosts were told
        told(world)
    if kind == "cluster.remove_brokers":
        add_served_broker(world, 10 + number)
    if kind == ADDRESSES:  # another one at each plan
        told(world)
        moved_hosts(world, f"127.0.{number}.1")
    if kind == ZOOKEEPER:
        told(world)
        moved_ensemble(world, f"zk-{number}.example:2181")
    if kind in DIRECTORIES:
        give_hosts_a_disk(world)
    if kind == "cluster.add_log_directory":
        Broker.objects.filter(cluster=world.cluster, broker_id=number).update(log_dirs=[])
        told(world)
    if kind == "cluster.empty_log_directory":
        for part in gateway.topics[topic].partitions:
            part.replicas = (number, 3)
        use_disk(world, number, topic)
    if kind in VERSIONED:
        of_version(world, protocol="3.8-IV0")
    rule = {
        "principal": f"User:{user}",
        "operation": "READ",
        "resource_type": "TOPIC",
        "resource_name": topic,
    }
    if kind == "leaders.elect":
        for part in gateway.topics[topic].partitions:
            part.led_by = part.replicas[1]
    (binding,) = bindings_of([BINDING | rule])
    gateway.delete_acls([binding])
    if kind == "acl.delete":
        gateway.create_acls([binding])
    inputs: dict[str, dict[str, Any]] = {
        "cluster.create": {
            "name": f"fresh-{number}",
            "broker_count": 1,
        },
        "cluster.register": {"name": f"fresh-{number}", "bootstrap_servers": "127.0.0.1:9092"},
        "cluster.credentials": {},
        "cluster.delete": {},
        "broker.restart": {"broker": number},
        "cluster.restart": {"canary_s": 0},
        "cluster.add_brokers": {"count": 1},
        "cluster.remove_brokers": {"brokers": [10 + number]},
        "cluster.replace_broker": {"broker": number},
        "cluster.add_log_directory": {"directory": "fast", "brokers": [number], "canary_s": 0},
        "cluster.empty_log_directory": {
            "directory": "fast",
            "brokers": [number],
            "canary_s": 0,
        },
        "cluster.upgrade": {"version": ("0.0.9", "0.2.0")[number % 2], "canary_s": 0},
        "cluster.finalize_version": {"canary_s": 0},
        ADDRESSES: {"canary_s": 0},
        ZOOKEEPER: {"canary_s": 0},
        "cluster.configure": {"config": {"log.retention.ms": f"{number}000"}},
        "topic.create": {"name": topic, "partitions": 2},
        "topic.update": {"name": topic, "configs": {"retention.ms": "1000"}},
        "topic.partitions": {"name": topic, "partitions": 5},
        "topic.delete": {"name": topic},
        "topic.empty": {"name": topic},
        "topic.retention_lease": {"name": topic, "retention_ms": 1_209_600_000, "for_s": 3600},
        "topic.retention_restore": {"name": topic},
        "reassignment": {"topics": [topic], "target_brokers": [2, 3]},
        "leaders.elect": {"topics": [topic]},
        "offset.reset": {"group": group, "strategy": "earliest"},
        "offset.restore": {
            "group": group,
            "partitions": [{"topic": topic, "partition": 0, "offset": 5}],
        },
        "group.delete": {"group": group},
        "user.create": {"username": user},
        "user.rotate": {"username": user},
        "user.retire": {"username": user, "mechanism": SECOND},
        "user.delete": {"username": user},
        "acl.create": {"bindings": [rule]},
        "acl.delete": {"bindings": [rule]},
        "quota.set": {"user": user, "quotas": {"producer_byte_rate": 1_048_576}},
    }
    only_host = {"cluster.create": number, "cluster.add_brokers": 3}.get(kind)
    with contextlib.nullcontext() if only_host is None else alone(world, only_host):
        return world.plan(kind, None if kind in NEW else world.cluster.id, **inputs[kind])
