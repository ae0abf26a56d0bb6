"""The records of `__consumer_offsets` are Kafka's, byte for byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.groups.consumer_protocol import subscribed_topics
from dataplane.groups.records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    decode_group_value,
    decode_key,
    decode_offset_value,
    group_record,
    group_tombstone,
    offset_record,
    offset_tombstone,
)
from dataplane.model.coordinator_partition import java_string_hash, partition_for
from dataplane.wire.errors import WireError

names = st.text(max_size=30).filter(lambda text: text.isprintable())
int32 = st.integers(-(2**31), 2**31 - 1)
int64 = st.integers(-(2**63), 2**63 - 1)
keys = st.builds(OffsetCommitKey, group=names, topic=names, partition=int32)
offsets = st.builds(
    OffsetCommitValue,
    offset=int64,
    leader_epoch=int32,
    metadata=names,
    commit_timestamp_ms=int64,
)
members = st.builds(
    MemberMetadata,
    member_id=names.filter(bool),
    group_instance_id=st.none() | names,
    client_id=names,
    client_host=names,
    rebalance_timeout_ms=st.integers(0, 2**31 - 1),
    session_timeout_ms=st.integers(0, 2**31 - 1),
    subscription=st.binary(max_size=50),
    assignment=st.binary(max_size=50),
)
groups = st.builds(
    GroupMetadataValue,
    protocol_type=names,
    generation=int32,
    protocol=st.none() | names,
    leader=st.none() | names,
    current_state_timestamp_ms=int64,
    members=st.lists(members, max_size=5),
)

KEY = OffsetCommitKey(group="grp", topic="top", partition=7)
ANY_OFFSET = OffsetCommitValue(offset=5, metadata="m", commit_timestamp_ms=1000)


def test_offset_key_bytes():
    expected = "00 01 00 03 67 72 70 00 03 74 6f 70 00 00 00 07"
    assert offset_tombstone(KEY).key.hex(" ") == expected
    assert offset_record(KEY, ANY_OFFSET).key.hex(" ") == expected
    assert offset_tombstone(KEY).value is None


def test_group_key_bytes():
    assert group_tombstone("grp").key.hex(" ") == "00 02 00 03 67 72 70"
    assert group_record("grp", GroupMetadataValue()).key == group_tombstone("grp").key
    assert group_tombstone("grp").value is None


def test_offset_value_bytes_version_3():
    value = OffsetCommitValue(offset=5, leader_epoch=2, metadata="m", commit_timestamp_ms=1000)
    assert offset_record(KEY, value).value.hex(" ") == (
        "00 03 00 00 00 00 00 00 00 05 00 00 00 02 00 01 6d 00 00 00 00 00 00 03 e8"
    )


def test_offset_value_with_explicit_expiry_is_version_1():
    value = OffsetCommitValue(offset=5, commit_timestamp_ms=1000, expire_timestamp_ms=2000)
    stored = offset_record(KEY, value).value
    assert stored.hex(" ") == (
        "00 01 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00 00 03 e8 00 00 00 00 00 00 07 d0"
    )
    assert decode_offset_value(stored) == value


def test_group_value_bytes_version_3():
    value = GroupMetadataValue(
        protocol_type="consumer",
        generation=1,
        protocol="range",
        leader="m1",
        current_state_timestamp_ms=9,
    )
    assert group_record("grp", value).value.hex(" ") == (
        "00 03 00 08 63 6f 6e 73 75 6d 65 72 00 00 00 01 00 05 72 61 6e 67 65 00 02 6d 31"
        " 00 00 00 00 00 00 00 09 00 00 00 00"
    )


def test_member_bytes_version_3():
    member = MemberMetadata(
        member_id="m",
        group_instance_id="i",
        client_id="c",
        client_host="/h",
        rebalance_timeout_ms=3,
        session_timeout_ms=4,
        subscription=b"\xaa\xbb",
        assignment=b"\xcc",
    )
    value = GroupMetadataValue(protocol_type="c", current_state_timestamp_ms=9, members=[member])
    assert group_record("grp", value).value.hex(" ") == (
        "00 03 00 01 63 00 00 00 00 ff ff ff ff 00 00 00 00 00 00 00 09 00 00 00 01"
        " 00 01 6d 00 01 69 00 01 63 00 02 2f 68 00 00 00 03 00 00 00 04"
        " 00 00 00 02 aa bb 00 00 00 01 cc"
    )


@given(keys)
def test_offset_keys_survive(key):
    assert decode_key(offset_tombstone(key).key) == key


@given(names)
def test_group_keys_survive(group):
    assert decode_key(group_tombstone(group).key) == GroupMetadataKey(group=group)


@given(offsets)
def test_offset_values_survive(value):
    assert decode_offset_value(offset_record(KEY, value).value) == value


@given(groups)
def test_group_values_survive(value):
    assert decode_group_value(group_record("grp", value).value) == value


def test_older_offset_values_are_read():
    version_0 = bytes.fromhex("0000 0000000000000005 0001 6d 00000000000003e8")
    assert decode_offset_value(version_0) == ANY_OFFSET
    version_2 = b"\0\x02" + version_0[2:]
    assert decode_offset_value(version_2) == ANY_OFFSET


def test_flexible_offset_value_is_read():
    version_4 = bytes.fromhex("0004 0000000000000005 00000002 02 6d 00000000000003e8 00")
    assert decode_offset_value(version_4) == OffsetCommitValue(
        offset=5, leader_epoch=2, metadata="m", commit_timestamp_ms=1000
    )


def test_an_unknown_tagged_field_is_skipped():
    tagged = bytes.fromhex("0004 0000000000000005 00000002 02 6d 00000000000003e8 01 00 02 ffff")
    assert decode_offset_value(tagged).metadata == "m"


def test_an_offset_key_of_version_0_is_read():
    version_0 = b"\0\0" + offset_tombstone(KEY).key[2:]
    assert decode_key(version_0) == KEY


OLD_GROUP_FIELDS = {"protocol_type": "c", "generation": 3, "protocol": "r", "leader": "m"}
OLD_MEMBER_FIELDS = {
    "member_id": "m",
    "client_id": "c",
    "client_host": "h",
    "session_timeout_ms": 10000,
    "subscription": b"\xaa\xbb",
    "assignment": b"\xcc",
}


def test_a_group_value_of_version_0_has_one_timeout_for_both():
    version_0 = bytes.fromhex(
        "0000 0001 63 00000003 0001 72 0001 6d 00000001"
        "0001 6d 0001 63 0001 68 00002710 00000002 aabb 00000001 cc"
    )
    member = MemberMetadata(**OLD_MEMBER_FIELDS, rebalance_timeout_ms=10000)
    assert decode_group_value(version_0) == GroupMetadataValue(**OLD_GROUP_FIELDS, members=[member])


@pytest.mark.parametrize(
    ("version", "timestamp_ms", "timestamp"), [(1, -1, ""), (2, 9, "0000000000000009")]
)
def test_group_values_of_versions_1_and_2_are_read(version, timestamp_ms, timestamp):
    stored = bytes.fromhex(
        f"{version:04x} 0001 63 00000003 0001 72 0001 6d {timestamp}"
        "00000001 0001 6d 0001 63 0001 68 00004e20 00002710 00000002 aabb 00000001 cc"
    )
    member = MemberMetadata(**OLD_MEMBER_FIELDS, rebalance_timeout_ms=20000)
    assert decode_group_value(stored) == GroupMetadataValue(
        **OLD_GROUP_FIELDS, current_state_timestamp_ms=timestamp_ms, members=[member]
    )


def test_flexible_group_value_is_read():
    version_4 = bytes.fromhex(
        "0004 02 63 00000003 02 72 02 6d 0000000000000009 02"
        "02 6d 00 02 63 02 68 00002710 00002710 03 aabb 02 cc 00 00"
    )
    value = decode_group_value(version_4)
    assert value.members[0].assignment == b"\xcc"
    assert value.current_state_timestamp_ms == 9


def test_keys_of_later_protocols_are_skipped():
    assert decode_key(b"\0\x03\0\x01g") is None


@pytest.mark.parametrize("data", [b"", b"\0"])
@pytest.mark.parametrize(
    "decode", [decode_key, decode_offset_value, decode_group_value, subscribed_topics]
)
def test_bytes_without_a_version_are_refused(decode, data):
    with pytest.raises(WireError, match="hold no version"):
        decode(data)


@pytest.mark.parametrize("version", [-1, 5, 32767])
def test_a_value_of_an_unknown_version_is_refused(version):
    head = version.to_bytes(2, signed=True)
    with pytest.raises(WireError, match=f"OffsetCommitValue has no version {version}; only 0 to 4"):
        decode_offset_value(head + bytes(40))
    with pytest.raises(WireError, match=f"GroupMetadataValue has no version {version}; only 0 to"):
        decode_group_value(head + bytes(40))


@st.composite
def nearly_good(draw, whole):
    """Encoded bytes as they are, cut short, lengthened, or with some bytes changed."""
    data = bytearray(draw(whole))
    for at, byte in draw(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 255)), max_size=3)):
        if at < len(data):
            data[at] = byte
    kept = draw(st.integers(0, len(data)) | st.just(len(data)))
    return bytes(data[:kept]) + draw(st.binary(max_size=4))


stored = (
    st.binary(max_size=60)
    | nearly_good(keys.map(lambda key: offset_tombstone(key).key))
    | nearly_good(names.map(lambda group: group_tombstone(group).key))
    | nearly_good(offsets.map(lambda value: offset_record(KEY, value).value))
    | nearly_good(groups.map(lambda value: group_record("grp", value).value))
)


@pytest.mark.parametrize("buffer", [bytes, memoryview])
@given(data=stored)
def test_hostile_bytes_raise_only_wire_errors(buffer, data):
    for decode, read in (
        (decode_key, (OffsetCommitKey, GroupMetadataKey, type(None))),
        (decode_offset_value, OffsetCommitValue),
        (decode_group_value, GroupMetadataValue),
        (subscribed_topics, frozenset),
    ):
        try:
            found = decode(buffer(data))
        except WireError:
            continue
        assert isinstance(found, read)


def test_an_array_longer_than_its_value_is_refused():
    claimed = bytes.fromhex("0003 0000 00000001 ffff ffff 0000000000000000 7fffffff")
    with pytest.raises(WireError, match="members claims 2147483647 more than the buffer holds"):
        decode_group_value(claimed)


def test_null_where_kafka_has_none_is_refused():
    with pytest.raises(WireError, match="topic may not be null"):
        decode_key(b"\0\1\0\1g\xff\xff\0\0\0\7")


def test_a_subscription_is_read_in_every_version_and_no_further_than_its_topics():
    topics = bytes.fromhex("00000002 0001 61 0001 62")
    for version in (0, 1, 3, 9):
        assert subscribed_topics(version.to_bytes(2) + topics + b"\xff") == {"a", "b"}
    with pytest.raises(WireError, match="protocol has version -1"):
        subscribed_topics(b"\xff\xff" + topics)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("group", 98629247),
        ("console-consumer-1", 35782224),
        ("polygenelubricants", -(2**31)),
        ("Ünïcode-группа", -513733443),
        ("\U0001f600", 1772899),
    ],
)
def test_java_hash(text, expected):
    assert java_string_hash(text) == expected


def test_the_smallest_hash_goes_to_partition_0():
    assert partition_for("polygenelubricants", 50) == 0


@given(st.text(max_size=20), st.integers(1, 100))
def test_partitions_are_in_range(group, count):
    assert 0 <= partition_for(group, count) < count


@pytest.mark.parametrize(
    "data",
    [
        b"\0\1\0\1\xff\0\1t\0\0\0\0",  # the group is no UTF-8
        b"\0\1\0\1g\0\1\xff\0\0\0\0",  # the topic is no UTF-8
        b"\0\1\0\1g\0\1t\0\0\0",  # the partition lacks a byte
        b"\0\1\x7f\xffg",  # the group is longer than the key
        b"\0\1\0\1g\x7f\xfft\0\0\0\0",  # the topic is longer than the key
        b"\0",
        b"",
    ],
)
def test_a_damaged_key_is_refused(data):
    with pytest.raises(WireError):
        decode_key(data)
