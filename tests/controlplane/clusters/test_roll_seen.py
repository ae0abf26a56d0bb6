"""cluster.restart: what clients saw of each broker, and a roll that stops by it."""

import pytest

from controlplane.clusters import roll_steps
from controlplane.clusters.probing import use_probes
from controlplane.gateway.errors import GatewayError
from tests.controlplane.clusters.rolled import begin, generations, until
from tests.controlplane.support import client_for, drive


class FakeProbe:
    id = "here"

    def __init__(self):
        self.is_ready = True
        self.failed = 0

    def figures(self, since_s):
        return {
            "from_s": since_s - 1,
            "until_s": since_s + 1_000,
            "gap_s": 0.25,
            "partition": 0,
            "failed": self.failed,
            "error": "KafkaTimeoutError" if self.failed else "",
        }


class FakeProbes:
    def __init__(self):
        self.probe = FakeProbe()
        self.refusal = None
        self.dropped = []

    def of(self, operation_id, cluster, gateway):
        del operation_id, cluster, gateway
        if self.refusal:
            raise self.refusal
        return self.probe

    def drop(self, operation_id):
        self.dropped.append(operation_id)


@pytest.fixture
def measured():
    made = FakeProbes()
    use_probes(made)
    yield made
    use_probes(None)


def test_the_result_says_of_each_broker_what_clients_saw(brokers, measured):
    operation = drive(begin(brokers))
    assert operation.state == "succeeded", operation.error
    answer = client_for(brokers.tenant).get(f"/api/v1/operations/{operation.id}")
    rows = answer.data["outcome"]["roll"]["brokers"]
    assert [row["seen"] for row in rows] == [
        {"gap_s": 0.25, "partition": 0, "failed": 0, "error": "", "is_whole": True}
    ] * 3
    assert operation.id in measured.dropped


def test_nothing_is_said_of_what_was_not_measured(brokers):
    operation = drive(begin(brokers))
    rows = operation.memo["outcome"]["roll"]["brokers"]
    assert [row["seen"] for row in rows] == [None] * 3


def test_no_broker_is_taken_before_the_probe_is_acknowledged(brokers, measured, clock):
    measured.probe.is_ready = False
    operation = drive(begin(brokers), ticks=8)
    assert generations(brokers)[2] == 1
    clock.pass_s(roll_steps.PROBE_S + 1)
    drive(operation, ticks=1)
    assert generations(brokers)[2] == 2, "but for so long only"


def test_a_probe_that_cannot_be_made_ends_nothing(brokers, measured):
    measured.refusal = GatewayError("POLICY_VIOLATION")
    assert drive(begin(brokers)).state == "succeeded"


def test_clients_that_fail_after_the_canary_stop_the_roll(brokers, measured, clock):
    operation = until(begin(brokers, canary_s=60), lambda found: found.get(2) == "observing")
    measured.probe.failed = 3
    drive(operation, ticks=2)
    clock.pass_s(roll_steps.WORSE_S + 1)
    drive(operation)
    assert operation.error["code"] == "canary-worse"
    assert "3 records of the probe not acknowledged" in operation.error["detail"]
    assert operation.id in measured.dropped
