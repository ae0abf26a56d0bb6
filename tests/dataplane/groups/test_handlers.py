"""Every group API in every version that is advertised, through codec and handler."""

import pytest

from dataplane.handlers.registry import HANDLED
from dataplane.model.errors import ErrorCode as E
from dataplane.wire import apis
from dataplane.wire.apis import ApiKey
from tests.dataplane.groups.driver import subscription
from tests.dataplane.groups.hosted import Hosted


def versions(api: ApiKey) -> list[int]:
    lowest, highest = HANDLED[api]
    return list(range(lowest, highest + 1))


def struct(api: ApiKey, name: str):
    request_class, _ = apis.load(api)
    import sys

    return getattr(sys.modules[request_class.__module__], name)


@pytest.fixture
async def hosted():
    made = await Hosted(partition_count=1).start()
    await made.loaded()
    yield made
    await made.stop()


async def join(hosted: Hosted, version: int = 9, member_id: str = "", **fields):
    protocol = struct(ApiKey.JOIN_GROUP, "JoinGroupRequestProtocol")
    return await hosted.call(
        ApiKey.JOIN_GROUP,
        version,
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[protocol(name="range", metadata=subscription("t"))],
        **fields,
    )


async def member_of(hosted: Hosted) -> str:
    """The only member of a stable group, in generation 1."""
    answer = await join(hosted, 3)
    assignment = struct(ApiKey.SYNC_GROUP, "SyncGroupRequestAssignment")
    await hosted.call(
        ApiKey.SYNC_GROUP,
        3,
        group_id="g",
        generation_id=1,
        member_id=answer.member_id,
        assignments=[assignment(member_id=answer.member_id, assignment=b"work")],
    )
    return answer.member_id


async def commit(hosted: Hosted, version: int = 9, topic: str = "t", **fields):
    topics = [
        struct(ApiKey.OFFSET_COMMIT, "OffsetCommitRequestTopic")(
            name=topic,
            partitions=[
                struct(ApiKey.OFFSET_COMMIT, "OffsetCommitRequestPartition")(
                    partition_index=0,
                    committed_offset=5,
                    committed_leader_epoch=3,
                    committed_metadata="m",
                )
            ],
        )
    ]
    answer = await hosted.call(ApiKey.OFFSET_COMMIT, version, group_id="g", topics=topics, **fields)
    return answer.topics[0].partitions[0].error_code


@pytest.mark.parametrize("version", versions(ApiKey.JOIN_GROUP))
async def test_join_group(hosted, version):
    answer = await join(hosted, version)
    if version >= 4:
        assert answer.error_code == E.MEMBER_ID_REQUIRED
        assert answer.protocol_name == (None if version >= 7 else "")
        answer = await join(hosted, version, answer.member_id)
    assert answer.error_code == E.NONE
    assert answer.generation_id == 1
    assert answer.leader == answer.member_id
    assert answer.protocol_name == "range"
    assert answer.members[0].metadata == subscription("t")


@pytest.mark.parametrize("version", versions(ApiKey.SYNC_GROUP))
async def test_sync_group(hosted, version):
    member_id = (await join(hosted, 3)).member_id
    fields = {"protocol_type": "consumer", "protocol_name": "range"} if version >= 5 else {}
    assignment = struct(ApiKey.SYNC_GROUP, "SyncGroupRequestAssignment")
    answer = await hosted.call(
        ApiKey.SYNC_GROUP,
        version,
        group_id="g",
        generation_id=1,
        member_id=member_id,
        assignments=[assignment(member_id=member_id, assignment=b"work")],
        **fields,
    )
    assert (answer.error_code, answer.assignment) == (E.NONE, b"work")


async def test_sync_group_version_5_without_protocol(hosted):
    from dataplane.model.errors import KafkaError

    with pytest.raises(KafkaError) as refused:
        await hosted.call(ApiKey.SYNC_GROUP, 5, group_id="g", generation_id=1, member_id="m")
    assert refused.value.code is E.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize("version", versions(ApiKey.HEARTBEAT))
async def test_heartbeat(hosted, version):
    member_id = await member_of(hosted)
    fields = {"group_id": "g", "generation_id": 1}
    answer = await hosted.call(ApiKey.HEARTBEAT, version, member_id=member_id, **fields)
    assert answer.error_code == E.NONE
    answer = await hosted.call(ApiKey.HEARTBEAT, version, member_id="nobody", **fields)
    assert answer.error_code == E.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", versions(ApiKey.LEAVE_GROUP))
async def test_leave_group(hosted, version):
    member_id = await member_of(hosted)
    if version < 3:
        answer = await hosted.call(ApiKey.LEAVE_GROUP, version, group_id="g", member_id="nobody")
        assert answer.error_code == E.UNKNOWN_MEMBER_ID
        answer = await hosted.call(ApiKey.LEAVE_GROUP, version, group_id="g", member_id=member_id)
        assert answer.error_code == E.NONE
        return
    identity = struct(ApiKey.LEAVE_GROUP, "MemberIdentity")
    members = [identity(member_id="nobody"), identity(member_id=member_id)]
    answer = await hosted.call(ApiKey.LEAVE_GROUP, version, group_id="g", members=members)
    assert answer.error_code == E.NONE
    assert [m.error_code for m in answer.members] == [E.UNKNOWN_MEMBER_ID, E.NONE]


@pytest.mark.parametrize("version", versions(ApiKey.OFFSET_COMMIT))
async def test_offset_commit(hosted, version):
    assert await commit(hosted, version) == E.NONE
    assert await commit(hosted, version, topic="nope") == E.UNKNOWN_TOPIC_OR_PARTITION
    member = {"member_id": "m", "generation_id_or_member_epoch": 4}
    # Version 0 names no member.
    assert await commit(hosted, version, **member) == (E.UNKNOWN_MEMBER_ID if version else E.NONE)


@pytest.mark.parametrize("version", versions(ApiKey.OFFSET_FETCH))
async def test_offset_fetch(hosted, version):
    await commit(hosted)
    if version >= 8:
        group = struct(ApiKey.OFFSET_FETCH, "OffsetFetchRequestGroup")
        topics = struct(ApiKey.OFFSET_FETCH, "OffsetFetchRequestTopics")
        asked = [
            group(group_id="g", topics=[topics(name="t", partition_indexes=[0, 1])]),
            group(group_id="g", topics=None),
            group(group_id="unknown", topics=None),
        ]
        answer = await hosted.call(ApiKey.OFFSET_FETCH, version, groups=asked)
        assert [g.error_code for g in answer.groups] == [0, 0, 0]
        assert [g.group_id for g in answer.groups] == ["g", "g", "unknown"]
        named, everything, unknown = (g.topics for g in answer.groups)
        assert unknown == []
    else:
        topic = struct(ApiKey.OFFSET_FETCH, "OffsetFetchRequestTopic")
        asked = [topic(name="t", partition_indexes=[0, 1])]
        answer = await hosted.call(ApiKey.OFFSET_FETCH, version, group_id="g", topics=asked)
        named = answer.topics
        if version < 2:
            everything = None
        else:
            answer = await hosted.call(ApiKey.OFFSET_FETCH, version, group_id="g", topics=None)
            everything = answer.topics
    found = {p.partition_index: p for p in named[0].partitions}
    assert (found[0].committed_offset, found[0].metadata) == (5, "m")
    assert found[0].committed_leader_epoch == (3 if version >= 5 else -1)
    absent = 0 if version else E.UNKNOWN_TOPIC_OR_PARTITION
    assert (found[1].committed_offset, found[1].metadata, found[1].error_code) == (-1, "", absent)
    if everything is not None:
        assert [p.partition_index for p in everything[0].partitions] == [0]


@pytest.mark.parametrize("version", versions(ApiKey.OFFSET_FETCH))
async def test_offset_fetch_at_the_wrong_broker(hosted, version):
    hosted.follow(hosted.group_coordinator.partition_of("g"))
    if version >= 8:
        group = struct(ApiKey.OFFSET_FETCH, "OffsetFetchRequestGroup")
        answer = await hosted.call(ApiKey.OFFSET_FETCH, version, groups=[group(group_id="g")])
        assert answer.groups[0].error_code == E.NOT_COORDINATOR
        return
    topic = struct(ApiKey.OFFSET_FETCH, "OffsetFetchRequestTopic")
    asked = [topic(name="t", partition_indexes=[0])]
    answer = await hosted.call(ApiKey.OFFSET_FETCH, version, group_id="g", topics=asked)
    if version >= 2:
        assert answer.error_code == E.NOT_COORDINATOR
    else:
        assert answer.topics[0].partitions[0].error_code == E.NOT_COORDINATOR


@pytest.mark.parametrize("version", versions(ApiKey.DESCRIBE_GROUPS))
async def test_describe_groups(hosted, version):
    member_id = await member_of(hosted)
    fields = {"include_authorized_operations": True} if version >= 3 else {}
    answer = await hosted.call(ApiKey.DESCRIBE_GROUPS, version, groups=["g", "unknown"], **fields)
    known, unknown = answer.groups
    assert (known.error_code, known.group_state) == (E.NONE, "Stable")
    assert (known.protocol_type, known.protocol_data) == ("consumer", "range")
    assert known.members[0].member_id == member_id
    assert known.members[0].client_host == "/127.0.0.1"
    assert known.members[0].member_assignment == b"work"
    assert (unknown.error_code, unknown.group_state, unknown.members) == (E.NONE, "Dead", [])
    expected = 1 << 3 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11 if version >= 3 else -(2**31)
    assert known.authorized_operations == expected


@pytest.mark.parametrize("version", versions(ApiKey.LIST_GROUPS))
async def test_list_groups(hosted, version):
    await member_of(hosted)
    answer = await hosted.call(ApiKey.LIST_GROUPS, version)
    (listed,) = answer.groups
    assert (listed.group_id, listed.protocol_type) == ("g", "consumer")
    assert listed.group_state == ("Stable" if version >= 4 else "")
    assert listed.group_type == ("classic" if version >= 5 else "")
    if version >= 4:
        for states, count in ((["stable"], 1), (["Empty", "Dead"], 0)):
            answer = await hosted.call(ApiKey.LIST_GROUPS, version, states_filter=states)
            assert len(answer.groups) == count
    if version >= 5:
        for types, count in ((["Classic"], 1), (["consumer"], 0)):
            answer = await hosted.call(ApiKey.LIST_GROUPS, version, types_filter=types)
            assert len(answer.groups) == count


@pytest.mark.parametrize("version", versions(ApiKey.DELETE_GROUPS))
async def test_delete_groups(hosted, version):
    await commit(hosted)
    names = ["g", "unknown", "g"]
    answer = await hosted.call(ApiKey.DELETE_GROUPS, version, groups_names=names)
    errors = {result.group_id: result.error_code for result in answer.results}
    assert errors == {"g": E.NONE, "unknown": E.GROUP_ID_NOT_FOUND}


async def test_offset_delete(hosted):
    member_id = await member_of(hosted)
    fields = {"member_id": member_id, "generation_id_or_member_epoch": 1}
    assert await commit(hosted, topic="old", **fields) == E.NONE
    topic = struct(ApiKey.OFFSET_DELETE, "OffsetDeleteRequestTopic")
    partition = struct(ApiKey.OFFSET_DELETE, "OffsetDeleteRequestPartition")
    answer = await hosted.call(
        ApiKey.OFFSET_DELETE,
        0,
        group_id="g",
        topics=[
            topic(name=name, partitions=[partition(partition_index=0)])
            for name in ("t", "old", "nope")
        ],
    )
    errors = {t.name: t.partitions[0].error_code for t in answer.topics}
    assert errors == {
        "t": E.GROUP_SUBSCRIBED_TO_TOPIC,
        "old": E.NONE,
        "nope": E.UNKNOWN_TOPIC_OR_PARTITION,
    }


@pytest.mark.parametrize("version", versions(ApiKey.FIND_COORDINATOR))
async def test_find_coordinator(hosted, version):
    if version >= 4:
        answer = await hosted.call(
            ApiKey.FIND_COORDINATOR, version, key_type=0, coordinator_keys=["g", "h"]
        )
        assert [c.key for c in answer.coordinators] == ["g", "h"]
        found = answer.coordinators[0]
    else:
        found = await hosted.call(ApiKey.FIND_COORDINATOR, version, key="g")
    assert (found.error_code, found.node_id, found.host, found.port) == (0, 1, "127.0.0.1", 9092)


@pytest.mark.parametrize("version", versions(ApiKey.INIT_PRODUCER_ID))
async def test_init_producer_id(hosted, version):
    ids = []
    for _ in range(2):
        answer = await hosted.call(ApiKey.INIT_PRODUCER_ID, version, transactional_id=None)
        assert (answer.error_code, answer.producer_epoch) == (E.NONE, 0)
        ids.append(answer.producer_id)
    assert ids == [0, 1]
