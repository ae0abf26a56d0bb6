"""The telemetry records that the collector writes and a run reads.

They travel as JSON through the topic `TELEMETRY_TOPIC` of each cluster. One record is one *slice*:
every partition of one topic, or of one group and topic, at one instant; arrays run in parallel and
have one element per partition. Times named `ts_ms` are milliseconds since the epoch, end offsets
are exclusive, `null` means unknown and NaN never occurs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TELEMETRY_TOPIC: Final = "__penstock_telemetry"
TELEMETRY_PARTITIONS: Final = 4
TELEMETRY_REPLICAS_MAX: Final = 3
TELEMETRY_RETENTION_MS: Final = 7 * 24 * 3600 * 1000
TELEMETRY_VERSION: Final = 1
SAMPLE_INTERVAL_S: Final = 10.0
"""How often the collector samples each cluster."""

KIND_TOPIC: Final = "topic"
KIND_GROUP: Final = "group"
NO_OFFSET: Final = -1
"""`committed_offset` of a partition that the group never committed (Kafka's own sign)."""

# Arrays that must have as many elements as `partition`, by record kind.
SLICE_ARRAYS: Final[Mapping[str, tuple[str, ...]]] = {
    KIND_TOPIC: (
        "leader_epoch",
        "log_start_offset",
        "log_end_offset",
        "size_bytes",
        "oldest_ts_ms",
    ),
    KIND_GROUP: ("committed_offset", "log_start_offset", "log_end_offset"),
}
