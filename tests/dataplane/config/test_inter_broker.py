"""What brokers send each other by the protocol version that they are set to."""

from __future__ import annotations

import importlib
import itertools

import pytest

from dataplane.config import BrokerConfig, ConfigError, changes_between, protocol_rank
from dataplane.config.inter_broker import NEWEST, PROTOCOL_KEY, STAGES, sends_at
from dataplane.config.release import NEWEST_PROTOCOL, OLDEST_PROTOCOL
from dataplane.wire.apis import API_TABLE, ApiKey

BASE = {"broker.id": "1", "zookeeper.connect": "x"}
APIS_OF = {
    "fetch": ApiKey.FETCH,
    "leader_and_isr": ApiKey.LEADER_AND_ISR,
    "update_metadata": ApiKey.UPDATE_METADATA,
    "stop_replica": ApiKey.STOP_REPLICA,
    "alter_partition": ApiKey.ALTER_PARTITION,
}


def test_the_table_is_in_order_and_begins_and_ends_where_the_release_does() -> None:
    ranks = [protocol_rank(stage.since) for stage in STAGES]
    assert ranks == sorted(set(ranks))
    assert (STAGES[0].since, STAGES[-1].since) == (OLDEST_PROTOCOL, NEWEST_PROTOCOL)
    assert sends_at(NEWEST_PROTOCOL) == NEWEST


def test_each_stage_changes_something_and_nothing_goes_back() -> None:
    for earlier, later in itertools.pairwise(STAGES):
        assert earlier.sends != later.sends
        assert all(a <= b for a, b in zip(earlier.sends, later.sends, strict=True))


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.since)
def test_what_is_sent_is_served_and_can_be_written(stage) -> None:  # type: ignore[no-untyped-def]
    for name, version in stage.sends._asdict().items():
        spec = API_TABLE[APIS_OF[name]]
        assert spec.supports(version)
        module = importlib.import_module(f"dataplane.wire.messages.{spec.module}")
        low, high = getattr(module, f"{spec.name}Request").VERSIONS
        assert low <= version <= high


@pytest.mark.parametrize(
    ("text", "fetch"),
    [
        ("3.2-IV0", 13),
        ("3.3", 13),
        ("3.4", 13),
        ("3.5-IV0", 14),
        ("3.5", 15),
        ("3.6.1", 15),
        ("3.7-IV3", 15),
        ("3.7", 16),
        ("3.8", 16),
        ("3.9", 17),
    ],
)
def test_a_version_between_two_stages_sends_what_the_earlier_does(text: str, fetch: int) -> None:
    assert sends_at(text).fetch == fetch


def test_what_is_new_is_said_in_order() -> None:
    found = changes_between("3.4", "3.7")
    assert [text.partition(":")[0] for text in found] == ["3.5-IV0", "3.5-IV1", "3.7-IV4"]
    assert changes_between("3.9", "3.9-IV0") == changes_between("3.9", "3.2") == []
    assert changes_between("nonsense", "3.9") == []


@pytest.mark.parametrize("text", ["3.1", "2.8", "4.0-IV0"])
def test_a_broker_refuses_what_it_does_not_speak(text: str) -> None:
    with pytest.raises(ConfigError, match=r"must be from 3\.2-IV0 to 3\.9-IV0"):
        BrokerConfig.parse({**BASE, PROTOCOL_KEY: text})


def test_without_the_setting_it_speaks_the_newest() -> None:
    assert BrokerConfig.parse(BASE).get_str(PROTOCOL_KEY) == NEWEST_PROTOCOL
