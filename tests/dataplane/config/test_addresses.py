"""`max.connections.per.ip.overrides`: addresses and counts."""

from __future__ import annotations

import pytest

from dataplane.compose.listeners import limits_from
from dataplane.config import BrokerConfig, ConfigError
from dataplane.config.addresses import connections_by_address

KEY = "max.connections.per.ip.overrides"
TWO = "CLIENTS://127.0.0.1:0,INTERNAL://127.0.0.1:0"


def test_addresses_of_both_kinds_are_read():
    text = " 10.0.0.1:5, ::1:7 ,[2001:0db8::0]:0,"
    assert connections_by_address(text) == {"10.0.0.1": 5, "::1": 7, "2001:db8::": 0}
    assert connections_by_address("") == {}


@pytest.mark.parametrize("text", ["localhost:5", "10.0.0.1", "10.0.0.1:many", "10.0.0.1:-1", ":5"])
def test_what_is_none_is_refused(text):
    with pytest.raises(ConfigError) as refusal:
        BrokerConfig.parse({KEY: text, "zookeeper.connect": "x"})
    assert refusal.value.key == KEY


def config(**dynamic: str) -> BrokerConfig:
    parsed = BrokerConfig.parse(
        {
            "zookeeper.connect": "x",
            "listeners": TWO,
            "listener.security.protocol.map": "CLIENTS:PLAINTEXT,INTERNAL:PLAINTEXT",
            "inter.broker.listener.name": "INTERNAL",
            "max.connections": "50",
            "listener.name.clients.max.connections": "20",
        }
    )
    return parsed.with_dynamic(cluster_wide=dynamic, per_broker={})


def test_limits_of_listeners_come_before_the_brokers():
    limits = limits_from(config())
    assert limits.broker.connections == 50
    assert {name: each.connections for name, each in limits.listeners.items()} == {
        "CLIENTS": 20,
        "INTERNAL": 50,
    }
    assert limits.protected == "INTERNAL"


def test_limits_follow_dynamic_settings():
    changed = {
        "max.connections": "40",
        KEY: "10.0.0.1:3",
        "max.connection.creation.rate": "7",
        "max.connections.per.ip": "4",
    }
    limits = limits_from(config(**changed))
    assert (limits.broker.connections, limits.broker.creation_rate) == (40, 7)
    assert (limits.per_ip, limits.per_ip_overrides) == (4, {"10.0.0.1": 3})
    assert limits.listeners["INTERNAL"].connections == 40
