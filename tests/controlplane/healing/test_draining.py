"""A drained host: its brokers leave one after another; paused, refused, ended."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.administration import selectors
from controlplane.administration.services import hosts
from controlplane.audit.models import AuditEvent
from controlplane.clusters.models import Broker
from controlplane.healing.draining import drain_round
from controlplane.healing.models import HostDrain
from controlplane.healing.waiting import as_it_came
from controlplane.operations.models import Operation
from tests.controlplane.healing.test_rounds import brokers  # noqa: F401 - a fixture
from tests.controlplane.support import ACTOR, client_for, drive, operator_client


@pytest.fixture
def drained(brokers):  # noqa: F811 - the fixture
    """Two of the cluster's brokers are on host-2, which is being drained."""
    Broker.objects.filter(broker_id=3).update(host_id="host-2")
    hosts.host_change(host_id="host-2", state="draining", actor=ACTOR, reason="a new disk")
    return brokers


def there():
    return list(Broker.objects.filter(host_id="host-2").values_list("broker_id", flat=True))


def shown():
    return selectors.host_detail("host-2")["drain"]


def test_one_after_another_until_none_is_left(drained):
    assert drain_round() == 1
    first = Operation.objects.get()
    assert (first.resource, first.reason) == (
        "broker/2",
        "The platform's operators empty its host.",
    )
    assert drain_round() == 0, "one at a time"
    assert shown()["operation_id"] == first.id
    assert (shown()["about"], shown()["left"]) == ("main/2", 2)
    assert drive(first).state == "succeeded"
    assert drain_round() == 1
    assert (shown()["moved"], shown()["left"]) == (1, 1)
    assert drive(Operation.objects.latest("pk")).state == "succeeded"
    assert drain_round() == 0
    assert there() == []
    assert (shown()["moved"], shown()["left"]) == (2, 0)
    assert shown()["ended_at"]
    drain_round()
    assert AuditEvent.objects.filter(action="host.drained").count() == 1


def test_paused_no_other_one_leaves(drained):
    client = operator_client(drained.tenant)
    address = "/api/v1/operator/hosts/host-2/drain"
    found = client.post(address, {"paused": True}, format="json")
    assert found.json()["drain"]["paused_by"] == "user:platform-operator"
    assert drain_round() == 0
    assert there() == [2, 3]
    client.post(address, {"paused": False}, format="json")
    assert drain_round() == 1
    assert client.post(address, {}, format="json").status_code == 422
    assert (
        client.post(address.replace("host-2", "host-1"), {"paused": True}, format="json").json()[
            "code"
        ]
        == "host-state"
    )
    assert (
        client_for(drained.tenant).post(address, {"paused": True}, format="json").status_code == 404
    )


def test_what_is_in_the_way_is_said_and_tried_again(drained):
    (part, *_) = drained.gateway.topics["orders"].partitions
    part.out_of_sync = frozenset({1})
    now = timezone.now()
    assert drain_round(now) == 0
    assert "main/2: 1 partition with replicas out of sync" in shown()["waiting_for"]
    part.out_of_sync = frozenset()
    assert drain_round(now + timedelta(seconds=5)) == 0, "not at once"
    assert drain_round(now + timedelta(seconds=60)) == 1
    assert (shown()["waiting_for"], shown()["waiting_for_parts"]) == (None, [])


def test_a_move_that_fails_is_said_and_tried_again(drained):
    now = timezone.now()
    drain_round(now)
    Operation.objects.update(state="failed", error={"detail": "No room."})
    for row in Operation.objects.all():
        row.locks.all().delete()
    assert drain_round(now + timedelta(seconds=5)) == 0
    assert shown()["waiting_for"] == "main/2: No room."
    assert shown()["waiting_for_parts"] == [
        {"code": "lead/about", "params": {"about": "main/2"}, "text": "main/2:"},
        {"code": "as-it-came", "params": {"said": "No room."}, "text": "No room."},
    ]
    assert drain_round(now + timedelta(seconds=60)) == 1


def test_a_move_that_is_cancelled_is_said_by_its_state(drained):
    drain_round()
    Operation.objects.update(state="cancelled", error=None)
    drain_round()
    assert shown()["waiting_for"] == "main/2: cancelled"
    assert shown()["waiting_for_parts"][1]["params"] == {"state": "cancelled"}


def test_a_text_that_an_earlier_version_kept_is_shown_without_parts(drained):
    (part, *_) = drained.gateway.topics["orders"].partitions
    part.out_of_sync = frozenset({1})
    drain_round()
    assert shown()["waiting_for_parts"]
    HostDrain.objects.update(waiting_for="main/2: No room.")
    assert (shown()["waiting_for"], shown()["waiting_for_parts"]) == ("main/2: No room.", [])


def test_what_came_from_elsewhere_is_kept_however_long_it_is(drained):
    drain_round()
    Operation.objects.update(state="failed", error={"detail": "x" * 5_000})
    drain_round()
    (_lead, came) = shown()["waiting_for_parts"]
    assert came["params"]["said"] == came["text"] == "x" * 700
    assert shown()["waiting_for"] == f"main/2: {came['text']}"


def test_what_came_from_elsewhere_and_no_database_keeps_is_replaced():
    came = as_it_came("\0\ud800x")
    assert came.params["said"] == came.text == "??x"


def test_let_have_brokers_again_it_is_over(drained):
    drain_round()
    hosts.host_change(host_id="host-2", state="active", actor=ACTOR)
    drain_round()
    assert not HostDrain.objects.exists()
    assert shown() is None


def test_who_is_not_there_cannot_be_stopped(drained):
    from dataclasses import replace

    drained.hosts.known = [
        replace(host, alive=host.alive and host.host_id != "host-2") for host in drained.hosts.known
    ]
    drained.gateway.brokers.pop(2)
    drained.gateway.brokers.pop(3)
    assert drain_round() == 0
    assert shown()["waiting_for"] == "main/2: The host of broker 2 is away."
    said = shown()["waiting_for_parts"][1]
    assert (said["code"], said["params"]) == ("host-of-broker/away", {"broker": 2})
    assert there() == [2, 3]
