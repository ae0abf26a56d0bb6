"""Replicas that move between log directories, and directories that fail, as clients see it."""

from __future__ import annotations

import pytest

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from dataplane.wire.messages.describe_log_dirs import DescribeLogDirsRequest
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker, batch
from tests.dataplane.handlers.test_roles import roles, stop
from tests.waiting import until


@pytest.fixture
async def broker():
    started = OneBroker(log_dirs="/data,/more")
    yield started
    await started.stop()


async def move(broker: OneBroker, topic: str, path: str, version: int = 2) -> int:
    wanted = AlterReplicaLogDirTopic(name=topic, partitions=[0])
    request = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=[wanted])])
    answer = await broker.ask(request, version)
    return answer.results[0].partitions[0].error_code


async def described(broker: OneBroker) -> dict[str, list[tuple[bool, int, int]]]:
    answer = await broker.ask(DescribeLogDirsRequest(topics=None), 4)
    return {
        result.log_dir: [
            (p.is_future_key, p.partition_size, p.offset_lag)
            for topic in result.topics
            for p in topic.partitions
        ]
        for result in answer.results
    }


@pytest.mark.parametrize("version", range(3))
async def test_a_replica_moves_and_serves_on(broker: OneBroker, version: int) -> None:
    broker.topic("t")
    partition = broker.partition("t")
    size = len(batch("a", "b"))
    partition.append_now(bytearray(batch("a", "b")), 1)
    broker.logs.future_replicas.begin(TopicPartition("t", 0), "/more")
    assert await described(broker) == {"/data": [(False, size, 0)], "/more": [(True, 0, 2)]}
    assert await move(broker, "t", "/more", version) == 0
    await until(lambda: not broker.logs.future_replicas.is_busy)
    assert await described(broker) == {"/data": [], "/more": [(False, size, 0)]}
    assert partition.log is broker.logs.get(TopicPartition("t", 0))
    assert partition.append_now(bytearray(batch("c")), 1).base_offset == 2
    assert partition.log.directory == "/more/t-0"


async def test_refusals(broker: OneBroker) -> None:
    broker.topic("t")
    assert await move(broker, "t", "/nowhere") == ErrorCode.LOG_DIR_NOT_FOUND
    assert await move(broker, "unknown", "/more") == ErrorCode.REPLICA_NOT_AVAILABLE


async def test_without_a_right_to_the_cluster_nothing_moves() -> None:
    broker = OneBroker(
        log_dirs="/data,/more",
        authorizer_class_name="kafka.security.authorizer.AclAuthorizer",
    )
    broker.topic("t")
    assert await move(broker, "t", "/more") == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert not broker.logs.future_replicas.is_busy
    await broker.stop()


async def test_a_failed_directory_takes_its_replicas_offline_and_no_others(
    broker: OneBroker,
) -> None:
    broker.logs.on_directory_failure(lambda _path, lost: broker.replica_manager.lose(lost))
    broker.topic("t")
    broker.topic("u")
    broker.fs.fail("append", "/data/t-0/")
    with pytest.raises(KafkaError):
        broker.partition("t").append_now(bytearray(batch("a")), 1)
    with pytest.raises(KafkaError) as caught:
        broker.replica_manager.leader(TopicPartition("t", 0))
    assert caught.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    broker.partition("u").append_now(bytearray(batch("a")), 1)
    state = broker.partition("t").state
    error = broker.replica_manager.apply_state(
        TopicPartition("t", 0), broker.ids["t"], state, is_new=False
    )
    assert error == ErrorCode.KAFKA_STORAGE_ERROR, "so the controller learns of it"
    answer = await broker.ask(DescribeLogDirsRequest(topics=None), 4)
    errors = {result.log_dir: result.error_code for result in answer.results}
    assert errors == {"/data": ErrorCode.KAFKA_STORAGE_ERROR, "/more": 0}
    assert await move(broker, "u", "/data") == ErrorCode.KAFKA_STORAGE_ERROR


async def test_a_follower_that_moves_is_fetched_into_its_new_log(broker: OneBroker) -> None:
    broker.topic("t", leader=PEER, replicas=(ME, PEER))
    assert await move(broker, "t", "/more") == 0
    await until(lambda: not broker.logs.future_replicas.is_busy)
    assert broker.partition("t").log.directory == "/more/t-0"


async def stopped(broker: OneBroker) -> int:
    """The answer to the deletion of `t`."""
    return (await broker.ask(stop(epoch=-2), 4)).partition_errors[0].error_code


def break_directory(broker: OneBroker, path: str) -> None:
    broker.logs.fail_directory(broker.logs.live_directory(path), OSError(5, "it broke"))


async def test_what_may_lie_in_a_failed_directory_is_not_called_deleted(broker: OneBroker) -> None:
    """As after a start with a directory that cannot be read: its logs are not known, and come back."""
    break_directory(broker, "/more")
    assert await stopped(broker) == ErrorCode.KAFKA_STORAGE_ERROR


async def test_what_was_never_here_is_deleted_where_every_directory_is_read(
    broker: OneBroker,
) -> None:
    assert await stopped(broker) == 0


async def test_what_was_deleted_before_a_directory_failed_stays_deleted(broker: OneBroker) -> None:
    """The command travels again when its connection broke; its answer must not change."""
    await broker.ask(roles(), 7)
    assert await stopped(broker) == 0
    break_directory(broker, "/more")
    assert await stopped(broker) == 0


async def test_a_log_in_a_live_directory_is_deleted_beside_a_failed_one(broker: OneBroker) -> None:
    await broker.ask(roles(), 7)
    directory = broker.partition("t").log.directory.rpartition("/")[0]
    break_directory(broker, {"/data": "/more", "/more": "/data"}[directory])
    assert await stopped(broker) == 0
    assert broker.partition("t") is None


async def test_a_log_that_cannot_be_renamed_is_not_called_deleted(broker: OneBroker) -> None:
    await broker.ask(roles(), 7)
    broker.fs.fail("rename", broker.partition("t").log.directory)
    assert await stopped(broker) == ErrorCode.KAFKA_STORAGE_ERROR
    assert await stopped(broker) == ErrorCode.KAFKA_STORAGE_ERROR, "asked again, it says the same"
