"""What incidents are staged on: one service, its hosts, managed clusters, Kafkas of others, who is on call.

Each part is started when the first incident asks for it. Holding times are the product's own; how
often rules are asked, clusters looked at and how much a tenant may have are settings of an operator.
"""

import contextlib
import copy
import json
import os
import ssl
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from tests.controlplane.live.clients import Clients
from tests.controlplane.live.followed import patient
from tests.controlplane.live.incidents.host import Host
from tests.controlplane.live.incidents.signed_in import SignedIn
from tests.controlplane.live.incidents.traffic import stop_all
from tests.controlplane.live.service import REPOSITORY, LiveService
from tests.controlplane.notifications.receivers import http_receiver
from tests.faults.cluster import FaultCluster
from tests.faults.disk import SmallDisk, small_disk
from tests.local_cluster import LocalCluster
from tests.ports import free_row

T = TypeVar("T")
OPEN = {"listener_security": "SASL_PLAINTEXT"}
QUICK = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "2"}
CLUSTERS_MAX = 4
FIRST_HOST = "host-1"
"""Where all brokers of managed clusters are, but one's."""
HOST_PORTS = 4
"""That each further host may have, in the end."""
DISK_MIB = 192
SETTINGS = {
    "PENSTOCK_ALERTS_INTERVAL_S": "2",
    "PENSTOCK_OBSERVE_INTERVAL_S": "3",
    "PENSTOCK_CLUSTERS_PER_TENANT": str(CLUSTERS_MAX),
    # Many incidents at a time: each operation that is held has a thread.
    "PENSTOCK_WORKER_CONCURRENCY": "12",
    "PENSTOCK_TASKS_PER_TENANT": "10",
    "PENSTOCK_TASKS_PER_CLUSTER": "8",
    "PENSTOCK_RATE_KEY": "6000/min",
    "PENSTOCK_RATE_ADDRESS": "12000/min",
}
ACLS = [
    {"principal": "User:app", "operation": "ALL", "resource_type": kind, "resource_name": name}
    for kind, name in (("TOPIC", "*"), ("GROUP", "*"), ("CLUSTER", "kafka-cluster"))
]


class Part:
    """Made once, by whoever asks first; the others wait."""

    def __init__(self, make: Callable[["World"], Any]) -> None:
        self.make, self.name = make, f"_{make.__name__}"

    def __get__(self, world: "World | None", owner: type) -> Any:
        if world is None:
            return self
        with world.lock_of(self.name):
            if self.name not in world.made:
                world.made[self.name] = self.make(world)
            return world.made[self.name]


class World:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.service = LiveService(directory / "service")
        self.jars = directory / "jars"
        self.spark_can_run = threading.Event()
        self.service.environment |= SETTINGS | {"PENSTOCK_SPARK_JARS_DIR": str(self.jars)}
        self.table: list[Any] = []
        self.made: dict[str, Any] = {}
        self._locks: dict[str, threading.RLock] = {}
        self._lock = threading.Lock()
        self._exits = contextlib.ExitStack()
        # A process that dies with its parent dies with the thread that started it.
        self._keeper = ThreadPoolExecutor(1, thread_name_prefix="keeper")

    def lock_of(self, name: str) -> threading.RLock:
        with self._lock:
            return self._locks.setdefault(name, threading.RLock())

    def start(self) -> None:
        self._exits.callback(self._keeper.shutdown)
        self._exits.callback(self.service.stop)
        self._exits.callback(stop_all)
        url, self.requests = self._exits.enter_context(http_receiver())
        self.hook = url
        self.jars.mkdir()
        self.service.directory.mkdir(parents=True, exist_ok=True)
        self.service.start()
        self.call_on_call(self.service)

    def stop(self) -> None:
        self._exits.close()

    def lay_jars(self) -> None:
        """Where the service looks for Spark's, which has none until then."""
        real = Path(os.environ.get("PENSTOCK_SPARK_JARS_DIR", REPOSITORY / "build" / "jars"))
        for jar in real.glob("*.jar"):
            (self.jars / jar.name).symlink_to(jar)

    def kept(self, work: Callable[[], T]) -> T:
        """Done by a thread that lives as long as this."""
        return self._keeper.submit(work).result(180)

    def call_on_call(
        self, view: LiveService | SignedIn, destinations: str = "/destinations"
    ) -> None:
        body = {
            "name": "on-call",
            "kind": "webhook",
            "config": {"url": self.hook},
            "secrets": {"signing_secret": "s3cret-" * 5},
            "min_severity": "info",
        }
        view.post(destinations, body)

    def told(self, alert_id: str) -> list[str]:
        """What the webhook was told of the alert, in order."""
        events = [json.loads(request.body)["event"] for request in list(self.requests)]
        return [event["state"] for event in events if event["alert_id"] == alert_id]

    def said_of(self, alert_id: str) -> dict[str, Any]:
        events = [json.loads(request.body)["event"] for request in list(self.requests)]
        return next(event for event in events if event["alert_id"] == alert_id)

    # -- who asks ---------------------------------------------------------------------------
    @Part
    def owner(self) -> SignedIn:
        """The demo tenant's owner, signed in."""
        return SignedIn(self.service.address, self.service.login)

    @Part
    def operator(self) -> SignedIn:
        """Who runs the platform; the demo has one login for both."""
        made = SignedIn(self.service.address, self.service.login)
        self.call_on_call(made, "/operator/destinations")
        return made

    @Part
    def others(self) -> LiveService:
        """A tenant that has others' Kafkas registered."""
        return self._tenant("others")

    @Part
    def full(self) -> LiveService:
        """A tenant that uses all that it may have."""
        return self._tenant("full")

    def _tenant(self, slug: str) -> LiveService:
        made = self.service.tenant(slug)
        self.call_on_call(made)
        return made

    # -- managed clusters -------------------------------------------------------------------
    @Part
    def main(self) -> "Place":
        """One broker, TLS."""
        return self._managed("main", 1)

    @Part
    def three(self) -> "Place":
        """Three brokers, to kill some of."""
        return self._managed("three", 3, **OPEN)

    def _managed(self, name: str, brokers: int, **more: str) -> "Place":
        with self.lock_of("managed"):  # two that are placed at once may want the same ports
            return self._made(name, brokers, **more)

    def _made(self, name: str, brokers: int, **more: str) -> "Place":
        body = {**more, "name": name, "broker_count": brokers, "config": QUICK, "confirm": True}
        ended = self.service.finish(self.service.post("/clusters", body)["operation"])
        assert ended["state"] == "succeeded", ended
        place = Place(self, self.service, ended["cluster_id"])
        row = place.view.get(f"/clusters/{place.id}")
        ca_pem = ""
        if row["security_protocol"] == "SASL_SSL":
            ca_pem = place.view.get(f"/clusters/{place.id}/client-config")["ca_pem"]
        made = place.view.run("user.create", username="app", acls=ACLS)
        secret = place.view.post(f"/operations/{made['id']}/secret")
        place.clients = Clients(row["bootstrap_servers"], secret, ca_pem=ca_pem)
        return place

    # -- hosts ------------------------------------------------------------------------------
    @Part
    def apart(self) -> "Place":
        """One broker on a host that has no other; its agent may be killed."""
        with self.lock_of("managed"):  # nothing else is placed meanwhile
            host = self._host("host-apart", self.directory / "apart", HOST_PORTS)
            host.wait_until(lambda shown: shown["takes_brokers"])
            self._choose(FIRST_HOST, "cordoned")
            try:
                place = self._made("apart", 1, **OPEN)
            finally:
                self._choose(FIRST_HOST, "active")
                self._choose(host.id, "cordoned")
        place.host = host
        return place

    def _choose(self, host_id: str, state: str) -> None:
        body = {"state": state, "reason": "staging an incident"}
        self.operator.call("PUT", f"/operator/hosts/{host_id}", body)

    @Part
    def host_disk(self) -> SmallDisk:
        return self._exits.enter_context(small_disk(self.directory / "small-3", DISK_MIB))

    @Part
    def small(self) -> Host:
        """A host whose only disk is smaller than what a broker wants: it gets none."""
        return self._host("host-small", self.host_disk.path / "data", HOST_PORTS)

    @Part
    def narrow(self) -> Host:
        """A host with ports for one broker, which gets none for its disk's size."""
        disk = self._exits.enter_context(small_disk(self.directory / "small-4", DISK_MIB))
        return self._host("host-narrow", disk.path / "data", 2)

    def _host(self, host_id: str, data_dir: Path, ports: int) -> Host:
        first = free_row(HOST_PORTS)
        made = Host(self.service, self.operator, host_id, data_dir, (first, first + ports - 1))
        self._exits.callback(made.stop_agent)
        self.kept(made.admit)
        made.wait_until(lambda shown: shown["capacity"]["ports_free"] is not None)
        return made

    # -- of others --------------------------------------------------------------------------
    @Part
    def lone(self) -> "Place":
        """A Kafka of one broker, that its owner may stop."""
        return self._registered("lone", self._local("lone"))

    @Part
    def disk(self) -> SmallDisk:
        return self._exits.enter_context(small_disk(self.directory / "small-1", DISK_MIB))

    @Part
    def tight(self) -> "Place":
        """A Kafka of one broker whose disk is small."""
        settings = {"log.retention.check.interval.ms": "1000"}
        return self._registered("tight", self._local("tight", self.disk.path, settings))

    def _local(
        self, name: str, place: Path | None = None, settings: dict[str, str] | None = None
    ) -> LocalCluster:
        more = {"offsets.topic.num.partitions": "1", **(settings or {})}
        made = LocalCluster((place or self.directory) / name, brokers=1, settings=more)
        self._exits.callback(made.stop)
        return made

    @Part
    def second_disk(self) -> SmallDisk:
        return self._exits.enter_context(small_disk(self.directory / "small-2", DISK_MIB))

    @Part
    def theirs(self) -> "Place":
        """Three brokers with a ZooKeeper of their own; one of two directories of broker 0 is on a
        small disk.
        """
        zookeeper = EmbeddedZooKeeper(self.directory / "their-zookeeper")
        self.kept(lambda: zookeeper.start(60))
        self._exits.callback(zookeeper.stop)
        dirs = f"{self.directory / 'theirs-0'},{self.second_disk.path / 'data'}"
        made = FaultCluster(self.directory / "theirs", zookeeper.connect_string, log_dirs={0: dirs})
        self._exits.callback(made.stop)
        self.kept(made.start)
        place = self._registered("theirs", made)
        place.zookeeper = zookeeper
        return place

    def _registered(self, name: str, kafka: Any) -> "Place":
        return registered(self, self.others, name, kafka)


def registered(world: World, view: LiveService, name: str, kafka: Any) -> "Place":
    inputs = {"name": name, "bootstrap_servers": kafka.bootstrap}
    body = {"kind": "cluster.register", "cluster_id": None, "inputs": inputs}
    plan = patient(view, "/plans", body)
    ended = view.finish(view.confirm(plan))
    assert ended["state"] == "succeeded", ended
    place = Place(world, view, ended["cluster_id"])
    place.kafka, place.config = kafka, {"bootstrap.servers": kafka.bootstrap}
    return place


class Place:
    """A cluster, as its tenant sees it. `kafka` is the harness of one that others run, `host` a
    managed one's where it has it for itself.
    """

    kafka: Any = None
    host: Host
    zookeeper: EmbeddedZooKeeper
    config: dict[str, str]

    def __init__(self, world: World, view: LiveService, cluster_id: str) -> None:
        self.world, self.id = world, cluster_id
        self.view = copy.copy(view)
        self.view.cluster_id = cluster_id

    @property
    def clients(self) -> Clients:
        return self._clients

    @clients.setter
    def clients(self, found: Clients) -> None:
        self._clients, self.config = found, found.config

    def brokers(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.view.get(f"/clusters/{self.id}")["brokers"]
        return found

    def done(self, plan: Any) -> Any:
        """Confirm a plan, which succeeds. As a person would, where REST says "try again"."""
        ended = self.view.finish(patient(self.view, "/operations", self.view.confirmation(plan)))
        assert ended["state"] == "succeeded", ended
        return ended

    def override(self, rule: str, **thresholds: float) -> None:
        body = {"rule": rule, "cluster_id": self.id, "thresholds": thresholds}
        self.view.post("/alert-overrides", body)

    def switch_off(self, rule: str) -> str:
        """The id of what says that the rule is not asked here."""
        body = {"rule": rule, "cluster_id": self.id, "thresholds": {}, "enabled": False}
        return str(self.view.post("/alert-overrides", body)["id"])


def served_certificate(host: str, port: int) -> str:
    """The certificate that a fresh connection is shown, PEM."""
    return ssl.get_server_certificate((host, port), timeout=10)
