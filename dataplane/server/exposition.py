"""A snapshot of the metrics as Prometheus text, by `prometheus_client`.

The library brings an HTTP server, e-mail parsing and more with it, 3 MiB in all: only a broker with
a metrics page imports this module.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from dataplane.broker.metrics import LATENCY_BUCKETS_MS, Distribution

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prometheus_client import Metric

    from dataplane.broker.metrics import Family

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

_BOUNDS = [*(str(float(bound)) for bound in LATENCY_BUCKETS_MS), "+Inf"]
_FAMILIES = {
    "counter": CounterMetricFamily,
    "gauge": GaugeMetricFamily,
    "histogram": HistogramMetricFamily,
}


class Exposition(Collector):
    """What was read at one moment, as a collector of the library's."""

    def __init__(self, families: Sequence[Family]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        for each in self._families:
            family = _FAMILIES[each.kind](each.name, each.documentation, labels=each.labels)
            for labels, value in each.samples:
                if isinstance(value, Distribution):
                    buckets = list(zip(_BOUNDS, itertools.accumulate(value.counts), strict=True))
                    family.add_metric(labels, buckets, value.sum)
                else:
                    family.add_metric(labels, value)
            yield family

    def text(self) -> bytes:
        """The Prometheus text format, version 0.0.4."""
        return generate_latest(self)
