"""Tells the controller that a log directory of this broker has failed, as Kafka does.

A sequential node under `/log_dir_event_notification`; the controller then asks the broker about
every replica, by LeaderAndIsr, and those in the failed directory answer KAFKA_STORAGE_ERROR.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from dataplane.ports.coordinator import CoordinatorError

if TYPE_CHECKING:
    from dataplane.ports.coordinator import Coordinator

_log = logging.getLogger(__name__)

PREFIX = "/log_dir_event_notification/log_dir_event_"
FAILED = 1


async def report_failure(coordinator: Coordinator, broker_id: int) -> None:
    """Leave the notification. A coordinator that cannot be reached is only logged."""
    content = json.dumps({"version": 1, "broker": broker_id, "event": FAILED}).encode()
    try:
        await coordinator.create(PREFIX, content, sequential=True, make_parents=True)
    except CoordinatorError as error:
        _log.warning("the failed log directory could not be reported: %s", error)
