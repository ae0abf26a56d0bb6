"""The notification that a log directory has failed."""

from __future__ import annotations

import json

from dataplane.broker.log_dir_events import report_failure
from dataplane.ports.fakes.coordinator import FakeZooKeeper


async def test_each_failure_leaves_a_node_in_kafkas_form() -> None:
    coordinator = FakeZooKeeper().connect()
    await report_failure(coordinator, 7)
    await report_failure(coordinator, 7)
    names = await coordinator.children("/log_dir_event_notification")
    assert sorted(names) == ["log_dir_event_0000000000", "log_dir_event_0000000001"]
    data, _ = await coordinator.get(f"/log_dir_event_notification/{names[0]}")
    assert json.loads(data) == {"version": 1, "broker": 7, "event": 1}
