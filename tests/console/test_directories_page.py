"""Where one broker has its logs: what its page says, what it does not know, and to whom."""

import pytest

from controlplane.clusters.models import REGISTERED
from tests.controlplane.kind_plans import add_broker, give_hosts_a_disk, use_disk
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, observed, tenant_make

pytestmark = pytest.mark.django_db


@pytest.fixture
def disks(world):
    world.gateway.add_topic("orders", partitions=2, rf=3, records=50)
    for part in world.gateway.topics["orders"].partitions:
        part.replicas = (1, 2, 3)
    for number in (1, 2, 3):
        add_broker(world, number)
    give_hosts_a_disk(world)
    observed(world)
    return world


def page(world, broker=1, client=None):
    client = client or client_for(world.tenant)
    return client.get(f"/console/api/pages/directories/{world.cluster.id}/{broker}")


def part(world, **how):
    answer = page(world, **how)
    assert answer.status_code == 200, answer.content
    return answer.json()["parts"]["directories"]


def test_each_directory_with_what_lies_there(disks):
    use_disk(disks, 1, "orders")
    found = part(disks)["data"]
    main, fast = found["rows"]
    assert (main["name"], main["replicas"], main["can_be_removed"]) == ("main", 0, False)
    assert (fast["name"], fast["replicas"], fast["size_bytes"]) == ("fast", 2, 10_000)
    assert (fast["state"], fast["can_be_emptied"], fast["can_be_removed"]) == (
        "working",
        True,
        True,
    )
    assert found["further"] == []
    assert found["managed"]


def test_what_its_host_has_beside_them(disks):
    found = part(disks)["data"]
    assert [(row["name"], row["free_bytes"]) for row in found["further"]] == [("fast", 10**11)]
    assert found["rows"][0]["can_be_emptied"] is False, "there is no other one"


def test_one_that_has_failed_and_what_was_lost_with_it(disks):
    use_disk(disks, 1, "orders")
    disks.gateway.failed_dirs.add((1, "/disks/fast"))
    first, second = disks.gateway.topics["orders"].partitions
    first.out_of_sync = frozenset({1})
    second.out_of_sync = frozenset({2, 3})
    found = part(disks)["data"]
    fast = found["rows"][1]
    assert (fast["state"], fast["error"], fast["replicas"]) == (
        "failed",
        "KAFKA_STORAGE_ERROR",
        None,
    )
    assert (found["lost_replicas"], found["only_here"]) == (2, 1)


def test_without_zookeeper_the_broker_is_asked_all_the_same(disks):
    use_disk(disks, 1)
    disks.hosts.is_away = True
    found = part(disks)["data"]
    assert [row["path"] for row in found["rows"]] == ["/data", "/disks/fast"]
    assert "ZooKeeper does not answer" in found["further_unknown"]
    assert not any(row["can_be_removed"] for row in found["rows"])


def test_a_kafka_that_runs_elsewhere(disks):
    type(disks.cluster).objects.filter(pk=disks.cluster.pk).update(kind=REGISTERED)
    found = part(disks)["data"]
    assert (found["managed"], found["rows"][0]["name"]) == (False, "/data")
    assert not found["rows"][0]["can_be_emptied"]


def test_a_silent_broker_is_unknown_and_not_empty(disks):
    disks.gateway.silent.add(1)
    found = part(disks)
    assert found["status"] != "ok"
    assert found["data"] is None


def test_who_sees_a_part_of_the_cluster_sees_no_disks(disks):
    found = part(disks, client=member_of(disks.tenant))
    assert found["data"] is None


def test_of_another_tenant_it_is_not_there(disks):
    assert page(disks, client=client_for(tenant_make("other"))).status_code == 404
    assert page(disks, broker="x").status_code == 404
