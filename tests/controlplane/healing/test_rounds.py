"""Rounds over the fakes: a case is opened, proposed, begun, followed to its end; what REST says."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.audit.models import AuditEvent
from controlplane.clusters.models import Broker, LostBroker
from controlplane.clusters.sealing import host_keys
from controlplane.gateway.types import BrokerNode
from controlplane.healing import services
from controlplane.healing.models import HealingCase, HealingPolicy
from controlplane.operations.models import Operation
from tests.controlplane.kind_plans import add_broker
from tests.controlplane.support import client_for, cluster_make, drive, tenant_make

POLICY = {"mode": "automatic", "replace_after_s": 120}


@pytest.fixture
def brokers(world):
    """Three brokers on hosts 1 to 3, and a fourth host; the world's gateway has no fourth one."""
    for number in (1, 2, 3):
        add_broker(world, number)
    world.gateway.brokers.pop(4)
    fourth = replace(world.hosts.known[0], host_id="host-4", rack="rack-4", address="127.0.0.4")
    world.hosts.known.append(replace(fourth, port_first=20_400, port_last=20_499))
    host_keys("host-4")
    world.gateway.add_topic("orders", partitions=3, rf=3)
    world.gateway.topics["orders"].configs["min.insync.replicas"] = "2"
    return world


@pytest.fixture
def clock():
    """Rounds of every 30 s; nothing sleeps."""

    class Clock:
        now = timezone.now()

        def rounds(self, count):
            begun = 0
            for _ in range(count):
                self.now += timedelta(seconds=30)
                begun += services.heal_round(self.now)
            return begun

    return Clock()


def alive(world, host_id, value):
    world.hosts.known = [
        replace(host, alive=value) if host.host_id == host_id else host
        for host in world.hosts.known
    ]


def dies(world, host_id="host-2", broker=2):
    alive(world, host_id, value=False)
    world.gateway.brokers.pop(broker, None)


def registers(world):
    def follow(_, spec):
        if spec["state"] == "running":
            node = BrokerNode(id=spec["broker_id"], host="127.0.0.4", port=1)
            world.gateway.brokers[spec["broker_id"]] = node

    world.hosts.followers.append(follow)


def policy(world, **values):
    address = f"/api/v1/clusters/{world.cluster.id}/healing"
    found = client_for(world.tenant).put(address, {**POLICY, **values}, format="json")
    assert found.status_code == 200, found.json()
    return found.json()


def shown(world):
    return client_for(world.tenant).get(f"/api/v1/clusters/{world.cluster.id}/healing").json()


def test_a_broker_of_a_silent_host_is_put_elsewhere_by_itself(brokers, clock):
    policy(brokers)
    assert clock.rounds(1) == 0
    assert shown(brokers)["decision"]["code"] == "well"
    dies(brokers)
    assert clock.rounds(4) == 0
    decision = shown(brokers)["decision"]
    assert decision["code"] == "too-soon"
    assert [part["code"] for part in decision["parts"]] == ["why/silent", "too-soon"]
    registers(brokers)
    assert clock.rounds(1) == 1
    (case,) = HealingCase.objects.all()
    assert (case.state, case.broker_id, case.host_id) == ("replacing", 2, "host-2")
    operation = drive(Operation.objects.get(pk=case.operation_id))
    assert operation.state == "succeeded", operation.error
    assert operation.actor == "system"
    assert operation.reason.startswith("The host of broker 2 is silent for 2 min")
    clock.rounds(1)
    case.refresh_from_db()
    assert case.state == "healed"
    (said,) = shown(brokers)["cases"][0]["parts"]
    assert (said["code"], said["params"]) == ("healed", {"broker": "2"})
    assert Broker.objects.get(broker_id=2).host_id == "host-4"
    assert not LostBroker.objects.exists()
    acts = set(AuditEvent.objects.values_list("action", flat=True))
    assert {"healing.policy", "healing.replacing", "healing.healed"} <= acts


def test_tenants_read_no_name_of_a_host(brokers, clock):
    """Of what self-healing decided, did and kept, nor of who else is silent."""
    policy(brokers)
    dies(brokers)
    registers(brokers)
    clock.rounds(6)
    operation = drive(Operation.objects.get(kind="cluster.replace_broker"))
    dies(brokers, "host-3", broker=3)
    dies(brokers, "host-4", broker=2)
    clock.rounds(5)
    reads = client_for(brokers.tenant)
    healing = f"/clusters/{brokers.cluster.id}/healing"
    for path in (healing, f"/operations/{operation.id}", "/operations", "/audit-events"):
        found = reads.get(f"/api/v1{path}")
        assert found.status_code == 200, found.json()
        assert "broker/2" in found.content.decode() or path == healing
        assert "host-" not in found.content.decode(), path
    assert shown(brokers)["decision"]["code"] == "several-silent"


def test_asked_first_it_is_proposed_and_a_person_confirms(brokers, clock):
    policy(brokers, mode="ask")
    dies(brokers)
    clock.rounds(6)
    (case,) = shown(brokers)["cases"]
    assert (case["state"], case["broker"]) == ("proposed", 2)
    assert not Operation.objects.exists()
    brokers.start(brokers.plan("cluster.replace_broker", broker=2))
    clock.rounds(1)
    case = HealingCase.objects.get()
    assert (case.state, case.by) == ("replacing", "user:test")
    assert case.text == "user:test has it put on another host."
    assert case.parts == [
        {"code": "confirmed", "params": {"by": "user:test"}, "text": case.text},
    ]


def test_a_person_says_no_while_the_silence_lasts(brokers, clock):
    policy(brokers, mode="ask")
    dies(brokers)
    clock.rounds(6)
    address = f"/api/v1/clusters/{brokers.cluster.id}/healing/cases/{HealingCase.objects.get().pk}"
    assert client_for(brokers.tenant, "viewer").post(f"{address}/dismissal").status_code == 403
    found = client_for(brokers.tenant).post(f"{address}/dismissal")
    assert (found.status_code, found.json()["state"]) == (200, "dismissed")
    (said,) = found.json()["parts"]
    assert (said["code"], said["params"]) == ("said-no", {"by": "user:acme-owner"})
    assert said["text"] == found.json()["text"] == "user:acme-owner said no."
    assert client_for(brokers.tenant).post(f"{address}/dismissal").status_code == 409
    clock.rounds(3)
    assert shown(brokers)["decision"]["code"] == "dismissed"
    assert HealingCase.objects.count() == 1


def test_a_host_that_comes_back_needs_nothing(brokers, clock):
    policy(brokers, mode="ask")
    dies(brokers)
    clock.rounds(6)
    alive(brokers, "host-2", value=True)
    clock.rounds(1)
    assert HealingCase.objects.get().state == "withdrawn"


def test_several_silent_hosts_may_be_a_cut(brokers, clock):
    policy(brokers)
    dies(brokers)
    alive(brokers, "host-3", value=False)
    assert clock.rounds(8) == 0
    decision = shown(brokers)["decision"]
    assert decision["code"] == "several-silent"
    assert HealingCase.objects.get().state == "waiting"


def test_while_zookeeper_is_away_nothing_counts_and_nothing_is_done(brokers, clock):
    policy(brokers)
    dies(brokers)
    clock.rounds(3)
    brokers.hosts.is_away = True
    clock.rounds(20)
    assert HealingPolicy.objects.get().decided_code == "zookeeper-unsure"
    brokers.hosts.is_away = False
    # Nobody knows how long it was silent: it is waited for anew.
    assert clock.rounds(4) == 0
    assert HealingPolicy.objects.get().decided_code == "too-soon"


def test_what_would_be_lost_is_not_begun_and_says_so(brokers, clock):
    policy(brokers)
    brokers.gateway.add_topic("alone", partitions=1, rf=1)
    brokers.gateway.topics["alone"].partitions[0].replicas = (2,)
    dies(brokers)
    assert clock.rounds(8) == 0
    case = HealingCase.objects.get()
    assert (case.state, case.code) == ("waiting", "partitions-lost")
    assert "alone-0" in case.text
    parts = shown(brokers)["cases"][0]["parts"]
    codes = ["why/silent", "partitions-fail", "replace", "refused"]
    assert [part["code"] for part in parts] == codes
    assert parts[-1]["text"] == f"It is refused: {parts[-1]['params']['said']}"
    assert case.text == " ".join(part["text"] for part in parts)
    decision = shown(brokers)["decision"]
    assert (decision["text"], decision["parts"]) == (case.text, case.parts)


def test_a_failed_one_is_left_alone_for_a_while(brokers, clock):
    policy(brokers)
    dies(brokers)
    assert clock.rounds(6) == 1
    operation = Operation.objects.get()
    Operation.objects.filter(pk=operation.pk).update(
        state="failed", error={"code": "place-gone", "detail": "Its host is gone."}
    )
    assert clock.rounds(2) == 0
    assert list(HealingCase.objects.values_list("state", "code").order_by("created_at")) == [
        ("failed", "place-gone"),
        ("waiting", "failed-before"),
    ]
    failed = HealingCase.objects.get(state="failed")
    assert [(part["code"], part["params"]) for part in failed.parts] == [
        ("as-it-came", {"said": "Its host is gone."})
    ]


def test_a_replacement_that_failed_without_a_word_is_said_by_a_sentence(brokers, clock):
    policy(brokers)
    dies(brokers)
    assert clock.rounds(6) == 1
    Operation.objects.update(state="cancelled", error=None)
    clock.rounds(1)
    case = HealingCase.objects.get(state="failed")
    assert case.text == "The replacement did not succeed."
    assert [part["code"] for part in case.parts] == ["not-succeeded"]


def test_a_text_that_an_earlier_version_wrote_is_shown_without_parts(brokers, clock):
    """It writes the text alone, beside the parts of before."""
    policy(brokers, mode="ask")
    dies(brokers)
    clock.rounds(6)
    (case,) = shown(brokers)["cases"]
    assert case["parts"]
    assert shown(brokers)["decision"]["parts"]
    HealingCase.objects.update(text="As before.")
    HealingPolicy.objects.update(decided_text="As before.")
    found = shown(brokers)
    for said in (found["decision"], *found["cases"]):
        assert (said["text"], said["parts"]) == ("As before.", [])


# -- REST
def test_the_policy_is_bounded(brokers):
    address = f"/api/v1/clusters/{brokers.cluster.id}/healing"
    window = {"day": "sunday", "begins": "02:00", "minutes": 60}
    for values, pointer in (
        ({"mode": "yes"}, "/mode"),
        ({"replace_after_s": 1}, "/replace_after_s"),
        ({"per_day_max": 99}, "/per_day_max"),
        ({"time_zone": "Mars/Base"}, "/time_zone"),
        ({"windows": [{**window, "begins": "25:00"}]}, "/windows/0/begins"),
        ({"windows": [window] * 22}, "/windows"),
    ):
        found = client_for(brokers.tenant).put(address, {**POLICY, **values}, format="json")
        assert found.status_code == 422, values
        assert found.json()["errors"][0]["pointer"] == pointer
    made = policy(brokers, windows=[window], time_zone="Europe/Berlin")
    assert (made["windows"], made["time_zone"]) == ([window], "Europe/Berlin")
    assert made["window_opens_at"] is None or not made["window_open"]


def test_others_do_not_find_it_and_readers_do_not_set_it(brokers):
    other = tenant_make("other")
    address = f"/api/v1/clusters/{brokers.cluster.id}/healing"
    assert client_for(other).get(address).status_code == 404
    assert client_for(other).put(address, POLICY, format="json").status_code == 404
    assert (
        client_for(brokers.tenant, "viewer").put(address, POLICY, format="json").status_code == 403
    )
    assert client_for(other).post(f"{address}/cases/hc_1/dismissal").status_code == 404
    assert not HealingPolicy.objects.exists()


def test_whoever_read_an_older_one_does_not_overwrite(brokers):
    address = f"/api/v1/clusters/{brokers.cluster.id}/healing"
    client = client_for(brokers.tenant)
    tag = client.get(address)["ETag"]
    policy(brokers, mode="ask")
    found = client.put(address, POLICY, format="json", headers={"If-Match": tag})
    assert found.status_code == 412


def test_a_cluster_of_others_has_none(brokers):
    made = cluster_make(brokers.tenant, name="outside", kind="registered")
    address = f"/api/v1/clusters/{made.id}/healing"
    found = client_for(brokers.tenant).put(address, POLICY, format="json")
    assert (found.status_code, found.json()["code"]) == (409, "cluster-not-managed")
