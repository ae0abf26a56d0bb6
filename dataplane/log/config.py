"""The topic settings that a log needs, resolved to plain attributes for the hot path."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from dataplane.model.integers import INT64_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping

_DAY_MS = 24 * 3600 * 1000


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """Defaults are Kafka's."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * _DAY_MS
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 * 1024 * 1024
    index_interval_bytes: int = 4096
    max_message_bytes: int = 1_048_588
    retention_bytes: int = -1
    retention_ms: int = 7 * _DAY_MS
    flush_messages: int = INT64_MAX
    flush_ms: int = INT64_MAX
    file_delete_delay_ms: int = 60_000
    deletes: bool = True
    compacts: bool = False
    stamps_append_time: bool = False
    timestamp_before_max_ms: int = INT64_MAX
    timestamp_after_max_ms: int = INT64_MAX
    compression_type: str = "producer"
    compression_level: int | None = None
    """For `compression_type`; None is the codec's own default."""
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = INT64_MAX
    delete_retention_ms: int = _DAY_MS
    roll_ms: int = dataclasses.field(init=False)
    """`segment.ms`; sooner if a record must be compacted before, for active segments never are."""
    reworks: bool = dataclasses.field(init=False)
    """Whether appends must look into the records or change the batch."""

    def __post_init__(self) -> None:
        reworks = (
            self.compacts
            or self.stamps_append_time
            or self.bounds_timestamps
            or self.compression_type != "producer"
        )
        object.__setattr__(self, "reworks", reworks)
        roll_ms = self.segment_ms
        if self.compacts:
            roll_ms = min(roll_ms, self.max_compaction_lag_ms)
        object.__setattr__(self, "roll_ms", roll_ms)

    @classmethod
    def from_topic_config(cls, settings: Mapping[str, Any]) -> LogConfig:
        """From Kafka's topic keys; absent ones keep their default."""
        values: dict[str, Any] = {}
        for key, field in _INTEGER_KEYS.items():
            if (value := settings.get(key)) is not None:
                values[field] = int(value)
        if (policy := settings.get("cleanup.policy")) is not None:
            policies = policy.split(",") if isinstance(policy, str) else list(policy)
            policies = [str(name).strip() for name in policies]
            values["deletes"] = "delete" in policies
            values["compacts"] = "compact" in policies
        if (stamp := settings.get("message.timestamp.type")) is not None:
            values["stamps_append_time"] = str(stamp) == "LogAppendTime"
        if (codec := settings.get("compression.type")) is not None:
            values["compression_type"] = str(codec)
            level = settings.get(f"compression.{codec}.level")
            values["compression_level"] = None if level is None else int(level)
        if (ratio := settings.get("min.cleanable.dirty.ratio")) is not None:
            values["min_cleanable_dirty_ratio"] = float(ratio)
        return cls(**values)

    @property
    def bounds_timestamps(self) -> bool:
        return self.timestamp_before_max_ms != INT64_MAX or self.timestamp_after_max_ms != INT64_MAX


_INTEGER_KEYS = {
    "segment.bytes": "segment_bytes",
    "segment.ms": "segment_ms",
    "segment.jitter.ms": "segment_jitter_ms",
    "segment.index.bytes": "segment_index_bytes",
    "index.interval.bytes": "index_interval_bytes",
    "max.message.bytes": "max_message_bytes",
    "retention.bytes": "retention_bytes",
    "retention.ms": "retention_ms",
    "flush.messages": "flush_messages",
    "flush.ms": "flush_ms",
    "file.delete.delay.ms": "file_delete_delay_ms",
    "min.compaction.lag.ms": "min_compaction_lag_ms",
    "max.compaction.lag.ms": "max_compaction_lag_ms",
    "delete.retention.ms": "delete_retention_ms",
    "message.timestamp.before.max.ms": "timestamp_before_max_ms",
    "message.timestamp.after.max.ms": "timestamp_after_max_ms",
}
