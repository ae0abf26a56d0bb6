"""Where brokers are not as they were placed; null while the cluster was not read."""

import pytest

from controlplane.clusters.drift import broker_drift
from controlplane.observed.services import observe
from tests.controlplane.support import client_for

PLACED = {"id": 2, "host": "10.0.0.1", "port": 9092, "rack": "a"}
FOUND = {"host": "10.0.0.1", "port": 9092, "rack": "a"}


def test_as_it_was_placed_nothing_drifts():
    assert broker_drift(PLACED, FOUND, said="running") == []
    assert broker_drift({**PLACED, "rack": None}, {**FOUND, "rack": None}) == []


def test_one_that_is_not_in_the_cluster_is_said_with_what_its_host_says():
    (row,) = broker_drift(PLACED, None, said="backoff")
    assert (row["field"], row["desired"], row["observed"]) == ("live", "true", "false")
    assert row["text"] == (
        "Broker 2 should run on 10.0.0.1 and is not in the cluster; its host says: backoff."
    )
    assert (row["text_code"], row["params"]) == (
        "broker/away",
        {"broker": 2, "host": "10.0.0.1", "said": "backoff"},
    )
    (row,) = broker_drift(PLACED, None)
    assert row["text"] == "Broker 2 should run on 10.0.0.1 and is not in the cluster."


@pytest.mark.parametrize(("name", "value"), [("host", "10.9.9.9"), ("port", 9999), ("rack", None)])
def test_what_it_shows_to_clients_is_compared_with_where_it_was_placed(name, value):
    (row,) = broker_drift(PLACED, {**FOUND, name: value})
    assert (row["field"], row["desired"]) == (name, str(PLACED[name]))
    assert row["observed"] == str(value or "")
    assert row["text"] == (
        f"Broker 2 shows the {name} {value or 'none'} to clients; it was placed with {PLACED[name]}."
    )
    observed = None if value is None else str(value)
    params = {"broker": 2, "field": name, "observed": observed, "desired": str(PLACED[name])}
    assert (row["text_code"], row["params"]) == ("broker/shown", params)


@pytest.fixture
def made(world):
    """Three brokers that run; the fake cluster has a fourth one that nobody asked for."""
    operation = world.run("cluster.create", None, name="fresh", broker_count=3)
    assert operation.state == "succeeded"
    return operation.cluster_id


def shown(world, cluster_id):
    client = client_for(world.tenant)
    found = client.get(f"/api/v1/clusters/{cluster_id}").json()
    live = [
        None if broker["drift"] is None else "live" in [row["field"] for row in broker["drift"]]
        for broker in found["brokers"]
    ]
    return live, [reason["code"] for reason in found["health"]["reasons"]]


def test_a_cluster_says_which_of_its_brokers_drift_and_who_is_too_many(world, made):
    assert shown(world, made) == ([False, False, False], ["brokers-unwanted"])
    world.gateway.remove_broker(2)
    world.gateway.remove_broker(4)
    observe(made)
    assert shown(world, made) == ([False, True, False], ["brokers-missing"])


def test_while_the_cluster_is_away_it_is_unknown(world, made):
    shown(world, made)
    world.gateway.offline = True
    observe(made)
    assert shown(world, made)[0] == [None, None, None]


def test_a_cluster_that_runs_elsewhere_has_no_desired_brokers(world):
    operation = world.run("cluster.register", None, name="out", bootstrap_servers="127.0.0.1:9092")
    live, reasons = shown(world, operation.cluster_id)
    assert live == [False] * 4
    assert "brokers-unwanted" not in reasons
