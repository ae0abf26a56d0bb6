"""What a scrape reads of client quotas: of each kind the accounts that were used last."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataplane.broker.metrics import Metrics
    from dataplane.broker.quotas.quota_manager import QuotaManager
    from dataplane.quotas.accounts import Account, Accounts

SERIES_MAX: Final = 200
"""Accounts of one kind that have series of their own: a client may name itself as it likes."""
LABELS: Final = ("user", "client_id")


def register(metrics: Metrics, quotas: QuotaManager) -> None:
    """Register the gauges; `user` or `client_id` is empty where the account does not have it."""
    now_ms = quotas.clock.monotonic_ms

    def rate(account: Account[Any]) -> float:
        return float(account.meter.measure(now_ms())[0])

    def throttle_ms(account: Account[Any]) -> float:
        return max(0, account.throttled_until_ms - now_ms())

    def tokens(account: Account[Any]) -> float:
        return float(account.meter.tokens(account.bound, now_ms()))

    kinds: dict[str, Accounts[Any]] = {
        "produce": quotas.produce,
        "fetch": quotas.fetch,
        "request": quotas.request,
        "controllermutation": quotas.mutation,
    }
    for kind, accounts in kinds.items():
        metrics.gauge(
            f"kafka_server_{kind}_throttle_time",
            f"Milliseconds that are left of the wait of who is over a {kind} quota.",
            _each(accounts, throttle_ms),
            labels=LABELS,
        )
    for kind in ("produce", "fetch"):
        metrics.gauge(
            f"kafka_server_{kind}_byte_rate",
            f"Bytes a second of who has a {kind} quota, over the window.",
            _each(kinds[kind], rate),
            labels=LABELS,
        )
    metrics.gauge(
        "kafka_server_request_request_time",
        "Percent of the broker's time of who has a request quota, over the window.",
        _each(quotas.request, rate),
        labels=LABELS,
    )
    metrics.gauge(
        "kafka_server_controllermutation_tokens",
        "Partitions that who has a mutation quota may have made or deleted at once.",
        _each(quotas.mutation, tokens),
        labels=LABELS,
    )
    _register_sums(metrics, kinds)


def _register_sums(metrics: Metrics, kinds: dict[str, Accounts[Any]]) -> None:
    metrics.gauge(
        "penstock_quota_accounts",
        "Users and client ids whose use of a quota is remembered, by the quota's kind.",
        lambda: {kind: len(accounts) for kind, accounts in kinds.items()},
        labels=("quota",),
    )
    metrics.counters(
        "penstock_quota_throttles_total",
        "Answers behind which a client had to wait, by the kind of the quota.",
        lambda: {kind: accounts.tally.throttles for kind, accounts in kinds.items()},
        labels=("quota",),
    )
    metrics.counters(
        "penstock_quota_accounts_forgotten_early_total",
        "Accounts that were forgotten because there were too many, by the quota's kind.",
        lambda: {kind: accounts.forgotten_early for kind, accounts in kinds.items()},
        labels=("quota",),
    )


def _each(
    accounts: Accounts[Any], read: Callable[[Account[Any]], float]
) -> Callable[[], dict[tuple[str, str], float]]:
    def values() -> dict[tuple[str, str], float]:
        latest: Iterator[Account[Any]] = islice(accounts.latest(), SERIES_MAX)
        return {
            (each.holder.user or "", each.holder.client_id or ""): read(each) for each in latest
        }

    return values
