"""How fast a number of threads may change while a broker runs: to at most double, at least half."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.config.key import ConfigError

if TYPE_CHECKING:
    from dataplane.config.broker_config import BrokerConfig

BROKER_THREADS: Final = (
    "background.threads",
    "log.cleaner.threads",
    "num.io.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
)
LISTENER_THREADS: Final = "num.network.threads"
"""May be set for one listener alone."""
_CLEANER: Final = "log.cleaner.threads"


def check_thread_counts(before: BrokerConfig, after: BrokerConfig) -> None:
    """Whether a running broker may go from `before` to `after`, as Kafka's DynamicThreadPool says.

    Every number in force counts, wherever it comes from: a deleted override that would leave far
    more or far fewer threads is refused as well. ConfigError names key and value.
    """
    for key in BROKER_THREADS:
        if key != _CLEANER or before.get_bool("log.cleaner.enable"):
            _check(key, before.get_int(key), after.get_int(key))
    for listener in before.listeners:
        old, new = (each.for_listener(listener.name, LISTENER_THREADS) for each in (before, after))
        if isinstance(old, int) and isinstance(new, int):
            _check(LISTENER_THREADS, old, new)


def _check(key: str, old: int, new: int) -> None:
    if new == old:
        return
    if new < 1:
        allowed = "be at least 1"
    elif new < old // 2:
        allowed = f"be at least half the current value {old}"
    elif new > old * 2:
        allowed = f"not be greater than double the current value {old}"
    else:
        return
    reason = f"Dynamic thread count update validation failed for {key}={new}, value should"
    raise ConfigError(key, new, f"{reason} {allowed}")
