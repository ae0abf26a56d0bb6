"""Counters of one broker and their Prometheus text form.

Small on purpose: a counter is an attribute bump on the hot path, and everything that can be read
from state is a gauge that is asked only when somebody scrapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

PREFIX = "penstock_"
UNKNOWN_API = -1


class Counter:
    """A number that only grows."""

    __slots__ = ("documentation", "name", "value")

    def __init__(self, name: str, documentation: str) -> None:
        self.name = name
        self.documentation = documentation
        self.value = 0

    def inc(self, amount: int = 1) -> None:
        self.value += amount


class Metrics:
    """Every metric of a broker. Rooms register gauges; hot paths bump the counters here."""

    def __init__(self) -> None:
        self._counters: list[Counter] = []
        self._gauges: dict[str, tuple[str, Callable[[], float | Mapping[str, float]]]] = {}
        self.requests: dict[int, int] = {}
        self.refused_batches: dict[str, int] = {}
        self.bad_frames = self.counter(
            "bad_frames_total", "Connections closed for an oversized, negative or unreadable frame."
        )
        self.refused_connections = self.counter(
            "refused_connections_total", "Connections refused because a listener was full."
        )
        self.failed_requests = self.counter(
            "failed_requests_total", "Requests answered with an unexpected server error."
        )
        self.malformed_requests = self.counter(
            "malformed_requests_total", "Requests whose body did not follow their schema."
        )
        self.idle_closed = self.counter(
            "idle_connections_closed_total", "Connections closed after connections.max.idle.ms."
        )
        self.bytes_in = self.counter("bytes_in_total", "Bytes of record batches from producers.")
        self.bytes_out = self.counter("bytes_out_total", "Bytes of record batches to consumers.")
        self.replication_bytes_in = self.counter(
            "replication_bytes_in_total", "Bytes of record batches fetched from other leaders."
        )
        self.replication_bytes_out = self.counter(
            "replication_bytes_out_total", "Bytes of record batches sent to followers."
        )
        self.replication_refusals = self.counter(
            "replication_refusals_total",
            "Answers to a follower here that were refusals, or that its log refused.",
        )
        self.truncation_circles = self.counter(
            "replication_truncation_circles_total",
            "Answers to a follower here that had it truncate its log and led nowhere.",
        )
        self.replication_fetches_lost = self.counter(
            "replication_fetches_lost_total",
            "Fetches of followers here that got no answer: the connection broke or was given up.",
        )
        self.refused_fetches = self.counter(
            "refused_fetches_total", "Partitions of fetches that were answered with an error."
        )
        self.failed_isr_updates = self.counter(
            "failed_isr_updates_total",
            "Changes of an ISR that the controller refused, or could not be asked for.",
        )
        self.auto_creations_put_off = self.counter(
            "auto_creations_put_off_total",
            "Automatic topic creations not begun because too many were under way.",
        )
        self.isr_shrinks = self.counter("isr_shrinks_total", "Replicas taken out of an ISR.")
        self.isr_expands = self.counter("isr_expands_total", "Replicas put back into an ISR.")

    def counter(self, name: str, documentation: str) -> Counter:
        counter = Counter(PREFIX + name, documentation)
        self._counters.append(counter)
        return counter

    def gauge(
        self,
        name: str,
        documentation: str,
        read: Callable[[], float | Mapping[str, float]],
    ) -> None:
        """Register a value that is read at scrape; a mapping is label text (`a="b"`) to value."""
        self._gauges[PREFIX + name] = (documentation, read)

    def count_request(self, api_key: int) -> None:
        self.requests[api_key] = self.requests.get(api_key, 0) + 1

    def count_refused_batch(self, error_name: str) -> None:
        """A producer's batch that was not appended, by the name of the error that it got."""
        self.refused_batches[error_name] = self.refused_batches.get(error_name, 0) + 1

    def exposition(self, api_names: Mapping[int, str]) -> str:
        """The Prometheus text format, version 0.0.4."""
        lines: list[str] = []
        for counter in self._counters:
            _head(lines, counter.name, counter.documentation, "counter")
            lines.append(f"{counter.name} {counter.value}")
        name = PREFIX + "requests_total"
        _head(lines, name, "Requests by API.", "counter")
        lines += _labelled(
            name,
            ((f'api="{api_names.get(key, "unknown")}"', n) for key, n in self.requests.items()),
        )
        name = PREFIX + "refused_batches_total"
        _head(lines, name, "Batches of producers that were not appended, by error.", "counter")
        lines += _labelled(
            name, ((f'error="{error}"', n) for error, n in self.refused_batches.items())
        )
        for name, (documentation, read) in self._gauges.items():
            _head(lines, name, documentation, "gauge")
            value = read()
            if isinstance(value, int | float):
                lines.append(f"{name} {value}")
            else:
                lines += _labelled(name, value.items())
        return "\n".join(lines) + "\n"


def _head(lines: list[str], name: str, documentation: str, kind: str) -> None:
    lines.append(f"# HELP {name} {documentation}")
    lines.append(f"# TYPE {name} {kind}")


def _labelled(name: str, samples: Iterable[tuple[str, float]]) -> list[str]:
    return [f"{name}{{{labels}}} {value}" for labels, value in samples]
