"""Closing the nodes of a cluster of before: in which order, and what an interruption leaves."""

import pytest

from controlplane.clusters.models import Cluster
from controlplane.clusters.protection import ProtectionError, protect
from controlplane.clusters.reports import Observed
from controlplane.clusters.specs import ZOOKEEPER_NODES, ZOOKEEPER_PASSWORD
from controlplane.common.crypto import seal, unseal
from zookeeper_access import files, keys


@pytest.fixture
def cluster(world, settings, tmp_path):
    """One that was made before there were logins; the control plane has its own by now."""
    made = world.run("cluster.create", None, name="old", broker_count=3)
    row = Cluster.objects.get(pk=made.cluster_id)
    secrets = unseal(row.secrets_token)
    del secrets[ZOOKEEPER_PASSWORD]
    row.secrets_token = seal(secrets)
    row.save()
    file = tmp_path / "zookeeper.properties"
    files.write(
        file,
        {
            keys.SASL_USERNAME: "controlplane",
            keys.SASL_PASSWORD: "controlplane-secret-1",
            keys.SET_ACL: "true",
        },
    )
    settings.ZOOKEEPER_CONFIG = str(file)
    return row


def run(cluster, said=None, **options):
    lines = [] if said is None else said
    return protect(cluster, is_stopped=False, timeout_s=0.0, say=lines.append, **options)


def desired(world, cluster):
    """Of each broker: its generation, and whether it closes what it makes."""
    specs = [spec for spec in world.hosts.desired.values() if spec["cluster_id"] == cluster.id]
    generations = {spec["broker_id"]: spec["generation"] for spec in specs}
    return {
        broker_id: (generations[broker_id], secret.get(keys.SET_ACL))
        for broker_id, secret in world.opened(cluster.id).items()
    }


def test_all_get_the_login_before_any_closes_a_node(world, cluster):
    said = []
    run(cluster, said)
    assert [line.split(": ")[1] for line in said] == [
        *(f"broker {number} has its login" for number in (1, 2, 3)),
        *(f"broker {number} closes what it makes" for number in (1, 2, 3)),
        "1 node of its own",
    ]
    assert desired(world, cluster) == dict.fromkeys((1, 2, 3), (3, "true"))
    owners = world.hosts.chroots[cluster.zookeeper_path]
    assert [owner.startswith(f"digest:{cluster.id}:") for owner in owners] == [True]
    said.clear()
    run(cluster, said)
    assert len(said) == 1
    assert desired(world, cluster) == dict.fromkeys((1, 2, 3), (3, "true"))


def test_a_broker_that_does_not_come_back_stops_it_and_another_run_goes_on(world, cluster):
    key = next(key for key in world.hosts.desired if key[1].endswith("-2"))
    world.hosts.reports[key] = Observed(state="failed", generation=2, message="no such file")
    with pytest.raises(ProtectionError, match=r"broker 2 .* failed\. no such file"):
        run(cluster)
    # Nothing is closed, and the third goes on as it was.
    assert world.hosts.chroots[cluster.zookeeper_path] == ()
    assert desired(world, cluster) == {1: (2, "false"), 2: (2, "false"), 3: (1, None)}
    password = unseal(Cluster.objects.get(pk=cluster.pk).secrets_token)[ZOOKEEPER_PASSWORD]
    world.hosts.reports = {}
    run(Cluster.objects.get(pk=cluster.pk))
    assert {closes for _, closes in desired(world, cluster).values()} == {"true"}
    secrets = unseal(Cluster.objects.get(pk=cluster.pk).secrets_token)
    assert secrets[ZOOKEEPER_PASSWORD] == password
    assert secrets[ZOOKEEPER_NODES] == "closed"


def test_a_report_of_before_the_restart_is_not_waited_upon(world, cluster):
    key = next(key for key in world.hosts.desired if key[1].endswith("-1"))
    world.hosts.reports[key] = Observed(state="running", generation=1)
    with pytest.raises(ProtectionError, match="generation 1; 2 is desired"):
        run(cluster)


def test_a_stopped_cluster_gets_everything_at_once(world, cluster):
    world.hosts.reports = {key: Observed(state="stopped") for key in world.hosts.desired}
    protect(cluster, is_stopped=True, timeout_s=0.0, say=str)
    assert desired(world, cluster) == dict.fromkeys((1, 2, 3), (2, "true"))
    protect(cluster, is_stopped=True, timeout_s=0.0, say=str)
    assert desired(world, cluster) == dict.fromkeys((1, 2, 3), (2, "true"))


def test_not_while_an_operation_is_under_way(world, cluster):
    world.start(world.plan("topic.create", cluster.id, name="t"))
    with pytest.raises(ProtectionError, match="under way"):
        run(cluster)
    assert ZOOKEEPER_PASSWORD not in unseal(cluster.secrets_token)
