"""From the release before to this one and back, broker by broker, under a producer with acks=all."""

from pathlib import Path

import pytest

from tests import releases
from tests.controlplane.live.conftest import GOVERNED
from tests.controlplane.live.writer import Writer
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.redis,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(GOVERNED != "penstock", reason="it moves brokers that the service runs"),
]
THIS = "this"


@pytest.fixture(scope="module")
def before(service, cluster, tmp_path_factory):
    """The host has the release before and this tree beside the agent's own software."""
    versions = Path(service.environment["PENSTOCK_VERSIONS_DIR"])
    releases.install_this(versions, THIS)
    scratch = tmp_path_factory.mktemp("release") / "tree"
    made = releases.install_before(versions, "before", scratch)
    wait_until(lambda: {THIS, made.name} <= {row["name"] for row in said(service)["offers"]})
    return made


def said(service):
    return service.get(f"/clusters/{service.cluster_id}/versions")


def moved(service, version):
    plan = service.plan("cluster.upgrade", version=version, canary_s=0)
    assert plan["diff"]["way_back"]["is_open"], plan["diff"]
    ended = service.finish(service.confirm(plan))
    assert ended["state"] == "succeeded", ended
    return ended


def test_from_the_release_before_to_this_one_and_back(service, clients, before, capsys):
    service.run("topic.create", name="t.versions", partitions=6, replication_factor=3)
    moved(service, before.name)
    assert {row["running"] for row in said(service)["brokers"]} == {before.name}
    writer = Writer(clients, "t.versions")
    try:
        there = moved(service, THIS)
        found = said(service)
        assert {row["running"] for row in found["brokers"]} == {THIS}
        assert {row["software"] for row in found["brokers"]} == {"0.1.0"}
        assert {row["protocol"] for row in found["brokers"]} == {before.protocol}
        back = moved(service, before.name)
    finally:
        writer.stop()
    assert not writer.failures
    assert writer.written > 0
    records = clients.read("t.versions", "accounts", writer.written, timeout_s=60)
    assert len(set(records)) >= writer.written
    seen = [row["seen"] for ended in (there, back) for row in ended["outcome"]["roll"]["brokers"]]
    with capsys.disabled():
        kind = "history" if before.is_history else "this tree, stamped otherwise: no history here"
        print(f"\nthe release before is {kind}; what clients saw:", seen)
    assert all(not row["failed"] for row in seen if row)
    refused = service.get(f"/clusters/{service.cluster_id}/versions")["offers"]
    assert {row["name"]: row["why_not"] for row in refused}[THIS] is None
    moved(service, "agent")
