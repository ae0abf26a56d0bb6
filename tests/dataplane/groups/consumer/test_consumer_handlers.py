"""The APIs of the consumer protocol in every version, through codec and handler."""

import sys

import pytest

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.groups.requests import UNKNOWN_MEMBER_ID
from dataplane.handlers.registry import HANDLED
from dataplane.model.errors import ErrorCode as E
from dataplane.model.errors import KafkaError
from dataplane.security.acl import AclOperation, Permission, ResourceType
from dataplane.security.principal import Principal
from dataplane.wire import apis
from dataplane.wire.apis import ApiKey
from tests.dataplane.groups.driver import subscription
from tests.dataplane.groups.hosted import Hosted

ROOT, ALICE = Principal.user("root"), Principal.user("alice")
BEAT, DESCRIBE = ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.CONSUMER_GROUP_DESCRIBE


def versions(api: ApiKey) -> list[int]:
    lowest, highest = HANDLED[api]
    return list(range(lowest, highest + 1))


def struct(api: ApiKey, name: str):
    request_class, _ = apis.load(api)
    return getattr(sys.modules[request_class.__module__], name)


@pytest.fixture
async def hosted():
    made = await Hosted(partition_count=2).start()
    await made.loaded()
    yield made
    await made.stop()


@pytest.fixture
async def guarded():
    made = await Hosted(
        partition_count=1,
        authorizer_class_name="kafka.security.authorizer.AclAuthorizer",
        super_users="User:root",
    ).start()
    await made.loaded()
    made.connection.principal = ROOT
    yield made
    await made.stop()


async def beat(hosted, version=1, member_id="one", epoch=0, **fields):
    if epoch == 0:
        fields = {
            "rebalance_timeout_ms": 60_000,
            "subscribed_topic_names": ["t"],
            "topic_partitions": [],
        } | fields
    return await hosted.call(
        BEAT, version, group_id="g", member_id=member_id, member_epoch=epoch, **fields
    )


async def grant(hosted, kind, name, operation):
    creation = struct(ApiKey.CREATE_ACLS, "AclCreation")(
        resource_type=kind,
        resource_name=name,
        resource_pattern_type=3,
        principal="User:alice",
        host="*",
        operation=operation,
        permission_type=Permission.ALLOW,
    )
    hosted.connection.principal = ROOT
    await hosted.call(ApiKey.CREATE_ACLS, 3, creations=[creation])
    hosted.connection.principal = ALICE


@pytest.mark.parametrize("version", versions(BEAT))
async def test_join_stay_and_leave(hosted, version):
    topic_id = hosted.metadata_cache.image.topics["t"].topic_id
    joined = await beat(hosted, version)
    assert (joined.error_code, joined.member_id, joined.member_epoch) == (E.NONE, "one", 1)
    assert joined.heartbeat_interval_ms == 5_000
    (assigned,) = joined.assignment.topic_partitions
    assert (assigned.topic_id, assigned.partitions) == (topic_id, [0, 1])
    owned = struct(BEAT, "ConsumerGroupHeartbeatRequestTopicPartitions")
    stays = await beat(
        hosted, version, epoch=1, topic_partitions=[owned(topic_id=topic_id, partitions=[0, 1])]
    )
    assert (stays.error_code, stays.member_epoch, stays.assignment) == (E.NONE, 1, None)
    refused = await beat(hosted, version, epoch=7)
    assert refused.error_code == E.FENCED_MEMBER_EPOCH
    assert "must abandon all its partitions" in refused.error_message
    left = await beat(hosted, version, epoch=-1)
    assert (left.error_code, left.member_epoch) == (E.NONE, -1)


async def test_ids_are_made_by_the_coordinator_in_version_0_alone(hosted):
    assert (await beat(hosted, 1, member_id="")).error_code == E.INVALID_REQUEST
    joined = await beat(hosted, 0, member_id="")
    assert joined.error_code == E.NONE
    assert len(joined.member_id) == 36


async def test_a_regular_expression_is_a_matter_of_version_1(hosted):
    fields = {"subscribed_topic_names": [], "subscribed_topic_regex": "o.*d"}
    joined = await beat(hosted, 1, **fields)
    assert len(joined.assignment.topic_partitions) == 1
    refused = await beat(hosted, 1, epoch=1, subscribed_topic_regex="(")
    assert refused.error_code == E.INVALID_REGULAR_EXPRESSION


@pytest.mark.parametrize("version", versions(DESCRIBE))
async def test_describe(hosted, version):
    await beat(hosted, instance_id="i", rack_id="r")
    answer = await hosted.call(
        DESCRIBE, version, group_ids=["g", "unknown", ""], include_authorized_operations=True
    )
    known, unknown, blank = answer.groups
    assert (known.error_code, known.group_state, known.assignor_name) == (
        E.NONE,
        "Stable",
        "uniform",
    )
    assert (known.group_epoch, known.assignment_epoch) == (1, 1)
    assert known.authorized_operations == 1 << 3 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11
    (member,) = known.members
    assert (member.member_id, member.instance_id, member.rack_id) == ("one", "i", "r")
    assert (member.client_id, member.client_host) == ("client", "/127.0.0.1")
    assert (member.member_epoch, member.subscribed_topic_names) == (1, ["t"])
    assert member.member_type == (1 if version >= 1 else -1)
    for held in (member.assignment, member.target_assignment):
        (topic,) = held.topic_partitions
        assert (topic.topic_name, topic.partitions) == ("t", [0, 1])
    assert (unknown.error_code, unknown.error_message) == (
        E.GROUP_ID_NOT_FOUND,
        "Group unknown not found.",
    )
    assert blank.error_code == E.INVALID_GROUP_ID


async def test_other_apis_see_a_consumer_group(hosted):
    await beat(hosted)
    listed = await hosted.call(ApiKey.LIST_GROUPS, 5, types_filter=["Consumer"])
    assert [(g.group_id, g.group_state, g.group_type) for g in listed.groups] == [
        ("g", "Stable", "consumer")
    ]
    assert (await hosted.call(ApiKey.LIST_GROUPS, 5, types_filter=["classic"])).groups == []
    described = await hosted.call(ApiKey.DESCRIBE_GROUPS, 5, groups=["g"])
    assert (described.groups[0].group_state, described.groups[0].error_code) == ("Dead", E.NONE)
    deleted = await hosted.call(ApiKey.DELETE_GROUPS, 2, groups_names=["g"])
    assert deleted.results[0].error_code == E.NON_EMPTY_GROUP


@pytest.mark.parametrize(
    ("version", "member_id", "epoch", "error"),
    [
        (9, "one", 1, E.NONE),
        (9, "one", 2, E.STALE_MEMBER_EPOCH),
        (9, "two", 1, E.UNKNOWN_MEMBER_ID),
        (8, "one", 1, E.UNSUPPORTED_VERSION),
        (9, UNKNOWN_MEMBER_ID, -1, E.UNKNOWN_MEMBER_ID),
    ],
)
async def test_members_commit_with_their_epoch(hosted, version, member_id, epoch, error):
    await beat(hosted)
    topic = struct(ApiKey.OFFSET_COMMIT, "OffsetCommitRequestTopic")
    partition = struct(ApiKey.OFFSET_COMMIT, "OffsetCommitRequestPartition")
    answer = await hosted.call(
        ApiKey.OFFSET_COMMIT,
        version,
        group_id="g",
        member_id=member_id,
        generation_id_or_member_epoch=epoch,
        topics=[topic(name="t", partitions=[partition(partition_index=0, committed_offset=5)])],
    )
    assert answer.topics[0].partitions[0].error_code == error


@pytest.mark.parametrize(
    ("member_id", "epoch", "error"),
    [
        (None, -1, E.NONE),
        ("one", 1, E.NONE),
        ("one", 0, E.STALE_MEMBER_EPOCH),
        ("two", 1, E.UNKNOWN_MEMBER_ID),
    ],
)
async def test_members_fetch_offsets_with_their_epoch(hosted, member_id, epoch, error):
    await beat(hosted)
    group = struct(ApiKey.OFFSET_FETCH, "OffsetFetchRequestGroup")
    answer = await hosted.call(
        ApiKey.OFFSET_FETCH,
        9,
        groups=[group(group_id="g", member_id=member_id, member_epoch=epoch, topics=None)],
    )
    assert answer.groups[0].error_code == error


async def test_a_group_survives_its_coordinator(hosted):
    await beat(hosted)
    for topic_partition in list(hosted.replica_manager.by_name):
        hosted.follow(topic_partition)
        hosted.lead(topic_partition)
    await hosted.loaded()
    stays = await beat(hosted, epoch=1)
    assert (stays.error_code, stays.member_epoch) == (E.NONE, 1)


@pytest.mark.parametrize("api", [BEAT, DESCRIBE])
async def test_the_protocol_can_be_switched_off(api):
    hosted = await Hosted(group_coordinator_rebalance_protocols="classic").start()
    await hosted.loaded()
    with pytest.raises(KafkaError) as refused:
        await hosted.call(api, 1)
    assert refused.value.code is E.UNSUPPORTED_VERSION
    await hosted.stop()


async def test_who_may_not_read_the_group_or_describe_the_topic_is_refused(guarded):
    guarded.connection.principal = ALICE
    with pytest.raises(KafkaError) as refused:
        await beat(guarded)
    assert refused.value.code is E.GROUP_AUTHORIZATION_FAILED
    await grant(guarded, ResourceType.GROUP, "g", AclOperation.READ)
    for names in (["t"], ["nobody-has-this"]):
        with pytest.raises(KafkaError) as refused:
            await beat(guarded, subscribed_topic_names=names)
        assert refused.value.code is E.TOPIC_AUTHORIZATION_FAILED
    await grant(guarded, ResourceType.TOPIC, "t", AclOperation.DESCRIBE)
    assert (await beat(guarded)).error_code == E.NONE


async def test_an_expression_does_not_reveal_hidden_topics(guarded):
    await grant(guarded, ResourceType.GROUP, "g", AclOperation.READ)
    await grant(guarded, ResourceType.TOPIC, "t", AclOperation.READ)
    joined = await beat(guarded, subscribed_topic_names=[], subscribed_topic_regex=".*")
    topic_id = guarded.metadata_cache.image.topics["t"].topic_id
    assert [topic.topic_id for topic in joined.assignment.topic_partitions] == [topic_id]


async def test_describe_hides_groups_and_those_with_hidden_topics(guarded):
    await beat(guarded)
    guarded.connection.principal = ALICE
    answer = await guarded.call(DESCRIBE, 1, group_ids=["g"])
    assert answer.groups[0].error_code == E.GROUP_AUTHORIZATION_FAILED
    await grant(guarded, ResourceType.GROUP, "g", AclOperation.DESCRIBE)
    answer = await guarded.call(DESCRIBE, 1, group_ids=["g"])
    assert answer.groups[0].error_code == E.TOPIC_AUTHORIZATION_FAILED
    assert answer.groups[0].members == []
    await grant(guarded, ResourceType.TOPIC, "t", AclOperation.DESCRIBE)
    answer = await guarded.call(DESCRIBE, 1, group_ids=["g"])
    assert len(answer.groups[0].members) == 1


async def test_a_groups_own_settings_hold_from_the_next_heartbeat(hosted):
    await ensure_layout(hosted.coordinator)
    await beat(hosted)
    settings = {"consumer.heartbeat.interval.ms": "9000", "consumer.session.timeout.ms": "60000"}
    await hosted.handlers.configs.update("groups", "g", lambda _present: settings)
    stays = await beat(hosted, epoch=1)
    assert (stays.error_code, stays.heartbeat_interval_ms) == (E.NONE, 9_000)


async def test_a_group_is_configured_by_whom_its_acls_allow_it(guarded):
    await ensure_layout(guarded.coordinator)
    resource = struct(ApiKey.INCREMENTAL_ALTER_CONFIGS, "AlterConfigsResource")
    config = struct(ApiKey.INCREMENTAL_ALTER_CONFIGS, "AlterableConfig")
    asked = struct(ApiKey.DESCRIBE_CONFIGS, "DescribeConfigsResource")

    async def errors():
        change = config(name="consumer.session.timeout.ms", config_operation=0, value="50000")
        altered = await guarded.call(
            ApiKey.INCREMENTAL_ALTER_CONFIGS,
            1,
            resources=[resource(resource_type=32, resource_name="g", configs=[change])],
            validate_only=False,
        )
        described = await guarded.call(
            ApiKey.DESCRIBE_CONFIGS, 4, resources=[asked(resource_type=32, resource_name="g")]
        )
        return altered.responses[0].error_code, described.results[0].error_code

    refused = E.GROUP_AUTHORIZATION_FAILED
    guarded.connection.principal = ALICE
    assert await errors() == (refused, refused)
    await grant(guarded, ResourceType.GROUP, "g", AclOperation.DESCRIBE_CONFIGS)
    assert await errors() == (refused, E.NONE)
    await grant(guarded, ResourceType.GROUP, "g", AclOperation.ALTER_CONFIGS)
    assert await errors() == (E.NONE, E.NONE)


async def test_members_of_the_classic_protocol_are_shown_as_such(hosted):
    await beat(hosted)
    protocol = struct(ApiKey.JOIN_GROUP, "JoinGroupRequestProtocol")
    joining = {
        "group_id": "g",
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 10_000,
        "protocol_type": "consumer",
        "protocols": [protocol(name="range", metadata=subscription("t"))],
    }
    named = await hosted.call(ApiKey.JOIN_GROUP, 9, member_id="", **joining)
    assert named.error_code == E.MEMBER_ID_REQUIRED
    joined = await hosted.call(ApiKey.JOIN_GROUP, 9, member_id=named.member_id, **joining)
    assert (joined.error_code, joined.generation_id, joined.leader) == (E.NONE, 2, "")
    assert (joined.protocol_type, joined.protocol_name, joined.members) == ("consumer", "range", [])
    (group,) = (await hosted.call(DESCRIBE, 1, group_ids=["g"])).groups
    assert {m.member_id: m.member_type for m in group.members} == {"one": 1, joined.member_id: 0}
