"""A real broker gets another directory, its replicas leave it while a worker is killed, and it is
taken away again: nothing is lost, and nothing is left on the disk.
"""

import pytest

from tests.controlplane.live.conftest import GOVERNED
from tests.controlplane.live.holds import AFTER

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.redis,
    pytest.mark.timeout(240),
    pytest.mark.skipif(GOVERNED != "penstock", reason="its brokers are run by agents of ours"),
]
TOPIC, RECORDS = "t.directories", 2_000


def test_a_directory_is_added_emptied_through_a_kill_and_taken_away(service, cluster, clients):
    broker = cluster["brokers"][0]["id"]
    held = service.directory / "fast" / f"{service.cluster_id}-{broker}" / "data"
    added = service.run("cluster.add_log_directory", directory="fast", brokers=[broker], canary_s=0)
    assert added["state"] == "succeeded", added
    # New replicas go to the directory with the fewest.
    service.run("topic.create", name=TOPIC, partitions=6, replication_factor=3)
    clients.produce(TOPIC, RECORDS)
    assert list(held.glob(f"{TOPIC}-*"))
    plan = service.plan(
        "cluster.empty_log_directory", directory="fast", brokers=[broker], canary_s=0
    )
    (row,) = plan["diff"]["brokers"]
    assert row["leaving"] > 0
    assert [move["directory"] for move in row["moves"]] == ["main"]
    # Its moves are under way, and nobody remembers which.
    emptied = service.run_through_kills(plan, ("move", AFTER))
    assert emptied["state"] == "succeeded", emptied
    assert not held.parent.exists()
    assert len(clients.read(TOPIC, "reader.directories", RECORDS)) == RECORDS
