"""Nodes as Kafka 3.9 writes them: examples of its documentation are read, ours read back."""

from __future__ import annotations

import json
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.cluster import znodes
from dataplane.cluster.image import BrokerInfo, Endpoint
from dataplane.model.partition import PartitionState


def test_kafkas_broker_node():
    data = b"""{"version":5,"host":"localhost","port":9092,"jmx_port":9999,
    "timestamp":"2233345666","endpoints":["CLIENT://host1:9092","REPLICATION://[::1]:9093"],
    "listener_security_protocol_map":{"CLIENT":"SSL","REPLICATION":"PLAINTEXT"},
    "rack":"dc1","features":{"feature":{"min_version":1,"max_version":5}}}"""
    broker = znodes.decode_broker(4, data, 77)
    assert (broker.id, broker.epoch, broker.rack) == (4, 77, "dc1")
    assert broker.listeners["CLIENT"] == Endpoint("host1", 9092, "SSL")
    assert broker.listeners["REPLICATION"] == Endpoint("::1", 9093, "PLAINTEXT")


def test_our_broker_node_reads_back():
    broker = BrokerInfo(
        3, 9, "r", {"A": Endpoint("::1", 1, "SASL_SSL"), "B": Endpoint("h", 2, "PLAINTEXT")}
    )
    data = znodes.encode_broker(broker, timestamp_ms=5)
    assert znodes.decode_broker(3, data, 9) == broker
    row = json.loads(data)
    assert (row["version"], row["host"], row["port"], row["timestamp"]) == (5, "h", 2, "5")


def test_kafkas_topic_nodes_of_every_version():
    one = znodes.decode_topic(b'{"version":1,"partitions":{"1":[2,1],"0":[1]}}')
    assert one.topic_id is None
    assert one.replicas == {1: (2, 1), 0: (1,)}
    three = znodes.decode_topic(
        b'{"removing_replicas":{"0":[1]},"partitions":{"0":[3,1]},"topic_id":"Zgt1nVqRTVKuZ9V_1EB2Lw",'
        b'"adding_replicas":{"0":[3]},"version":3}'
    )
    assert three.adding == {0: (3,)}
    assert three.removing == {0: (1,)}
    assert znodes.encode_uuid(three.topic_id) == "Zgt1nVqRTVKuZ9V_1EB2Lw"


def test_kafkas_state_node():
    data = b'{"controller_epoch":2,"leader":1,"version":1,"leader_epoch":5,"isr":[1,2]}'
    state = znodes.decode_state(PartitionState(index=0, replicas=(1, 2)), data, 8)
    assert (state.leader, state.leader_epoch, state.isr, state.partition_epoch) == (1, 5, (1, 2), 8)
    assert state.leader_recovery_state == 0
    assert json.loads(znodes.encode_state(state))["leader_recovery_state"] == 0


def test_controller_and_cluster_id():
    assert znodes.decode_controller(b'{"version":1,"brokerid":7,"timestamp":"1"}') == 7
    assert znodes.decode_controller(znodes.encode_controller(7, timestamp_ms=1)) == 7
    assert znodes.decode_cluster_id(b'{"version":"1","id":"abc"}') == "abc"


def test_config_change_of_both_versions():
    assert znodes.decode_config_change(b'{"version":2,"entity_path":"topics/t"}') == "topics/t"
    old = b'{"version":1,"entity_type":"topics","entity_name":"t"}'
    assert znodes.decode_config_change(old) == "topics/t"


@given(st.text(min_size=1, max_size=40) | st.just(znodes.DEFAULT_ENTITY))
def test_names_survive_sanitising(name):
    encoded = znodes.sanitize(name)
    assert "/" not in encoded
    assert encoded != znodes.DEFAULT_ENTITY, "it belongs to no name"
    assert znodes.desanitize(encoded) == name


@given(st.uuids())
def test_topic_ids_read_back(value: uuid.UUID):
    assert znodes.decode_uuid(znodes.encode_uuid(value)) == value


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"null", b"\xff"])
def test_garbage_is_a_value_error(data):
    with pytest.raises(ValueError):
        znodes.decode_topic(data)


def test_nodes_are_written_as_kafka_writes_them():
    topic_id = znodes.decode_uuid("Zgt1nVqRTVKuZ9V_1EB2Lw")
    node = znodes.TopicNode(topic_id, {1: (2,), 0: (3, 1)}, {0: (3,), 1: ()}, {0: (1,), 1: ()})
    assert json.loads(znodes.encode_topic(node)) == {
        "version": 3,
        "topic_id": "Zgt1nVqRTVKuZ9V_1EB2Lw",
        "partitions": {"0": [3, 1], "1": [2]},
        "adding_replicas": {"0": [3]},
        "removing_replicas": {"0": [1]},
    }
    state = PartitionState(
        index=0, leader=1, leader_epoch=5, controller_epoch=2, replicas=(1, 2), isr=(1, 2)
    )
    assert json.loads(znodes.encode_state(state)) == {
        "version": 1,
        "leader": 1,
        "leader_epoch": 5,
        "controller_epoch": 2,
        "isr": [1, 2],
        "leader_recovery_state": 0,
    }
    assert json.loads(znodes.encode_controller(7, timestamp_ms=9)) == {
        "version": 2,
        "brokerid": 7,
        "timestamp": "9",
        "kraftControllerEpoch": -1,
    }
    assert znodes.encode_config({"a": "b"}) == b'{"version":1,"config":{"a":"b"}}'
    change = znodes.encode_config_change("topics/t")
    assert change == b'{"version":2,"entity_path":"topics/t"}'
    block = znodes.ProducerIdBlock(1, 1000, 1999)
    assert json.loads(znodes.encode_producer_ids(block)) == {
        "version": 1,
        "broker": 1,
        "block_start": "1000",
        "block_end": "1999",
    }
    asked = {("t", 0): (1, 2)}
    assert znodes.decode_reassignments(znodes.encode_reassignments(asked)) == asked


def test_paths_are_kafkas():
    assert znodes.broker_path(3) == "/brokers/ids/3"
    assert znodes.topic_path("t") == "/brokers/topics/t"
    assert znodes.state_path("t", 4) == "/brokers/topics/t/partitions/4/state"
    assert znodes.delete_topic_path("t") == "/admin/delete_topics/t"
    assert znodes.config_path("users", "a%2Fb") == "/config/users/a%2Fb"
    assert znodes.config_path("users", znodes.DEFAULT_ENTITY) == "/config/users/<default>"
    assert znodes.sanitize("a/b~*") == "a%2Fb%7E%2A"
    assert {
        "/consumers",
        "/brokers/ids",
        "/brokers/topics",
        "/brokers/seqid",
        "/config/changes",
        "/config/topics",
        "/config/brokers",
        "/config/users",
        "/config/clients",
        "/config/ips",
        "/admin/delete_topics",
        "/isr_change_notification",
        "/log_dir_event_notification",
        "/latest_producer_id_block",
        "/cluster",
    } <= set(znodes.PERSISTENT_PATHS)
    assert (znodes.CONTROLLER, znodes.CONTROLLER_EPOCH) == ("/controller", "/controller_epoch")
    assert znodes.REASSIGN_PARTITIONS == "/admin/reassign_partitions"
    assert znodes.PREFERRED_ELECTION == "/admin/preferred_replica_election"
    assert znodes.CLUSTER_ID == "/cluster/id"
    assert znodes.CONFIG_CHANGE_PREFIX == "/config/changes/config_change_"
