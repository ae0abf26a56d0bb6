"""What clients see while brokers are restarted: a producer of our own, acknowledged by all.

A probe is a thread of the worker that takes an operation's ticks. It writes to the service's own
topic, a partition a broker, and notes when each acknowledges. It ends by itself when nobody asks it
for a while: a killed or an ended operation leaves none.
"""

import contextlib
import logging
import secrets
import threading
import time
from typing import Any, Final, Protocol

from controlplane.clusters.connections import connection_spec
from controlplane.clusters.models import Cluster
from controlplane.clusters.probe_figures import Track
from controlplane.gateway.errors import AcceptedRefusals
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.records import open_producer
from controlplane.gateway.types import NewTopic

log = logging.getLogger(__name__)
PROBE_TOPIC: Final = "__penstock_probe"
"""One of the service's own: listed as internal, and no tenant writes to it or changes it."""
PARTITIONS_MAX: Final = 24
REPLICAS_MAX: Final = 3
RETENTION_MS: Final = 3_600_000
PACE_S: Final = 0.05
DELIVERY_TIMEOUT_S: Final = 15.0
IDLE_S: Final = 60.0
"""After that nobody has asked, it ends."""
PROBES_MAX: Final = 4
"""Of one process; further operations are not measured by it."""


def ensure_topic(gateway: ClusterGateway) -> int:
    """Make the probe's topic, or give it as many partitions as there are brokers; how many it has.

    Raises:
        GatewayError: the brokers do not answer, or refuse it.
    """
    brokers = len(gateway.describe_cluster().brokers)
    wanted = max(1, min(brokers, PARTITIONS_MAX))
    there = gateway.describe_topics([PROBE_TOPIC]).get(PROBE_TOPIC)
    if there is not None:
        if len(there.partitions) >= wanted:
            return len(there.partitions)
        gateway.create_partitions(PROBE_TOPIC, wanted)
        return wanted
    replicas = max(1, min(REPLICAS_MAX, brokers))
    topic = NewTopic(
        name=PROBE_TOPIC,
        partitions=wanted,
        replication_factor=replicas,
        configs={
            "retention.ms": str(RETENTION_MS),
            "min.insync.replicas": str(max(1, replicas - 1)),
            "cleanup.policy": "delete",
        },
    )
    with AcceptedRefusals("TOPIC_ALREADY_EXISTS"):
        gateway.create_topic(topic)
    return wanted


class Probe(Protocol):
    """`id` differs between workers."""

    id: str

    @property
    def is_ready(self) -> bool: ...
    def figures(self, since_s: float) -> dict[str, Any]: ...
    def close(self) -> None: ...


class ClientProbe:
    """A producer that writes to every partition of the topic at a steady pace."""

    def __init__(self, cluster: Cluster, partitions: int) -> None:
        self.id = secrets.token_hex(4)
        self._track = Track(tuple(range(partitions)), time.time())
        self._lock = threading.Lock()
        self._ends = threading.Event()
        self._asked_s = time.monotonic()
        self._spec = connection_spec(cluster)
        threading.Thread(target=self._run, name="roll-probe", daemon=True).start()

    @property
    def is_ready(self) -> bool:
        self._asked_s = time.monotonic()
        with self._lock:
            return self._track.is_ready

    @property
    def has_ended(self) -> bool:
        return self._ends.is_set()

    def figures(self, since_s: float) -> dict[str, Any]:
        self._asked_s = time.monotonic()
        with self._lock:
            return self._track.figures(since_s, time.time())

    def close(self) -> None:
        self._ends.set()

    def _run(self) -> None:
        producer: Any = None
        try:
            while not self._ends.wait(PACE_S):
                if time.monotonic() - self._asked_s > IDLE_S:
                    break
                if producer is None:
                    producer = self._open()
                else:
                    self._send(producer)
        finally:
            self._ends.set()
            if producer is not None:
                with contextlib.suppress(Exception):
                    producer.close(timeout=1.0)

    def _open(self) -> Any:
        try:
            return open_producer(
                self._spec, client_id="penstock-probe", delivery_timeout_s=DELIVERY_TIMEOUT_S
            )
        except Exception as error:  # noqa: BLE001 - whatever the library raises, it is a failure
            self._failed(error)
            self._ends.wait(1.0)
            return None

    def _send(self, producer: Any) -> None:
        for partition in self._track.partitions:
            try:
                sent = producer.send(PROBE_TOPIC, value=b"probe", partition=partition)
            except Exception as error:  # noqa: BLE001 - see `_open`
                self._failed(error)
                continue
            sent.add_callback(self._acknowledged, partition)
            sent.add_errback(self._failed)

    def _acknowledged(self, partition: int, _metadata: object) -> None:
        with self._lock:
            self._track.acknowledge(partition, time.time())

    def _failed(self, error: BaseException) -> None:
        with self._lock:
            self._track.fail(time.time(), type(error).__name__)


class Probes:
    """The probes of this process, one an operation."""

    def __init__(self) -> None:
        self._by_operation: dict[str, ClientProbe] = {}
        self._lock = threading.Lock()

    def of(self, operation_id: str, cluster: Cluster, gateway: ClusterGateway) -> Probe | None:
        """That of the operation, begun if it is not; None when there are too many.

        Raises:
            GatewayError: its topic cannot be made.
        """
        with self._lock:
            ended = [key for key, probe in self._by_operation.items() if probe.has_ended]
            for key in ended:
                del self._by_operation[key]
            found = self._by_operation.get(operation_id)
            if found is not None or len(self._by_operation) >= PROBES_MAX:
                return found
        made = ClientProbe(cluster, ensure_topic(gateway))
        with self._lock:
            kept = self._by_operation.setdefault(operation_id, made)
        if kept is not made:
            made.close()
        return kept

    def drop(self, operation_id: str) -> None:
        with self._lock:
            found = self._by_operation.pop(operation_id, None)
        if found is not None:
            found.close()


class ProbeSource(Protocol):
    def of(self, operation_id: str, cluster: Cluster, gateway: ClusterGateway) -> Probe | None: ...
    def drop(self, operation_id: str) -> None: ...


class _NoProbes:
    """Of processes that run no operations."""

    def of(self, operation_id: str, cluster: Cluster, gateway: ClusterGateway) -> Probe | None:
        del operation_id, cluster, gateway
        return None

    def drop(self, operation_id: str) -> None:
        """It has none."""


_source: ProbeSource = _NoProbes()


def use_probes(source: ProbeSource | None) -> None:
    """Workers measure; in tests a fake does, or nobody."""
    global _source  # noqa: PLW0603 - one a process
    _source = source or _NoProbes()


def probes() -> ProbeSource:
    return _source
