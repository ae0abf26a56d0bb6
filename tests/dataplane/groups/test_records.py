"""The records of `__consumer_offsets` are Kafka's, byte for byte."""

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.groups import records
from dataplane.groups.partitioner import java_string_hash, partition_for
from dataplane.groups.records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    decode_group_value,
    decode_key,
    decode_offset_value,
    encode_group_key,
    encode_group_value,
    encode_offset_key,
    encode_offset_value,
)

names = st.text(max_size=30).filter(lambda text: text.isprintable())
int32 = st.integers(-(2**31), 2**31 - 1)
int64 = st.integers(-(2**63), 2**63 - 1)
members = st.builds(
    MemberMetadata,
    names.filter(bool),
    st.none() | names,
    names,
    names,
    st.integers(0, 2**31 - 1),
    st.integers(0, 2**31 - 1),
    st.binary(max_size=50),
    st.binary(max_size=50),
)


def test_offset_key_bytes():
    assert encode_offset_key("grp", "top", 7).hex(" ") == (
        "00 01 00 03 67 72 70 00 03 74 6f 70 00 00 00 07"
    )


def test_group_key_bytes():
    assert encode_group_key("grp").hex(" ") == "00 02 00 03 67 72 70"


def test_offset_value_bytes_version_3():
    value = OffsetCommitValue(5, 2, "m", 1000)
    assert encode_offset_value(value).hex(" ") == (
        "00 03 00 00 00 00 00 00 00 05 00 00 00 02 00 01 6d 00 00 00 00 00 00 03 e8"
    )


def test_offset_value_with_explicit_expiry_is_version_1():
    value = OffsetCommitValue(5, -1, "", 1000, 2000)
    assert encode_offset_value(value)[:2] == b"\0\x01"
    assert decode_offset_value(encode_offset_value(value)) == value


def test_group_value_bytes_version_3():
    value = GroupMetadataValue("consumer", 1, "range", "m1", 9, ())
    assert encode_group_value(value).hex(" ") == (
        "00 03 00 08 63 6f 6e 73 75 6d 65 72 00 00 00 01 00 05 72 61 6e 67 65 00 02 6d 31"
        " 00 00 00 00 00 00 00 09 00 00 00 00"
    )


@given(names, names, int32)
def test_offset_keys_survive(group, topic, partition):
    assert decode_key(encode_offset_key(group, topic, partition)) == OffsetCommitKey(
        group, topic, partition
    )


@given(names)
def test_group_keys_survive(group):
    assert decode_key(encode_group_key(group)) == GroupMetadataKey(group)


@given(int64, int32, names, int64)
def test_offset_values_survive(offset, epoch, metadata, timestamp):
    value = OffsetCommitValue(offset, epoch, metadata, timestamp)
    assert decode_offset_value(encode_offset_value(value)) == value


groups = st.builds(
    GroupMetadataValue,
    names,
    int32,
    st.none() | names,
    st.none() | names,
    int64,
    st.lists(members, max_size=5).map(tuple),
)


@given(groups)
def test_group_values_survive(value):
    assert decode_group_value(encode_group_value(value)) == value


def test_older_offset_values_are_read():
    version_0 = bytes.fromhex("0000 0000000000000005 0001 6d 00000000000003e8")
    assert decode_offset_value(version_0) == OffsetCommitValue(5, -1, "m", 1000)
    version_2 = b"\0\x02" + version_0[2:]
    assert decode_offset_value(version_2) == OffsetCommitValue(5, -1, "m", 1000)


def test_flexible_offset_value_is_read():
    version_4 = bytes.fromhex("0004 0000000000000005 00000002 02 6d 00000000000003e8 00")
    assert decode_offset_value(version_4) == OffsetCommitValue(5, 2, "m", 1000)


def test_older_group_value_is_read():
    version_0 = bytes.fromhex(
        "0000 0001 63 00000003 0001 72 0001 6d 00000001"
        "0001 6d 0001 63 0001 68 00002710 00000002 aabb 00000001 cc"
    )
    value = decode_group_value(version_0)
    assert value == GroupMetadataValue(
        "c",
        3,
        "r",
        "m",
        -1,
        (MemberMetadata("m", None, "c", "h", 10000, 10000, b"\xaa\xbb", b"\xcc"),),
    )


def test_flexible_group_value_is_read():
    version_4 = bytes.fromhex(
        "0004 02 63 00000003 02 72 02 6d 0000000000000009 02"
        "02 6d 00 02 63 02 68 00002710 00002710 03 aabb 02 cc 00 00"
    )
    value = decode_group_value(version_4)
    assert value.members[0].assignment == b"\xcc"
    assert value.state_timestamp_ms == 9


def test_keys_of_later_protocols_are_skipped():
    assert decode_key(b"\0\x03\0\x01g") is None


@given(st.binary(max_size=60))
def test_hostile_bytes_raise_only_value_errors(data):
    for decode, read in (
        (decode_key, (OffsetKey, GroupKey, type(None))),
        (decode_offset_value, OffsetValue),
        (decode_group_value, GroupValue),
    ):
        try:
            found = decode(data)
        except ValueError:
            continue
        assert isinstance(found, read)


def test_an_array_longer_than_its_value_is_refused():
    claimed = bytes.fromhex("0003 0000 00000001 ffff ffff 0000000000000000 7fffffff")
    with pytest.raises(ValueError, match="longer than the value"):
        decode_group_value(claimed)


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


def outcome(decode, data):
    """What decoding gives, or the error in words."""
    try:
        return decode(data)
    except ValueError as error:
        return type(error), str(error)


@st.composite
def nearly_good(draw, whole):
    """Encoded bytes as they are, cut short, lengthened, or with some bytes changed."""
    data = bytearray(draw(whole))
    for at, byte in draw(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 255)), max_size=3)):
        if at < len(data):
            data[at] = byte
    kept = draw(st.integers(0, len(data)) | st.just(len(data)))
    return bytes(data[:kept]) + draw(st.binary(max_size=4))


keys = st.builds(encode_offset_key, names, names, int32) | st.builds(encode_group_key, names)
values = st.builds(OffsetCommitValue, int64, int32, names, int64, st.just(-1) | int64)


@pytest.mark.parametrize("buffer", [bytes, memoryview])
@given(data=nearly_good(keys) | st.binary(max_size=20))
def test_the_quick_way_to_a_key_gives_what_the_long_way_gives(buffer, data):
    with mock.patch.object(records, "_decode_offset_key_fast", return_value=None):
        expected = outcome(decode_key, buffer(data))
    assert outcome(decode_key, buffer(data)) == expected


@pytest.mark.parametrize("buffer", [bytes, memoryview])
@given(data=nearly_good(values.map(encode_offset_value)) | st.binary(max_size=40))
def test_the_quick_way_to_an_offset_gives_what_the_long_way_gives(buffer, data):
    with mock.patch.object(records, "_decode_offset_value_fast", return_value=None):
        expected = outcome(decode_offset_value, buffer(data))
    assert outcome(decode_offset_value, buffer(data)) == expected


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
def test_a_damaged_key_is_a_value_error(data):
    with pytest.raises(ValueError):
        decode_key(data)


def test_a_null_topic_reads_as_empty_either_way():
    assert decode_key(b"\0\1\0\1g\xff\xff\0\0\0\7") == OffsetCommitKey("g", "", 7)
