"""The figures, in the order in which they are run: name on the command line, what measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench.dataplane.figures import (
    alone,
    coordinating,
    failover,
    fetching,
    producing,
    replicated,
    secure,
    sizes,
    starting,
    topics,
    transacting,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bench.dataplane.bench import Bench

FIGURES: dict[str, Callable[[Bench], None]] = {
    "produce-small": producing.small,
    "produce-16k": producing.kib_16,
    "produce-64k": producing.kib_64,
    "produce-256k": producing.kib_256,
    "produce-1m": producing.mib_1,
    "produce-depths": producing.depths,
    "fetch-64k": fetching.kib_64,
    "fetch-1m": fetching.mib_1,
    "fetch-depths": fetching.depths,
    "acks-all": replicated.throughput,
    "acks-all-latency": replicated.latency,
    "idle": replicated.idle_cpu,
    "start-empty": starting.empty,
    "start-2000": starting.many_partitions,
    "restart": starting.after_sigkill,
    "failover": failover.gap,
    "topics": topics.thousand,
    "resident-5000": alone.resident,
    "failed-over-1000": alone.partitions_failed_over,
    "controller-5000": alone.controller_failed_over,
    "compaction": alone.compaction,
    "sasl": secure.sasl,
    "tls": secure.tls,
    "offset-commits": coordinating.commits,
    "group-1000": coordinating.thousand_members,
    "transactions": transacting.hundred_records,
    "metadata": sizes.metadata,
    "idle-connections": sizes.idle_connections,
    "members-10000": coordinating.ten_thousand_members,
}
