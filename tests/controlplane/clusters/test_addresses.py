"""cluster.change_addresses: brokers follow the address that their host's agent has now."""

from dataclasses import replace

import pytest
from cryptography import x509
from django.utils import timezone

from controlplane.clusters.address_rules import Place, Serving, changes_of, renamed
from controlplane.clusters.authority import certificate_of
from controlplane.clusters.models import REGISTERED, Broker, Cluster
from controlplane.clusters.reports import Observed
from controlplane.common.crypto import unseal
from controlplane.common.problems import Conflict
from controlplane.operations import engine
from controlplane.operations.services import operation_cancel
from tests.controlplane.clusters.test_rolling import states, until
from tests.controlplane.kind_plans import add_broker, moved_hosts, told
from tests.controlplane.support import ACTOR, drive

KIND = "cluster.change_addresses"
OLD, NEW = "127.0.0.1", "127.0.0.9"


# -- the rule
def test_brokers_of_hosts_that_serve_elsewhere_by_now():
    places = [Place(broker=one, host_id=f"h{one}", address="a") for one in (1, 2, 3, 4)]
    hosts = {
        "h1": Serving(address="b", is_alive=True),
        "h2": Serving(address="a", is_alive=True),
        "h3": Serving(address="b", is_alive=False),
    }
    found = changes_of(places, hosts)
    assert [(each.broker, each.before, each.after) for each in found.moving] == [(1, "a", "b")]
    assert found.unheard == (3, 4), "of an agent that is away nobody knows where it will serve"


def test_clients_are_given_the_new_address_in_the_place_of_the_old():
    assert renamed("a:1,b:2,c:3", ("b", 2), ("d", 2)) == "a:1,d:2,c:3"
    assert renamed("a:1,c:3", ("b", 2), ("d", 2)) == "a:1,c:3", "the cluster's own choice stays"
    assert renamed("a:1,b:1", ("b", 1), ("a", 1)) == "a:1"


# -- the operation
@pytest.fixture
def brokers(world):
    """Brokers 1 to 3 on hosts 1 to 3, told to run; the agent of host 2 has another address now."""
    for number in (1, 2, 3):
        add_broker(world, number)
    world.gateway.brokers.pop(4)
    world.gateway.add_topic("orders", partitions=3, rf=3)
    Cluster.objects.filter(pk=world.cluster.pk).update(
        bootstrap_servers=f"{OLD}:15002,{OLD}:15004,{OLD}:15006"
    )
    told(world)
    moved_hosts(world, NEW, "host-2")
    return world


def cluster():
    return Cluster.objects.get()


def address(broker):
    return Broker.objects.get(broker_id=broker).address


def listens(world, broker):
    """What the broker's host was told last."""
    specs = [spec for spec in world.hosts.desired.values() if spec["broker_id"] == broker]
    return specs[0]["config"]["advertised.listeners"]


def one_done(found):
    return list(found.values()).count("done") == 1


def run(world):
    return drive(world.start(world.plan(KIND, canary_s=0)))


def test_the_plan_says_which_brokers_and_what_clients_are_given(brokers):
    plan = brokers.plan(KIND, canary_s=0)
    (row,) = plan.diff["brokers"]
    assert (row["id"], row["from_address"], row["to_address"]) == (2, OLD, NEW)
    assert row["renews_certificate"] is False
    assert plan.diff["bootstrap_after"] == f"{OLD}:15002,{NEW}:15004,{OLD}:15006"
    codes = [each["code"] for each in plan.impact["warnings"]]
    assert {"both-addresses", "clients-begin"} <= set(codes)
    assert "host-2" not in str(plan.diff) + str(plan.impact), "hosts are the operators'"


def test_its_brokers_follow_and_the_others_are_not_touched(brokers):
    before = {key: spec["generation"] for key, spec in brokers.hosts.desired.items()}
    operation = run(brokers)
    assert operation.state == "succeeded", operation.error
    assert (address(1), address(2), address(3)) == (OLD, NEW, OLD)
    assert listens(brokers, 2) == f"CLIENT://{NEW}:15004,INTERNAL://{NEW}:15005"
    assert brokers.gateway.brokers[2].host == NEW
    assert cluster().bootstrap_servers == f"{OLD}:15002,{NEW}:15004,{OLD}:15006"
    changed = [
        key[1] for key, spec in brokers.hosts.desired.items() if spec["generation"] != before[key]
    ]
    assert changed == [f"{brokers.cluster.id}-2"]
    assert states(operation) == {2: "done"}


def test_the_same_kind_leads_back_once_the_agent_has_the_old_address_again(brokers):
    assert run(brokers).state == "succeeded"
    with pytest.raises(Conflict) as caught:
        brokers.plan(KIND, canary_s=0)
    assert caught.value.code == "nothing-to-do"
    moved_hosts(brokers, OLD, "host-2")
    assert run(brokers).state == "succeeded"
    assert address(2) == OLD
    assert brokers.gateway.brokers[2].host == OLD
    assert cluster().bootstrap_servers == f"{OLD}:15002,{OLD}:15004,{OLD}:15006"


def test_several_hosts_one_broker_after_the_other(brokers):
    moved_hosts(brokers, NEW)
    operation = run(brokers)
    assert operation.state == "succeeded", operation.error
    assert {row.address for row in Broker.objects.all()} == {NEW}
    order = [row["id"] for row in operation.plan.diff["brokers"]]
    assert order[-1] == 1, "the controller last"


def test_of_an_agent_that_is_away_nothing_is_known(brokers):
    brokers.hosts.known = [
        replace(host, alive=host.host_id != "host-2") for host in brokers.hosts.known
    ]
    with pytest.raises(Conflict) as caught:
        brokers.plan(KIND, canary_s=0)
    assert caught.value.code == "nothing-to-do"
    assert "1 broker the host's agent is away" in caught.value.detail


def test_not_of_others(brokers):
    Cluster.objects.update(kind=REGISTERED)
    with pytest.raises(Conflict) as caught:
        brokers.plan(KIND, canary_s=0)
    assert caught.value.code == "cluster-not-managed"


def test_an_address_that_changed_since_the_plan_is_not_followed(brokers):
    plan = brokers.plan(KIND, canary_s=0)
    moved_hosts(brokers, "127.0.0.8", "host-2")
    with pytest.raises(Conflict) as caught:
        brokers.start(plan)
    assert caught.value.code == "plan-stale"


@pytest.mark.parametrize("how", ["away", "elsewhere"])
def test_agents_are_asked_once_more_before_each_broker(brokers, how):
    moved_hosts(brokers, NEW)
    operation = until(brokers.start(brokers.plan(KIND, canary_s=0)), one_done)
    if how == "away":
        brokers.hosts.known = [replace(host, alive=False) for host in brokers.hosts.known]
    else:
        moved_hosts(brokers, "127.0.0.8")
    operation = drive(operation)
    assert (operation.state, operation.error["code"]) == ("failed", "address-changed")
    assert sorted(row.address for row in Broker.objects.all()) == [OLD, OLD, NEW]
    assert list(states(operation).values()).count("left") == 2


def test_one_that_does_not_start_there_is_put_back_to_where_it_listened(brokers):
    """The address is not one of the host's: the process cannot listen and ends."""
    operation = brokers.start(brokers.plan(KIND, canary_s=0))
    key = ("host-2", f"{brokers.cluster.id}-2")
    generation = Broker.objects.get(broker_id=2).generation + 1
    failed = Observed(
        state="failed", generation=generation, message="cannot listen on 127.0.0.9:15004"
    )

    def follow(told_key, spec):
        if told_key != key:
            return
        if NEW in spec["config"]["advertised.listeners"]:
            brokers.hosts.reports[key] = replace(failed, generation=spec["generation"])
        else:
            brokers.hosts.reports.pop(key, None)

    brokers.hosts.followers.append(follow)
    operation = drive(operation)
    assert (operation.state, operation.error["code"]) == ("failed", "broker-does-not-start")
    assert "cannot listen" in operation.error["detail"]
    assert address(2) == OLD
    assert listens(brokers, 2).startswith(f"CLIENT://{OLD}:15004")
    assert cluster().bootstrap_servers == f"{OLD}:15002,{OLD}:15004,{OLD}:15006"
    assert "1 broker put back to the address of before." in str(operation.remains)


def test_cancelled_it_takes_no_other_one(brokers):
    moved_hosts(brokers, NEW)
    operation = until(brokers.start(brokers.plan(KIND, canary_s=0)), one_done)
    operation_cancel(tenant=brokers.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(operation).state == "cancelled"
    assert sorted(row.address for row in Broker.objects.all()) == [OLD, OLD, NEW]


def test_a_worker_that_is_killed_at_any_tick_restarts_none_twice(brokers):
    """Whoever goes on has the same generation: the one that follows from the plan."""
    operation = brokers.start(brokers.plan(KIND, canary_s=0))
    before = Broker.objects.get(broker_id=2).generation
    for _ in range(60):
        engine.tick(operation.id)
        operation.refresh_from_db()
        if operation.state == "succeeded":
            break
    assert operation.state == "succeeded", operation.error
    assert Broker.objects.get(broker_id=2).generation == before + 1


def test_with_tls_its_certificate_names_the_new_address(world):
    made = world.run(
        "cluster.create", None, name="tls", broker_count=1, listener_security="SASL_SSL"
    )
    assert made.state == "succeeded", made.error
    secured = Cluster.objects.get(name="tls")
    moved_hosts(world, NEW)
    plan = world.plan(KIND, secured.id, canary_s=0)
    assert plan.diff["brokers"][0]["renews_certificate"] is True
    operation = world.start(plan)
    for _ in range(40):
        engine.tick(operation.id)
        row = Broker.objects.get(cluster=secured)
        if row.address == NEW:
            break
    found = certificate_of(row, unseal(secured.secrets_token), now=timezone.now())
    names = x509.load_pem_x509_certificate(found.certificate.encode()).extensions
    served = names.get_extension_for_class(x509.SubjectAlternativeName).value
    assert NEW in [str(each) for each in served.get_values_for_type(x509.IPAddress)]
