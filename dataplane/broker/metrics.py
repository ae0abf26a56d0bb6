"""Counters, gauges and latencies of one broker: plain numbers until somebody scrapes.

A counter on the hot path is an attribute bump, and whatever can be read from state is read only
when somebody scrapes. `server/exposition.py` makes Prometheus text of a snapshot; nothing here
imports the library that does it, which takes 3 MiB that a broker without a metrics page has no
use for. Names are Kafka's where Kafka has the metric, as the JMX exporter spells them;
`deploy/METRICS.md` lists them all.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from dataplane.wire.apis import API_TABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

UNKNOWN_API = -1

LATENCY_BUCKETS_MS = (1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000)
_API_NAMES = {int(key): spec.name for key, spec in API_TABLE.items()}

Kind: TypeAlias = Literal["counter", "gauge", "histogram"]


class Counter:
    """A number that only grows."""

    __slots__ = ("documentation", "name", "value")

    def __init__(self, name: str, documentation: str) -> None:
        self.name = name
        self.documentation = documentation
        self.value = 0

    def inc(self, amount: int = 1) -> None:
        self.value += amount


class Distribution(NamedTuple):
    """What a histogram held at one moment."""

    counts: tuple[int, ...]
    """By bucket of `LATENCY_BUCKETS_MS`, not added up; the last one is beyond them all."""
    sum: float


class Histogram:
    """Milliseconds by `LATENCY_BUCKETS_MS`; a value on a bound belongs to the bucket below."""

    __slots__ = ("_counts", "_sum")

    def __init__(self) -> None:
        self._counts = [0] * (len(LATENCY_BUCKETS_MS) + 1)
        self._sum = 0.0

    def observe(self, value_ms: float) -> None:
        self._counts[bisect_left(LATENCY_BUCKETS_MS, value_ms)] += 1
        self._sum += value_ms

    def now(self) -> Distribution:
        return Distribution(tuple(self._counts), self._sum)


# Keys: a label's value, or a tuple of them.
Value: TypeAlias = "float | Distribution | Mapping[Any, float] | Mapping[Any, Distribution]"


class Family(NamedTuple):
    """One metric with all its values of one moment."""

    kind: Kind
    name: str
    documentation: str
    labels: tuple[str, ...]
    samples: tuple[tuple[tuple[str, ...], float | Distribution], ...]
    """Each with the values of `labels`, in their order."""


class _Read(NamedTuple):
    """A metric that is read from state at scrape."""

    kind: Kind
    name: str
    documentation: str
    read: Callable[[], Value]
    labels: tuple[str, ...]

    def family(self) -> Family:
        value = self.read()
        samples: tuple[tuple[tuple[str, ...], float | Distribution], ...]
        if isinstance(value, int | float | Distribution):
            samples = (((), value),)
        else:
            samples = tuple(
                ((labels,) if isinstance(labels, str) else labels, each)
                for labels, each in value.items()
            )
        return Family(self.kind, self.name, self.documentation, self.labels, samples)


class Metrics:
    """Every metric of a broker. Components register what is read; hot paths bump the counters."""

    def __init__(self) -> None:
        self._counters: list[Counter] = []
        self._reads: dict[str, _Read] = {}
        self.requests: dict[int, int] = {}
        self.refused_batches: dict[str, int] = {}
        self.failed_handshakes: dict[str, int] = {}
        self.request_times: dict[str, Histogram] = {}
        self.conversion_times = {"Produce": Histogram(), "Fetch": Histogram()}
        self.zookeeper_times = Histogram()
        self.muted_connections = 0
        self.delayed_connections: dict[str, int] = {}
        self.bad_frames = self.counter(
            "penstock_bad_frames_total",
            "Connections closed for an oversized, negative or unreadable frame.",
        )
        self.refused_connections = self.counter(
            "penstock_refused_connections_total",
            "Connections refused because broker, listener or address had as many as they may.",
        )
        self.refused_certificates = self.counter(
            "penstock_refused_certificates_total",
            "Connections closed because ssl.principal.mapping.rules have no principal for their "
            "certificate.",
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
        self.full_pipelines = self.counter(
            "penstock_full_pipelines_total",
            "Times that a connection's next request was not looked at because 64 were in work.",
        )
        self.large_requests_put_off = self.counter(
            "penstock_large_requests_put_off_total",
            "Times that a large request was not looked at yet because of its user's others.",
        )
        self.auto_creations_put_off = self.counter(
            "penstock_auto_creations_put_off_total",
            "Automatic topic creations not begun because too many were under way.",
        )
        self.expired_connections = self.counter(
            "kafka_network_socketserver_expiredconnectionskilledcount_total",
            "Connections closed because their SASL session had ended.",
        )
        self.failed_logins = self.counter(
            "penstock_failed_logins_total", "SASL logins that were refused."
        )
        self.jwks_reads = self.counter(
            "penstock_token_key_reads_total", "Times that the keys of OAUTHBEARER were asked for."
        )
        self.jwks_failures = self.counter(
            "penstock_token_key_failures_total",
            "Times that the keys of OAUTHBEARER could not be read.",
        )
        self.counters(
            "penstock_tls_handshake_failures_total",
            "Connections that came to nothing before TLS was agreed on, by reason.",
            lambda: self.failed_handshakes,
            labels=("reason",),
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
        self.produce_conversions = self.counter(
            topics + "producemessageconversions_total",
            "Messages of Produce 0-2 that were converted to the format of the log.",
        )
        self.fetch_conversions = self.counter(
            topics + "fetchmessageconversions_total",
            "Records that were converted to the formats of Fetch 0-3.",
        )
        self._reads["conversion times"] = _Read(
            "histogram",
            "kafka_network_requestmetrics_messageconversionstimems",
            "Milliseconds that converting the messages of one request took, by API.",
            lambda: {api: times.now() for api, times in self.conversion_times.items()},
            ("request",),
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

        self._reads["request times"] = _Read(
            "histogram",
            "kafka_network_requestmetrics_totaltimems",
            "Milliseconds from a request's first step to its answer, by API; of Produce, Fetch, "
            "Metadata and DeleteRecords a sample.",
            lambda: {api: times.now() for api, times in self.request_times.items()},
            ("request",),
        )
        self._reads["ZooKeeper times"] = _Read(
            "histogram",
            "kafka_server_zookeeperclientmetrics_zookeeperrequestlatencyms",
            "Milliseconds from a request to ZooKeeper to its answer.",
            self.zookeeper_times.now,
            (),
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
            "kafka_server_replicamanager_isrshrinks_total",
            "Changes that took replicas out of an ISR.",
        )
        self.isr_expands = self.counter(
            "kafka_server_replicamanager_isrexpands_total",
            "Changes that put replicas back into an ISR.",
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
        self._reads[name] = _Read("counter", name, documentation, read, labels)

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
        self._reads[name] = _Read("gauge", name, documentation, read, labels)

    def time_request(self, api_name: str, took_ms: float) -> None:
        times = self.request_times.get(api_name)
        if times is None:
            times = self.request_times[api_name] = Histogram()
        times.observe(took_ms)

    def count_request(self, api_key: int) -> None:
        self.requests[api_key] = self.requests.get(api_key, 0) + 1

    def count_delayed_connection(self, reason: str) -> None:
        """A new connection that came too fast, by what was over its rate."""
        self.delayed_connections[reason] = self.delayed_connections.get(reason, 0) + 1

    def count_failed_handshake(self, reason: str) -> None:
        self.failed_handshakes[reason] = self.failed_handshakes.get(reason, 0) + 1

    def count_refused_batch(self, error_name: str) -> None:
        """A producer's batch that was not appended, by the name of the error that it got."""
        self.refused_batches[error_name] = self.refused_batches.get(error_name, 0) + 1

    def snapshot(self) -> list[Family]:
        """All values as of now, to be written elsewhere than on the event loop."""
        counters = [
            Family("counter", each.name, each.documentation, (), (((), each.value),))
            for each in self._counters
        ]
        return counters + [each.family() for each in self._reads.values()]
