"""The probe: its topic, its producer, and how many of them a process has."""

import pytest

from controlplane.clusters import probing
from controlplane.clusters.probing import PROBE_TOPIC, PROBES_MAX, Probes, ensure_topic
from controlplane.gateway.errors import GatewayError
from controlplane.topics.rules import is_internal
from tests.local_cluster import eventually

SOON_S = 60.0


class Sent:
    """A record that is acknowledged, or not, as soon as somebody wants to know."""

    def __init__(self, error):
        self.error = error

    def add_callback(self, call, *arguments):
        if self.error is None:
            call(*arguments, "metadata")

    def add_errback(self, call):
        if self.error is not None:
            call(self.error)


class FakeProducer:
    def __init__(self):
        self.error = None
        self.closed = False
        self.topics = set()

    def send(self, topic, value, partition):
        del value, partition
        self.topics.add(topic)
        return Sent(self.error)

    def close(self, timeout):
        del timeout
        self.closed = True


@pytest.fixture
def producers(monkeypatch):
    made = []

    def opened(_spec, **_settings):
        made.append(FakeProducer())
        return made[-1]

    monkeypatch.setattr(probing, "open_producer", opened)
    return made


@pytest.fixture
def probes(world, producers):
    """Those of a process; none is left behind."""
    source, ids = Probes(), [f"op_{number}" for number in range(PROBES_MAX + 1)]
    yield lambda number: source.of(ids[number], world.cluster, world.gateway)
    for each in ids:
        source.drop(each)
    for _ in eventually(SOON_S, "every producer is closed"):
        if all(producer.closed for producer in producers):
            break


def test_its_topic_has_a_partition_a_broker_and_is_hidden(world):
    assert ensure_topic(world.gateway) == 4
    topic = world.gateway.topics[PROBE_TOPIC]
    assert {len(part.replicas) for part in topic.partitions} == {3}
    assert topic.configs["min.insync.replicas"] == "2"
    assert is_internal(PROBE_TOPIC, flagged=False)
    assert ensure_topic(world.gateway) == 4
    assert world.gateway.calls.count("create_topic") == 1


def test_its_topic_grows_with_the_cluster(world):
    node = world.gateway.brokers.pop(4)
    assert ensure_topic(world.gateway) == 3
    world.gateway.brokers[4] = node
    assert ensure_topic(world.gateway) == 4
    assert len(world.gateway.topics[PROBE_TOPIC].partitions) == 4


def test_another_worker_that_made_it_first_is_no_fault(world):
    world.gateway.fail_next("create_topic", GatewayError("TOPIC_ALREADY_EXISTS"))
    assert ensure_topic(world.gateway) == 4


def test_it_is_ready_once_every_partition_has_acknowledged(probes, producers):
    probe = probes(0)
    for _ in eventually(SOON_S, "every partition has acknowledged"):
        if probe.is_ready:
            break
    (producer,) = producers
    assert producer.topics == {PROBE_TOPIC}
    assert probe.figures(0.0)["failed"] == 0


def test_what_is_not_acknowledged_counts(probes, producers):
    probe = probes(0)
    for _ in eventually(SOON_S, "every partition has acknowledged"):
        if probe.is_ready:
            break
    producers[0].error = TimeoutError()
    for _ in eventually(SOON_S, "failures are counted"):
        found = probe.figures(0.0)
        if found["failed"]:
            break
    assert found["error"] == "TimeoutError"


def test_an_operation_has_one_and_a_process_has_only_so_many(probes):
    first = probes(0)
    assert probes(0) is first
    others = [probes(number) for number in range(1, PROBES_MAX)]
    assert len({probe.id for probe in (first, *others)}) == PROBES_MAX
    assert probes(PROBES_MAX) is None
    first.close()
    assert probes(PROBES_MAX) is not None, "one that has ended makes room"
