"""The transactional APIs in every version, and who may use them."""

import asyncio
import dataclasses

import pytest

from dataplane.cluster.image import ClusterImage
from dataplane.cluster.topic_names import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from dataplane.handlers.registry import HANDLED
from dataplane.model.errors import ErrorCode as E
from dataplane.model.errors import KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclEntry, AclOperation, Permission, ResourcePattern, ResourceType
from dataplane.security.principal import ANONYMOUS, Principal
from dataplane.transactions.requests import InitRequest
from dataplane.wire.apis import ApiKey
from dataplane.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from dataplane.wire.messages.create_topics import CreatableTopicResult, CreateTopicsResponse
from tests.dataplane.groups.hosted import Hosted

ALICE = Principal.user("alice")
ID = "transfers"


def versions(api, first=0, last=99):
    lowest, highest = HANDLED[api]
    return list(range(max(first, lowest), min(last, highest) + 1))


@pytest.fixture
async def hosted():
    made = Hosted(
        authorizer_class_name="kafka.security.authorizer.AclAuthorizer",
        super_users="User:ANONYMOUS",
    )
    await made.start()
    yield await made.loaded()
    await made.stop()


async def allow(hosted, kind, name, operation=AclOperation.WRITE):
    entry = AclEntry(ALICE, "*", operation, Permission.ALLOW)
    await hosted.authorizer.create(ResourcePattern.literal(kind, name), [entry])


async def init(hosted, version=4, **fields):
    fields = {"transactional_id": ID, "transaction_timeout_ms": 60_000} | fields
    return await hosted.call(ApiKey.INIT_PRODUCER_ID, version, **fields)


async def producer(hosted) -> dict:
    found = await init(hosted)
    assert found.error_code == E.NONE
    return {"producer_id": found.producer_id, "producer_epoch": found.producer_epoch}


def topics(**partitions):
    return [AddPartitionsToTxnTopic(name=n, partitions=list(p)) for n, p in partitions.items()]


def errors_of(results):
    return {
        TopicPartition(topic.name, result.partition_index): result.partition_error_code
        for topic in results
        for result in topic.results_by_partition
    }


async def add(hosted, one, version=3, *, id=ID, verify=False, **partitions):  # noqa: A002
    """The error of each partition."""
    if version >= 4:
        asked = AddPartitionsToTxnTransaction(
            transactional_id=id, verify_only=verify, topics=topics(**partitions), **one
        )
        answer = await hosted.call(ApiKey.ADD_PARTITIONS_TO_TXN, version, transactions=[asked])
        (result,) = answer.results_by_transaction
        assert result.transactional_id == id
        return errors_of(result.topic_results)
    answer = await hosted.call(
        ApiKey.ADD_PARTITIONS_TO_TXN,
        version,
        v3_and_below_transactional_id=id,
        v3_and_below_topics=topics(**partitions),
        **{f"v3_and_below_{name}": value for name, value in one.items()},
    )
    return errors_of(answer.results_by_topic_v3_and_below)


async def end(hosted, one, version=3, *, commit=True, id=ID):  # noqa: A002
    answer = await hosted.call(
        ApiKey.END_TXN, version, transactional_id=id, committed=commit, **one
    )
    return answer.error_code


async def until_state(hosted, wanted):
    async with asyncio.timeout(10):
        while hosted.transaction_coordinator.describe(ID).state != wanted:
            await asyncio.sleep(0.001)


# -- FindCoordinator


async def find(hosted, version, key=ID):
    if version >= 4:
        answer = await hosted.call(
            ApiKey.FIND_COORDINATOR, version, key_type=1, coordinator_keys=[key]
        )
        return answer.coordinators[0]
    return await hosted.call(ApiKey.FIND_COORDINATOR, version, key=key, key_type=1)


@pytest.mark.parametrize("version", versions(ApiKey.FIND_COORDINATOR, 1))
async def test_the_coordinator_is_found(hosted, version):
    found = await find(hosted, version)
    assert (found.error_code, found.node_id, found.host, found.port) == (0, 1, "127.0.0.1", 9092)


@pytest.mark.parametrize("version", versions(ApiKey.FIND_COORDINATOR, 1))
async def test_the_topic_is_created_at_the_first_question(hosted, version):
    image = hosted.metadata_cache.image
    left = {name: topic for name, topic in image.topics.items() if name != TRANSACTIONS_TOPIC}
    hosted.metadata_cache.replace(ClusterImage(cluster_id="c", brokers=image.brokers, topics=left))
    hosted.controller_client.answer = lambda _message: CreateTopicsResponse(
        topics=[CreatableTopicResult(name=TRANSACTIONS_TOPIC)]
    )
    found = await find(hosted, version)
    assert (found.error_code, found.node_id) == (E.COORDINATOR_NOT_AVAILABLE, -1)
    (request,) = hosted.controller_client.asked
    (topic,) = request.topics
    assert (topic.name, topic.num_partitions, topic.replication_factor) == (
        TRANSACTIONS_TOPIC,
        50,
        3,
    )
    configs = {each.name: each.value for each in topic.configs}
    assert configs == {
        "cleanup.policy": "compact",
        "segment.bytes": str(100 * 1024 * 1024),
        "compression.type": "uncompressed",
        "min.insync.replicas": "2",
        "unclean.leader.election.enable": "false",
    }


async def test_finding_needs_a_grant(hosted):
    hosted.connection.principal = ALICE
    assert (await find(hosted, 4)).error_code == E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    await allow(hosted, ResourceType.TRANSACTIONAL_ID, ID, AclOperation.DESCRIBE)
    assert (await find(hosted, 4)).error_code == E.NONE


# -- InitProducerId


@pytest.mark.parametrize("version", versions(ApiKey.INIT_PRODUCER_ID))
async def test_a_transactional_producer_id(hosted, version):
    first, second = await init(hosted, version), await init(hosted, version)
    assert (first.error_code, first.producer_epoch) == (E.NONE, 0)
    assert (second.producer_id, second.producer_epoch) == (first.producer_id, 1)


@pytest.mark.parametrize("version", versions(ApiKey.INIT_PRODUCER_ID, 3))
async def test_a_fenced_producer_is_told_in_its_versions_words(hosted, version):
    old = await producer(hosted)
    await producer(hosted)
    error = (await init(hosted, version, **old)).error_code
    assert error == (E.PRODUCER_FENCED if version >= 4 else E.INVALID_PRODUCER_EPOCH)


async def test_a_refused_init_names_no_producer(hosted):
    found = await init(hosted, transaction_timeout_ms=0)
    assert found.error_code == E.INVALID_TRANSACTION_TIMEOUT
    assert found.producer_id == -1


async def test_an_empty_id_is_refused(hosted):
    with pytest.raises(KafkaError) as refused:
        await init(hosted, transactional_id="")
    assert refused.value.code is E.INVALID_REQUEST


# -- AddPartitionsToTxn


@pytest.mark.parametrize("version", versions(ApiKey.ADD_PARTITIONS_TO_TXN))
async def test_partitions_join(hosted, version):
    one = await producer(hosted)
    errors = await add(hosted, one, version, t=[0, 1], old=[0])
    assert errors == dict.fromkeys(
        [TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("old", 0)], E.NONE
    )
    found = hosted.transaction_coordinator.describe(ID)
    assert (found.state, len(found.partitions)) == ("Ongoing", 3)


@pytest.mark.parametrize("version", versions(ApiKey.ADD_PARTITIONS_TO_TXN))
async def test_adding_as_somebody_who_was_replaced(hosted, version):
    old = await producer(hosted)
    await producer(hosted)
    (error,) = (await add(hosted, old, version, t=[0])).values()
    assert error == (E.PRODUCER_FENCED if version >= 2 else E.INVALID_PRODUCER_EPOCH)


@pytest.mark.parametrize("version", versions(ApiKey.ADD_PARTITIONS_TO_TXN, 4))
async def test_verification_changes_nothing(hosted, version):
    one = await producer(hosted)
    await add(hosted, one, 3, t=[0])
    errors = await add(hosted, one, version, verify=True, t=[0, 1])
    missing = E.TRANSACTION_ABORTABLE if version >= 5 else E.INVALID_TXN_STATE
    assert errors == {TopicPartition("t", 0): E.NONE, TopicPartition("t", 1): missing}
    assert hosted.transaction_coordinator.describe(ID).partitions == (TopicPartition("t", 0),)
    wrong = one | {"producer_id": one["producer_id"] + 1}
    errors = await add(hosted, wrong, version, verify=True, t=[0])
    assert set(errors.values()) == {E.INVALID_PRODUCER_ID_MAPPING}


async def test_each_transaction_of_a_broker_has_its_own_errors(hosted):
    one = await producer(hosted)
    good = AddPartitionsToTxnTransaction(transactional_id=ID, topics=topics(t=[0]), **one)
    bad = AddPartitionsToTxnTransaction(transactional_id="unknown", topics=topics(t=[1]), **one)
    empty = AddPartitionsToTxnTransaction(transactional_id="", topics=topics(t=[1]), **one)
    answer = await hosted.call(ApiKey.ADD_PARTITIONS_TO_TXN, 5, transactions=[good, bad, empty])
    assert [list(errors_of(r.topic_results).values()) for r in answer.results_by_transaction] == [
        [E.NONE],
        [E.INVALID_PRODUCER_ID_MAPPING],
        [E.INVALID_REQUEST],
    ]


async def test_one_refused_partition_holds_back_the_others(hosted):
    one = await producer(hosted)
    errors = await add(hosted, one, t=[0, 99], nope=[0])
    assert errors == {
        TopicPartition("t", 0): E.OPERATION_NOT_ATTEMPTED,
        TopicPartition("t", 99): E.UNKNOWN_TOPIC_OR_PARTITION,
        TopicPartition("nope", 0): E.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert hosted.transaction_coordinator.describe(ID).state == "Empty"


async def test_adding_needs_grants_on_the_id_and_on_each_topic(hosted):
    one = await producer(hosted)
    hosted.connection.principal = ALICE
    errors = await add(hosted, one, t=[0], nope=[0])
    assert set(errors.values()) == {E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED}
    await allow(hosted, ResourceType.TRANSACTIONAL_ID, ID)
    errors = await add(hosted, one, t=[0], old=[0], nope=[0])
    assert set(errors.values()) == {E.TOPIC_AUTHORIZATION_FAILED}
    await allow(hosted, ResourceType.TOPIC, "t")
    errors = await add(hosted, one, t=[0], old=[0])
    assert errors[TopicPartition("t", 0)] == E.OPERATION_NOT_ATTEMPTED
    assert errors[TopicPartition("old", 0)] == E.TOPIC_AUTHORIZATION_FAILED
    errors = await add(hosted, one, t=[0])
    assert set(errors.values()) == {E.NONE}


@pytest.mark.parametrize("version", versions(ApiKey.ADD_PARTITIONS_TO_TXN, 4))
@pytest.mark.parametrize("verify", [True, False])
async def test_only_brokers_ask_in_batches(hosted, version, verify):
    """Nobody learns of another's transactions, or opens one, by the way of the brokers."""
    one = await producer(hosted)
    await allow(hosted, ResourceType.TRANSACTIONAL_ID, ID)
    await allow(hosted, ResourceType.TOPIC, "t")
    hosted.connection.principal = ALICE
    with pytest.raises(KafkaError) as refused:
        await add(hosted, one, version, verify=verify, t=[0])
    assert refused.value.code is E.CLUSTER_AUTHORIZATION_FAILED


@pytest.mark.parametrize("version", versions(ApiKey.ADD_PARTITIONS_TO_TXN))
async def test_adding_at_the_wrong_broker(hosted, version):
    one = await producer(hosted)
    hosted.follow(hosted.transaction_coordinator.partition_of(ID))
    (error,) = (await add(hosted, one, version, t=[0])).values()
    assert error == E.NOT_COORDINATOR


# -- AddOffsetsToTxn


async def add_offsets(hosted, one, version=3, group="g"):
    answer = await hosted.call(
        ApiKey.ADD_OFFSETS_TO_TXN, version, transactional_id=ID, group_id=group, **one
    )
    return answer.error_code


@pytest.mark.parametrize("version", versions(ApiKey.ADD_OFFSETS_TO_TXN))
async def test_the_offsets_of_a_group_join(hosted, version):
    old = await producer(hosted)
    one = await producer(hosted)
    error = await add_offsets(hosted, old, version)
    assert error == (E.PRODUCER_FENCED if version >= 2 else E.INVALID_PRODUCER_EPOCH)
    assert await add_offsets(hosted, one, version) == E.NONE
    (partition,) = hosted.transaction_coordinator.describe(ID).partitions
    assert partition == hosted.group_coordinator.partition_of("g")


async def test_offsets_need_grants_on_the_id_and_the_group(hosted):
    one = await producer(hosted)
    hosted.connection.principal = ALICE
    with pytest.raises(KafkaError) as refused:
        await add_offsets(hosted, one)
    assert refused.value.code is E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    await allow(hosted, ResourceType.TRANSACTIONAL_ID, ID)
    with pytest.raises(KafkaError) as refused:
        await add_offsets(hosted, one)
    assert refused.value.code is E.GROUP_AUTHORIZATION_FAILED
    await allow(hosted, ResourceType.GROUP, "g", AclOperation.READ)
    assert await add_offsets(hosted, one) == E.NONE


async def test_offsets_wait_until_the_coordinator_knows_their_topic(hosted):
    """Seed 262 of the simulator: a partition that is not known counts as deleted when its marker is
    due, and the transaction there hung for ever.
    """
    one = await producer(hosted)
    image = hosted.metadata_cache.image
    without = {name: topic for name, topic in image.topics.items() if name != OFFSETS_TOPIC}
    hosted.metadata_cache.replace(
        dataclasses.replace(image, topics=without, version=image.version + 1)
    )

    def made(message):
        name = message.topics[0].name
        return CreateTopicsResponse(topics=[CreatableTopicResult(name=name)])

    hosted.controller_client.answer = made
    with pytest.raises(KafkaError) as refused:
        await add_offsets(hosted, one)
    assert refused.value.code is E.COORDINATOR_LOAD_IN_PROGRESS
    assert [asked.topics[0].name for asked in hosted.controller_client.asked] == [OFFSETS_TOPIC]
    hosted.metadata_cache.replace(dataclasses.replace(image, version=image.version + 2))
    assert await add_offsets(hosted, one) == E.NONE


# -- EndTxn


@pytest.mark.parametrize("version", versions(ApiKey.END_TXN))
@pytest.mark.parametrize("commit", [True, False])
async def test_a_transaction_ends(hosted, version, commit):
    one = await producer(hosted)
    await add(hosted, one, t=[0])
    assert await end(hosted, one, version, commit=commit) == E.NONE
    await until_state(hosted, "CompleteCommit" if commit else "CompleteAbort")
    assert await end(hosted, one, version, commit=not commit) == E.INVALID_TXN_STATE


@pytest.mark.parametrize("version", versions(ApiKey.END_TXN))
async def test_ending_as_somebody_who_was_replaced(hosted, version):
    old = await producer(hosted)
    await producer(hosted)
    error = await end(hosted, old, version)
    assert error == (E.PRODUCER_FENCED if version >= 2 else E.INVALID_PRODUCER_EPOCH)


async def test_the_id_needs_a_grant(hosted):
    one = await producer(hosted)
    hosted.connection.principal = ALICE
    for asking in (init(hosted), end(hosted, one)):
        with pytest.raises(KafkaError) as refused:
            await asking
        assert refused.value.code is E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    hosted.connection.principal = ANONYMOUS
    assert hosted.transaction_coordinator.describe(ID).producer_epoch == 0
    await allow(hosted, ResourceType.TRANSACTIONAL_ID, ID)
    hosted.connection.principal = ALICE
    assert (await init(hosted)).producer_epoch == 1


async def test_idempotent_grants_open_no_transactional_id(hosted):
    await allow(hosted, ResourceType.CLUSTER, "kafka-cluster", AclOperation.IDEMPOTENT_WRITE)
    hosted.connection.principal = ALICE
    assert (await init(hosted, transactional_id=None)).error_code == E.NONE
    with pytest.raises(KafkaError):
        await init(hosted)


async def test_ids_of_idempotent_and_transactional_producers_are_apart(hosted):
    fresh = await init(hosted, transactional_id=None)
    made = await hosted.transaction_coordinator.init_producer_id(
        InitRequest(transactional_id=ID, timeout_ms=1000)
    )
    assert fresh.producer_id != made.producer_id
