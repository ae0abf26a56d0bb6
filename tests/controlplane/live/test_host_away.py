"""A host dies: its cluster is deleted all the same, and what the host has goes when it is back.

Or it is declared lost: what it had serves nobody any more, also without its agent.
"""

import os
import signal
import time

import pytest

from tests.controlplane.live.conftest import OPEN, QUICK
from tests.controlplane.live.service import LiveService
from tests.processes import is_running

pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(300)]
BACK_S = 60.0


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A service of its own: its host dies."""
    made = LiveService(tmp_path_factory.mktemp("away"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


def await_that(own, holds, what):
    end_s = time.monotonic() + BACK_S
    while not holds():
        assert time.monotonic() < end_s, f"{what}\n{own.log_tail('agent')}"
        time.sleep(0.2)


def test_a_deletion_passes_by_a_dead_host_and_is_done_when_it_is_back(own):
    body = {**OPEN, "name": "short", "broker_count": 1, "config": QUICK, "confirm": True}
    ended = own.finish(own.post("/clusters", body)["operation"])
    assert ended["state"] == "succeeded", ended
    own.cluster_id = ended["cluster_id"]
    (broker,) = own.get(f"/clusters/{own.cluster_id}")["brokers"]
    home = own.directory / "brokers" / f"{own.cluster_id}-1"
    assert (home / "data").is_dir()
    own.kill("agent")
    os.kill(broker["pid"], signal.SIGKILL)
    deleted = own.run("cluster.delete")
    assert deleted["state"] == "succeeded", deleted
    (removed,) = [step for step in deleted["steps"] if step["name"] == "removed"]
    assert removed["detail"] == (
        "1 host is away: what it has of the cluster is deleted when it is back"
    )
    assert (home / "data").is_dir(), "nobody could have removed it"
    own.start_agent("host-1")
    await_that(own, lambda: not home.exists(), "its data is wiped")
    # And the host is as good as before.
    again = own.finish(own.post("/clusters", {**body, "name": "next"})["operation"])
    assert again["state"] == "succeeded", again


def test_a_lost_host_serves_nothing_and_is_wiped_when_it_is_back(own):
    """Its agent has died, its broker serves on: that is a host that nobody reaches any more."""
    body = {**OPEN, "name": "lost", "broker_count": 1, "config": QUICK, "confirm": True}
    made = own.finish(own.post("/clusters", body)["operation"])
    assert made["state"] == "succeeded", made
    address = f"/clusters/{made['cluster_id']}"
    (broker,) = own.get(address)["brokers"]
    home = own.directory / "brokers" / f"{made['cluster_id']}-1"
    assert broker["managed"] is True
    own.kill("agent")
    await_that(own, lambda: own.get(address)["brokers"][0]["pid"] is None, "the host is dead")
    assert is_running(broker["pid"])
    own.manage("host", "declare-lost", "host-1", "--confirm", "host-1", "--reason", "fire")
    await_that(own, lambda: not is_running(broker["pid"]), "its broker is fenced")
    assert (home / "data").is_dir(), "nobody could have removed it"
    (lost,) = own.get(address)["brokers"]
    assert (lost["observed_state"], lost["alive"], lost["managed"]) == ("lost", False, False)
    own.start_agent("host-1")
    await_that(own, lambda: not home.exists(), "its data is wiped")
    assert [row["observed_state"] for row in own.get(address)["brokers"]] == ["lost"]
    own.cluster_id = made["cluster_id"]
    deleted = own.run("cluster.delete")
    assert deleted["state"] == "succeeded", deleted
