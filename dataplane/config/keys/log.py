"""Storage: directories, segments, retention, compaction, flushing."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from dataplane.config.key import ConfigKey, ConfigType
from dataplane.config.keys.declare import (
    CLUSTER,
    DAY_MS,
    INTERNAL,
    MAX_INT,
    MAX_LONG,
    MIB,
    TENANT,
    flag,
    hidden,
    long,
    names,
    number,
    ratio,
    text,
)
from dataplane.config.keys.versions import check_version

if TYPE_CHECKING:
    from dataplane.config.key import Value

COMPRESSIONS = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")


def check_gzip_level(value: Value) -> None:
    """0 would store the data as it is; Kafka refuses it."""
    if value == 0:
        raise ValueError("Value must be -1, the codec's own default, or 1 to 9")


KEYS = (
    text(
        "log.dir",
        "/tmp/kafka-logs",  # noqa: S108 - Kafka's default
        "The log directory when log.dirs is not set.",
        scope=INTERNAL,
    ),
    text("log.dirs", None, "Directories that hold the logs, comma separated.", scope=INTERNAL),
    number(
        "log.segment.bytes",
        1 << 30,
        "Size at which a segment is rolled.",
        least=14,
        dynamic=CLUSTER,
        scope=TENANT,
        tenant_least=MIB,
    ),
    long(
        "log.roll.ms",
        None,
        "Age at which a segment is rolled; overrides log.roll.hours.",
        least=1,
        dynamic=CLUSTER,
        scope=TENANT,
        tenant_least=60_000,
    ),
    number("log.roll.hours", 168, "Age at which a segment is rolled.", least=1, scope=TENANT),
    long(
        "log.roll.jitter.ms",
        None,
        "Random reduction of the rolling age.",
        least=0,
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    number(
        "log.roll.jitter.hours", 0, "Random reduction of the rolling age.", least=0, scope=TENANT
    ),
    long(
        "log.retention.ms",
        None,
        "Age at which data goes; -1 never. Overrides minutes and hours.",
        dynamic=CLUSTER,
        scope=TENANT,
        tenant_least=-1,
    ),
    number(
        "log.retention.minutes",
        None,
        "Age at which data goes; overrides hours.",
        scope=TENANT,
        tenant_least=-1,
    ),
    number("log.retention.hours", 168, "Age at which data goes.", scope=TENANT, tenant_least=-1),
    long(
        "log.retention.bytes",
        -1,
        "Size of a partition beyond which the oldest data goes.",
        dynamic=CLUSTER,
        scope=TENANT,
        tenant_least=-1,
    ),
    long("log.retention.check.interval.ms", 300_000, "How often retention is applied.", least=1),
    names(
        "log.cleanup.policy",
        ("delete",),
        "delete, compact, or both.",
        choices=("compact", "delete"),
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    flag("log.cleaner.enable", True, "Whether compaction runs."),
    number("log.cleaner.threads", 1, "Compaction workers.", least=0, dynamic=CLUSTER),
    long(
        "log.cleaner.dedupe.buffer.size",
        128 * MIB,
        "Memory for compaction's key map.",
        dynamic=CLUSTER,
    ),
    number(
        "log.cleaner.io.buffer.size",
        512 * 1024,
        "Memory for compaction's reads and writes.",
        least=0,
        dynamic=CLUSTER,
    ),
    ratio(
        "log.cleaner.io.buffer.load.factor", 0.9, "How full the key map may get.", dynamic=CLUSTER
    ),
    ratio(
        "log.cleaner.io.max.bytes.per.second",
        1.7976931348623157e308,
        "Throttle of compaction.",
        most=1.7976931348623157e308,
        dynamic=CLUSTER,
    ),
    ConfigKey(
        "penstock.log.cleaner.share",
        ConfigType.DOUBLE,
        0.5,
        "Share of the time that compaction may work while it has something to do.",
        lowest=0.01,
        highest=1.0,
        dynamic=CLUSTER,
    ),
    long(
        "log.cleaner.backoff.ms",
        15_000,
        "Pause when there is nothing to compact.",
        least=0,
        dynamic=CLUSTER,
    ),
    ratio(
        "log.cleaner.min.cleanable.ratio",
        0.5,
        "Dirty share from which a log is compacted.",
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    long(
        "log.cleaner.delete.retention.ms",
        DAY_MS,
        "How long tombstones stay.",
        least=0,
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    long(
        "log.cleaner.min.compaction.lag.ms",
        0,
        "How long a record stays uncompacted.",
        least=0,
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    long(
        "log.cleaner.max.compaction.lag.ms",
        MAX_LONG,
        "When a record must have been compacted.",
        least=1,
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    number(
        "log.index.size.max.bytes",
        10 * MIB,
        "Largest offset index.",
        least=4,
        dynamic=CLUSTER,
        scope=TENANT,
        tenant_least=4096,
        tenant_most=100 * MIB,
    ),
    number(
        "log.index.interval.bytes",
        4096,
        "Bytes of log per index entry.",
        least=0,
        dynamic=CLUSTER,
        scope=TENANT,
        tenant_least=256,
    ),
    long(
        "log.flush.interval.messages",
        MAX_LONG,
        "Records after which a log is flushed.",
        least=1,
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    long(
        "log.flush.interval.ms",
        None,
        "Age of unflushed records; default: the scheduler's interval.",
        dynamic=CLUSTER,
        scope=TENANT,
        tenant_least=0,
    ),
    long("log.flush.scheduler.interval.ms", MAX_LONG, "How often flushing is considered."),
    number(
        "log.flush.offset.checkpoint.interval.ms",
        60_000,
        "How often recovery points are saved.",
        least=0,
    ),
    number(
        "log.flush.start.offset.checkpoint.interval.ms",
        60_000,
        "How often start offsets are saved.",
        least=0,
    ),
    long(
        "log.segment.delete.delay.ms",
        60_000,
        "How long deleted files stay on disk.",
        least=0,
        dynamic=CLUSTER,
        scope=TENANT,
        tenant_most=DAY_MS,
    ),
    hidden(long("log.initial.task.delay.ms", 30_000, "Pause before housekeeping starts.", least=0)),
    flag(
        "log.preallocate",
        False,
        "Without effect here: segments are never preallocated.",
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    text(
        "log.message.timestamp.type",
        "CreateTime",
        "Whose clock stamps records.",
        choices=("CreateTime", "LogAppendTime"),
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    long(
        "log.message.timestamp.difference.max.ms",
        MAX_LONG,
        "Superseded by the two keys below.",
        least=0,
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    long(
        "log.message.timestamp.before.max.ms",
        MAX_LONG,
        "How far behind the broker's clock a record may be.",
        least=0,
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    long(
        "log.message.timestamp.after.max.ms",
        MAX_LONG,
        "How far ahead of the broker's clock a record may be.",
        least=0,
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    dataclasses.replace(
        text(
            "log.message.format.version",
            "3.0-IV1",
            "Without effect here: only record format 2 is written.",
            scope=TENANT,
        ),
        check=check_version,
    ),
    flag(
        "log.message.downconversion.enable",
        True,
        "Whether clients before Kafka 0.11 are served, whose records are converted for them.",
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    number(
        "message.max.bytes",
        1_048_588,
        "The largest record batch.",
        least=0,
        dynamic=CLUSTER,
        scope=TENANT,
        tenant_most=100 * MIB,
    ),
    text(
        "compression.type",
        "producer",
        "Codec of the log; producer keeps the client's.",
        choices=COMPRESSIONS,
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    dataclasses.replace(
        number(
            "compression.gzip.level",
            -1,
            "Level of gzip.",
            least=-1,
            most=9,
            dynamic=CLUSTER,
            scope=TENANT,
        ),
        check=check_gzip_level,
    ),
    number(
        "compression.lz4.level", 9, "Level of lz4.", least=1, most=17, dynamic=CLUSTER, scope=TENANT
    ),
    number(
        "compression.zstd.level",
        3,
        "Level of zstd.",
        least=-131_072,
        most=22,
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    number(
        "num.recovery.threads.per.data.dir",
        1,
        "Workers that recover logs at start.",
        least=1,
        dynamic=CLUSTER,
    ),
    long(
        "log.local.retention.ms",
        -2,
        "Without effect here: there is no tiered storage.",
        least=-2,
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    long(
        "log.local.retention.bytes",
        -2,
        "Without effect here: there is no tiered storage.",
        least=-2,
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    number(
        "producer.id.expiration.ms",
        DAY_MS,
        "How long an idle producer's state is kept.",
        least=1,
        most=MAX_INT,
        dynamic=CLUSTER,
    ),
    hidden(
        number(
            "producer.id.expiration.check.interval.ms",
            600_000,
            "How often producer state is checked.",
            least=1,
        )
    ),
)

_RETENTION = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
_ROLL = ("log.roll.ms", "log.roll.hours")
_JITTER = ("log.roll.jitter.ms", "log.roll.jitter.hours")
SYNONYMS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_RETENTION, _RETENTION),
    **dict.fromkeys(_ROLL, _ROLL),
    **dict.fromkeys(_JITTER, _JITTER),
    "log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
}
"""Broker keys that mean the same in other units, the strongest first."""
