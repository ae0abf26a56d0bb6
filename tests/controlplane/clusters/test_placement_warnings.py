"""What a plan says of brokers that share a host or a rack."""

import pytest

from controlplane.clusters.rules import Placement, placement_warnings


def placed(*hosts, racks=None):
    """`hosts`: of each broker; a host's rack is its own unless `racks` has another."""
    return [
        Placement(
            broker_id=at + 1,
            host_id=host,
            rack=(racks or {}).get(host, host),
            address="10.0.0.1",
            client_port=2 * at,
            internal_port=2 * at + 1,
        )
        for at, host in enumerate(hosts)
    ]


def said(*hosts, racks=None, replicas=3, min_isr=2):
    rows = placement_warnings(placed(*hosts, racks=racks), replicas=replicas, min_isr=min_isr)
    return [(row["code"], row["severity"], row["text"]) for row in rows]


def test_a_broker_alone_shares_nothing():
    assert said("a") == []


def test_three_hosts_that_are_racks_of_their_own_share_nothing():
    assert said("a", "b", "c") == []


def test_two_of_three_brokers_on_one_host_are_named():
    assert said("a", "b", "a") == [
        (
            "shared-host",
            "warning",
            (
                "One host gets 2 of 3 brokers: while it is away no partition has the 2 replicas in"
                " sync that writes want."
            ),
        )
    ]


def test_all_on_one_host():
    assert said("a", "a", "a") == [
        ("one-host", "warning", "All brokers share one host: they fail with it.")
    ]


@pytest.mark.parametrize(
    ("hosts", "meaning"),
    [
        ("aabbc", "partitions that have 2 of 3 replicas there cannot be written"),
        ("aaabbc", "partitions that have all their replicas there are offline"),
    ],
)
def test_of_many_brokers_the_partitions_that_have_most_there(hosts, meaning):
    assert said(*hosts)[0][2].endswith(f"while it is away {meaning}.")


def test_where_enough_replicas_are_left_nothing_is_said():
    assert said("a", "a", "b", "b", "c", replicas=3, min_isr=1) == []


def test_one_rack_of_several_hosts():
    racks = dict.fromkeys("abc", "r")
    assert said("a", "b", "c", racks=racks) == [
        ("one-rack", "info", "All brokers share one rack: it can fail as a whole.")
    ]


def test_two_racks_for_three_brokers():
    rows = said("a", "b", "c", racks={"a": "r1", "b": "r1", "c": "r2"})
    assert [(code, severity) for code, severity, _ in rows] == [("shared-rack", "info")]
    assert rows[0][2].startswith("Rack r1 gets 2 of 3 brokers: while it is away no partition")


def test_a_rack_that_is_one_host_is_spoken_of_once():
    assert [row[0] for row in said("a", "a", "b", racks={"a": "r1", "b": "r2"})] == ["shared-host"]
