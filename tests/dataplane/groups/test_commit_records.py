"""Records of commits, written by hand: the bytes of the schema, and the meaning of their bytes."""

from hypothesis import given
from hypothesis import strategies as st

from dataplane.groups.commit_records import commit_record, commit_tombstone
from dataplane.groups.durable import DurableState
from dataplane.groups.records import (
    NO_TIMESTAMP,
    CoordinatorRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    offset_record,
    offset_tombstone,
)
from dataplane.groups.requests import OffsetToCommit
from dataplane.model.ids import TopicPartition

int64 = st.integers(-(2**63), 2**63 - 1)
int32 = st.integers(-(2**31), 2**31 - 1)
names = st.text(max_size=40)
places = st.builds(TopicPartition, names, int32)
plain = st.builds(OffsetToCommit, int64, int32, names, int64, st.just(-1))
expiring = st.builds(
    OffsetToCommit, int64, int32, names, st.integers(-1, 2**40), st.integers(0, 2**40)
)
NOW_MS = 1_700_000_000_000


def by_schema(group: str, place: TopicPartition, asked: OffsetToCommit) -> CoordinatorRecord:
    made_ms = NOW_MS if asked.commit_timestamp_ms == NO_TIMESTAMP else asked.commit_timestamp_ms
    value = OffsetCommitValue(
        offset=asked.offset,
        leader_epoch=asked.leader_epoch,
        metadata=asked.metadata,
        commit_timestamp_ms=made_ms,
        expire_timestamp_ms=-1 if asked.retention_ms < 0 else made_ms + asked.retention_ms,
    )
    key = OffsetCommitKey(group=group, topic=place.topic, partition=place.partition)
    return offset_record(key, value)


@given(names, places, plain | expiring)
def test_bytes_are_those_of_the_schema(group, place, asked):
    record = commit_record(group, place, asked, NOW_MS)
    assert (record.key, record.value) == by_schema(group, place, asked)


@given(names, places)
def test_a_tombstone_has_the_key_of_the_schema(group, place):
    key = OffsetCommitKey(group=group, topic=place.topic, partition=place.partition)
    assert commit_tombstone(group, place) == offset_tombstone(key)


commits = st.tuples(st.sampled_from(["g", "h"]), st.integers(0, 2), plain | expiring)


@given(st.lists(st.one_of(commits, st.tuples(st.sampled_from(["g", "h"]), st.integers(0, 2)))))
def test_what_was_just_written_replays_as_its_bytes_do(steps):
    """The host replays what it has written; who loads the log later reads it. Both know the same."""
    written, read = DurableState(), DurableState()
    for number, step in enumerate(steps):
        place = TopicPartition("t", step[1])
        if len(step) == 2:
            record = commit_tombstone(step[0], place)
        else:
            record = commit_record(step[0], place, step[2], NOW_MS)
        for state in (written, read):  # an open transaction that also has an offset for the place
            if number % 5 == 0:
                pending = OffsetCommitValue(offset=number)
                state.pending.put(7, (step[0], place), pending)
        written.replay(record)
        read.replay(CoordinatorRecord(record.key, record.value))
    assert written.offsets == read.offsets
    for state in (written, read):
        state.end_transaction(7, is_commit=True)
    assert written.offsets == read.offsets
