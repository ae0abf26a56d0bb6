"""What one tenant may have of what all share: clusters, and brokers on the service's hosts.

The tenant of `world` has one cluster already, which runs elsewhere.
"""

import dataclasses

import pytest

from controlplane.clusters.models import Broker, Cluster
from controlplane.common.problems import Conflict
from tests.controlplane.support import tenant_make


def create(world, name, **inputs):
    return world.plan("cluster.create", None, name=name, **inputs)


def register(world, name):
    return world.plan("cluster.register", None, name=name, bootstrap_servers="a:1,b:2")


@pytest.mark.parametrize("make", [create, register])
def test_a_tenant_has_so_many_clusters(world, settings, make):
    settings.CLUSTERS_PER_TENANT = 2
    assert world.run("cluster.create", None, name="first", broker_count=1).state == "succeeded"
    with pytest.raises(Conflict) as caught:
        make(world, "second")
    assert caught.value.code == "too-many-clusters"


def test_of_plans_made_beside_each_other_so_many_start(world, settings):
    settings.CLUSTERS_PER_TENANT = 2
    first, second = register(world, "first"), register(world, "second")
    world.start(first)
    with pytest.raises(Conflict) as caught:
        world.start(second)
    assert caught.value.code == "too-many-clusters"
    assert Cluster.objects.count() == 2


def test_a_tenant_has_so_many_brokers_on_the_services_hosts(world, settings):
    settings.BROKERS_PER_TENANT = 4
    world.run("cluster.create", None, name="first", broker_count=3)
    with pytest.raises(Conflict) as caught:
        create(world, "second", broker_count=2)
    assert caught.value.code == "too-many-brokers"
    create(world, "second", broker_count=1)
    register(world, "elsewhere")
    assert Broker.objects.count() == 3


def test_what_is_deleted_makes_room_and_another_tenants_takes_none(world, settings):
    settings.CLUSTERS_PER_TENANT, settings.BROKERS_PER_TENANT = 2, 3
    other = dataclasses.replace(world, tenant=tenant_make("rival"))
    first = world.run("cluster.create", None, name="first", broker_count=3)
    create(other, "theirs")
    assert world.run("cluster.delete", first.cluster_id).state == "succeeded"
    create(world, "again")
