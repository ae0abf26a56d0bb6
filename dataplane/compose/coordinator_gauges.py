"""What a scrape reads of the coordinators of groups and of transactions."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from dataplane.broker.transactions.verifier import HELD_BYTES_MAX
from dataplane.groups.consumer.states import ConsumerGroupState
from dataplane.groups.requests import CLASSIC, CONSUMER
from dataplane.groups.states import GroupState

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.broker.groups.group_coordinator import GroupCoordinator
    from dataplane.broker.metrics import Metrics
    from dataplane.broker.transactions.transaction_coordinator import TransactionCoordinator
    from dataplane.broker.transactions.verifier import TransactionVerifier


def register_groups(metrics: Metrics, coordinator: GroupCoordinator) -> None:
    """What the group coordinator holds."""
    manager = "kafka_coordinator_group_groupmetadatamanager_"

    def of_protocol(protocol: str) -> int:
        counts = coordinator.count_groups()
        return sum(count for (kind, _), count in counts.items() if kind == protocol)

    def of_state(state: str) -> int:
        return coordinator.count_groups()[CLASSIC, state]

    metrics.gauge(
        manager + "numgroups",
        "Groups of the classic protocol coordinated here.",
        functools.partial(of_protocol, CLASSIC),
    )
    for state in GroupState:
        metrics.gauge(
            f"{manager}numgroups{state.value.lower()}",
            f"Groups of the classic protocol coordinated here that are {state.value}.",
            functools.partial(of_state, state.value),
        )
    metrics.gauge(
        manager + "numoffsets",
        "Offsets that groups coordinated here have committed.",
        lambda: coordinator.offset_count,
    )
    kind = "kafka_server_group_coordinator_metrics_"
    metrics.gauge(
        kind + "group_count",
        "Groups coordinated here, by protocol.",
        lambda: {name: of_protocol(name) for name in (CLASSIC, CONSUMER)},
        labels=("protocol",),
    )
    metrics.gauge(
        kind + "consumer_group_count",
        "Groups of the consumer protocol coordinated here, by state.",
        lambda: {
            state.value.lower(): coordinator.count_groups()[CONSUMER, state.value]
            for state in ConsumerGroupState
        },
        labels=("state",),
    )
    _register_loading(metrics, kind, "__consumer_offsets", coordinator.load_times_ms)
    tally = coordinator.tally
    for name, documentation, read in (
        ("offset_commit", "Offsets that commits have stored.", lambda: tally.commits),
        ("offset_expiration", "Offsets that have expired.", lambda: tally.expirations),
        ("offset_deletion", "Offsets that OffsetDelete has deleted.", lambda: tally.deletions),
        (
            "group_completed_rebalance",
            "Generations of classic groups whose assignment was stored.",
            lambda: tally.completed_rebalances,
        ),
        (
            "consumer_group_rebalance",
            "New epochs of groups of the consumer protocol.",
            lambda: tally.consumer_rebalances,
        ),
    ):
        metrics.counters(f"{kind}{name}_total", documentation, read)


def _register_loading(
    metrics: Metrics, kind: str, topic: str, times_ms: Callable[[], list[int]]
) -> None:
    metrics.gauge(
        kind + "partition_load_time_max",
        f"Milliseconds that the slowest partition of {topic} took to be read.",
        lambda: max(times_ms(), default=0),
    )
    metrics.gauge(
        kind + "partition_load_time_avg",
        f"Milliseconds that partitions of {topic} took to be read, on average.",
        lambda: sum(times_ms()) / max(1, len(times_ms())),
    )


def register_verifications(metrics: Metrics, verifier: TransactionVerifier) -> None:
    """What is asked of transaction coordinators before a transaction's first write."""
    metrics.gauge(
        "penstock_transaction_verification_held_bytes",
        f"Bytes of Produces that wait for their coordinator; about {HELD_BYTES_MAX} at most.",
        lambda: verifier.held_bytes,
    )
    metrics.counters(
        "penstock_transaction_verifications_total",
        "Questions to transaction coordinators whether partitions are part of a transaction.",
        lambda: verifier.asked,
    )
    metrics.counters(
        "kafka_server_addpartitionstotxnmanager_verificationfailure_total",
        "First writes of transactions that were refused, or could not be verified.",
        lambda: verifier.refused,
    )


def register_transactions(metrics: Metrics, coordinator: TransactionCoordinator) -> None:
    """What the transaction coordinator holds."""
    manager = "kafka_coordinator_transaction_transactionmarkerchannelmanager_"
    metrics.gauge(
        manager + "unknowndestinationqueuesize",
        "Markers whose partition had no leader when they were last due.",
        lambda: coordinator.sender.without_leader,
    )
    metrics.gauge(
        manager + "logappendretryqueuesize",
        "Transactions whose markers are written and whose last record the log has refused.",
        lambda: coordinator.completions_waiting,
    )
    metrics.gauge(
        "penstock_transactional_ids",
        "Transactional ids coordinated here, by state.",
        lambda: coordinator.states,
        labels=("state",),
    )
    metrics.gauge(
        "penstock_transactions_awaiting_markers",
        "Decided transactions of which some partition has no marker yet.",
        lambda: coordinator.sender.pending,
    )
    _register_loading(
        metrics,
        "kafka_server_transaction_coordinator_metrics_",
        "__transaction_state",
        coordinator.load_times_ms,
    )
    metrics.counters(
        "penstock_transactions_timed_out_total",
        "Transactions that the coordinator aborted because their producer took too long.",
        lambda: coordinator.timed_out,
    )
