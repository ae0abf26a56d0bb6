"""What is said of a broker whose host has died: what was said last, and that nobody knows."""

from dataclasses import replace

from controlplane.clusters.models import Broker
from controlplane.clusters.reports import Observed
from tests.controlplane.support import client_for

RUNNING = Observed(state="running", generation=2, pid=7, restarts=3, since_ms=5, reported_at_ms=6)


def test_a_report_counts_while_its_agent_lives():
    assert RUNNING.as_known() == RUNNING
    known = replace(RUNNING, is_watched=False).as_known()
    assert (known.state, known.pid, known.restarts) == ("unknown", None, 3)
    assert known.message == "The agent of its host is not alive. Its last report: running."


def test_brokers_of_a_dead_host_do_not_read_running(world):
    operation = world.run("cluster.create", None, name="fresh", broker_count=3)
    assert operation.state == "succeeded"
    address = f"/api/v1/clusters/{operation.cluster_id}"
    client = client_for(world.tenant)
    before = client.get(address).json()["brokers"]
    assert {row["observed_state"] for row in before} == {"running"}
    on = dict(Broker.objects.values_list("broker_id", "host_id"))
    dead = on[before[0]["id"]]
    world.hosts.known = [
        replace(host, alive=host.alive and host.host_id != dead) for host in world.hosts.known
    ]
    for found in (client.get(address).json(), client.get("/api/v1/clusters").json()["data"][0]):
        for row in found["brokers"]:
            is_dead = on[row["id"]] == dead
            assert row["observed_state"] == ("unknown" if is_dead else "running")
            assert (row["pid"] is None) == is_dead
            assert ("The agent of its host is not alive" in row["message"]) == is_dead
