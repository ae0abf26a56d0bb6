"""A host dies: its cluster is deleted all the same, and what the host has goes when it is back."""

import os
import signal
import time

import pytest

from tests.controlplane.live.conftest import OPEN, QUICK
from tests.controlplane.live.service import LiveService

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
    end_s = time.monotonic() + BACK_S
    while home.exists():
        assert time.monotonic() < end_s, own.log_tail("agent")
        time.sleep(0.2)
    # And the host is as good as before.
    again = own.finish(own.post("/clusters", {**body, "name": "next"})["operation"])
    assert again["state"] == "succeeded", again
