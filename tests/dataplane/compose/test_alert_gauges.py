"""What alert rules ask: late transactions, disks, the audit log's file."""

from __future__ import annotations

import functools
import logging
from pathlib import Path

import pytest

from dataplane.broker.metrics import Metrics
from dataplane.broker.security.audit_log import LOGGER
from dataplane.compose import alert_gauges
from dataplane.runtime.log_file import AppendedLog, LogFile
from dataplane.wire.record_batch import NewRecord, build_batch
from tests.dataplane.handlers.one_broker import OneBroker
from tests.dataplane.handlers.test_fetch import end
from tests.metrics_table import sample

MAX_TIMEOUT_MS = 900_000
LATE = "kafka_server_replicamanager_partitionswithlatetransactionscount"
PRODUCERS = "kafka_server_replicamanager_produceridcount"


def write(broker: OneBroker, producer_id: int, *, transactional: bool, sequence: int = 0) -> None:
    """A record of now."""
    record = NewRecord(None, b"v", (), timestamp_ms=broker.clock.realtime_ms())
    batch = build_batch(
        [record],
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=sequence,
        is_transactional=transactional,
    )
    origin = "transaction" if transactional else "client"
    broker.partition("t").append_now(bytearray(batch), 1, origin=origin)


async def test_a_transaction_is_late_five_minutes_after_any_coordinator_ends_it() -> None:
    broker = OneBroker()
    alert_gauges.register_producers(
        broker.metrics, broker.replica_manager, broker.configs, broker.clock
    )
    read = functools.partial(sample, broker.metrics)
    broker.topic("t")
    write(broker, 9, transactional=False)
    assert (read(LATE), read(PRODUCERS)) == (0, 1)
    write(broker, 5, transactional=True)
    assert (read(LATE), read(PRODUCERS)) == (0, 2)
    broker.clock.advance(MAX_TIMEOUT_MS + 300_000)
    assert read(LATE) == 0
    broker.clock.advance(1)
    assert read(LATE) == 1
    write(broker, 5, transactional=True, sequence=1)
    assert read(LATE) == 0, "somebody is still at it"
    broker.clock.advance(MAX_TIMEOUT_MS + 300_001)
    assert read(LATE) == 1
    end(broker, 5, commits=False)
    assert (read(LATE), read(PRODUCERS)) == (0, 2)
    await broker.stop()


async def test_a_directory_whose_disk_does_not_answer_is_left_out() -> None:
    broker = OneBroker()
    alert_gauges.register_disks(broker.metrics, broker.logs)
    read = functools.partial(sample, broker.metrics, labels={"dir": "/data"})
    broker.fs.capacity_bytes = 1 << 20
    free = broker.fs.free_bytes()
    assert 0 < free <= 1 << 20
    assert read("penstock_log_dir_total_bytes") == 1 << 20
    assert read("penstock_log_dir_usable_bytes") == free
    broker.fs.fail("usage", "/data", times=9)
    assert read("penstock_log_dir_usable_bytes") is None
    await broker.stop()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_line_that_the_audit_log_cannot_write_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)  # it is counted; no need to print it
    metrics = Metrics()
    alert_gauges.register_audit(metrics)
    full = tmp_path / "audit.log"
    full.symlink_to("/dev/full")
    handler = AppendedLog(LogFile(full))
    logger = logging.getLogger(LOGGER)
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        assert sample(metrics, "penstock_audit_write_failures_total") == 0
        logger.info("lost")
        assert sample(metrics, "penstock_audit_write_failures_total") == 1
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
