"""DescribeTransactions and ListTransactions as clients see them."""

import logging

import pytest

from dataplane.broker.security.audit_log import LOGGER
from dataplane.model.errors import ErrorCode as E
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclEntry, AclOperation, Permission, ResourcePattern, ResourceType
from dataplane.security.principal import Principal
from dataplane.transactions.requests import InitRequest, PartitionsRequest
from dataplane.wire.apis import ApiKey
from tests.dataplane.groups.hosted import Hosted

ALICE = Principal.user("alice")


@pytest.fixture
async def hosted():
    made = Hosted(
        authorizer_class_name="kafka.security.authorizer.AclAuthorizer",
        super_users="User:ANONYMOUS",
    )
    await made.start()
    yield await made.loaded()
    await made.stop()


async def allow(hosted, kind, name, operation=AclOperation.DESCRIBE):
    pattern = ResourcePattern.literal(kind, name)
    entry = AclEntry(ALICE, "*", operation, Permission.ALLOW)
    await hosted.authorizer.create(pattern, [entry])


async def begin(hosted, name, *partitions, timeout_ms=60_000):
    coordinator = hosted.transaction_coordinator
    made = await coordinator.init_producer_id(
        InitRequest(transactional_id=name, timeout_ms=timeout_ms)
    )
    if partitions:
        request = PartitionsRequest(
            transactional_id=name,
            producer_id=made.producer_id,
            producer_epoch=made.producer_epoch,
            partitions=frozenset(partitions),
        )
        assert await coordinator.add_partitions(request) is E.NONE
    return made.producer_id


async def described(hosted, *names):
    answer = await hosted.call(ApiKey.DESCRIBE_TRANSACTIONS, 0, transactional_ids=list(names))
    return answer.transaction_states


async def listed(hosted, version=1, **filters):
    answer = await hosted.call(ApiKey.LIST_TRANSACTIONS, version, **filters)
    assert answer.error_code == E.NONE
    return sorted(each.transactional_id for each in answer.transaction_states)


async def test_an_open_transaction_is_described(hosted):
    partitions = [TopicPartition("t", 1), TopicPartition("t", 0), TopicPartition("old", 0)]
    producer_id = await begin(hosted, "a", *partitions, timeout_ms=1234)
    (found,) = await described(hosted, "a")
    assert (found.error_code, found.transactional_id) == (E.NONE, "a")
    assert (found.transaction_state, found.producer_id, found.producer_epoch) == (
        "Ongoing",
        producer_id,
        0,
    )
    assert found.transaction_timeout_ms == 1234
    assert found.transaction_start_time_ms == hosted.clock.realtime_ms()
    assert [(each.topic, each.partitions) for each in found.topics] == [
        ("old", [0]),
        ("t", [0, 1]),
    ]


async def test_what_cannot_be_described_says_why(hosted):
    await begin(hosted, "a")
    unknown, empty = await described(hosted, "unknown", "")
    assert unknown.error_code == E.TRANSACTIONAL_ID_NOT_FOUND
    assert empty.error_code == E.INVALID_REQUEST
    hosted.follow(hosted.transaction_coordinator.partition_of("a"))
    (found,) = await described(hosted, "a")
    assert found.error_code == E.NOT_COORDINATOR


async def test_ids_and_topics_need_grants(hosted):
    await begin(hosted, "a", TopicPartition("t", 0), TopicPartition("old", 0))
    await begin(hosted, "b")
    hosted.connection.principal = ALICE
    (found,) = await described(hosted, "a")
    assert found.error_code == E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert (found.transaction_state, found.topics) == ("", [])
    assert await listed(hosted) == []
    await allow(hosted, ResourceType.TRANSACTIONAL_ID, "a")
    await allow(hosted, ResourceType.TOPIC, "t")
    (found,) = await described(hosted, "a")
    assert [each.topic for each in found.topics] == ["t"]
    assert await listed(hosted) == ["a"]


async def test_what_is_only_left_out_is_no_denial(hosted, caplog):
    """Nor does the audit log show a client's listing as attempts on the ids of others."""
    caplog.set_level(logging.INFO, LOGGER)
    await begin(hosted, "a", TopicPartition("t", 0), TopicPartition("old", 0))
    await begin(hosted, "b")
    await allow(hosted, ResourceType.TRANSACTIONAL_ID, "a")
    hosted.connection.principal = ALICE
    assert await listed(hosted) == ["a"]
    (found,) = await described(hosted, "a")
    assert (found.error_code, found.topics) == (E.NONE, [])
    assert [record for record in caplog.records if record.name == LOGGER] == []
    await described(hosted, "b")
    assert len([record for record in caplog.records if record.name == LOGGER]) == 1


@pytest.mark.parametrize("version", [0, 1])
async def test_lists_are_filtered(hosted, version):
    first = await begin(hosted, "a")
    await begin(hosted, "b", TopicPartition("t", 0))
    assert await listed(hosted, version) == ["a", "b"]
    assert await listed(hosted, version, state_filters=["Ongoing"]) == ["b"]
    assert await listed(hosted, version, producer_id_filters=[first]) == ["a"]
    both = {"producer_id_filters": [first], "state_filters": ["Ongoing"]}
    assert await listed(hosted, version, **both) == []


async def test_a_filter_by_duration(hosted):
    await begin(hosted, "idle")
    await begin(hosted, "old", TopicPartition("t", 0))
    hosted.clock.advance(5000)
    await begin(hosted, "young", TopicPartition("t", 0))
    assert await listed(hosted, duration_filter=4999) == ["old"]
    assert await listed(hosted, duration_filter=5000) == []


async def test_unknown_states_are_named(hosted):
    await begin(hosted, "a")
    answer = await hosted.call(
        ApiKey.LIST_TRANSACTIONS, 1, state_filters=["Empty", "Sleeping", "empty"]
    )
    assert answer.unknown_state_filters == ["Sleeping", "empty"]
    assert [each.transactional_id for each in answer.transaction_states] == ["a"]


async def test_a_list_is_refused_while_some_is_read(hosted):
    where = hosted.transaction_coordinator.partition_of("a")
    hosted.follow(where)
    hosted.lead(where)
    answer = await hosted.call(ApiKey.LIST_TRANSACTIONS, 1)
    assert answer.error_code == E.COORDINATOR_LOAD_IN_PROGRESS
    await hosted.loaded()
