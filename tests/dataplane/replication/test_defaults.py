"""What holds when nobody has set anything, and how often ISRs are looked at."""

from __future__ import annotations

import types

import pytest

from dataplane.compose.broker_process import start_broker_chores
from dataplane.config import BrokerConfig, ConfigError

NEEDED = {"listeners": "PLAINTEXT://127.0.0.1:0", "log.dirs": "/data"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("replica.lag.time.max.ms", 30_000),
        ("min.insync.replicas", 1),
        ("num.replica.fetchers", 1),
        ("replica.fetch.min.bytes", 1),
        ("replica.fetch.wait.max.ms", 500),
        ("replica.fetch.max.bytes", 1 << 20),
        ("replica.fetch.response.max.bytes", 10 << 20),
        ("replica.fetch.backoff.ms", 1_000),
        ("replica.socket.timeout.ms", 30_000),
        ("replica.high.watermark.checkpoint.interval.ms", 5_000),
        ("max.incremental.fetch.session.cache.slots", 1_000),
        ("leader.imbalance.check.interval.seconds", 300),
        ("leader.imbalance.per.broker.percentage", 10),
        ("controlled.shutdown.max.retries", 3),
        ("replication.quota.window.num", 11),
        ("replication.quota.window.size.seconds", 1),
    ],
)
def test_kafkas_defaults(key: str, value: int) -> None:
    assert BrokerConfig.parse(NEEDED).get_int(key) == value


def test_elections_are_clean_unless_somebody_says_otherwise() -> None:
    assert not BrokerConfig.parse(NEEDED).get_bool("unclean.leader.election.enable")


def test_a_follower_may_not_wait_longer_than_it_may_lag() -> None:
    settings = {"replica.fetch.wait.max.ms": "40000"}
    with pytest.raises(ConfigError):
        BrokerConfig.parse(NEEDED | settings)


@pytest.mark.parametrize(("lag_ms", "every_ms"), [(30_000, 7_500), (1, 1), (501, 125)])
def test_isrs_are_looked_at_four_times_in_the_time_a_replica_may_lag(lag_ms, every_ms) -> None:
    config = BrokerConfig.parse(
        NEEDED | {"replica.lag.time.max.ms": str(lag_ms), "replica.fetch.wait.max.ms": "1"}
    )
    chores: dict[str, int] = {}
    nothing = types.SimpleNamespace(resume=lambda: None)
    replica_manager = types.SimpleNamespace(
        tick_isr=None, take_up_owed_roles=None, give_up_full_disks=None, alter_log_dirs=nothing
    )
    housekeeping = types.SimpleNamespace(
        every=lambda each_ms, name, _chore: chores.__setitem__(name, each_ms)
    )
    start_broker_chores(housekeeping, None, replica_manager, None, config)
    assert chores["in-sync check"] == every_ms
