"""LeaderAndIsr and StopReplica: roles are taken up, given up, and old words are refused."""

import asyncio
import uuid

import pytest

from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from dataplane.wire.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker, batch
from tests.waiting import until

TOPIC_ID = uuid.UUID(int=42)


def roles(
    leader: int = ME,
    *,
    topic: str = "t",
    partition: int = 0,
    epoch: int = 0,
    controller_epoch: int = 1,
    broker_epoch: int = 7,
    topic_id: uuid.UUID = TOPIC_ID,
    replicas: tuple[int, ...] = (ME, PEER),
) -> LeaderAndIsrRequest:
    state = LeaderAndIsrPartitionState(
        topic_name=topic,
        partition_index=partition,
        leader=leader,
        leader_epoch=epoch,
        partition_epoch=epoch,
        isr=list(replicas),
        replicas=list(replicas),
        is_new=epoch == 0,
    )
    return LeaderAndIsrRequest(
        controller_id=ME,
        controller_epoch=controller_epoch,
        broker_epoch=broker_epoch,
        ungrouped_partition_states=[state],
        topic_states=[
            LeaderAndIsrTopicState(topic_name=topic, topic_id=topic_id, partition_states=[state])
        ],
    )


def stop(*, epoch: int = 0, delete: bool = True, controller_epoch: int = 1) -> StopReplicaRequest:
    state = StopReplicaPartitionState(
        partition_index=0, leader_epoch=epoch, delete_partition=delete
    )
    return StopReplicaRequest(
        controller_epoch=controller_epoch,
        broker_epoch=7,
        topic_states=[StopReplicaTopicState(topic_name="t", partition_states=[state])],
    )


def error_of(response) -> int:
    return response.topics[0].partition_errors[0].error_code


@pytest.mark.parametrize("version", [1, 2, 4, 5, 7])
async def test_a_role_is_taken_up_in_every_shape(broker: OneBroker, version: int) -> None:
    response = await broker.ask(roles(), version)
    assert response.error_code == 0
    assert broker.partition("t").is_leader


async def test_leadership_moves_and_is_announced(broker: OneBroker) -> None:
    heard = []
    broker.replica_manager.on_leadership(
        lambda tp, leads, epoch: heard.append((str(tp), leads, epoch))
    )
    await broker.ask(roles(), 7)
    await broker.ask(roles(PEER, epoch=1), 7)
    assert heard == [("t-0", True, 0), ("t-0", False, 1)]
    assert not broker.partition("t").is_leader


async def test_an_older_leader_epoch_is_refused(broker: OneBroker) -> None:
    await broker.ask(roles(epoch=5), 7)
    assert error_of(await broker.ask(roles(PEER, epoch=4), 7)) == ErrorCode.STALE_CONTROLLER_EPOCH
    assert broker.partition("t").leader_epoch == 5


async def test_a_deposed_controller_and_an_earlier_life_are_refused(broker: OneBroker) -> None:
    await broker.ask(roles(controller_epoch=3), 7)
    old = await broker.ask(roles(PEER, epoch=1, controller_epoch=2), 7)
    assert old.error_code == ErrorCode.STALE_CONTROLLER_EPOCH
    earlier = await broker.ask(roles(PEER, epoch=1, controller_epoch=3, broker_epoch=6), 7)
    assert earlier.error_code == ErrorCode.STALE_BROKER_EPOCH
    assert broker.partition("t").is_leader


@pytest.mark.parametrize(
    ("topic", "partition"),
    [
        ("../victim/orders", 0),
        ("/victim/orders", 0),
        ("a/../../victim/orders", 0),
        ("a\0b", 0),
        ("a\nb", 0),
        ("\uff0e\uff0e\u2215victim", 0),
        ("", 0),
        ("a" * 250, 0),
        ("t", -1),
    ],
)
async def test_no_name_leads_out_of_the_log_directory(broker: OneBroker, topic, partition):
    broker.fs.make_dirs("/victim/orders-0")
    before = broker.fs.list_dir("/data"), broker.fs.list_dir("/victim/orders-0")
    answer = await broker.ask(roles(topic=topic, partition=partition), 7)
    assert error_of(answer) == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert broker.logs.all() == {}
    assert (broker.fs.list_dir("/data"), broker.fs.list_dir("/victim/orders-0")) == before


async def test_another_topic_of_the_same_name_is_refused(broker: OneBroker) -> None:
    await broker.ask(roles(), 7)
    other = await broker.ask(roles(epoch=1, topic_id=uuid.UUID(int=43)), 7)
    assert error_of(other) == ErrorCode.INCONSISTENT_TOPIC_ID


async def test_a_topic_starts_with_its_own_settings(broker: OneBroker) -> None:
    await broker.coordinator.create(
        "/config/topics/t",
        b'{"version":1,"config":{"max.message.bytes":"200","min.insync.replicas":"2"}}',
        make_parents=True,
    )
    await broker.ask(roles(), 7)
    partition = broker.partition("t")
    assert partition.min_isr == 2
    assert partition.log.config.max_message_bytes == 200


async def test_a_replica_is_stopped_and_its_log_deleted(broker: OneBroker) -> None:
    await broker.ask(roles(), 7)
    broker.partition("t").append_now(bytearray(batch("a")), 1)
    response = await broker.ask(stop(delete=False), 4)
    assert response.partition_errors[0].error_code == 0
    assert not broker.partition("t").is_leader
    assert broker.logs.get(broker.partition("t").topic_partition) is not None
    await broker.ask(stop(epoch=-2), 4)
    assert broker.partition("t") is None
    assert broker.logs.all() == {}


async def test_stopping_with_an_old_epoch_is_refused(broker: OneBroker) -> None:
    await broker.ask(roles(epoch=5), 7)
    response = await broker.ask(stop(epoch=4), 4)
    assert response.partition_errors[0].error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert broker.partition("t").is_leader


async def test_a_full_command_sets_aside_what_it_does_not_name(broker: OneBroker) -> None:
    broker.topic("gone", partitions=2)
    broker.partition("gone").append_now(bytearray(batch("kept")), 1)
    request = roles()
    request.type = 2
    await broker.ask(request, 7)
    assert [str(tp) for tp in broker.logs.all()] == ["t-0"]
    assert broker.partition("gone") is None
    names = broker.fs.list_dir("/data")
    assert [name[:6] for name in names if name.endswith("-stray")] == ["gone-0"]
    deleted = [name[:6] for name in names if name.endswith("-delete")]
    assert deleted == ["gone-1"], "it never held a record: there is nothing to look at"


async def test_stopping_what_is_not_here_is_no_error(broker: OneBroker) -> None:
    response = await broker.ask(stop(), 4)
    assert response.partition_errors[0].error_code == 0


async def test_a_role_that_a_full_disk_refused_is_taken_up_when_there_is_space(
    broker: OneBroker,
) -> None:
    """Nobody else may lead when this was the last replica in sync: to give up would be for good."""
    await broker.ask(roles(leader=PEER), 7)
    broker.fs.capacity_bytes = 0
    assert error_of(await broker.ask(roles(epoch=1), 7)) == ErrorCode.KAFKA_STORAGE_ERROR
    assert not broker.partition("t").is_leader
    assert broker.partition("t").leader_epoch == 0
    broker.replica_manager.take_up_owed_roles()
    assert not broker.partition("t").is_leader
    broker.fs.capacity_bytes = 1 << 50
    broker.replica_manager.take_up_owed_roles()
    assert broker.partition("t").is_leader
    assert broker.partition("t").leader_epoch == 1


async def test_an_owed_role_does_not_come_back_after_a_newer_word(broker: OneBroker) -> None:
    await broker.ask(roles(leader=PEER), 7)
    broker.fs.capacity_bytes = 0
    await broker.ask(roles(epoch=1), 7)
    broker.fs.capacity_bytes = 1 << 50
    await broker.ask(roles(leader=PEER, epoch=2), 7)
    broker.replica_manager.take_up_owed_roles()
    assert not broker.partition("t").is_leader
    assert broker.partition("t").leader_epoch == 2


async def test_a_command_for_an_earlier_life_is_refused_before_registration(
    broker: OneBroker,
) -> None:
    broker.lifecycle.broker_epoch = 8  # the floor, above the earlier registration's 7
    assert (await broker.ask(roles(broker_epoch=7), 7)).error_code == ErrorCode.STALE_BROKER_EPOCH
    assert (await broker.ask(roles(broker_epoch=9), 7)).error_code == ErrorCode.NONE


# -- commands that arrive late --------------------------------------------------------------------


def role_of(broker: OneBroker):
    partition = broker.partition("t")
    return None if partition is None else partition.leader_epoch


@pytest.mark.parametrize("epoch", [0, 3, 9])
async def test_a_role_that_comes_after_the_deletion_makes_no_replica(
    broker: OneBroker, epoch: int
) -> None:
    await broker.ask(roles(epoch=3), 7)
    await broker.ask(stop(epoch=-2), 4)
    late = await broker.ask(roles(epoch=epoch), 7)
    assert error_of(late) == ErrorCode.STALE_CONTROLLER_EPOCH
    assert role_of(broker) is None
    assert broker.logs.all() == {}
    again = await broker.ask(roles(topic_id=uuid.UUID(int=43)), 7)
    assert error_of(again) == ErrorCode.NONE


async def test_a_role_older_than_the_removal_makes_no_replica_and_a_newer_one_does(
    broker: OneBroker,
) -> None:
    """A reassignment took the replica away in epoch 4; another one may bring it back in 5."""
    await broker.ask(roles(PEER, epoch=3), 7)
    await broker.ask(stop(epoch=4), 4)
    for late in (3, 4):
        assert error_of(await broker.ask(roles(PEER, epoch=late), 7)) != ErrorCode.NONE
        assert role_of(broker) is None
    assert error_of(await broker.ask(roles(PEER, epoch=5), 7)) == ErrorCode.NONE
    assert role_of(broker) == 5


async def test_a_later_controller_may_ask_for_the_replica_again(broker: OneBroker) -> None:
    await broker.ask(roles(epoch=3), 7)
    await broker.ask(stop(epoch=-2), 4)
    assert error_of(await broker.ask(roles(epoch=3, controller_epoch=2), 7)) == ErrorCode.NONE


async def test_a_role_that_waited_for_its_settings_does_not_outlive_the_deletion(
    broker: OneBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first copy waits for ZooKeeper; the second, on another connection, is faster."""
    resume, slow = asyncio.Event(), [True]
    reload_topics = broker.configs.reload_topics

    async def reload(topics: set[str]) -> None:
        if slow and slow.pop():
            await resume.wait()
        await reload_topics(topics)

    monkeypatch.setattr(broker.configs, "reload_topics", reload)
    first = asyncio.create_task(broker.ask(roles(), 7))
    await until(lambda: not slow)
    assert error_of(await broker.ask(roles(), 7)) == ErrorCode.NONE
    await broker.ask(stop(epoch=-2), 4)
    resume.set()
    assert error_of(await first) == ErrorCode.STALE_CONTROLLER_EPOCH
    assert role_of(broker) is None
    assert broker.logs.all() == {}


# -- strays ---------------------------------------------------------------------------------------


async def test_a_replica_of_another_topic_of_the_name_is_set_aside(broker: OneBroker) -> None:
    """It was moved away while this broker was gone; then its topic was deleted and made again."""
    await broker.ask(roles(), 7)
    broker.partition("t").append_now(bytearray(batch("kept")), 1)
    request = roles(topic_id=uuid.UUID(int=43))
    request.type = 2
    assert error_of(await broker.ask(request, 7)) == ErrorCode.NONE
    assert broker.partition("t").topic_id == uuid.UUID(int=43)
    aside = [name for name in broker.fs.list_dir("/data") if name.endswith("-stray")]
    assert len(aside) == 1


async def test_a_full_command_ends_roles_that_it_does_not_name(broker: OneBroker) -> None:
    broker.fs.capacity_bytes = 0
    assert error_of(await broker.ask(roles(PEER), 7)) == ErrorCode.KAFKA_STORAGE_ERROR
    broker.fs.capacity_bytes = 1 << 50
    request = LeaderAndIsrRequest(controller_id=ME, controller_epoch=1, broker_epoch=7, type=2)
    await broker.ask(request, 7)
    broker.replica_manager.take_up_owed_roles()
    assert role_of(broker) is None
    assert broker.logs.all() == {}
