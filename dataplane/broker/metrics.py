"""Counters, gauges and latencies of one broker, as `prometheus_client` collects them.

A counter on the hot path is an attribute bump, and whatever can be read from state is read only
when somebody scrapes: `Metrics` is a collector of prometheus_client's. Names are Kafka's where
Kafka has the metric, as the JMX exporter spells them; `deploy/METRICS.md` lists them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from prometheus_client import CollectorRegistry, Histogram, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from dataplane.wire.apis import API_TABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from prometheus_client import Metric

UNKNOWN_API = -1

_LATENCY_BUCKETS_MS = (1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000)
_API_NAMES = {int(key): spec.name for key, spec in API_TABLE.items()}

Family: TypeAlias = CounterMetricFamily | GaugeMetricFamily
Value: TypeAlias = "float | Mapping[Any, float]"  # keys: a label's value, or a tuple of them

disable_created_metrics()  # type: ignore[no-untyped-call]  # times of creation, which Kafka has not


class Counter:
    """A number that only grows."""

    __slots__ = ("documentation", "name", "value")

    def __init__(self, name: str, documentation: str) -> None:
        self.name = name
        self.documentation = documentation
        self.value = 0

    def inc(self, amount: int = 1) -> None:
        self.value += amount


class _Read(NamedTuple):
    """A metric that is read from state at scrape."""

    family: type[Family]
    name: str
    documentation: str
    read: Callable[[], Value]
    labels: tuple[str, ...]

    def collect(self) -> Family:
        family = self.family(self.name, self.documentation, labels=self.labels)
        value = self.read()
        if isinstance(value, int | float):
            family.add_metric((), value)
            return family
        for labels, each in value.items():
            family.add_metric((labels,) if isinstance(labels, str) else labels, each)
        return family


class Snapshot(Collector):
    """What was collected at one moment."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families

    def exposition(self) -> bytes:
        """The Prometheus text format, version 0.0.4."""
        return generate_latest(self)


class Metrics:
    """Every metric of a broker. Components register what is read; hot paths bump the counters."""

    def __init__(self) -> None:
        self._counters: list[Counter] = []
        self._reads: dict[str, _Read] = {}
        self.registry = CollectorRegistry()
        self.registry.register(self)
        self.requests: dict[int, int] = {}
        self.refused_batches: dict[str, int] = {}
        self.request_times = Histogram(
            "kafka_network_requestmetrics_totaltimems",
            "Milliseconds from a request's first step to its answer, by API that runs as a task.",
            ("request",),
            buckets=_LATENCY_BUCKETS_MS,
            registry=self.registry,
        )
        self.zookeeper_times = Histogram(
            "kafka_server_zookeeperclientmetrics_zookeeperrequestlatencyms",
            "Milliseconds from a request to ZooKeeper to its answer.",
            buckets=_LATENCY_BUCKETS_MS,
            registry=self.registry,
        )
        self.bad_frames = self.counter(
            "penstock_bad_frames_total",
            "Connections closed for an oversized, negative or unreadable frame.",
        )
        self.refused_connections = self.counter(
            "penstock_refused_connections_total",
            "Connections refused because a listener was full.",
        )
        self.failed_requests = self.counter(
            "penstock_failed_requests_total", "Requests answered with an unexpected server error."
        )
        self.malformed_requests = self.counter(
            "penstock_malformed_requests_total", "Requests whose body did not follow their schema."
        )
        self.idle_closed = self.counter(
            "penstock_idle_connections_closed_total",
            "Connections closed after connections.max.idle.ms.",
        )
        self.auto_creations_put_off = self.counter(
            "penstock_auto_creations_put_off_total",
            "Automatic topic creations not begun because too many were under way.",
        )
        self._add_traffic()
        self._add_replication()

    def _add_traffic(self) -> None:
        topics = "kafka_server_brokertopicmetrics_"
        self.bytes_in = self.counter(
            topics + "bytesin_total", "Bytes of record batches from producers."
        )
        self.bytes_out = self.counter(
            topics + "bytesout_total", "Bytes of record batches to consumers."
        )
        self.replication_bytes_in = self.counter(
            topics + "replicationbytesin_total",
            "Bytes of record batches fetched from other leaders.",
        )
        self.replication_bytes_out = self.counter(
            topics + "replicationbytesout_total", "Bytes of record batches sent to followers."
        )
        self.refused_fetches = self.counter(
            topics + "failedfetchrequests_total",
            "Partitions of fetches that were answered with an error.",
        )
        self.counters(
            "penstock_refused_batches_total",
            "Batches of producers that were not appended, by error.",
            lambda: self.refused_batches,
            labels=("error",),
        )
        self.counters(
            "kafka_network_requestmetrics_requests_total",
            "Requests by API.",
            lambda: {_API_NAMES.get(key, "unknown"): n for key, n in self.requests.items()},
            labels=("request",),
        )

    def _add_replication(self) -> None:
        self.replication_refusals = self.counter(
            "penstock_replication_refusals_total",
            "Answers to a follower here that were refusals, or that its log refused.",
        )
        self.truncation_circles = self.counter(
            "penstock_replication_truncation_circles_total",
            "Answers to a follower here that had it truncate its log and led nowhere.",
        )
        self.replication_fetches_lost = self.counter(
            "penstock_replication_fetches_lost_total",
            "Fetches of followers here that got no answer: the connection broke or was given up.",
        )
        self.failed_isr_updates = self.counter(
            "kafka_server_replicamanager_failedisrupdates_total",
            "Changes of an ISR that the controller refused, or could not be asked for.",
        )
        self.isr_shrinks = self.counter(
            "kafka_server_replicamanager_isrshrinks_total", "Replicas taken out of an ISR."
        )
        self.isr_expands = self.counter(
            "kafka_server_replicamanager_isrexpands_total", "Replicas put back into an ISR."
        )

    def counter(self, name: str, documentation: str) -> Counter:
        """A counter that is bumped; `name` ends in `_total`."""
        counter = Counter(name, documentation)
        self._counters.append(counter)
        return counter

    def counters(
        self,
        name: str,
        documentation: str,
        read: Callable[[], Value],
        *,
        labels: tuple[str, ...] = (),
    ) -> None:
        """Register what only grows and is read at scrape; as `gauge`, `name` ends in `_total`."""
        self._reads[name] = _Read(CounterMetricFamily, name, documentation, read, labels)

    def gauge(
        self,
        name: str,
        documentation: str,
        read: Callable[[], Value],
        *,
        labels: tuple[str, ...] = (),
    ) -> None:
        """Register a value that is read at scrape.

        With `labels`, `read` gives a mapping from their values, a tuple unless there is one label.
        """
        self._reads[name] = _Read(GaugeMetricFamily, name, documentation, read, labels)

    def count_request(self, api_key: int) -> None:
        self.requests[api_key] = self.requests.get(api_key, 0) + 1

    def count_refused_batch(self, error_name: str) -> None:
        """A producer's batch that was not appended, by the name of the error that it got."""
        self.refused_batches[error_name] = self.refused_batches.get(error_name, 0) + 1

    def collect(self) -> Iterator[Family]:
        """What prometheus_client asks of a collector."""
        for counter in self._counters:
            yield CounterMetricFamily(counter.name, counter.documentation, value=counter.value)
        for each in self._reads.values():
            yield each.collect()

    def snapshot(self) -> Snapshot:
        """All values as of now, to be written elsewhere than on the event loop."""
        return Snapshot(list(self.registry.collect()))
