"""The telemetry records that the collector writes and a run reads.

They travel as JSON through the topic `TELEMETRY_TOPIC` of each cluster. A *slice* is every
partition of one topic, or of one group and topic, at one instant; arrays run in parallel and have
one element per partition. Times named `ts_ms` are milliseconds since the epoch, end offsets are
exclusive, `null` means unknown and NaN never occurs.

A slice is one record. One that would be longer than `CHUNK_BYTES_MAX` is several, its chunks: each
has some of the partitions, everything else of the slice, and says which it is (`chunk`, from 0) of
how many (`chunks`). They have one key, so they lie in one partition in this order. A slice of which
a chunk is missing, for its collector died, is not used: the one before it counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TELEMETRY_TOPIC: Final = "__penstock_telemetry"
TELEMETRY_PARTITIONS: Final = 4
TELEMETRY_REPLICAS_MAX: Final = 3
TELEMETRY_RETENTION_MS: Final = 7 * 24 * 3600 * 1000
TELEMETRY_MESSAGE_BYTES_MAX: Final = 1_048_588
"""`max.message.bytes` of the topic as the collector makes it: Kafka's default."""
CHUNK_BYTES_MAX: Final = 512 * 1024
"""Of a record's value: half of what the topic takes, so that key, headers, a client's own limit on
a request (1 MiB) and a broker whose operator set it a little lower have room."""
CHUNKS_MAX: Final = 1024
"""Of one slice: some ten million partitions. More is no slice of ours."""
TELEMETRY_VERSION: Final = 1
CHUNK_VERSION: Final = 2
"""A chunk's. Who knows whole slices alone refuses it, and takes no part for the whole."""
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
