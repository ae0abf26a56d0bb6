"""Records written and read back past the admin port, against a broker that is away and a real one."""

import socket
import time

import pytest

from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.records import (
    RecordProducer,
    delivery_settings,
    values_since,
)
from controlplane.gateway.types import NewTopic
from tests.controlplane.gateway.conftest import spec_of


def test_the_producer_waits_for_all_replicas_and_no_longer_than_it_may():
    found = delivery_settings(5.0)
    assert (found["acks"], found["enable_idempotence"]) == ("all", True)
    assert found["delivery_timeout_ms"] == found["max_block_ms"] == 5000
    assert found["request_timeout_ms"] < 5000


def test_records_that_nobody_takes_are_not_acknowledged():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        spec = ConnectionSpec(bootstrap_servers=(f"127.0.0.1:{held.getsockname()[1]}",))
        producer = RecordProducer(spec, client_id="c", delivery_timeout_s=1.0)
        with pytest.raises(GatewayError, match="2 of 2 records") as caught:
            producer.send("t", [(b"k", b"1"), (b"k", b"2")])
    assert caught.value.code == "not-acknowledged"
    producer.close()


def test_a_topic_that_nobody_serves_is_not_read():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        spec = ConnectionSpec(bootstrap_servers=(f"127.0.0.1:{held.getsockname()[1]}",))
        with pytest.raises(GatewayError) as caught:
            list(values_since(spec, "t", partitions=1, from_ms=0, timeout_s=1.0))
    assert caught.value.code == "not-read"


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_what_was_sent_is_read_back_whole(kafka, secured):
    spec, sent = (
        spec_of(secured),
        [(b"key %d" % number, b"value %d" % number) for number in range(9)],
    )
    kafka.create_topic(NewTopic(name="records", partitions=2, replication_factor=3))
    producer = RecordProducer(spec, client_id="c", delivery_timeout_s=20.0)
    producer.send("records", sent)
    producer.close()
    found = values_since(spec, "records", partitions=2, from_ms=0, timeout_s=20.0)
    assert sorted(found) == [value for _, value in sent]
    later_ms = time.time_ns() // 1_000_000 + 60_000
    late = values_since(spec, "records", partitions=2, from_ms=later_ms, timeout_s=20.0)
    assert list(late) == []


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_a_record_that_is_refused_is_not_acknowledged(kafka, secured):
    kafka.create_topic(NewTopic(name="refused", partitions=1, replication_factor=3))
    kafka.upsert_user("stranger", "SCRAM-SHA-256", "its-password")
    spec = spec_of(secured, username="stranger", password="its-password")
    producer = RecordProducer(spec, client_id="c", delivery_timeout_s=10.0)
    with pytest.raises(GatewayError) as caught:
        producer.send("refused", [(b"k", b"v")])
    assert caught.value.code == "not-acknowledged"
    producer.close()
    kafka.delete_user("stranger", "SCRAM-SHA-256")
