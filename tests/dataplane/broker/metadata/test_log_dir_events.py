"""The notification that a log directory has failed."""

from __future__ import annotations

import json

from dataplane.broker.metadata.log_dir_events import decode_event, report_failure
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.ports.coordinator import ConnectionLossError
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from tests.dataplane.handlers.one_broker import OneBroker


async def test_each_failure_leaves_a_node_in_kafkas_form() -> None:
    coordinator = FakeZooKeeper().connect()
    await report_failure(coordinator, 7)
    await report_failure(coordinator, 7)
    names = await coordinator.children("/log_dir_event_notification")
    assert sorted(names) == ["log_dir_event_0000000000", "log_dir_event_0000000001"]
    data, _ = await coordinator.get(f"/log_dir_event_notification/{names[0]}")
    assert json.loads(data) == {"version": 1, "broker": 7, "event": 1}


async def test_a_lost_answer_does_not_lose_the_notification() -> None:
    coordinator = FakeZooKeeper().connect()
    coordinator.fail_next(ConnectionLossError())
    await report_failure(coordinator, 7)
    names = await coordinator.children("/log_dir_event_notification")
    data, _ = await coordinator.get(f"/log_dir_event_notification/{names[0]}")
    assert decode_event(data) == 7


async def test_a_replica_in_a_failed_directory_cannot_be_deleted() -> None:
    broker = OneBroker(log_dirs="/data,/more")
    broker.logs.on_directory_failure(lambda _path, lost: broker.replica_manager.lose(lost))
    broker.topic("t")
    tp = TopicPartition("t", 0)
    broker.logs.fail_directory(broker.logs.parent_dir_of(tp), OSError("gone"))
    stop = broker.replica_manager.stop_replica
    assert stop(tp, -2, delete=True) is ErrorCode.KAFKA_STORAGE_ERROR
    assert stop(tp, -2, delete=False) is ErrorCode.NONE
    await broker.stop()
