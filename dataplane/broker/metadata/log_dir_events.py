"""Notifies the controller that a log directory of this broker has failed, as Kafka does.

A sequential node under `/log_dir_event_notification`; the controller then asks the broker about
every replica, by LeaderAndIsr, and those in the failed directory answer KAFKA_STORAGE_ERROR
(`dataplane.broker.controller.log_dir_events`).
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from dataplane.broker.metadata.change_notifications import announce
from dataplane.cluster.znodes import LOG_DIR_EVENTS
from dataplane.ports.coordinator import CoordinatorError

if TYPE_CHECKING:
    from dataplane.ports.coordinator import Coordinator

_log = logging.getLogger(__name__)

PREFIX = f"{LOG_DIR_EVENTS}/log_dir_event_"
FAILED = 1


def decode_event(data: bytes) -> int:
    """The broker that reports. Raises ValueError, KeyError or TypeError for anything else."""
    return int(json.loads(data)["broker"])


async def report_failure(coordinator: Coordinator, broker_id: int) -> None:
    """Leave the notification. A coordinator that cannot be reached is only logged: when the session
    is lost with it, the next controller asks everybody anyway.
    """
    content = json.dumps({"version": 1, "broker": broker_id, "event": FAILED}).encode()
    try:
        await announce(coordinator, PREFIX, content)
    except CoordinatorError as error:
        _log.warning("the failed log directory could not be reported: %s", error)
