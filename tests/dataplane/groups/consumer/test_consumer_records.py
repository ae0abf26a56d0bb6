"""Consumer groups' records are Kafka's, byte for byte, and whatever is written is read back."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.groups.consumer.id_partition import IdPartition
from dataplane.groups.consumer.records import (
    ClassicMember,
    ClassicProtocol,
    CurrentKey,
    CurrentValue,
    GroupEpochKey,
    GroupEpochValue,
    MemberKey,
    MemberValue,
    PartitionRacks,
    SubscribedTopic,
    SubscribedTopicsKey,
    SubscribedTopicsValue,
    TargetEpochKey,
    TargetEpochValue,
    TargetKey,
    TargetValue,
    TopicPartitions,
    decode,
    encode,
    packed,
    unpacked,
)
from dataplane.groups.records import CoordinatorRecord
from dataplane.wire.errors import WireError

TOPIC = uuid.UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")
ID = "000102030405060708090a0b0c0d0e0f"

# Written down from Kafka's message definitions: int16 versions; strings in keys with int16 lengths,
# in values (flexible) with unsigned varint lengths + 1, arrays likewise, a tag buffer per struct.
BYTES = [
    (GroupEpochKey(group_id="g"), "0003 000167", GroupEpochValue(epoch=5), "0000 00000005 00"),
    (
        SubscribedTopicsKey(group_id="g"),
        "0004 000167",
        SubscribedTopicsValue(
            topics=[
                SubscribedTopic(
                    topic_id=TOPIC,
                    topic_name="t",
                    num_partitions=2,
                    partition_metadata=[PartitionRacks(partition=1, racks=["r"])],
                )
            ]
        ),
        f"0000 02 {ID} 0274 00000002 02 00000001 02 0272 00 00 00",
    ),
    (
        MemberKey(group_id="g", member_id="m"),
        "0005 000167 00016d",
        MemberValue(
            client_id="c",
            client_host="/h",
            subscribed_topic_names=["t"],
            rebalance_timeout_ms=300000,
            server_assignor="range",
        ),
        "0000 00 00 0263 032f68 02 0274 00 000493e0 0672616e6765 00",
    ),
    (
        MemberKey(group_id="g", member_id="m"),
        "0005 000167 00016d",
        MemberValue(
            instance_id="i",
            rack_id="r",
            client_id="c",
            client_host="h",
            subscribed_topic_regex="t.*",
            classic_member=ClassicMember(
                session_timeout_ms=6,
                supported_protocols=[ClassicProtocol(name="p", metadata=b"\x07")],
            ),
        ),
        # null-able struct in a tag: number of tags, tag, size, present, fields
        "0000 0269 0272 0263 0268 01 04742e2a ffffffff 00 01 00 0c 01 00000006 02 0270 0207 00 00",
    ),
    (
        TargetEpochKey(group_id="g"),
        "0006 000167",
        TargetEpochValue(assignment_epoch=7),
        "0000 00000007 00",
    ),
    (
        TargetKey(group_id="g", member_id="m"),
        "0007 000167 00016d",
        TargetValue(topic_partitions=[TopicPartitions(topic_id=TOPIC, partitions=[0, 1])]),
        f"0000 02 {ID} 03 00000000 00000001 00 00",
    ),
    (
        CurrentKey(group_id="g", member_id="m"),
        "0008 000167 00016d",
        CurrentValue(
            member_epoch=3,
            previous_member_epoch=2,
            state=1,
            assigned_partitions=[],
            partitions_pending_revocation=[TopicPartitions(topic_id=TOPIC, partitions=[4])],
        ),
        f"0000 00000003 00000002 01 01 02 {ID} 02 00000004 00 00",
    ),
]


@pytest.mark.parametrize(("key", "key_hex", "value", "value_hex"), BYTES)
def test_each_record_has_kafkas_bytes(key, key_hex, value, value_hex):
    record = encode(key, value)
    assert record.key.hex() == key_hex.replace(" ", "")
    assert record.value.hex() == value_hex.replace(" ", "")
    assert decode(record) == (key, value)


@pytest.mark.parametrize("key", [row[0] for row in BYTES])
def test_each_key_has_a_tombstone(key):
    assert decode(encode(key, None)) == (key, None)


@pytest.mark.parametrize("version", [0, 1, 2, 9, 16, 300])
def test_keys_of_other_kinds_are_somebody_elses(version):
    assert decode(CoordinatorRecord(version.to_bytes(2) + b"\0\1g", b"")) is None


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"\0\1" + b[2:], lambda b: b""])
def test_a_damaged_value_is_refused(damage):
    record = encode(GroupEpochKey(group_id="g"), GroupEpochValue(epoch=5))
    with pytest.raises(WireError):
        decode(CoordinatorRecord(record.key, damage(record.value)))


id_partitions = st.builds(IdPartition, st.uuids().map(lambda u: u.bytes), st.integers(0, 2**31 - 1))


@given(st.frozensets(id_partitions))
def test_assignments_are_read_back_and_have_one_form(assignment):
    assert unpacked(packed(assignment)) == assignment
    assert packed(assignment) == packed(frozenset(sorted(assignment, reverse=True)))


@given(st.text(max_size=20), st.text(max_size=20), st.lists(st.text(max_size=5), max_size=4))
def test_members_are_read_back(group_id, member_id, names):
    key = MemberKey(group_id=group_id, member_id=member_id)
    value = MemberValue(client_id="c", client_host="h", subscribed_topic_names=names)
    assert decode(encode(key, value)) == (key, value)
