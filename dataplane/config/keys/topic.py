"""Topic keys, each with the broker key that holds its default."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from dataplane.config.key import ConfigKey, ConfigType
from dataplane.config.keys.declare import (
    DAY_MS,
    INTERNAL,
    MAX_LONG,
    MIB,
    TENANT,
    flag,
    long,
    names,
    number,
    ratio,
    scoped,
    text,
)
from dataplane.config.keys.log import COMPRESSIONS, check_gzip_level
from dataplane.config.keys.versions import check_version

if TYPE_CHECKING:
    from dataplane.config.key import Value

_THROTTLED = re.compile(r"\d+:\d+")


def _check_throttled(value: Value) -> None:
    items = value if isinstance(value, tuple) else ()
    if items == ("*",) or all(_THROTTLED.fullmatch(item) for item in items):
        return
    raise ValueError("Value must be * or a list of partition:broker pairs")


def _throttled(name: str, doc: str) -> ConfigKey:
    """A reassignment sets it and takes it away again."""
    return ConfigKey(name, ConfigType.LIST, (), doc, check=_check_throttled, scope=INTERNAL)


_THROTTLES = (
    _throttled("follower.replication.throttled.replicas", "Replicas whose fetching is throttled."),
    _throttled("leader.replication.throttled.replicas", "Replicas whose sending is throttled."),
)
_SETTINGS = scoped(
    TENANT,
    names(
        "cleanup.policy", ("delete",), "delete, compact, or both.", choices=("compact", "delete")
    ),
    text(
        "compression.type",
        "producer",
        "Codec of the log; producer keeps the client's.",
        choices=COMPRESSIONS,
    ),
    dataclasses.replace(
        number("compression.gzip.level", -1, "Level of gzip.", least=-1, most=9),
        check=check_gzip_level,
    ),
    number("compression.lz4.level", 9, "Level of lz4.", least=1, most=17),
    number("compression.zstd.level", 3, "Level of zstd.", least=-131_072, most=22),
    long("delete.retention.ms", DAY_MS, "How long tombstones stay after compaction.", least=0),
    long("file.delete.delay.ms", 60_000, "How long deleted files stay on disk.", least=0),
    long("flush.messages", MAX_LONG, "Records after which the log is flushed.", least=1),
    long("flush.ms", MAX_LONG, "Age of unflushed records at which the log is flushed.", least=0),
    number("index.interval.bytes", 4096, "Bytes of log per index entry.", least=0),
    long("local.retention.bytes", -2, "Without effect here: there is no tiered storage.", least=-2),
    long("local.retention.ms", -2, "Without effect here: there is no tiered storage.", least=-2),
    long("max.compaction.lag.ms", MAX_LONG, "When a record must have been compacted.", least=1),
    number("max.message.bytes", 1_048_588, "The largest record batch.", least=0),
    flag(
        "message.downconversion.enable",
        True,
        "Whether clients before Kafka 0.11 are served, whose records are converted for them.",
    ),
    dataclasses.replace(
        text(
            "message.format.version",
            "3.0-IV1",
            "Without effect here: only record format 2 is written.",
        ),
        check=check_version,
    ),
    long(
        "message.timestamp.after.max.ms",
        MAX_LONG,
        "How far ahead of the broker's clock a record may be.",
        least=0,
    ),
    long(
        "message.timestamp.before.max.ms",
        MAX_LONG,
        "How far behind the broker's clock a record may be.",
        least=0,
    ),
    long(
        "message.timestamp.difference.max.ms",
        MAX_LONG,
        "Superseded by the two keys above.",
        least=0,
    ),
    text(
        "message.timestamp.type",
        "CreateTime",
        "Whose clock stamps records.",
        choices=("CreateTime", "LogAppendTime"),
    ),
    ratio("min.cleanable.dirty.ratio", 0.5, "Dirty share from which the log is compacted."),
    long("min.compaction.lag.ms", 0, "How long a record stays uncompacted.", least=0),
    number("min.insync.replicas", 1, "In-sync replicas that acks=all needs.", least=1),
    flag("preallocate", False, "Without effect here: segments are never preallocated."),
    flag("remote.log.copy.disable", False, "Without effect here: there is no tiered storage."),
    flag("remote.log.delete.on.disable", False, "Without effect here: there is no tiered storage."),
    flag("remote.storage.enable", False, "Without effect here: there is no tiered storage."),
    long(
        "retention.bytes", -1, "Size of a partition beyond which the oldest data goes; -1 is none."
    ),
    long("retention.ms", 7 * DAY_MS, "Age at which data goes; -1 is never.", least=-1),
    number("segment.bytes", 1 << 30, "Size at which a segment is rolled.", least=14),
    number("segment.index.bytes", 10 * MIB, "Largest offset index.", least=4),
    long("segment.jitter.ms", 0, "Random reduction of the rolling age.", least=0),
    long("segment.ms", 7 * DAY_MS, "Age at which a segment is rolled.", least=1),
    flag(
        "unclean.leader.election.enable",
        False,
        "Whether a replica out of sync may lead when none is in sync.",
    ),
)
KEYS = (*_SETTINGS, *_THROTTLES)

SYNONYMS: dict[str, tuple[tuple[str, int], ...]] = {
    "cleanup.policy": (("log.cleanup.policy", 1),),
    "compression.type": (("compression.type", 1),),
    "compression.gzip.level": (("compression.gzip.level", 1),),
    "compression.lz4.level": (("compression.lz4.level", 1),),
    "compression.zstd.level": (("compression.zstd.level", 1),),
    "delete.retention.ms": (("log.cleaner.delete.retention.ms", 1),),
    "file.delete.delay.ms": (("log.segment.delete.delay.ms", 1),),
    "flush.messages": (("log.flush.interval.messages", 1),),
    "flush.ms": (("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)),
    "index.interval.bytes": (("log.index.interval.bytes", 1),),
    "local.retention.bytes": (("log.local.retention.bytes", 1),),
    "local.retention.ms": (("log.local.retention.ms", 1),),
    "max.compaction.lag.ms": (("log.cleaner.max.compaction.lag.ms", 1),),
    "max.message.bytes": (("message.max.bytes", 1),),
    "message.downconversion.enable": (("log.message.downconversion.enable", 1),),
    "message.format.version": (("log.message.format.version", 1),),
    "message.timestamp.after.max.ms": (("log.message.timestamp.after.max.ms", 1),),
    "message.timestamp.before.max.ms": (("log.message.timestamp.before.max.ms", 1),),
    "message.timestamp.difference.max.ms": (("log.message.timestamp.difference.max.ms", 1),),
    "message.timestamp.type": (("log.message.timestamp.type", 1),),
    "min.cleanable.dirty.ratio": (("log.cleaner.min.cleanable.ratio", 1),),
    "min.compaction.lag.ms": (("log.cleaner.min.compaction.lag.ms", 1),),
    "min.insync.replicas": (("min.insync.replicas", 1),),
    "preallocate": (("log.preallocate", 1),),
    "retention.bytes": (("log.retention.bytes", 1),),
    "retention.ms": (
        ("log.retention.ms", 1),
        ("log.retention.minutes", 60_000),
        ("log.retention.hours", 3_600_000),
    ),
    "segment.bytes": (("log.segment.bytes", 1),),
    "segment.index.bytes": (("log.index.size.max.bytes", 1),),
    "segment.jitter.ms": (("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", 3_600_000)),
    "segment.ms": (("log.roll.ms", 1), ("log.roll.hours", 3_600_000)),
    "unclean.leader.election.enable": (("unclean.leader.election.enable", 1),),
}
"""Broker keys behind a topic key, the strongest first, each with its factor to the topic's unit."""
